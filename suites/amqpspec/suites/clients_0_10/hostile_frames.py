"""Servers that break the rules of frames: each deed at several points of a conversation."""

from __future__ import annotations

from amqpspec.run.clients.provoking import Reading
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, FIRST_SEGMENT, LAST_SEGMENT, WHOLE, cut, encode_frame
from amqpspec.wire.amqp_0_10.instructions import BODY, COMMAND, CONTROL, HEADER, encode_instruction
from amqpspec.wire.hostility import Deed

_HEARTBEAT = encode_instruction("connection.heartbeat", {})
_SYNC = encode_instruction("execution.sync", {})
_BEGUN = FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME
_REST = WHOLE & ~FIRST_FRAME
_LARGEST = 0xFFFF


def _type_changes(channel: int) -> bytes:
    begun = encode_frame(_HEARTBEAT[:2], type=CONTROL, flags=_BEGUN, channel=channel)
    return begun + encode_frame(_HEARTBEAT[2:], type=HEADER, flags=_REST, track=0, channel=channel)


def _begun_twice(channel: int) -> bytes:
    return encode_frame(_HEARTBEAT[:2], type=CONTROL, flags=_BEGUN, channel=channel) * 2


def _control(**header: int) -> Deed:
    return of.behind(of.frame(CONTROL, payload=_HEARTBEAT, **header))


_FRAMES: tuple[tuple[str, str, Deed, str, Reading | None], ...] = (
    ("size-0", "transport/frame/size-below-header", of.lying_size(0), "a frame of size 0", None),
    ("size-11", "transport/frame/size-below-header", of.lying_size(11), "a frame of size 11", None),
    ("version-1", "transport/frame/version", _control(flags=WHOLE | 0x40), "a frame of another format version", None),
    ("reserved-flags", "transport/frame/reserved-bits", _control(flags=WHOLE | 0x30),
     "a frame with reserved flags set", None),
    ("reserved-octet", "transport/frame/reserved-bits", _control(reserved_1=0xFF),
     "a frame with its reserved octet set", None),
    ("reserved-tail", "transport/frame/reserved-bits", _control(reserved_2=0xFFFFFFFF),
     "a frame with octets 8 to 11 set", None),
    ("type-77", "segment-type/values", of.behind(of.frame(77, track=0)), "a frame of type 77", None),
    ("track-7", "transport/tracks/reserved", _control(track=7), "a frame on track 7", None),
    ("control-on-track-1", "track/control/zero", _control(track=1), "a control on track 1", None),
    ("rest-alone", "transport/assemblies/flags", _control(flags=0), "a frame that continues no segment", None),
    ("begun-twice", "transport/assemblies/flags",
     of.behind(_begun_twice), "an assembly that begins inside another one", None),
    ("type-changes", "transport/frame/segment-type", of.behind(_type_changes),
     "a segment whose frames differ in type", None),
)  # fmt: skip
for _point in ("open-ok", "completed", "transfer"):
    for _name, _row, _deed, _what, _reads in _FRAMES:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", f"violated/{_row}", of.POINTS[_point], _deed,
            f"A client {of.demand(f'violated/{_row}')} {_what} after {_point}", _reads,
        )  # fmt: skip
for _name in ("size-0", "size-11", "type-77", "rest-alone"):
    _deed, _what = next((deed, what) for name, _, deed, what, _ in _FRAMES if name == _name)
    for _point in ("start", "tune"):
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", "violated/connection/grammar", of.POINTS[_point],
            _deed, f"A client rejects {_what} after {_point}",
        )  # fmt: skip

_FAR_CHANNEL = _LARGEST
_WORKING: tuple[tuple[str, str, Deed, str, Reading | None], ...] = (
    ("command-on-track-0", "track/command/one",
     of.behind(of.frame(COMMAND, payload=_SYNC, track=0)), "a command on track 0", None),
    ("frame-of-65535-octets", "connection/tune-ok/max-frame-size/max-frame-size/refused",
     of.lying_size(_LARGEST), "a frame of 65,535 octets", of.limited("max_frame_size", _LARGEST)),
    ("channel-65535", "connection/tune-ok/channel-max/available-channels",
     of.behind(lambda c: encode_frame(_SYNC, type=COMMAND, channel=_FAR_CHANNEL)), "a command on channel 65,535",
     of.limited("channel_max", _FAR_CHANNEL + 1)),
    ("body-alone", "encoding/segments/unexpected",
     of.behind(of.frame(BODY, payload=b"x")), "a body without a command", None),
    ("header-behind-a-control", "encoding/segments/unexpected",
     of.behind(lambda c: b"".join(cut([(CONTROL, _HEARTBEAT), (HEADER, b"")], channel=c))), "a control with a header",
     None),
    ("body-behind-sync", "encoding/segments/unexpected",
     of.behind(lambda c: of.pointed(c, b"".join(cut([(COMMAND, _SYNC), (BODY, b"x")], channel=c)))),
     "a body after a command that defines none", None),
)  # fmt: skip
for _point in ("attached", "completed"):
    for _name, _row, _deed, _what, _reads in _WORKING:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", f"violated/{_row}", of.POINTS[_point], _deed,
            f"A client {of.demand(f'violated/{_row}')} {_what} after {_point}", _reads,
        )  # fmt: skip
