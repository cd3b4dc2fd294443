"""Commands of the model: messages, subscriptions, transactions, names of queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.suites.clients_0_10._books import assembly_of, fields, ids, walk
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.conversation import Conversation, Said

_RECEIVING = ("consume", "get", "large")
_MAX_NAME_OCTETS = 255


@conduct("client.accept.acquired", covers=["message/accept/acquisition"], scenarios=_RECEIVING)
def accepts_what_was_delivered(talk: Conversation) -> Iterator[Looked]:
    """The client accepts only messages that the server has transferred, and that it has acquired."""
    for said, books in walk(talk, "message.accept"):
        session = books.sessions.get(said.channel)
        if session is not None:
            held = session.delivered - session.unacquired
            strange = sorted(ids(fields(said).get("transfers")) - held)
            yield Looked(said, not strange, f"never transferred, or not acquired: {strange[:3]}")


@conduct("client.accept.once", covers=["message/accept/reference"], scenarios=_RECEIVING)
def accepts_a_message_once(talk: Conversation) -> Iterator[Looked]:
    """The client accepts no message that it has already accepted, rejected or released."""
    for said, books in walk(talk, "message.accept"):
        session = books.sessions.get(said.channel)
        if session is not None:
            again = sorted(ids(fields(said).get("transfers")) & session.resolved)
            yield Looked(said, not again, f"again: {again[:3]}")


@conduct(
    "client.subscribe.destination",
    covers=["message/subscribe/destination/unique-subscriber-destination"],
    scenarios=_RECEIVING,
)
def gives_each_subscription_its_destination(talk: Conversation) -> Iterator[Looked]:
    """The client does not use a destination in use on a session for a second subscription."""
    for said, books in walk(talk, "message.subscribe"):
        session = books.sessions.get(said.channel)
        name = fields(said).get("destination", "")
        if session is not None:
            yield Looked(said, name not in session.destinations, f"{name!r} is in use")


def _message_id(said: Said) -> Any:
    """The message-id of a transfer; None if it has none."""
    assembly = assembly_of(said)
    entries = () if assembly is None or assembly.header is None else assembly.header
    named = (e.fields.get("message_id") for e in entries if isinstance(e, Packed))
    return next((id for id in named if id is not None), None)


@conduct(
    "client.message-id.unique",
    covers=["message/message-properties/message-id/unique/server"],
    scenarios=("publish", "consume", "get", "publish-transactional"),
)
def gives_each_message_its_id(talk: Conversation) -> Iterator[Looked]:
    """Each message-id is unique within a connection; a message that is sent again keeps its own."""
    seen: dict[Any, Any] = {}
    for said in talk.by_client("message.transfer"):
        id = _message_id(said)
        if id is not None:
            assembly = assembly_of(said)
            body = None if assembly is None else assembly.body
            # The same message, sent again or to another queue, keeps its id (message-id, rule "immutable").
            yield Looked(said, seen.setdefault(id, body) == body, f"message-id {id} of another message")


# --- transactions


@conduct("client.tx.select.first", covers=["tx/select/first"], scenarios=("publish-transactional",))
def selects_before_it_commits(talk: Conversation) -> Iterator[Looked]:
    """The client sends select before the first commit or rollback of a session, not after it."""
    finished: set[int] = set()
    for said in talk.by_client("tx.select", "tx.commit", "tx.rollback", "session.attach"):
        if said.name == "session.attach":
            finished.discard(said.channel)
        elif said.name == "tx.select":
            yield Looked(said, said.channel not in finished, "after a commit")
        else:
            finished.add(said.channel)


@conduct("client.tx.select.once", covers=["tx/select/exactly-once"], scenarios=("publish-transactional",))
def selects_transactions_once(talk: Conversation) -> Iterator[Looked]:
    """The client sends select only once in a session."""
    for said, books in walk(talk, "tx.select"):
        session = books.sessions.get(said.channel)
        yield Looked(said, session is None or not session.selected, "selected already")


@conduct("client.tx.commit", covers=["tx/commit/select-required"], scenarios=("publish-transactional",))
def commits_transactions_only(talk: Conversation) -> Iterator[Looked]:
    """The client sends commit only after select."""
    for said, books in walk(talk, "tx.commit"):
        session = books.sessions.get(said.channel)
        yield Looked(said, session is None or session.selected, "no select before it")


# --- names


def _declared(talk: Conversation) -> Iterator[tuple[Said, str]]:
    for said in talk.by_client("queue.declare"):
        yield said, str(fields(said).get("queue", ""))


@conduct("client.queue.name", covers=["queue/name/syntax"])
def names_queues_as_the_syntax_wants(talk: Conversation) -> Iterator[Looked]:
    """Queue names have 1 to 255 octets and begin with a letter, a digit or an underscore."""
    for said, name in _declared(talk):
        octets = len(name.encode("utf-8", "surrogateescape"))
        kept = 1 <= octets <= _MAX_NAME_OCTETS and (name[0].isalnum() or name[0] == "_")
        yield Looked(said, kept, f"queue {name!r}")


@conduct("client.queue.reserved", covers=["queue/declare/queue/reserved-prefix"])
def leaves_reserved_names_alone(talk: Conversation) -> Iterator[Looked]:
    """A client declares queue names that begin with amq. only passively."""
    for said, name in _declared(talk):
        kept = not name.startswith("amq.") or bool(fields(said).get("passive"))
        yield Looked(said, kept, f"queue {name!r}")
