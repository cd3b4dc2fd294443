"""Frames: types, sizes, channels, values, heartbeats, and the close, after which no frame follows."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.peer.amqp_1_0.books import number
from amqpspec.run.clients.conduct import conduct, pauses, says_goodbye
from amqpspec.run.clients.judging import Looked
from amqpspec.suites.clients_1_0._books import LEAST_MAX_FRAME_OCTETS, fields, performative_of, walk
from amqpspec.wire.conversation import Conversation, Said

_GRACE = 1.4
"""By how much a pause may exceed the idle timeout before it is held against a client: machines are late, too."""
VALUES = (
    ("open", "performatives/open/mandatory"),
    ("begin", "performatives/begin/mandatory"),
    ("attach", "performatives/attach/mandatory"),
    ("flow", "performatives/flow/mandatory"),
    ("transfer", "performatives/transfer/handle"),
    ("disposition", "performatives/disposition/mandatory"),
    ("detach", "performatives/detach/mandatory"),
)


@conduct("client.frame.performative", covers=["framing/performative"])
def sends_what_can_be_read(talk: Conversation) -> Iterator[Looked]:
    """Every frame of a client is complete, and its body begins with a performative."""
    for said in talk.by_client():
        yield Looked(said, said.name != "garbled")


@conduct("client.frame.type", covers=["framing/type"])
def sends_frames_of_known_types(talk: Conversation) -> Iterator[Looked]:
    """A client's AMQP frames have type 0, and its SASL frames have type 1."""
    for said in talk.by_client():
        yield Looked(said, not said.name.startswith("type-"))


def _values(name: str, row: str) -> None:
    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client(name):
            problems = said.what.problems
            yield Looked(said, not problems, str(problems[0]) if problems else "")

    rule.__doc__ = f"Each {name} of a client has its mandatory fields, and values of the right types."
    globals()[f"case_{name}"] = conduct(f"client.{name}.fields", covers=[row])(rule)


for _name, _row in VALUES:
    _values(_name, _row)


@conduct("client.frame.size", covers=["performatives/open/max-frame-size/respected"])
def keeps_the_frame_size(talk: Conversation) -> Iterator[Looked]:
    """No frame after the server's open exceeds the server's max-frame-size."""
    for said, books in walk(talk):
        limit = max(books.limit("max_frame_size"), LEAST_MAX_FRAME_OCTETS)
        if books.server_opened is not None and performative_of(said) is not None:
            yield Looked(said, said.octets <= limit, f"{said.octets} octets, the peer takes {limit}")


@conduct("client.frame.channel-max", covers=["performatives/open/channel-max/respected"])
def keeps_the_channel_max(talk: Conversation) -> Iterator[Looked]:
    """The client begins no session on a channel above the server's channel-max."""
    for said, books in walk(talk, "begin"):
        limit = books.limit("channel_max")
        yield Looked(said, said.channel <= limit, f"channel {said.channel}, channel-max is {limit}")


@conduct("client.empty-frame.channel-zero", covers=["connections/empty-frame/channel-zero"])
def sends_empty_frames_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The client sends empty frames on channel 0."""
    for said in talk.by_client("empty"):
        yield Looked(said, said.channel == 0, f"channel {said.channel}")


@conduct("client.empty-frame.after-open", covers=["connections/empty-frame/after-open"])
def sends_empty_frames_behind_open(talk: Conversation) -> Iterator[Looked]:
    """The client sends empty frames only after its open."""
    for said, books in walk(talk, "empty"):
        yield Looked(said, books.opened is not None, "before open")


@conduct(
    "client.idle-time-out",
    covers=["performatives/open/idle-time-out/required"],
    scenarios=("idle",),
    slow=True,
)
def keeps_the_idle_timeout(talk: Conversation) -> Iterator[Looked]:
    """An idle client sends something within the idle timeout that the server announced."""
    opened = talk.first_of_server("open")
    idle_ms = 0 if opened is None else number(fields(opened)["idle_time_out"], 0)
    if opened is None or not idle_ms or talk.talk.hostile_ns is not None:
        return
    for before, gap_s in _silences(talk, opened):
        kept = before.name == "close" or 1000 * gap_s < _GRACE * idle_ms
        yield Looked(before, kept, f"{1000 * gap_s:.0f} ms of silence after it, announced were {idle_ms}")


def _silences(talk: Conversation, opened: Said) -> Iterator[tuple[Said, float]]:
    """The client's silence after the server's open, and after each of its own frames from then on, in seconds."""
    first = next((s.at_ns for s in talk.by_client() if s.at_ns >= opened.at_ns), None)
    if first is None and talk.talk.is_whole:
        first = talk.talk.ended_ns
    if first is not None:
        yield opened, (first - opened.at_ns) / 1e9
    yield from pauses(talk, opened.at_ns)


@conduct("client.close.written", covers=["performatives/close/written"], scenarios=("connect", "reconnect"))
def closes_before_it_leaves(talk: Conversation) -> Iterator[Looked]:
    """A client that has finished sends close before it closes the socket."""
    yield from says_goodbye("open", "close")(talk)


@conduct("client.close.last", covers=["performatives/close/nothing-after"])
def says_nothing_behind_its_close(talk: Conversation) -> Iterator[Looked]:
    """The client sends nothing at all after its close."""
    for said, books in walk(talk):
        if books.closed is not None:
            yield Looked(said, False, "after close")
        elif said.name == "close":
            yield Looked(said, True)


@conduct("client.close.channel-zero", covers=["connections/closing/channel-zero"])
def closes_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The client sends close on channel 0."""
    for said in talk.by_client("close"):
        yield Looked(said, said.channel == 0, f"channel {said.channel}")
