"""Oracles for clients: from what a client said, or did about a hostile server, to a verdict.

Knows: requirement rows, conversations, what an application came to. Must not know: any dialect, single cases.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from amqpspec.record.rows import BlockedBy, Facts, Outcome
from amqpspec.run.clients.agent import Application
from amqpspec.run.clients.client import Client, Encounter
from amqpspec.run.oracles import broken, graded
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Dialect, Refusal
from amqpspec.wire.conversation import Conversation, Said


class Looked(NamedTuple):
    """One place where a rule could be broken, and whether it was kept there."""

    at: Said
    kept: bool
    why: str = ""


Rule = Callable[[Conversation], Iterator[Looked]]
"""Every place of a conversation where a rule applies."""


def conducts(client: Client, rule: Rule, *scenarios: str) -> Verdict:
    """The client kept a rule at every place of these scenarios where it applies; not applicable where there is none."""
    requirement = client.requirements[0]
    places = 0
    for encounter in client.in_scenarios(*scenarios):
        for conversation in encounter.conversations:
            for looked in rule(conversation):
                places += 1
                if not looked.kept:
                    return _broken(client, conversation, looked)
    if not places:
        why = f"the client did nothing of the kind in {', '.join(scenarios)}"
        return Verdict(Outcome.NOT_APPLICABLE, requirement.paraphrase, why, blocked_by=BlockedBy.PROFILE)
    return Verdict(Outcome.PASS, requirement.paraphrase, f"kept at {places} of {places} places")


def _broken(client: Client, conversation: Conversation, looked: Looked) -> Verdict:
    requirement = client.requirements[0]
    where = f"connection {conversation.talk.number}, {looked.at.place}"
    observed = f"{where}: {looked.at.text}{f' ({looked.why})' if looked.why else ''}"
    return Verdict(broken(requirement), requirement.paraphrase, observed)


Reaction = Callable[[Conversation], Refusal | None]
"""What a client did about a hostile server on one connection: how it refused, None where it went on."""

_WORSE = {Application.HANG, Application.CRASH, Application.MEMORY}


def answers_violation(client: Client, encounter: Encounter, reaction: Reaction, dialect: Dialect) -> Verdict:
    """The client refused what the server did as the row states, and its application learned of it.

    On the wire the row decides. An application that hangs, crashes or takes too much memory is a failure whatever was
    on the wire; one that learned nothing is a deviation from what keeps the purpose.
    """
    requirement = client.requirements[0]
    expected = " or ".join(refusal.describe(dialect) for refusal in requirement.accepts)
    hostile = [c for c in encounter.conversations if c.talk.hostile_ns is not None]
    if not hostile:
        return Verdict(
            Outcome.NOT_APPLICABLE,
            expected,
            "the scenario did not come to that point",
            blocked_by=BlockedBy.PROFILE,
        )
    refusal = reaction(hostile[0])
    application = encounter.ran.application
    outcome = _both(graded(requirement, refusal), application)
    observed = f"{_said(refusal, dialect)}; {encounter.ran.describe()}"
    return Verdict(outcome, expected, observed, Facts(refusal, application=str(application)))


def _both(on_the_wire: Outcome, application: Application) -> Outcome:
    if application in _WORSE:
        return Outcome.FAIL
    if application is Application.SILENT and on_the_wire is Outcome.PASS:
        return Outcome.NONSTRICT
    return on_the_wire


def _said(refusal: Refusal | None, dialect: Dialect) -> str:
    return "the client went on" if refusal is None else refusal.describe(dialect)
