"""Frames: headers, flags, tracks, sizes, heartbeats, and the close."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amqpspec.run.clients.conduct import conduct, pauses, says_goodbye
from amqpspec.run.clients.judging import Looked, Rule
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
from amqpspec.suites.clients_0_10._books import fields, frame_of, is_command, walk
from amqpspec.wire.amqp_0_10.frames import HEADER_OCTETS, LAYOUT, Frame
from amqpspec.wire.conversation import Conversation

_CLOSES = ("connection.close", "connection.close-ok")
_CODES = [choice.value for choice in TABLES.choices("connection.close-code")]
_DELAYS = 2


def _each(kept: Callable[[Frame], bool], what: Callable[[Frame], str] = lambda frame: "") -> Rule:
    """Each frame of the client keeps something."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            frame = frame_of(said)
            if frame is not None:
                yield Looked(said, kept(frame), what(frame))

    return rule


def _reserved(frame: Frame) -> int:
    return (
        frame.flags & LAYOUT.reserved_flags or frame.reserved_1 or frame.reserved_2 or frame.track_octet >> 4
    )


_HEADERS: tuple[tuple[str, str, Rule, str], ...] = (
    ("version", "transport/frame/version",
     _each(lambda f: not f.flags & LAYOUT.version_mask), "The two highest bits of each frame's flags are zero."),
    ("reserved", "transport/frame/reserved-bits",
     _each(lambda f: not _reserved(f)), "All reserved bits of each frame are zero."),
    ("type", "segment-type/values",
     _each(lambda f: f.type in LAYOUT.types.values(), lambda f: f"type {f.type}"),
     "The client sends only frames of defined types."),
    ("track.defined", "transport/tracks/reserved",
     _each(lambda f: f.track in LAYOUT.tracks.values(), lambda f: f"track {f.track}"),
     "The client sends frames only on tracks 0 and 1."),
)  # fmt: skip


for _name, _row, _rule, _title in _HEADERS:
    _rule.__doc__ = _title
    globals()[f"case_{_name}"] = conduct(f"client.frame.{_name}", covers=[_row])(_rule)


@conduct("client.frame.size", covers=["connection/tune-ok/max-frame-size/max-frame-size/sent"])
def keeps_the_frame_size(talk: Conversation) -> Iterator[Looked]:
    """No frame after tune-ok exceeds the max-frame-size in tune-ok."""
    for said, books in walk(talk):
        frame, limit = frame_of(said), (books.tuned or {}).get("max_frame_size")
        if frame is not None and limit is not None:
            yield Looked(said, frame.size <= limit, f"{frame.size} octets, agreed are {limit}")


@conduct("client.frame.size.least", covers=["transport/frame/size-below-header"])
def counts_the_header(talk: Conversation) -> Iterator[Looked]:
    """No frame announces a size below that of its header."""
    for said in talk.by_client():
        lost = said.name == "garbled" and frame_of(said) is None
        yield Looked(said, not lost, f"a size of at least {HEADER_OCTETS} is expected")


@conduct("client.frame.flags", covers=["transport/assemblies/flags"])
def sets_flags_in_order(talk: Conversation) -> Iterator[Looked]:
    """The flags of frames mark the beginning and end of segments and assemblies without contradiction."""
    for said in talk.by_client():
        frame = frame_of(said)
        if frame is not None:
            wrong = frame.error is not None and not frame.error.actual.startswith("type")
            yield Looked(said, not wrong, str(frame.error or ""))


@conduct("client.frame.segment-type", covers=["transport/frame/segment-type"])
def keeps_the_type_of_a_segment(talk: Conversation) -> Iterator[Looked]:
    """All frames of a segment have the same type."""
    for said in talk.by_client():
        frame = frame_of(said)
        if frame is not None:
            wrong = frame.error is not None and frame.error.actual.startswith("type")
            yield Looked(said, not wrong, str(frame.error or ""))


@conduct("client.frame.channel", covers=["connection/tune-ok/channel-max/available-channels"])
def keeps_the_channel_max(talk: Conversation) -> Iterator[Looked]:
    """The client uses only channels below the channel-max in tune-ok."""
    for said, books in walk(talk):
        if frame_of(said) is not None and books.tuned is not None:
            limit = books.tuned.get("channel_max", 1)
            # Channel 0 is always there (4.4.2).
            kept = said.channel < max(limit, 1)
            yield Looked(said, kept, f"channel {said.channel}, channel-max is {limit}")


@conduct("client.frame.track.control", covers=["track/control/zero"])
def sends_controls_on_track_zero(talk: Conversation) -> Iterator[Looked]:
    """The client sends controls on track 0."""
    for said in talk.by_client():
        frame = frame_of(said)
        if frame is not None and frame.assembly is not None and not is_command(said):
            kept = frame.track == LAYOUT.tracks["control"] or frame.assembly.instruction is None
            yield Looked(said, kept, f"track {frame.track}")


@conduct("client.frame.track.command", covers=["track/command/one"])
def sends_commands_on_track_one(talk: Conversation) -> Iterator[Looked]:
    """The client sends commands on track 1."""
    for said in talk.by_client():
        frame = frame_of(said)
        if frame is not None and is_command(said):
            yield Looked(said, frame.track == LAYOUT.tracks["command"], f"track {frame.track}")


# --- life and death


@conduct("client.heartbeat.interval", covers=["connection/heartbeat/missed"], scenarios=("idle",), slow=True)
def sends_heartbeats(talk: Conversation) -> Iterator[Looked]:
    """An idle client is never silent for more than twice its heartbeat delay."""
    tuned = next(talk.by_client("connection.tune-ok"), None)
    delay_s = 0 if tuned is None else fields(tuned).get("heartbeat", 0)
    if tuned is None or not delay_s or talk.talk.hostile_ns is not None:
        return
    for before, gap_s in pauses(talk, tuned.at_ns):
        kept = before.name in _CLOSES or gap_s <= _DELAYS * delay_s
        yield Looked(before, kept, f"{gap_s:.1f} s of silence after it, the delay is {delay_s} s")


@conduct("client.close.written", covers=["connection/close-ok"], scenarios=("connect", "reconnect"))
def closes_before_it_leaves(talk: Conversation) -> Iterator[Looked]:
    """A client that has finished closes the connection before it closes the socket."""
    yield from says_goodbye("connection.open", *_CLOSES)(talk)


@conduct("client.close.codes", covers=["connection/close/reason"])
def closes_with_a_code_of_the_specification(talk: Conversation) -> Iterator[Looked]:
    """The reply code of the client's close is one that the specification defines."""
    for close in talk.by_client("connection.close"):
        code = fields(close).get("reply_code")
        yield Looked(close, code in _CODES, f"reply code {code}")
