"""The published document, chapter 5: how controls, commands and the segments after them are laid out.

Knows: structures that are sound and structures that are not. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import NONE, PRE_ACQUIRED, Peer
from amqpspec.run.amqp_0_10.oracles import well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import borne, equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, on_queue
from amqpspec.suites.amqp_0_10._wire import (
    Act,
    command_of,
    control_of,
    cut_up,
    each_judged,
    octets_of,
)
from amqpspec.wire.amqp_0_10.frames import FIRST_SEGMENT, LAST_SEGMENT, cut, encode_frame
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    COMMAND,
    CONTROL,
    HEADER,
    encode_header,
    encode_instruction,
)
from amqpspec.wire.amqp_0_10.values import Packed, Raw, UnknownStruct

_DELIVERY, _MESSAGE = "message.delivery-properties", "message.message-properties"
_PLAIN: Mapping[str, Any] = {"priority": 4, "delivery_mode": 1}
_POINT = 0x01020304


def _passed(peer: Peer, header: list[Any], body: bytes = b"") -> AssemblyArrived:
    """The result of a message with this header segment, whose first queue is declared here."""
    queue = peer.queue()
    filled = [entry(queue) if callable(entry) else entry for entry in header]
    peer.send("message.transfer", header=filled, body=body, accept_mode=NONE, acquire_mode=PRE_ACQUIRED)
    peer.subscribe(queue)
    return peer.transfer()


def _addressed(queue: str) -> Packed:
    return Packed(_DELIVERY, {**_PLAIN, "routing_key": queue})


# --- numbers, structs, packing


@case("encoding.byte-order", covers=["encoding/byte-order", "type/sequence-no"])
def byte_order(peer: Peer) -> Verdict:
    """The server reports the completion of commands numbered from 0x01020304 with the same numbers."""
    peer.open_session(point=_POINT)
    peer.claim(f"completion of {_POINT} and {_POINT + 1}")
    for _ in range(2):
        peer.call("execution.sync")
    return equals(peer, peer.sessions[0].done.ranges, ((_POINT, _POINT + 1),), "completed")


@in_session("encoding.struct", covers=["encoding/struct/size", "encoding/struct/code", "type/struct32"])
def structs_there_and_back(peer: Peer) -> Verdict:
    """Two consecutive structs arrive as they were sent, each with its code and size."""
    message = Packed(_MESSAGE, {"content_type": "text/plain", "correlation_id": b"\x00\xff", "app_id": b"a"})
    peer.claim("both structs, unchanged")
    got = _passed(peer, [_addressed, message])
    seen = ({k: got.delivery.get(k) for k in _PLAIN}, {k: got.message.get(k) for k in message.fields})
    return equals(peer, seen, (dict(_PLAIN), dict(message.fields)), "structs")


@in_session("encoding.packing.order", covers=["encoding/packing/order", "encoding/packing/present"])
def flags_of_nine_fields(peer: Peer) -> Verdict:
    """Fields with flags in the first and in the second octet of packing flags arrive unchanged."""
    # The application headers are the ninth field; the content length the first.
    fields = {"content_length": 3, "user_id": peer.login.user.encode(), "app_id": b"app"}
    peer.claim("every field that was sent")
    got = _passed(peer, [_addressed, Packed(_MESSAGE, {**fields, "application_headers": {"k": "v"}})], b"abc")
    headers = got.message.get("application_headers")
    seen = {key: got.message.get(key) for key in fields} | {"k": headers.get("k") if headers else None}
    return equals(peer, seen, {**fields, "k": "v"}, "fields")


@in_session(
    "encoding.packing.present", covers=["encoding/packing/present", "encoding/packing/absent", "type/bit"]
)
def empty_is_not_absent(peer: Peer) -> Verdict:
    """A field that is empty arrives empty; a field that is absent is absent on arrival."""
    peer.claim("an empty correlation-id, no content-type and no reply-to")
    got = _passed(peer, [_addressed, Packed(_MESSAGE, {"correlation_id": b"", "app_id": b"x"})])
    seen = {key: got.message.get(key) for key in ("correlation_id", "app_id", "content_type", "reply_to")}
    wanted = {"correlation_id": b"", "app_id": b"x", "content_type": None, "reply_to": None}
    return equals(peer, seen, wanted, "fields")


@in_session("type.bit", covers=["type/bit"])
def bits_are_flags(peer: Peer) -> Verdict:
    """Of two queues, only the one declared with the exclusive bit is exclusive."""
    peer.claim("exclusive for the first queue only")
    names = [peer.queue(exclusive=exclusive) for exclusive in (True, False)]
    seen = [bool(peer.call("queue.query", queue=name).fields.get("exclusive")) for name in names]
    peer.call("queue.delete", queue=names[1])
    return equals(peer, seen, [True, False], "exclusive")


@case("encoding.packing.reserved-flags", covers=["encoding/packing/reserved-flags"])
def flags_beyond_the_fields(peer: Peer) -> Verdict:
    """Commands and controls with flags beyond their last field may be refused."""
    wrong = (
        command_of(encode_instruction("execution.sync", {}, sync=True, flags=0x0100)),
        command_of(encode_instruction("execution.sync", {}, session=Raw(b"\x01\x80"))),
        control_of(encode_instruction("session.flush", {"completed": True}, flags=0x8004)),
    )
    return each_judged(peer, wrong, borne)


@case("encoding.struct.required-field", covers=["encoding/struct/required-field"])
def required_fields(peer: Peer) -> Verdict:
    """Commands and controls without a required field are refused."""
    queue = peer.name("q")
    wrong = (
        command_of(encode_instruction("queue.declare", {"exclusive": True}, sync=True)),
        command_of(encode_instruction("exchange.bind", {"queue": queue, "binding_key": "k"}, sync=True)),
        command_of(encode_instruction("message.accept", {}, sync=True)),
        control_of(encode_instruction("session.command-point", {"command_id": 0})),
    )
    return each_judged(peer, wrong)


# --- controls and commands


@on_queue("encoding.layout", covers=["encoding/control/layout", "encoding/command/layout"])
def own_frames_can_be_read(peer: Peer, queue: str) -> Verdict:
    """The controls and commands that the server sends follow the layout in the tables."""
    peer.publish(queue, b"body", message={"content_type": "text/plain"})
    peer.subscribe(queue)
    peer.accept([peer.transfer()])
    peer.call("queue.query", queue=queue)
    peer.send("session.flush", expected=True, confirmed=True, completed=True)
    peer.expect("session.expected")
    peer.barrier()
    peer.claim("controls and commands laid out as in the tables")
    peer.detach()
    return well_formed(peer)


@on_queue("encoding.command.exactly-once", covers=["encoding/command/exactly-once"])
def executed_once_in_order(peer: Peer, queue: str) -> Verdict:
    """Five transfers deliver five messages, in order."""
    sent = [b"message %d" % number for number in range(5)]
    peer.claim("each message once, in order")
    for body in sent:
        peer.publish(queue, body)
    peer.subscribe(queue)
    got = [transfer.body for transfer in peer.transfers(len(sent))]
    peer.barrier()
    got += [transfer.body for transfer in peer.pending("message.transfer")]
    return equals(peer, got, sent, "messages")


@case("encoding.command.unknown-class", covers=["encoding/command/unknown-class"])
def unknown_class(peer: Peer) -> Verdict:
    """Commands and controls of an undefined class are refused."""
    codes = ((0, 1), (11, 1), (255, 255))
    wrong = [command_of(encode_instruction("execution.sync", {}, code=code)) for code in codes]
    wrong += [control_of(encode_instruction("session.flush", {}, code=code)) for code in codes]
    return each_judged(peer, wrong)


@case("encoding.command.unknown-command", covers=["encoding/command/unknown-command"])
def unknown_command(peer: Peer) -> Verdict:
    """Commands and controls with a code that their class does not define are refused."""
    wrong = [
        command_of(encode_instruction("execution.sync", {}, code=code)) for code in ((3, 0), (3, 4), (8, 255))
    ]
    wrong += [control_of(encode_instruction("session.flush", {}, code=code)) for code in ((2, 14), (1, 13))]
    return each_judged(peer, wrong)


@case("encoding.command.truncated", covers=["encoding/command/truncated"])
def truncated(peer: Peer) -> Verdict:
    """Truncated commands and controls are refused, wherever they are cut."""
    command = encode_instruction("queue.declare", {"queue": "a-queue", "alternate_exchange": "x"}, sync=True)
    control = encode_instruction("session.command-point", {"command_id": 5, "command_offset": 0})
    wrong = [command_of(command[:size]) for size in (0, 1, 2, 3, 5, 7, len(command) - 1)]
    wrong += [control_of(control[:size]) for size in (1, 3, 5, len(control) - 1)]
    return each_judged(peer, wrong)


@case("encoding.segments.required-header", covers=["encoding/segments/required-header"], needs=["stream"])
def without_a_header(peer: Peer) -> Verdict:
    """A command that requires a header segment is refused without one, with or without a body."""
    octets = encode_instruction("stream.publish", {"exchange": "amq.direct", "routing_key": "none"})
    bare = b"".join(cut([(COMMAND, octets)]))
    return each_judged(
        peer, [octets_of(bare), octets_of(b"".join(cut([(COMMAND, octets), (BODY, b"body")])))]
    )


@case("encoding.command.truncated.connection", covers=["encoding/command/truncated"])
def truncated_controls_of_connections(peer: Peer) -> Verdict:
    """Truncated connection controls are refused on channels with and without a session."""
    close = encode_instruction("connection.close", {"reply_code": 200, "reply_text": "done"})

    def on(channel: int) -> Act:
        return lambda one: one.send_octets(encode_frame(close[:-2], type=CONTROL, channel=channel))

    return worst(each_judged(peer, [on(channel)], channel=channel, barrier=False) for channel in (0, 1))


@case("encoding.command.truncated.attach", covers=["encoding/command/truncated"])
def truncated_attach(peer: Peer) -> Verdict:
    """A truncated attach is refused on a channel without a session, whatever is missing."""
    attach = encode_instruction("session.attach", {"name": b"a-session", "force": True})

    def cut_at(size: int) -> Act:
        return lambda one: one.send_octets(encode_frame(attach[:size], type=CONTROL, channel=2))

    return each_judged(peer, [cut_at(size) for size in (3, 5, len(attach) - 1)], channel=2, barrier=False)


@case("encoding.command.trailing", covers=["encoding/command/trailing"])
def trailing(peer: Peer) -> Verdict:
    """Octets after the last field of a command or control are refused."""
    wrong = (
        command_of(encode_instruction("execution.sync", {}, sync=True, extra=b"\0")),
        command_of(encode_instruction("queue.query", {"queue": "a-queue"}, extra=b"\x01\x02")),
        control_of(encode_instruction("session.flush", {"completed": True}, extra=b"\0")),
    )
    return each_judged(peer, wrong)


@case("encoding.command.wrong-side", covers=["encoding/command/wrong-side"])
def wrong_side(peer: Peer) -> Verdict:
    """Controls that only servers send are refused when a client sends them."""
    wrong = (
        control_of(encode_instruction("connection.tune", {"channel_max": 1})),
        control_of(encode_instruction("connection.open-ok", {})),
        control_of(encode_instruction("connection.secure", {"challenge": b"?"})),
    )
    return each_judged(peer, wrong)


@case("encoding.exception.channel", covers=["encoding/exception/channel"])
def exception_on_its_channel(peer: Peer) -> Verdict:
    """If one of two sessions fails, the exception arrives on the channel of that session."""
    for channel in (1, 2):
        peer.open_session(channel)
    peer.claim("an exception on channel 2, and channel 1 continues to work")
    peer.send("queue.delete", 2, queue=peer.name("missing"), sync=True)
    seen = peer.expect("execution.exception", channel=None)
    peer.barrier(1)
    return holds(peer, seen.channel == 2, seen)


# --- header and body segments


@in_session("encoding.header-segment.any-order", covers=["encoding/header-segment/any-order"])
def structs_in_any_order(peer: Peer) -> Verdict:
    """The server accepts message properties before delivery properties and the other way round."""
    message = Packed(_MESSAGE, {"content_type": "text/plain"})
    peer.claim("both messages with their properties")
    orders = ([message, _addressed], [_addressed, message])
    seen = [_passed(peer, order).message.get("content_type") for order in orders]
    return equals(peer, seen, ["text/plain"] * 2, "content types")


@case("encoding.header-segment.one-of-each", covers=["encoding/header-segment/one-of-each"])
def structs_that_stand_twice(peer: Peer) -> Verdict:
    """A header segment that contains the same struct twice may be refused."""

    def twice(one: Peer) -> None:
        entry = _addressed(one.queue())
        one.send(
            "message.transfer", header=[entry, entry], body=b"", accept_mode=NONE, acquire_mode=PRE_ACQUIRED
        )

    return each_judged(peer, [twice], borne)


@in_session("encoding.header-segment.unknown-entry", covers=["encoding/header-segment/unknown-entry"])
def unknown_structs_are_passed_on(peer: Peer) -> Verdict:
    """Structs with unknown codes arrive with the same octets."""
    unknown = [UnknownStruct((200, 7), b"\x00\x00"), UnknownStruct((4, 99), b"\x00\x01\xff")]
    peer.claim("both unknown structs, unchanged")
    got = _passed(peer, [_addressed, *unknown])
    codes = {entry.code for entry in unknown}
    # Intermediaries may reorder entries, and insert others (5.9.1).
    seen = [e for e in got.assembly.header or () if isinstance(e, UnknownStruct) and e.code in codes]
    return equals(peer, sorted(seen), sorted(unknown), "structs")


@case("encoding.segments.unexpected", covers=["encoding/segments/unexpected"], destructive=True)
def unexpected_segments(peer: Peer) -> Verdict:
    """Header and body segments are refused if none are defined or if their order is wrong."""
    sync = encode_instruction("execution.sync", {}, sync=True)
    modes = {"accept_mode": NONE, "acquire_mode": PRE_ACQUIRED}
    transfer = encode_instruction("message.transfer", modes)
    header = encode_header([_addressed("nowhere")])

    def assembly(*segments: tuple[int, bytes]) -> Act:
        def act(peer: Peer) -> None:
            peer.number()
            for at, (kind, octets) in enumerate(segments):
                place = (FIRST_SEGMENT if at == 0 else 0) | (LAST_SEGMENT if at == len(segments) - 1 else 0)
                peer.send_octets(cut_up(kind, [octets], place=place))

        return act

    wrong = (
        assembly((COMMAND, sync), (BODY, b"body")),
        assembly((COMMAND, sync), (HEADER, header)),
        assembly((COMMAND, transfer), (BODY, b"body"), (HEADER, header)),
        assembly((COMMAND, transfer), (HEADER, header), (HEADER, header)),
    )
    return each_judged(peer, wrong)


@case("encoding.segments.body-first", covers=["encoding/segments/unexpected"], destructive=True)
def body_without_a_command(peer: Peer) -> Verdict:
    """A body that belongs to no command is refused."""
    return each_judged(peer, [octets_of(cut_up(BODY, [b"body"]))])


@on_queue("encoding.body-segment.opaque", covers=["encoding/body-segment/opaque"])
def bodies_pass_unchanged(peer: Peer, queue: str) -> Verdict:
    """Bodies with any octets, and with sizes around the frame limits, arrive unchanged."""
    every = bytes(range(256))
    sent = [b"", b"\0", every, (every * 300)[: 65535 - 12], (every * 300)[: 65535 - 11], every * 300]
    peer.claim("every body, unchanged")
    for body in sent:
        peer.publish(queue, body)
    peer.subscribe(queue)
    got = [transfer.body for transfer in peer.transfers(len(sent))]
    return holds(
        peer,
        got == sent,
        f"bodies of {[len(body) for body in got]} octets, {'unchanged' if got == sent else 'changed'}",
    )
