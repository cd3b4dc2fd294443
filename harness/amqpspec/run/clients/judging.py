"""Oracles for clients: from what a client said, or did about a hostile server, to a verdict.

Knows: requirement rows, conversations, the result of an application. Must not know: any dialect, single cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from amqpspec.record.rows import BlockedBy, Facts, Outcome
from amqpspec.run.clients.agent import FATAL, Application, Ran
from amqpspec.run.clients.client import CannotDo, Client, Encounter
from amqpspec.run.oracles import broken, graded
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Dialect, Level, Refusal, Requirement, Scope
from amqpspec.wire.conversation import RESET_BY_SERVER, Conversation, Said, Talk


class Looked(NamedTuple):
    """One place where a rule could be broken, and whether it was kept there; ``is_lesser``: in purpose, at least."""

    at: Said
    kept: bool
    why: str = ""
    is_lesser: bool = False


_NOT_REACHED = "the scenario did not reach that point"
Rule = Callable[[Conversation], Iterator[Looked]]
"""Every place of a conversation where a rule applies."""


def conducts(client: Client, rule: Rule, *scenarios: str) -> Verdict:
    """The client kept a rule at every place of these scenarios where it applies; not applicable if there is none."""
    requirement = client.requirements[0]
    places = 0
    lesser: Verdict | None = None
    for conversation, looked in _places(client, rule, scenarios):
        places += 1
        if not looked.kept and not looked.is_lesser:
            return _broken(client, conversation, looked, broken(requirement))
        if not looked.kept and lesser is None:
            lesser = _broken(client, conversation, looked, Outcome.NONSTRICT)
    if lesser is not None:
        return lesser
    if not places:
        return _not_done(requirement, scenarios)
    return Verdict(Outcome.PASS, requirement.paraphrase, f"kept at {places} of {places} places")


def _places(client: Client, rule: Rule, scenarios: tuple[str, ...]) -> Iterator[tuple[Conversation, Looked]]:
    for encounter in client.in_turn(*scenarios):
        for conversation in encounter.conversations:
            known = _by_the_client(conversation, encounter.ran)
            yield from ((known, looked) for looked in rule(known))


def _by_the_client(conversation: Conversation, ran: Ran) -> Conversation:
    """What a client did by itself: if the harness ended its process, what it would have done next is not known."""
    talk = conversation.talk
    if ran.application not in _STOPPED or _ended_before(talk, ran.stopped_ns):
        return conversation
    return replace(conversation, talk=replace(talk, is_cut=True))


def _not_done(requirement: Requirement, scenarios: tuple[str, ...]) -> Verdict:
    who = "server" if requirement.binds == "server" else "client"
    why = f"the {who} did nothing of the kind in {', '.join(scenarios)}"
    return _does_not_apply(requirement.paraphrase, why)


def _does_not_apply(expected: str, why: str) -> Verdict:
    return Verdict(Outcome.NOT_APPLICABLE, expected, why, blocked_by=BlockedBy.PROFILE)


def _broken(client: Client, conversation: Conversation, looked: Looked, outcome: Outcome) -> Verdict:
    where = f"connection {conversation.talk.number}, {looked.at.place}"
    observed = f"{where}: {looked.at.text}{f' ({looked.why})' if looked.why else ''}"
    return Verdict(outcome, client.requirements[0].paraphrase, observed)


class Undecided(Exception):
    """What the client did has two meanings, and no one watched its application; the text says what it did."""


Reaction = Callable[[Conversation], Refusal | None]
"""What a client did about a hostile server on one connection: how it refused, None if it continued.

Raises Undecided."""


def answers_violation(client: Client, encounter: Encounter, reaction: Reaction, dialect: Dialect) -> Verdict:
    """The client refused what the server did as the row states, and its application learned of it.

    On the wire the row decides. An application that hangs, crashes or takes too much memory is a failure whatever was
    on the wire; one that learned nothing is a deviation from what keeps the purpose.
    """
    expected = " or ".join(refusal.describe(dialect) for refusal in client.requirements[0].accepts)
    return _met(client, encounter, reaction, dialect, expected, _refuses)


def takes_no_notice(client: Client, encounter: Encounter, reaction: Reaction, dialect: Dialect) -> Verdict:
    """The client continued as if nothing had happened, and so did its application.

    A row may accept refusals as well: what a client may leave out.
    """
    accepts = client.requirements[0].accepts
    expected = " or ".join(["the client continues", *(refusal.describe(dialect) for refusal in accepts)])
    return _met(client, encounter, reaction, dialect, expected, _goes_on)


Weigh = Callable[[Requirement, Refusal | None, Application], Outcome]


def _met(
    client: Client, encounter: Encounter, reaction: Reaction, dialect: Dialect, expected: str, weigh: Weigh
) -> Verdict:
    """What a client did about a hostile server, weighed by the row."""
    hostile = _provoked(encounter)
    if not hostile:
        return _does_not_apply(expected, _NOT_REACHED)
    try:
        refusal = reaction(hostile[0])
    except Undecided as why:
        return Verdict(Outcome.INCONCLUSIVE, expected, f"{why}; {encounter.ran.describe()}")
    application = encounter.ran.application
    outcome = weigh(client.requirements[0], refusal, application)
    observed = f"{_said(refusal, dialect)}; {encounter.ran.describe()}"
    return Verdict(outcome, expected, observed, Facts(refusal, application=str(application)))


def _provoked(encounter: Encounter) -> list[Conversation]:
    """The conversations in which the server did what it was to do; raises RuntimeError if it could not."""
    for conversation in encounter.conversations:
        if conversation.talk.amiss:
            raise RuntimeError(f"the server could not misbehave as it should: {conversation.talk.amiss}")
    return [c for c in encounter.conversations if c.talk.hostile_ns is not None]


def _refuses(requirement: Requirement, refusal: Refusal | None, application: Application) -> Outcome:
    if refusal is not None and refusal.scope is Scope.DELIVERY and application is Application.HANG:
        # It waits for a message that its client has rejected, and no other comes.
        application = Application.SILENT
    return _both(_on_the_wire(requirement, refusal), application)


def _goes_on(requirement: Requirement, refusal: Refusal | None, application: Application) -> Outcome:
    if refusal is not None:
        return _both(graded(requirement, refusal), application)
    if application in FATAL:
        return Outcome.FAIL
    return Outcome.PASS if application is not Application.REPORTED else broken(requirement)


Done = Callable[[Conversation, Ran], bool]
"""Whether a client did what it has to do then; raises CannotDo if that does not concern it, and Undecided."""


def does_its_duty(client: Client, encounter: Encounter, done: Done) -> Verdict:
    """The client did what the row demands at that point, on the wire or towards its application."""
    requirement = client.requirements[0]
    expected = requirement.paraphrase
    asked = _provoked(encounter)
    if not asked:
        return _does_not_apply(expected, _NOT_REACHED)
    ran, application = encounter.ran, encounter.ran.application
    try:
        is_done = done(asked[0], ran)
        if not is_done and application is Application.UNSEEN and not asked[0].talk.ended:
            raise Undecided("the client had not ended the connection yet")
    except Undecided as why:
        return Verdict(Outcome.INCONCLUSIVE, expected, str(why))
    outcome = Outcome.PASS if is_done else broken(requirement)
    observed = f"the client {'did so' if is_done else 'did not'}; {ran.describe()}"
    outcome = Outcome.FAIL if application in FATAL else outcome
    return Verdict(outcome, expected, observed, Facts(None, application=str(application)))


def _on_the_wire(requirement: Requirement, refusal: Refusal | None) -> Outcome:
    """A violation that a client may also tolerate, as rows of level MAY have it, is recorded if it did.

    If it may tolerate it, a refusal that the row does not name is no failure.
    """
    if requirement.level is not Level.MAY:
        return graded(requirement, refusal)
    if refusal is None:
        return Outcome.OBSERVED
    found = graded(requirement, refusal)
    return Outcome.NONSTRICT if found is Outcome.FAIL else found


class No(NamedTuple):
    """A frame by which a side refuses, or is done: the refusal that it says, and whether it names an error."""

    refusal: Refusal
    is_error: bool


_STOPPED = (Application.HANG, Application.MEMORY)
"""Applications whose process the harness ended."""
Says = Callable[[Said], No | None]
"""Whether a frame says no, in the words of its dialect."""


def refusal_by(
    conversation: Conversation, ran: Ran, says: Says, went_on: Callable[[Conversation], bool]
) -> Refusal | None:
    """How the client refused what the server did; None if it continued as if nothing had happened.

    An end that the harness made, because time or memory was used up, is not the client's, and neither is one that
    the server made first, or gave the reason for by a close. A close without an error is a refusal only where the
    application learned of something. ``went_on`` names other signs that it did. Raises Undecided, CannotDo.
    """
    learned, unseen = ran.application is Application.REPORTED, ran.application is Application.UNSEEN
    if unseen:
        _decidable(conversation)
    if ran.application not in FATAL and _had_closed(conversation, says):
        raise CannotDo("the client had closed the connection before")
    refused = partial(_refused, conversation, says)
    for at_ns, no in _noes(conversation.by_client(), says, conversation):
        if refused(at_ns):
            return None
        wide = no.refusal.scope is Scope.CONNECTION
        if no.is_error or (learned and wide):
            return no.refusal
        if unseen and wide:
            code = "no error" if no.refusal.code is None else no.refusal.code
            raise Undecided(f"the client closed with {code}, at once or when it was done")
    # What a server says about a socket that the client ended refuses nothing that the client continued to do.
    if refused(conversation.talk.ended_ns) or went_on(conversation):
        return None
    return _by_its_end(conversation, ran, says)


def _decidable(conversation: Conversation) -> None:
    """Raise Undecided if what happened to the socket shows nothing of a client whose application no one watched."""
    if not conversation.talk.ended:
        raise Undecided("the client had not ended the connection yet")
    if conversation.talk.ended == RESET_BY_SERVER:
        raise Undecided("the server reset the connection, and no one watched the application")


def _had_closed(conversation: Conversation, says: Says) -> bool:
    """Whether the client had closed the connection before the server misbehaved: it was done."""
    begun_ns = conversation.talk.hostile_ns or 0
    noes = (says(said) for said in conversation.by_client() if said.at_ns < begun_ns)
    return any(no is not None and no.refusal.scope is Scope.CONNECTION for no in noes)


def _by_its_end(conversation: Conversation, ran: Ran, says: Says) -> Refusal | None:
    """What the end of the socket says of a client that has refused nothing by a frame. Raises Undecided."""
    begun_ns = conversation.talk.hostile_ns or 0
    if ran.application in _STOPPED and any(_noes(conversation.by_client(), says, conversation)):
        return None  # It closed without an error, as one does that is done.
    if ran.application is Application.UNSEEN and any(s.at_ns >= begun_ns for s in conversation.by_client()):
        raise Undecided("the client sent more, and then ended the socket, at once or when it was done")
    # A client that connects again has left the connection, even if its application did not learn of that.
    quiet = (Application.CANNOT,) if ran.reconnected else (Application.SILENT, Application.CANNOT)
    return Refusal(Scope.SOCKET) if has_left(conversation, ran) and ran.application not in quiet else None


def survived(conversation: Conversation, ran: Ran) -> None:
    """Raise Undecided if the client's end may be that of its process: it reset the connection, and no one watched."""
    if ran.application is Application.UNSEEN and conversation.talk.ended == "RST":
        raise Undecided("the client reset the connection, and no one watched the application")


def has_left(conversation: Conversation, ran: Ran) -> bool:
    """Whether the client ended the socket: not the server, and not the harness because time or memory was used up."""
    talk = conversation.talk
    if not talk.ended or talk.is_left:
        return False
    # The end of the process ends its sockets; one that ended earlier was the client's doing.
    return ran.application not in _STOPPED or _ended_before(talk, ran.stopped_ns)


def _ended_before(talk: Talk, stopped_ns: int | None) -> bool:
    return talk.ended_ns is not None and stopped_ns is not None and talk.ended_ns < stopped_ns


def stayed_s(conversation: Conversation) -> float | None:
    """How long the client stayed with a server after it began to misbehave; None while it is still there."""
    talk = conversation.talk
    if talk.ended_ns is None or talk.hostile_ns is None:
        return None
    return (talk.ended_ns - talk.hostile_ns) / 1e9


def _noes(said: Iterator[Said], says: Says, conversation: Conversation) -> Iterator[tuple[int, No]]:
    """What refused, since the server began to misbehave, and when."""
    begun_ns = conversation.talk.hostile_ns or 0
    for one in said:
        if one.at_ns >= begun_ns and (no := says(one)) is not None:
            yield one.at_ns, no


def _refused(conversation: Conversation, says: Says, before_ns: int | None) -> bool:
    """Whether the server, correct again after its deed, refused what the client continued to do."""
    return any(
        no.is_error and (before_ns is None or at_ns < before_ns)
        for at_ns, no in _noes(conversation.by_server(), says, conversation)
    )


def _both(on_the_wire: Outcome, application: Application) -> Outcome:
    if application in FATAL:
        return Outcome.FAIL
    if application is Application.SILENT and on_the_wire is Outcome.PASS:
        return Outcome.NONSTRICT
    return on_the_wire


def _said(refusal: Refusal | None, dialect: Dialect) -> str:
    return "the client continued" if refusal is None else refusal.describe(dialect)
