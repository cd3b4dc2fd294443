"""Conduct of a server: the rules of AMQP 1.0 that bind both peers, and the order of its handshake."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from amqpspec.peer.amqp_1_0.books import number
from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.run.clients.mirror import SERVER, clear, declare_mirrored
from amqpspec.spec.model import Side
from amqpspec.suites.clients_1_0 import deliveries, frames, links, opening, sessions
from amqpspec.suites.clients_1_0._books import fields
from amqpspec.wire.conversation import Conversation

_UNSTUCK_OCTETS = 64 << 10
_LEAST_MS = 1000
"""Shorter silences say nothing: what passes by is seen later than it was sent."""
_ANSWERED = {"sasl-header": "mechanisms", "sasl-init": "answer", "sasl-response": "answer"}
_SASL = {"sasl-mechanisms", "sasl-challenge", "sasl-outcome"}


@conduct("server.handshake.order", covers=["server/sasl/negotiation/steps"], role=SERVER)
def keeps_the_steps_of_sasl(talk: Conversation) -> Iterator[Looked]:
    """The server sends mechanisms after the SASL header, and a challenge or the outcome after the client's answer."""
    owed: Counter[str] = Counter()
    for said in clear(talk):
        if said.sender is Side.CLIENT:
            owed[_ANSWERED.get(said.name, "")] += 1
        elif said.name in _SASL:
            answer = "mechanisms" if said.name == "sasl-mechanisms" else "answer"
            yield Looked(said, owed[answer] > 0, f"no {answer} was requested")
            owed[answer] -= 1


@conduct("server.sasl.outcome", covers=["server/sasl/outcome/then-headers"], role=SERVER)
def works_behind_its_header(talk: Conversation) -> Iterator[Looked]:
    """The server sends the AMQP header before any frame of that layer."""
    layer = ""
    for said in talk.by_server():
        if said.name.endswith("header"):
            layer = said.name
        elif said.name not in _SASL:
            yield Looked(said, layer == "amqp-header", f"after {layer or 'nothing'}")


@conduct("server.idle-time-out", covers=["server/performatives/open/idle-time-out/required"], role=SERVER)
def keeps_the_idle_timeout(talk: Conversation) -> Iterator[Looked]:
    """An idle server sends something within twice the idle timeout that the client announced.

    A client that does not read keeps a server from being seen: only pauses count before which so little came that the
    server cannot have been stuck.
    """
    idle_ms = next((number(fields(s)["idle_time_out"], 0) for s in talk.by_client("open")), 0)
    octets = 0
    for said, later in pairwise(talk.by_server()) if idle_ms else ():
        octets += said.octets
        gap_ms = (later.at_ns - said.at_ns) / 1e6
        opened = said.name not in _SASL and not said.name.endswith("header")
        if opened and octets <= _UNSTUCK_OCTETS and later.octets <= _UNSTUCK_OCTETS:
            why = f"{gap_ms:.0f} ms of silence after it, announced were {idle_ms}"
            yield Looked(said, gap_ms <= max(2 * idle_ms, _LEAST_MS), why)


_RULES = (
    ("server.header.first", "version/header-first", opening.begins_with_a_header,
     "The first octets of a server are a protocol header"),
    ("server.sasl.frame-size", "sasl/frame/max-size", opening.sends_no_large_sasl_frame,
     "A SASL frame of the server has at most 512 octets"),
    ("server.sasl.channel-zero", "sasl/frame/channel-zero", opening.sends_sasl_frames_with_zeros,
     "Octets 6 and 7 of the server's SASL frames are zero"),
    ("server.open.first", "connections/opening/open-first", opening.opens_before_all_else,
     "After the AMQP header, the server sends open before all other frames"),
    ("server.open.once", "connections/states/legal-frames", opening.opens_once,
     "A server sends one open and one AMQP header on a connection"),
    ("server.open.channel-zero", "connections/opening/channel-zero", opening.opens_on_channel_zero,
     "The server sends open on channel 0"),
    ("server.open.max-frame-size", "definitions/min-max-frame-size/lower-bound", opening.takes_frames_of_512_octets,
     "The max-frame-size of a server's open is at least 512 octets"),
    ("server.frame.performative", "framing/performative", frames.sends_what_can_be_read,
     "Every frame of a server is complete, and its body begins with a performative"),
    ("server.frame.type", "framing/type", frames.sends_frames_of_known_types,
     "A server's AMQP frames have type 0, and its SASL frames have type 1"),
    *((f"server.{name}.fields", row, frames.__dict__[f"case_{name}"],
       f"Each {name} of a server has its mandatory fields, and values of the right types")
      for name, row in frames.VALUES),
    ("server.frame.size", "performatives/open/max-frame-size/respected", frames.keeps_the_frame_size,
     "No frame after the client's open exceeds the client's max-frame-size"),
    ("server.frame.channel-max", "performatives/open/channel-max/respected", frames.keeps_the_channel_max,
     "The server begins no session on a channel above the client's channel-max"),
    ("server.empty-frame.channel-zero", "connections/empty-frame/channel-zero",
     frames.sends_empty_frames_on_channel_zero, "The server sends empty frames on channel 0"),
    ("server.empty-frame.after-open", "connections/empty-frame/after-open", frames.sends_empty_frames_behind_open,
     "The server sends empty frames only after its open"),
    ("server.close.last", "performatives/close/nothing-after", frames.says_nothing_behind_its_close,
     "The server sends nothing at all after its close"),
    ("server.close.channel-zero", "connections/closing/channel-zero", frames.closes_on_channel_zero,
     "The server sends close on channel 0"),
    ("server.begin.unused-channel", "sessions/begin/unused-channel", sessions.begins_on_a_free_channel,
     "A server begins a session on a channel on which it has none"),
    ("server.begin.remote-channel", "performatives/begin/remote-channel/unset",
     sessions.begins_without_a_remote_channel,
     "A server's begin names the channel of a session that the client began, or none"),
    ("server.session.begun", "sessions/states/unmapped", sessions.works_on_begun_sessions,
     "The server sends no frame of a session before its begin"),
    ("server.session.ended", "sessions/states/end-sent", sessions.works_no_more_behind_end,
     "After its end, a server sends nothing more on the session"),
    ("server.flow.next-incoming-id.set", "performatives/flow/next-incoming-id/set",
     sessions.tells_the_next_incoming_id, "Each flow in a session that the client began has next-incoming-id"),
    ("server.flow.next-incoming-id.value", "sessions/flow/next-incoming-id", sessions.counts_what_arrives,
     "The next-incoming-id of a flow is between the client's first id and the one after its last transfer"),
    ("server.flow.next-outgoing-id", "sessions/flow/outgoing-id-arithmetic", sessions.counts_what_it_sends,
     "The next-outgoing-id of a server's flow is that of its begin plus one for each transfer sent since"),
    ("server.flow.without-handle", "performatives/flow/link-credit/without-handle",
     sessions.tells_no_link_without_its_handle,
     "A server's flow without handle has no delivery-count, link-credit, available, drain or properties"),
    ("server.flow.delivery-count", "performatives/flow/delivery-count/sender", sessions.tells_its_delivery_count,
     "A server that sends has its delivery-count in flows, which only drain advances beyond the deliveries sent"),
    ("server.attach.handle.free", "performatives/attach/handle/free", links.attaches_by_a_free_handle,
     "An attach of the server uses a handle that no link of the session has"),
    ("server.attach.handle-max", "performatives/begin/handle-max/respected", links.keeps_the_handle_max,
     "The server attaches no link with a handle above the client's handle-max"),
    ("server.attach.initial-delivery-count", "performatives/attach/initial-delivery-count/set",
     links.tells_where_its_count_begins, "The attach of a server that sends contains an initial-delivery-count"),
    ("server.link.handles", "links/handles/until-detach", links.speaks_of_attached_links,
     "A flow, transfer or detach of the server has a handle that it attached and has not detached"),
    ("server.link.direction", "links/establishing/whose-terminus", links.sends_on_its_sending_links,
     "The server sends transfers only on links that it attached as sender"),
    ("server.transfer.credit", "links/flow/no-credit", links.sends_within_its_credit,
     "The server sends no more deliveries than the credit in the client's flows allows at most"),
    ("server.transfer.window", "sessions/flow/remote-incoming-window", links.sends_within_the_window,
     "No transfer exceeds the client's incoming window"),
    ("server.delivery.id", "performatives/transfer/delivery-id/first", deliveries.numbers_its_deliveries,
     "The first transfer of a server's delivery has a delivery-id"),
    ("server.delivery.id.sequence", "links/delivery-ids-per-session", deliveries.numbers_its_deliveries_in_sequence,
     "The delivery-ids of a server in a session form one sequence and increase by one each time"),
    ("server.delivery.tag", "performatives/transfer/delivery-tag/first", deliveries.tags_its_deliveries,
     "The first transfer of a server's delivery has a delivery-tag"),
    ("server.delivery.tag.length", "definitions/delivery-tag/length", deliveries.keeps_tags_short,
     "A delivery-tag of the server has at most 32 octets"),
    ("server.delivery.tag.unique", "transfers/delivery-tag/unique", deliveries.gives_a_tag_once,
     "A delivery-tag is unique among the server's unsettled deliveries of a link"),
    ("server.delivery.message-format", "performatives/transfer/message-format/first", deliveries.tells_the_format,
     "The first transfer of a server's delivery has a message-format"),
    ("server.delivery.continuation.id", "performatives/transfer/delivery-id/differs",
     deliveries.goes_on_under_the_same_id,
     "A later transfer of a server's delivery has the delivery-id of the first, or none"),
    ("server.delivery.continuation.tag", "performatives/transfer/delivery-tag/differs",
     deliveries.goes_on_under_the_same_tag,
     "A later transfer of a server's delivery has the delivery-tag of the first, or none"),
    ("server.delivery.aborted", "performatives/transfer/more/not-with-aborted", deliveries.ends_what_it_gives_up,
     "An aborted transfer of the server does not have more set"),
    ("server.delivery.mode-settled", "performatives/transfer/settled/mode-settled",
     deliveries.settles_in_mode_settled,
     "On a link of mode settled, at least one transfer of each of the server's deliveries has settled true"),
    ("server.delivery.mode-unsettled", "performatives/transfer/settled/mode-unsettled",
     deliveries.settles_nothing_in_mode_unsettled,
     "On a link of mode unsettled, no transfer of the server has settled true"),
    ("server.message.sections", "messaging/sections", deliveries.sends_sections_in_order,
     "A server's message of format 0 consists of the sections of the specification in their order, and has a body"),
    ("server.disposition.known", "performatives/disposition/directionality", deliveries.disposes_of_what_there_is,
     "The first and last delivery of a server's disposition have the direction that its role indicates"),
    ("server.disposition.settled-once", "links/settled-for-ever", deliveries.unsettles_nothing,
     "The server does not send an unsettled disposition for a delivery that it has settled"),
)  # fmt: skip
for _id, _row, _rule, _title in _RULES:
    declare_mirrored(globals(), _id, f"server/{_row}", _title, _rule)
