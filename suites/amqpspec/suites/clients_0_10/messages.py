"""Commands of the model: messages, subscriptions, transactions, names of queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.suites.clients_0_10 import EVERY
from amqpspec.suites.clients_0_10._books import assembly_of, fields, ids, walk
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.conversation import Conversation, Said

_RECEIVING = ("consume", "get", "large")
_MAX_NAME_OCTETS = 255


@case("client.accept.acquired", covers=["message/accept/acquisition"])
def accepts_what_was_delivered(client: Client) -> Verdict:
    """The client accepts only messages that the server has transferred, and that it has acquired."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk, "message.accept"):
            session = books.sessions.get(said.channel)
            if session is not None:
                held = session.delivered - session.unacquired
                strange = sorted(ids(fields(said).get("transfers")) - held)
                yield Looked(said, not strange, f"never transferred, or not acquired: {strange[:3]}")

    return conducts(client, rule, *_RECEIVING)


@case("client.accept.once", covers=["message/accept/reference"])
def accepts_a_message_once(client: Client) -> Verdict:
    """The client accepts no message that it has already accepted, rejected or released."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk, "message.accept"):
            session = books.sessions.get(said.channel)
            if session is not None:
                again = sorted(ids(fields(said).get("transfers")) & session.resolved)
                yield Looked(said, not again, f"again: {again[:3]}")

    return conducts(client, rule, *_RECEIVING)


@case("client.subscribe.destination", covers=["message/subscribe/destination/unique-subscriber-destination"])
def gives_each_subscription_its_destination(client: Client) -> Verdict:
    """The client does not use a destination in use on a session for a second subscription."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk, "message.subscribe"):
            session = books.sessions.get(said.channel)
            name = fields(said).get("destination", "")
            if session is not None:
                yield Looked(said, name not in session.destinations, f"{name!r} is in use")

    return conducts(client, rule, *_RECEIVING)


def _message_id(said: Said) -> Any:
    """The message-id of a transfer; None if it has none."""
    assembly = assembly_of(said)
    entries = () if assembly is None or assembly.header is None else assembly.header
    named = (e.fields.get("message_id") for e in entries if isinstance(e, Packed))
    return next((id for id in named if id is not None), None)


@case("client.message-id.unique", covers=["message/message-properties/message-id/unique/server"])
def gives_each_message_its_id(client: Client) -> Verdict:
    """Each message-id is unique within a connection; a message that is sent again keeps its own."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        seen: dict[Any, Any] = {}
        for said in talk.by_client("message.transfer"):
            id = _message_id(said)
            if id is not None:
                assembly = assembly_of(said)
                body = None if assembly is None else assembly.body
                # The same message, sent again or to another queue, keeps its id (message-id, rule "immutable").
                yield Looked(said, seen.setdefault(id, body) == body, f"message-id {id} of another message")

    return conducts(client, rule, "publish", "consume", "get", "publish-transactional")


# --- transactions


@case("client.tx.select.first", covers=["tx/select/first"])
def selects_before_it_commits(client: Client) -> Verdict:
    """The client sends select before the first commit or rollback of a session, not after it."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        finished: set[int] = set()
        for said in talk.by_client("tx.select", "tx.commit", "tx.rollback", "session.attach"):
            if said.name == "session.attach":
                finished.discard(said.channel)
            elif said.name == "tx.select":
                yield Looked(said, said.channel not in finished, "after a commit")
            else:
                finished.add(said.channel)

    return conducts(client, rule, "publish-transactional")


@case("client.tx.select.once", covers=["tx/select/exactly-once"])
def selects_transactions_once(client: Client) -> Verdict:
    """The client sends select only once in a session."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk, "tx.select"):
            session = books.sessions.get(said.channel)
            yield Looked(said, session is None or not session.selected, "selected already")

    return conducts(client, rule, "publish-transactional")


@case("client.tx.commit", covers=["tx/commit/select-required"])
def commits_transactions_only(client: Client) -> Verdict:
    """The client sends commit only after select."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk, "tx.commit"):
            session = books.sessions.get(said.channel)
            yield Looked(said, session is None or session.selected, "no select before it")

    return conducts(client, rule, "publish-transactional")


# --- names


def _declared(talk: Conversation) -> Iterator[tuple[Said, str]]:
    for said in talk.by_client("queue.declare"):
        yield said, str(fields(said).get("queue", ""))


@case("client.queue.name", covers=["queue/name/syntax"])
def names_queues_as_the_syntax_wants(client: Client) -> Verdict:
    """Queue names have 1 to 255 octets and begin with a letter, a digit or an underscore."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, name in _declared(talk):
            octets = len(name.encode("utf-8", "surrogateescape"))
            kept = 1 <= octets <= _MAX_NAME_OCTETS and (name[0].isalnum() or name[0] == "_")
            yield Looked(said, kept, f"queue {name!r}")

    return conducts(client, rule, *EVERY)


@case("client.queue.reserved", covers=["queue/declare/queue/reserved-prefix"])
def leaves_reserved_names_alone(client: Client) -> Verdict:
    """A client declares queue names that begin with amq. only passively."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, name in _declared(talk):
            kept = not name.startswith("amq.") or bool(fields(said).get("passive"))
            yield Looked(said, kept, f"queue {name!r}")

    return conducts(client, rule, *EVERY)
