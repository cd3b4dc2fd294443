"""Conduct of a server: frames, the handshake, heartbeats, closes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.run.clients.mirror import SERVER
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1._hostile import OCTETS
from amqpspec.suites.clients_0_9_1._servers import is_method, readable
from amqpspec.wire.conversation import Conversation

_SMALLEST = 4096
_UNSTUCK_OCTETS = 64 << 10
_HANDSHAKE = ("connection.start", "connection.secure", "connection.tune")
_ENDS = ("connection.close", "connection.close-ok")


@conduct("server.frames.readable", covers=["server/frame/readable"], role=SERVER)
def sends_whole_frames(talk: Conversation) -> Iterator[Looked]:
    """Every frame of the server has a known type, the announced size and the end octet, and can be decoded."""
    for said in talk.by_server():
        kept = said.name != "garbled" and not said.name.startswith("type-")
        yield Looked(said, kept, str(said.what) if said.name == "garbled" else "")


@conduct("server.frames.size", covers=["server/frame/size"], role=SERVER)
def keeps_to_the_frame_size(talk: Conversation) -> Iterator[Looked]:
    """The server sends no frame above the agreed size, header and end octet included (4096 octets before that)."""
    limit = _SMALLEST
    for said in readable(talk):
        if said.sender is Side.SERVER:
            kept = not limit or said.octets <= limit
            yield Looked(said, kept, f"{said.octets} octets, agreed were {limit}")
        elif said.name == "connection.tune-ok":
            limit = said.what["frame_max"]


@conduct("server.frames.channel-zero", covers=["server/frame/channel-zero"], role=SERVER)
def puts_the_connection_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The server sends methods of class connection, and no others, on channel 0."""
    for said in talk.by_server():
        if is_method(said):
            on_zero = said.channel == 0
            yield Looked(said, said.name.startswith("connection.") is on_zero, f"channel {said.channel}")


@conduct("server.methods.role", covers=["server/method/role"], role=SERVER)
def sends_only_methods_of_servers(talk: Conversation) -> Iterator[Looked]:
    """The server sends no method that only clients may send."""
    for said in talk.by_server():
        if is_method(said):
            yield Looked(said, said.what.method.sent_by is not Side.CLIENT)


@conduct("server.handshake.order", covers=["server/handshake/order"], role=SERVER)
def keeps_the_order_of_the_handshake(talk: Conversation) -> Iterator[Looked]:
    """The server sends start, challenges, tune and open-ok in order, each at its time and before anything else."""
    step = {
        "greeting": "connection.start",
        "connection.start-ok": "connection.tune",
        "connection.secure-ok": "connection.tune",
        "connection.open": "connection.open-ok",
    }
    own = {*step.values(), "connection.secure"}
    awaited, is_open = "", False
    for said in readable(talk):
        if said.sender is Side.CLIENT:
            awaited = step.get(said.name, awaited)
        elif said.name in own:
            asked = "connection.tune" if said.name == "connection.secure" else said.name
            yield Looked(said, asked == awaited, f"expected {awaited or 'none of the handshake'}")
            awaited, is_open = "", is_open or said.name == "connection.open-ok"
        elif is_method(said) and said.name not in _ENDS:
            yield Looked(said, is_open, "before open-ok")


@conduct("server.start.version", covers=["server/start/version"], role=SERVER)
def names_the_version_that_was_asked_for(talk: Conversation) -> Iterator[Looked]:
    """A server that answers the 0-9-1 header with start names version 0-9."""
    for start in talk.by_server("connection.start"):
        version = start.what["version_major"], start.what["version_minor"]
        yield Looked(start, version == (0, 9), f"version {version[0]}-{version[1]}")


@conduct("server.start.locales", covers=["server/start/locales"], role=SERVER)
def offers_the_common_locale(talk: Conversation) -> Iterator[Looked]:
    """Start offers the locale en_US and at least one mechanism."""
    for start in talk.by_server("connection.start"):
        locales, mechanisms = start.what["locales"].split(), start.what["mechanisms"].split()
        yield Looked(start, b"en_US" in locales and bool(mechanisms))


@conduct("server.tune.frame-max", covers=["server/tune/frame-max"], role=SERVER)
def offers_frames_of_the_smallest_size(talk: Conversation) -> Iterator[Looked]:
    """Tune offers a frame-max of at least 4096 octets, or no limit."""
    for tune in talk.by_server("connection.tune"):
        frame_max = tune.what["frame_max"]
        yield Looked(tune, frame_max == 0 or frame_max >= _SMALLEST, f"frame-max {frame_max}")


@conduct("server.heartbeat.channel", covers=["server/heartbeat/channel"], role=SERVER)
def sends_heartbeats_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The server sends heartbeats on channel 0 and without a payload."""
    for said in talk.by_server("heartbeat"):
        yield Looked(said, said.channel == 0 and not said.what)


@conduct("server.heartbeat.interval", covers=["server/heartbeat/interval"], role=SERVER)
def sends_heartbeats(talk: Conversation) -> Iterator[Looked]:
    """An idle server sends something in every agreed interval.

    A client that does not read keeps a server from being seen. So only pauses count before which so little came that
    it cannot have been stuck.
    """
    agreed = next((s.what["heartbeat"] for s in talk.by_client("connection.tune-ok")), 0)
    octets = 0
    for said, later in pairwise(talk.by_server()) if agreed else ():
        octets += said.octets
        gap_s = (later.at_ns - said.at_ns) / 1e9
        # Heartbeats begin with tune-ok: before that, a server waits for its client.
        if octets <= _UNSTUCK_OCTETS and later.octets <= _UNSTUCK_OCTETS:
            why = f"{gap_s:.1f} s of silence after it, agreed were {agreed} s"
            yield Looked(said, gap_s <= 2 * agreed or said.name in _HANDSHAKE, why)


@conduct("server.close.codes", covers=["server/close/reply-code"], role=SERVER)
def closes_with_a_code_of_the_specification(talk: Conversation) -> Iterator[Looked]:
    """The reply codes in the server's closes are 200 or errors that the specification defines."""
    for close in talk.by_server("connection.close", "channel.close"):
        code = close.what["reply_code"]
        yield Looked(close, code in OCTETS.codec.dialect.codes, f"reply code {code}")


@conduct("server.connection.close", covers=["server/connection/close"], role=SERVER)
def works_no_more_after_its_close(talk: Conversation) -> Iterator[Looked]:
    """After connection.close the server sends only close-ok, and nothing after close-ok; heartbeats are allowed."""
    said = list(talk.by_server())
    first = next((at for at, s in enumerate(said) if s.name in _ENDS), len(said))
    allowed = (
        "heartbeat",
        *(["connection.close-ok"] if said[first:] and said[first].name == _ENDS[0] else []),
    )
    for close in said[first : first + 1]:
        rest = [s for s in said[first + 1 :] if s.name not in allowed]
        yield Looked(rest[0] if rest else close, not rest, f"after {close.name}")
