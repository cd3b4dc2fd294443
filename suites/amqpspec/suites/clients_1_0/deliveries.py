"""Deliveries: their ids and tags, their transfers, their contents, and their settlement."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.peer.amqp_1_0.books import TERMINAL, number, serial
from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.suites.clients_1_0._books import Books, fields, named, tag_of, walk
from amqpspec.suites.clients_1_0._state import RECEIVER, Link
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.message import decode_message
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.errors import WireError

_MAX_TAG_OCTETS = 32
_SETTLED, _UNSETTLED = 1, 0
_ACCEPTING = ("receive", "reject", "large")


def _firsts(talk: Conversation) -> Iterator[tuple[Said, Books, Link]]:
    """The first transfer of each delivery of the client, with its link."""
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        if link is not None and link.partial is None:
            yield said, books, link


def _later(talk: Conversation) -> Iterator[tuple[Said, Link]]:
    """The further transfers of deliveries of the client, with their links."""
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        if link is not None and link.partial is not None:
            yield said, link


@conduct("client.delivery.id", covers=["performatives/transfer/delivery-id/first"])
def numbers_its_deliveries(talk: Conversation) -> Iterator[Looked]:
    """The first transfer of a delivery has a delivery-id."""
    for said, _, _ in _firsts(talk):
        yield Looked(said, "delivery_id" in fields(said).given, "no delivery-id")


@conduct("client.delivery.id.sequence", covers=["links/delivery-ids-per-session"])
def numbers_its_deliveries_in_sequence(talk: Conversation) -> Iterator[Looked]:
    """The delivery-ids of a session form one sequence and increase by one each time."""
    for said, _, link in _firsts(talk):
        last, told = link.session.last_id, number(fields(said)["delivery_id"], -1)
        kept = last is None or told == serial(last + 1)
        yield Looked(said, kept, f"delivery-id {told} behind {last}")


@conduct("client.delivery.tag", covers=["performatives/transfer/delivery-tag/first"])
def tags_its_deliveries(talk: Conversation) -> Iterator[Looked]:
    """The first transfer of a delivery has a delivery-tag."""
    for said, _, _ in _firsts(talk):
        yield Looked(said, "delivery_tag" in fields(said).given, "no delivery-tag")


@conduct("client.delivery.tag.length", covers=["definitions/delivery-tag/length"])
def keeps_tags_short(talk: Conversation) -> Iterator[Looked]:
    """A delivery-tag has at most 32 octets."""
    for said in talk.by_client("transfer"):
        tag = fields(said)["delivery_tag"]
        if isinstance(tag, bytes):
            yield Looked(said, len(tag) <= _MAX_TAG_OCTETS, f"{len(tag)} octets")


@conduct("client.delivery.tag.unique", covers=["transfers/delivery-tag/unique"])
def gives_a_tag_once(talk: Conversation) -> Iterator[Looked]:
    """A delivery-tag is unique among the unsettled deliveries of a link."""
    for said, _, link in _firsts(talk):
        taken = tag_of(fields(said)) in link.unsettled and fields(said)["resume"] is not True
        yield Looked(said, not taken, "another delivery of that tag is unsettled")


@conduct("client.delivery.message-format", covers=["performatives/transfer/message-format/first"])
def tells_the_format(talk: Conversation) -> Iterator[Looked]:
    """The first transfer of a delivery has a message-format."""
    for said, _, _ in _firsts(talk):
        yield Looked(said, "message_format" in fields(said).given, "no message-format")


@conduct(
    "client.delivery.continuation.id",
    covers=["performatives/transfer/delivery-id/differs"],
    scenarios=("large",),
)
def goes_on_under_the_same_id(talk: Conversation) -> Iterator[Looked]:
    """A later transfer of a delivery has the delivery-id of the first, or none."""
    for said, link in _later(talk):
        told, id = fields(said)["delivery_id"], link.partial.id if link.partial else None
        yield Looked(said, told in (None, id), f"delivery-id {told} within delivery {id}")


@conduct(
    "client.delivery.continuation.tag",
    covers=["performatives/transfer/delivery-tag/differs"],
    scenarios=("large",),
)
def goes_on_under_the_same_tag(talk: Conversation) -> Iterator[Looked]:
    """A later transfer of a delivery has the delivery-tag of the first, or none."""
    for said, link in _later(talk):
        told, tag = fields(said)["delivery_tag"], link.partial.tag if link.partial else None
        yield Looked(said, told in (None, tag), "another delivery-tag")


@conduct("client.delivery.aborted", covers=["performatives/transfer/more/not-with-aborted"])
def ends_what_it_gives_up(talk: Conversation) -> Iterator[Looked]:
    """An aborted transfer does not have more set."""
    for said in talk.by_client("transfer"):
        if fields(said)["more"] is True:
            yield Looked(said, fields(said)["aborted"] is not True, "more and aborted")


def _agreed(link: Link, mode: int) -> bool:
    """Whether both sides named this settle mode for the sender of a link."""
    return (
        link.answer is not None and link.attach["snd_settle_mode"] == mode == link.answer["snd_settle_mode"]
    )


@conduct("client.delivery.mode-settled", covers=["performatives/transfer/settled/mode-settled"])
def settles_in_mode_settled(talk: Conversation) -> Iterator[Looked]:
    """On a link of mode settled, at least one transfer of each delivery has settled true."""
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        last = fields(said)["more"] is not True and fields(said)["aborted"] is not True
        if link is not None and last and _agreed(link, _SETTLED):
            before = link.partial is not None and link.partial.settled == "client"
            yield Looked(said, before or fields(said)["settled"] is True, "not settled")


@conduct("client.delivery.mode-unsettled", covers=["performatives/transfer/settled/mode-unsettled"])
def settles_nothing_in_mode_unsettled(talk: Conversation) -> Iterator[Looked]:
    """On a link of mode unsettled, no transfer has settled true."""
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        if link is not None and _agreed(link, _UNSETTLED):
            # What is aborted is discarded, and settled whatever the field says (§2.7.5).
            kept = fields(said)["settled"] is not True or fields(said)["aborted"] is True
            yield Looked(said, kept, "settled")


@conduct("client.message.sections", covers=["messaging/sections"])
def sends_sections_in_order(talk: Conversation) -> Iterator[Looked]:
    """A message of format 0 consists of the sections of the specification in their order, and has a body."""
    payloads: dict[int, bytes] = {}
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        if link is None:
            continue
        format = fields(said)["message_format"] if link.partial is None else link.partial.format
        # A delivery that is resumed may hold nothing, or the rest of what was sent before (§2.6.13).
        resumed = fields(said)["resume"] is True if link.partial is None else link.partial.is_resumed
        payload = payloads.pop(id(link), b"") + said.what.payload
        if fields(said)["aborted"] is True or resumed:
            continue
        if fields(said)["more"] is True:
            payloads[id(link)] = payload
        elif format in (0, None) and not _is_control(link):
            why = _problem(payload)
            yield Looked(said, not why, why)


def _is_control(link: Link) -> bool:
    """Whether a link goes to the coordinator of transactions."""
    target = link.attach["target"]
    return isinstance(target, Composed) and target.name == "coordinator"


def _problem(payload: bytes) -> str:
    try:
        problems = decode_message(payload).problems
    except WireError as error:
        return str(error)
    return str(problems[0]) if problems else ""


@conduct("client.disposition.known", covers=["performatives/disposition/directionality"])
def disposes_of_what_there_is(talk: Conversation) -> Iterator[Looked]:
    """The first and last delivery of a disposition have the direction that its role indicates."""
    for said, books in walk(talk, "disposition"):
        session, told = books.session_of(said), fields(said)
        if session is None:
            continue
        known = session.incoming if told["role"] is RECEIVER else session.outgoing
        first = number(told["first"], -1)
        last = number(told["last"], first)
        yield Looked(said, first in known and last in known, f"deliveries {first} to {last}")


@conduct("client.disposition.settled-once", covers=["links/settled-for-ever"], scenarios=_ACCEPTING)
def unsettles_nothing(talk: Conversation) -> Iterator[Looked]:
    """The client does not send an unsettled disposition for a delivery that it has settled."""
    for said, books in walk(talk, "disposition"):
        session, told = books.session_of(said), fields(said)
        if session is not None:
            known = session.incoming if told["role"] is RECEIVER else session.outgoing
            meant = named(known, told)
            again = [d.id for d in meant if d.settled == "client"] if told["settled"] is not True else []
            # A range may span what was settled before; only one about settled deliveries alone unsettles.
            yield Looked(said, not again or len(again) < len(meant), f"delivery {again[:1]} is settled")


@conduct("client.receiver.settles", covers=["definitions/rcv-settle-mode/first"], scenarios=_ACCEPTING)
def settles_what_it_takes(talk: Conversation) -> Iterator[Looked]:
    """On a link of mode first, a receiver settles each delivery that has a terminal state before it closes."""
    for said, books in walk(talk, "close"):
        for session in books.sessions.values():
            for delivery in session.incoming.values():
                state, first = delivery.state, not delivery.link.attach["rcv_settle_mode"]
                if first and isinstance(state, Composed) and state.name in TERMINAL:
                    why = f"delivery {delivery.id} is {state.name} and not settled"
                    yield Looked(said, bool(delivery.settled), why)
