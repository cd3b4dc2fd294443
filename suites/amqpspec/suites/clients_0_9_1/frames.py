"""Frames and methods as octets: sizes, ends, channels, arguments."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.suites.clients_0_9_1 import EVERY
from amqpspec.wire.conversation import Conversation
from amqpspec.wire.methods.codec import Call

_SMALLEST = 4096


@case("client.frames.readable", covers=["wire/frame/end-octet-sent"])
def sends_whole_frames(client: Client) -> Verdict:
    """Every frame has a known type, the announced size and the end octet, and its content can be decoded."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            kept = said.name != "garbled" and not said.name.startswith("type-")
            yield Looked(said, kept, str(said.what) if said.name == "garbled" else "")

    return conducts(client, rule, *EVERY)


@case("client.frames.size", covers=["connection/tune-ok/frame-max/all-frames"])
def keeps_to_the_frame_size(client: Client) -> Verdict:
    """No frame exceeds the agreed size, including header and end octet, or 4096 octets before the agreement."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        limit = _SMALLEST
        for said in talk.by_client():
            yield Looked(
                said, not limit or said.octets <= limit, f"{said.octets} octets, agreed were {limit}"
            )
            if said.name == "connection.tune-ok":
                limit = said.what["frame_max"]

    return conducts(client, rule, *EVERY)


@case("client.frames.channel-zero", covers=["wire/frame/channel-zero-for-connection"])
def puts_the_connection_on_channel_zero(client: Client) -> Verdict:
    """The client sends methods of class connection on channel 0."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            if said.name.startswith("connection."):
                yield Looked(said, said.channel == 0, f"channel {said.channel}")

    return conducts(client, rule, *EVERY)


@case("client.frames.work-channels", covers=["wire/frame/channel-class-on-zero"])
def puts_work_on_channels(client: Client) -> Verdict:
    """The client sends methods of all other classes on channels above 0."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            if isinstance(said.what, Call) and not said.name.startswith("connection."):
                yield Looked(said, said.channel > 0)

    return conducts(client, rule, *EVERY)


@case("client.frames.channel-max", covers=["connection/tune/channel-max"])
def keeps_to_channel_max(client: Client) -> Verdict:
    """No channel number is higher than the agreed channel-max."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        agreed = next((s.what["channel_max"] for s in talk.by_client("connection.tune-ok")), 0)
        for said in talk.by_client("channel.open") if agreed else ():
            yield Looked(said, said.channel <= agreed, f"agreed were {agreed}")

    return conducts(client, rule, *EVERY)


@case("client.heartbeat.channel", covers=["amq_wlp_heartbeat_01"], slow=True)
def sends_heartbeats_on_channel_zero(client: Client) -> Verdict:
    """The client sends heartbeats on channel 0 and without a payload."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client("heartbeat"):
            yield Looked(said, said.channel == 0 and not said.what)

    return conducts(client, rule, "idle")


@case("client.methods.role", covers=["wire/method/server-only"])
def sends_only_methods_of_clients(client: Client) -> Verdict:
    """The client sends no method that only servers may send."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            if isinstance(said.what, Call):
                yield Looked(said, str(said.what.method.sent_by) != "server")

    return conducts(client, rule, *EVERY)
