"""Frames: headers, flags, tracks, sizes, heartbeats, and the close."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.conduct import pauses, says_goodbye
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
from amqpspec.suites.clients_0_10 import EVERY
from amqpspec.suites.clients_0_10._books import fields, frame_of, is_command, walk
from amqpspec.wire.amqp_0_10.frames import HEADER_OCTETS, LAYOUT, Frame
from amqpspec.wire.conversation import Conversation

_CLOSES = ("connection.close", "connection.close-ok")
_CODES = [choice.value for choice in TABLES.choices("connection.close-code")]
_DELAYS = 2
Judge = Callable[[Client], Verdict]


def _each(kept: Callable[[Frame], bool], what: Callable[[Frame], str] = lambda frame: "") -> Judge:
    """Each frame of the client keeps something."""

    def judge(client: Client) -> Verdict:
        def rule(talk: Conversation) -> Iterator[Looked]:
            for said in talk.by_client():
                frame = frame_of(said)
                if frame is not None:
                    yield Looked(said, kept(frame), what(frame))

        return conducts(client, rule, *EVERY)

    return judge


def _reserved(frame: Frame) -> int:
    return (
        frame.flags & LAYOUT.reserved_flags or frame.reserved_1 or frame.reserved_2 or frame.track_octet >> 4
    )


_HEADERS: tuple[tuple[str, str, Judge, str], ...] = (
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


def _declare(name: str, row: str, body: Judge, title: str) -> None:
    body.__doc__, body.__module__ = title, __name__
    globals()[f"case_{name}"] = case(f"client.frame.{name}", covers=[row])(body)


for _declared in _HEADERS:
    _declare(*_declared)


@case("client.frame.size", covers=["connection/tune-ok/max-frame-size/max-frame-size/sent"])
def keeps_the_frame_size(client: Client) -> Verdict:
    """No frame after tune-ok exceeds the max-frame-size in tune-ok."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk):
            frame, limit = frame_of(said), (books.tuned or {}).get("max_frame_size")
            if frame is not None and limit is not None:
                yield Looked(said, frame.size <= limit, f"{frame.size} octets, agreed are {limit}")

    return conducts(client, rule, *EVERY)


@case("client.frame.size.least", covers=["transport/frame/size-below-header"])
def counts_the_header(client: Client) -> Verdict:
    """No frame announces a size below that of its header."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            lost = said.name == "garbled" and frame_of(said) is None
            yield Looked(said, not lost, f"a size of at least {HEADER_OCTETS} is expected")

    return conducts(client, rule, *EVERY)


@case("client.frame.flags", covers=["transport/assemblies/flags"])
def sets_flags_in_order(client: Client) -> Verdict:
    """The flags of frames mark the beginning and end of segments and assemblies without contradiction."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            frame = frame_of(said)
            if frame is not None:
                wrong = frame.error is not None and not frame.error.actual.startswith("type")
                yield Looked(said, not wrong, str(frame.error or ""))

    return conducts(client, rule, *EVERY)


@case("client.frame.segment-type", covers=["transport/frame/segment-type"])
def keeps_the_type_of_a_segment(client: Client) -> Verdict:
    """All frames of a segment have the same type."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            frame = frame_of(said)
            if frame is not None:
                wrong = frame.error is not None and frame.error.actual.startswith("type")
                yield Looked(said, not wrong, str(frame.error or ""))

    return conducts(client, rule, *EVERY)


@case("client.frame.channel", covers=["connection/tune-ok/channel-max/available-channels"])
def keeps_the_channel_max(client: Client) -> Verdict:
    """The client uses only channels below the channel-max in tune-ok."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, books in walk(talk):
            if frame_of(said) is not None and books.tuned is not None:
                limit = books.tuned.get("channel_max", 1)
                # Channel 0 is always there (4.4.2).
                kept = said.channel < max(limit, 1)
                yield Looked(said, kept, f"channel {said.channel}, channel-max is {limit}")

    return conducts(client, rule, *EVERY)


@case("client.frame.track.control", covers=["track/control/zero"])
def sends_controls_on_track_zero(client: Client) -> Verdict:
    """The client sends controls on track 0."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            frame = frame_of(said)
            if frame is not None and frame.assembly is not None and not is_command(said):
                kept = frame.track == LAYOUT.tracks["control"] or frame.assembly.instruction is None
                yield Looked(said, kept, f"track {frame.track}")

    return conducts(client, rule, *EVERY)


@case("client.frame.track.command", covers=["track/command/one"])
def sends_commands_on_track_one(client: Client) -> Verdict:
    """The client sends commands on track 1."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            frame = frame_of(said)
            if frame is not None and is_command(said):
                yield Looked(said, frame.track == LAYOUT.tracks["command"], f"track {frame.track}")

    return conducts(client, rule, *EVERY)


# --- life and death


@case("client.heartbeat.interval", covers=["connection/heartbeat/missed"], slow=True)
def sends_heartbeats(client: Client) -> Verdict:
    """An idle client is never silent for more than twice its heartbeat delay."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        tuned = next(talk.by_client("connection.tune-ok"), None)
        delay_s = 0 if tuned is None else fields(tuned).get("heartbeat", 0)
        if tuned is None or not delay_s or talk.talk.hostile_ns is not None:
            return
        for before, gap_s in pauses(talk, tuned.at_ns):
            kept = before.name in _CLOSES or gap_s <= _DELAYS * delay_s
            yield Looked(before, kept, f"{gap_s:.1f} s of silence after it, the delay is {delay_s} s")

    return conducts(client, rule, "idle")


@case("client.close.written", covers=["connection/close-ok"])
def closes_before_it_leaves(client: Client) -> Verdict:
    """A client that has finished closes the connection before it closes the socket."""
    return conducts(client, says_goodbye("connection.open", *_CLOSES), "connect", "reconnect")


@case("client.close.codes", covers=["connection/close/reason"])
def closes_with_a_code_of_the_specification(client: Client) -> Verdict:
    """The reply code of the client's close is one that the specification defines."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for close in talk.by_client("connection.close"):
            code = fields(close).get("reply_code")
            yield Looked(close, code in _CODES, f"reply code {code}")

    return conducts(client, rule, *EVERY)
