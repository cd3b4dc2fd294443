"""Sessions: the channels on which they begin and end, and what their flows contain."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.peer.amqp_1_0.books import ahead, number, serial
from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.model import Side
from amqpspec.suites.clients_1_0._books import fields, walk
from amqpspec.wire.conversation import Conversation

_OF_A_SESSION = ("attach", "flow", "transfer", "disposition", "detach", "end")
_OF_A_LINK = ("delivery_count", "link_credit", "available", "properties")


@conduct("client.begin.unused-channel", covers=["sessions/begin/unused-channel"])
def begins_on_a_free_channel(talk: Conversation) -> Iterator[Looked]:
    """A client begins a session on a channel on which it has none."""
    for said, books in walk(talk, "begin"):
        known = books.session_of(said)
        yield Looked(said, known is None or known.is_ended, f"channel {said.channel} has a session")


@conduct("client.begin.remote-channel", covers=["performatives/begin/remote-channel/unset"])
def begins_without_a_remote_channel(talk: Conversation) -> Iterator[Looked]:
    """The begin of a new session has no remote-channel; a begin that answers another one has it."""
    asked: set[int] = set()
    for said in talk.said:
        if said.name != "begin":
            continue
        remote = fields(said)["remote_channel"]
        if said.sender is Side.SERVER and remote is None:
            asked.add(said.channel)
        elif said.sender is Side.CLIENT:
            yield Looked(said, remote is None or remote in asked, f"remote-channel {remote}")


@conduct("client.begin.lowest-channel", covers=["sessions/begin/lowest-channel"])
def begins_on_the_lowest_channel(talk: Conversation) -> Iterator[Looked]:
    """A session uses no channel above the lowest one that never had a session."""
    for said, books in walk(talk, "begin"):
        lowest = next(c for c in range(len(books.sessions) + 1) if c not in books.sessions)
        yield Looked(said, said.channel <= lowest, f"channel {said.channel}, {lowest} is free")


@conduct("client.session.begun", covers=["sessions/states/unmapped"])
def works_on_begun_sessions(talk: Conversation) -> Iterator[Looked]:
    """The client sends no frame of a session before its begin."""
    for said, books in walk(talk, *_OF_A_SESSION):
        yield Looked(said, books.session_of(said) is not None, f"no begin on channel {said.channel}")


@conduct("client.session.ended", covers=["sessions/states/end-sent"])
def works_no_more_behind_end(talk: Conversation) -> Iterator[Looked]:
    """After its end, a client sends nothing more on the session."""
    for said, books in walk(talk, *_OF_A_SESSION):
        session = books.session_of(said)
        if session is not None and (session.is_ended or said.name == "end"):
            yield Looked(said, not session.is_ended, "after end")


@conduct("client.flow.next-incoming-id.set", covers=["performatives/flow/next-incoming-id/set"])
def tells_the_next_incoming_id(talk: Conversation) -> Iterator[Looked]:
    """A flow has next-incoming-id after the client has shown that it received the server's begin."""
    for said, books in walk(talk, "flow"):
        session = books.session_of(said)
        if session is not None and session.proves_begin:
            yield Looked(said, "next_incoming_id" in fields(said).given, "none in the flow")


@conduct("client.flow.next-incoming-id.unset", covers=["performatives/flow/next-incoming-id/unset"])
def tells_no_next_incoming_id_too_early(talk: Conversation) -> Iterator[Looked]:
    """A flow that is sent before the server's begin has no next-incoming-id."""
    for said, books in walk(talk, "flow"):
        session = books.session_of(said)
        if session is not None:
            early = session.answer is None and "next_incoming_id" in fields(said).given
            yield Looked(said, not early, "before the server's begin")


@conduct("client.flow.next-incoming-id.value", covers=["sessions/flow/next-incoming-id"])
def counts_what_arrives(talk: Conversation) -> Iterator[Looked]:
    """The next-incoming-id of a flow is between the server's first id and the one after its last transfer."""
    for said, books in walk(talk, "flow"):
        session, told = books.session_of(said), fields(said)["next_incoming_id"]
        if session is None or session.answer is None or told is None:
            continue
        first = number(session.answer["next_outgoing_id"], 0)
        counted = ahead(number(told, 0), first)
        why = f"{counted} transfers counted, {session.received} sent"
        yield Looked(said, 0 <= counted <= session.received, why)


@conduct("client.flow.next-outgoing-id", covers=["sessions/flow/outgoing-id-arithmetic"])
def counts_what_it_sends(talk: Conversation) -> Iterator[Looked]:
    """The next-outgoing-id of a flow is that of begin plus one for each transfer sent since."""
    for said, books in walk(talk, "flow"):
        session = books.session_of(said)
        if session is not None:
            told, ours = fields(said)["next_outgoing_id"], session.next_outgoing_id
            yield Looked(said, told == ours, f"{told} in the flow, expected {ours}")


@conduct("client.flow.without-handle", covers=["performatives/flow/link-credit/without-handle"])
def tells_no_link_without_its_handle(talk: Conversation) -> Iterator[Looked]:
    """A flow without handle has no delivery-count, link-credit, available, drain or properties."""
    for said in talk.by_client("flow"):
        flow = fields(said)
        if "handle" not in flow.given:
            wrong = [key for key in _OF_A_LINK if key in flow.given] + ["drain"] * (flow["drain"] is True)
            yield Looked(said, not wrong, ", ".join(wrong))


@conduct("client.flow.delivery-count", covers=["performatives/flow/delivery-count/sender"])
def tells_its_delivery_count(talk: Conversation) -> Iterator[Looked]:
    """The flow of a sender has its delivery-count, which only drain advances beyond the deliveries sent."""
    for said, books in walk(talk, "flow"):
        link, told = books.link_of(said), fields(said)["delivery_count"]
        if link is None or not link.is_sender:
            continue
        beyond = ahead(number(told, serial(link.delivery_count - 1)), link.delivery_count)
        # In the middle of a delivery the text leaves open whether it counts already.
        least = -1 if link.partial is not None else 0
        kept = told is not None and beyond >= least and (beyond <= 0 or link.is_draining)
        yield Looked(said, kept, f"{told} in the flow, expected {link.delivery_count}")
