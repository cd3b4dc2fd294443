"""Frames and methods as octets: sizes, ends, channels, arguments."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.wire.conversation import Conversation
from amqpspec.wire.methods.codec import Call

_SMALLEST = 4096


@conduct("client.frames.readable", covers=["wire/frame/end-octet-sent"])
def sends_whole_frames(talk: Conversation) -> Iterator[Looked]:
    """Every frame has a known type, the announced size and the end octet, and its content can be decoded."""
    for said in talk.by_client():
        kept = said.name != "garbled" and not said.name.startswith("type-")
        yield Looked(said, kept, str(said.what) if said.name == "garbled" else "")


@conduct("client.frames.size", covers=["connection/tune-ok/frame-max/all-frames"])
def keeps_to_the_frame_size(talk: Conversation) -> Iterator[Looked]:
    """No frame exceeds the agreed size, including header and end octet, or 4096 octets before the agreement."""
    limit = _SMALLEST
    for said in talk.by_client():
        yield Looked(said, not limit or said.octets <= limit, f"{said.octets} octets, agreed were {limit}")
        if said.name == "connection.tune-ok":
            limit = said.what["frame_max"]


@conduct("client.frames.channel-zero", covers=["wire/frame/channel-zero-for-connection"])
def puts_the_connection_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The client sends methods of class connection on channel 0."""
    for said in talk.by_client():
        if said.name.startswith("connection."):
            yield Looked(said, said.channel == 0, f"channel {said.channel}")


@conduct("client.frames.work-channels", covers=["wire/frame/channel-class-on-zero"])
def puts_work_on_channels(talk: Conversation) -> Iterator[Looked]:
    """The client sends methods of all other classes on channels above 0."""
    for said in talk.by_client():
        if isinstance(said.what, Call) and not said.name.startswith("connection."):
            yield Looked(said, said.channel > 0)


@conduct("client.frames.channel-max", covers=["connection/tune/channel-max"])
def keeps_to_channel_max(talk: Conversation) -> Iterator[Looked]:
    """No channel number is higher than the agreed channel-max."""
    agreed = next((s.what["channel_max"] for s in talk.by_client("connection.tune-ok")), 0)
    for said in talk.by_client("channel.open") if agreed else ():
        yield Looked(said, said.channel <= agreed, f"agreed were {agreed}")


@conduct("client.heartbeat.channel", covers=["amq_wlp_heartbeat_01"], scenarios=["idle"], slow=True)
def sends_heartbeats_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The client sends heartbeats on channel 0 and without a payload."""
    for said in talk.by_client("heartbeat"):
        yield Looked(said, said.channel == 0 and not said.what)


@conduct("client.methods.role", covers=["wire/method/server-only"])
def sends_only_methods_of_clients(talk: Conversation) -> Iterator[Looked]:
    """The client sends no method that only servers may send."""
    for said in talk.by_client():
        if isinstance(said.what, Call):
            yield Looked(said, str(said.what.method.sent_by) != "server")
