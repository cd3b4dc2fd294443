"""What a correct server may request of a client at any time, and what it may send that a client has to understand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from amqpspec.run.clients.agent import Ran
from amqpspec.run.clients.client import CannotDo
from amqpspec.run.clients.judging import Done, survived
from amqpspec.run.clients.provoking import instead
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.suites.clients_0_10._books import fields, ids
from amqpspec.wire.amqp_0_10.frames import cut, encode_assembly
from amqpspec.wire.amqp_0_10.values import Packed, Value
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.hostility import Deed

_WANTED_S, _GAP = 3600, 4
_MESSAGE = "message.message-properties"
_UNKNOWN_FIXED = 0x2F
"""A type code that no table has, of four octets (5.2)."""


def _said(name: str, kept: Callable[[Mapping[str, Any]], bool] = lambda args: True) -> Done:
    """The client said that, since it was asked."""

    def done(talk: Conversation, ran: Ran) -> bool:
        since_ns = talk.talk.hostile_ns or 0
        return any(said.at_ns >= since_ns and kept(fields(said)) for said in talk.by_client(name))

    return done


def _control(name: str, **args: Any) -> Deed:
    """A control before the assembly, on its channel."""
    return lambda frame: [encode_assembly(name, of.channel_of(frame), **args) + frame]


def _commanded(octets: Callable[[int], bytes]) -> Deed:
    """A command before the assembly, from a server that has sent none."""
    return lambda frame: [of.pointed(of.channel_of(frame), octets(of.channel_of(frame))) + frame]


def _gap(frame: bytes) -> list[bytes]:
    channel = of.channel_of(frame)
    point = encode_assembly("session.command-point", channel, command_id=0, command_offset=0)
    gap = encode_assembly("session.gap", channel, commands=((0, _GAP),))
    return [point + gap + encode_assembly("session.flush", channel, completed=True) + frame]


def _covers_the_gap(args: Mapping[str, Any]) -> bool:
    return set(range(_GAP + 1)) <= ids(args.get("commands"))


def _granted(args: Mapping[str, Any]) -> bool:
    granted = args.get("timeout")
    return granted is not None and granted <= _WANTED_S


def _timely(frame: bytes) -> bytes:
    return of.again(frame, timely_reply=True)


_ASKED: tuple[tuple[str, str, str, Deed, Done, str], ...] = (
    ("flush.completed", "session/flush/earliest", "completed",
     _control("session.flush", completed=True), _said("session.completed"),
     "reports completed commands when a flush requests them"),
    ("flush.confirmed", "session/confirmed/on-request", "completed",
     _control("session.flush", confirmed=True), _said("session.confirmed"),
     "reports confirmed commands when a flush requests them"),
    ("flush.expected", "session/expected/response", "completed",
     _control("session.flush", expected=True), _said("session.expected"),
     "reports expected commands when a flush requests them"),
    ("timely-reply", "session/completed/timely-reply/no-delay", "completed",
     instead(_timely), _said("session.known-completed"), "answers completed with timely-reply immediately"),
    ("timeout", "session/timeout", "completed",
     _control("session.request-timeout", timeout=_WANTED_S), _said("session.timeout"), "answers request-timeout"),
    ("timeout.granted", "session/request-timeout/maximum-granted-timeout/granted", "completed",
     _control("session.request-timeout", timeout=_WANTED_S), _said("session.timeout", _granted),
     "grants no timeout above the requested one"),
    ("sync", "session/header/sync", "completed",
     _commanded(lambda c: encode_assembly("execution.sync", c, sync=True)),
     _said("session.completed", lambda args: 0 in ids(args.get("commands"))),
     "reports a command with the sync flag as completed"),
    ("gap", "session/gap/gap-confirmation-and-completion", "completed",
     _gap, _said("session.completed", _covers_the_gap), "reports the commands in a gap as completed"),
)  # fmt: skip


for _name, _row, _point, _deed, _done, _what in _ASKED:
    of.duty(globals(), f"client.asked.{_name}", _row, _point, _deed, _done, f"A client {_what}")


# --- legal messages that a client has to understand


def _in_pieces(frame: bytes) -> bytes:
    """The assembly in frames of a single octet."""
    assembly = of.read(frame)
    segments = [(segment.type, segment.octets) for segment in assembly.segments]
    return b"".join(cut(segments, channel=assembly.channel, max_frame_octets=13))


def _with_a_heartbeat_inside(frame: bytes) -> bytes:
    """The assembly cut into frames, with controls between them."""
    assembly = of.read(frame)
    segments = [(segment.type, segment.octets) for segment in assembly.segments]
    control = encode_assembly("session.flush", assembly.channel, completed=True)
    return control.join(cut(segments, channel=assembly.channel, max_frame_octets=64))


def _with_message(**fields: Any) -> Deed:
    """The transfer with more in its message properties, which stand before all else in its header."""

    def deed(frame: bytes) -> bytes:
        assembly = of.read(frame)
        entries = list(assembly.header or ())
        known = [e for e in entries if isinstance(e, Packed) and e.name == _MESSAGE]
        others = [entry for entry in entries if entry not in known]
        # What the sender said of its message stays: a client may need it to understand the body.
        message = Packed(_MESSAGE, {**(known[0].fields if known else {}), **fields})
        return encode_assembly(
            assembly.name,
            assembly.channel,
            header=[message, *others],
            body=assembly.body,
            **of.args_of(frame),
        )

    return instead(deed)


_UNKNOWN = {"x": Value(_UNKNOWN_FIXED, b"\0\0\0\1"), "y": 1}
_accepts = _said("message.accept")
for _name, _row, _deed, _what in (
    ("one-octet-frames", "transport/assemblies/any-cut", instead(_in_pieces), "in frames of one octet each"),
    ("control-inside", "transport/tracks/control-within-command",
     instead(_with_a_heartbeat_inside), "with controls between its frames"),
    ("header-order", "encoding/header-segment/any-order", _with_message(),
     "with its delivery properties at the end of the header"),
    ("unknown-type", "encoding/type-codes/skipping", _with_message(application_headers=_UNKNOWN),
     "with a value of an unknown type in a map"),
):  # fmt: skip
    of.duty(
        globals(),
        f"client.understands.{_name}",
        _row,
        "transfer",
        _deed,
        _accepts,
        f"A client understands a message {_what}",
    )


# --- legal, but large


def _lives(talk: Conversation, ran: Ran) -> bool:
    """Whatever it does, it does not hang, crash or take too much memory. Raises Undecided."""
    refused = any(of.says(said) for said in talk.by_client() if said.at_ns >= (talk.talk.hostile_ns or 0))
    if not refused:
        survived(talk, ran)
    return True


_HEADERS, _FLUSHES, _HALF = 2_000, 1_000, 0x7FFFFFFF
_MANY = {f"key-{n}": n for n in range(_HEADERS)}


def _vast_gap(frame: bytes) -> list[bytes]:
    channel = of.channel_of(frame)
    gap = encode_assembly("session.gap", channel, commands=((0, _HALF - 1),))
    return [gap + encode_assembly("session.flush", channel, completed=True) + frame]


def _flushes(frame: bytes) -> Iterator[bytes]:
    flush = encode_assembly(
        "session.flush", of.channel_of(frame), expected=True, confirmed=True, completed=True
    )
    yield flush * _FLUSHES + frame


for _name, _row, _point, _much, _what in (
    (
        "headers",
        "survives/values",
        "transfer",
        _with_message(application_headers=_MANY),
        "a message with 2,000 headers",
    ),
    ("gap", "survives/sets", "completed", _vast_gap, "a gap of 2,147,483,647 commands, and a flush"),
    ("flushes", "survives/flood", "completed", _flushes, "1,000 flushes at once"),
):
    of.duty(globals(), f"client.endures.{_name}", _row, _point, _much, _lives, f"A client survives {_what}")


# --- the handshake


def _large_start(frame: bytes) -> bytes:
    """Start in one frame of 4096 octets."""
    args = of.args_of(frame)
    properties = args["server_properties"].plain()
    empty = len(of.again(frame, server_properties={**properties, "remark": ""}))
    return of.again(frame, server_properties={**properties, "remark": "x" * (4096 - empty)})


def _without_limits(frame: bytes) -> bytes:
    return of.again(frame, channel_max=None, max_frame_size=None, heartbeat_min=None, heartbeat_max=None)


def _sets_no_heartbeat(talk: Conversation, ran: Ran) -> bool:
    tuned: Said | None = next(talk.by_client("connection.tune-ok"), None)
    if tuned is None:
        raise CannotDo("the client sent no tune-ok")
    return fields(tuned).get("heartbeat") is None


of.duty(
    globals(), "client.understands.start-of-4096-octets", "connection/tune/max-frame-size/minimum/accepted", "start",
       instead(_large_start), _said("connection.start-ok"),
       "A client accepts a frame of 4096 octets before limits are agreed on")  # fmt: skip
of.duty(
    globals(), "client.understands.no-limits", "connection/tune/max-frame-size/lower", "tune",
       instead(_without_limits), _said("connection.open"),
       "A client opens a connection to a server that sets no limits")  # fmt: skip
of.duty(
    globals(), "client.understands.no-heartbeat", "connection/tune-ok/heartbeat/no-heartbeat-min", "tune",
       instead(_without_limits), _sets_no_heartbeat,
       "A client sets no heartbeat if the server does not support any")  # fmt: skip
