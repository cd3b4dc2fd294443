"""Channels and closes: what stands between open and close, and who answers whom."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1 import EVERY
from amqpspec.wire.conversation import Conversation

_CHANNEL_CLOSES = ("channel.close", "channel.close-ok")


@case("client.channel.open.twice", covers=["channel/open/state"])
def opens_no_channel_twice(client: Client) -> Verdict:
    """A channel that is open is not opened again."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        is_open: set[int] = set()
        for said in talk.said:
            if said.name == "channel.open" and said.sender is Side.CLIENT:
                yield Looked(said, said.channel not in is_open)
                is_open.add(said.channel)
            elif said.name == "channel.close-ok":
                is_open.discard(said.channel)

    return conducts(client, rule, *EVERY)


@case("client.channel.grammar", covers=["channel/grammar"])
def works_on_open_channels(client: Client) -> Verdict:
    """No method comes on a channel before its open, or behind the client's own close."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        is_open: set[int] = set()
        for said in talk.by_client():
            if not said.channel or said.name == "garbled":
                continue
            if said.name == "channel.open":
                is_open.add(said.channel)
                continue
            # A close-ok answers a close that may have crossed one's own.
            yield Looked(said, said.channel in is_open or said.name == "channel.close-ok")
            if said.name in _CHANNEL_CLOSES:
                is_open.discard(said.channel)

    return conducts(client, rule, *EVERY)


@case("client.channel.close-ok", covers=["channel/close-ok"])
def answers_a_channel_close(client: Client) -> Verdict:
    """A server's channel.close is answered by close-ok on the same channel, before anything else there."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        said = list(talk.said)
        for at, close in enumerate(said):
            if close.name == "channel.close" and close.sender is Side.SERVER:
                later = (s for s in said[at:] if s.sender is Side.CLIENT and s.channel == close.channel)
                answer = next((s for s in later if s.name in (*_CHANNEL_CLOSES, "channel.open")), None)
                yield Looked(
                    close, answer is not None and answer.name in _CHANNEL_CLOSES, "no channel.close-ok"
                )

    return conducts(client, rule, "refused")


@case("client.connection.close", covers=["connection/grammar"])
def works_no_more_behind_its_close(client: Client) -> Verdict:
    """Behind the client's connection.close comes no method of it but close-ok; heartbeats may go on."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        said = list(talk.by_client())
        for at, close in enumerate(said):
            if close.name == "connection.close":
                rest = [s for s in said[at + 1 :] if s.name not in ("connection.close-ok", "heartbeat")]
                yield Looked(rest[0] if rest else close, not rest, "behind connection.close")

    return conducts(client, rule, *EVERY)


@case("client.connection.close.codes", covers=["connection/close/reply-code"])
def closes_with_a_code_of_the_specification(client: Client) -> Verdict:
    """The reply codes in the client's closes are 200 or errors that the specification knows."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for close in talk.by_client("connection.close", "channel.close"):
            code = close.what["reply_code"]
            yield Looked(close, code == 200 or 300 <= code < 600, f"reply code {code}")

    return conducts(client, rule, *EVERY)


@case("client.connection.ends-after-close-ok", covers=["connection/close-ok"])
def closes_before_it_leaves(client: Client) -> Verdict:
    """A client that is done closes the connection, and does not just end the socket."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        said = list(talk.by_client())
        opened = [s for s in said if s.name == "connection.open"]
        if opened:
            closed = any(s.name in ("connection.close", "connection.close-ok") for s in said)
            yield Looked(said[-1], closed, "no connection.close behind it")

    return conducts(client, rule, "connect", "reconnect")


@case("client.heartbeat.interval", covers=["wire/heartbeat/interval"], slow=True)
def sends_heartbeats(client: Client) -> Verdict:
    """An idle client sends something in every interval that it agreed to."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        agreed = next((s.what["heartbeat"] for s in talk.by_client("connection.tune-ok")), 0)
        if not agreed:
            return
        said = list(talk.by_client())
        # A server that hears nothing for two intervals ends the connection: the last silence counts, too.
        times_ns = [*(s.at_ns for s in said), talk.talk.ended_ns or said[-1].at_ns]
        for before, (earlier_ns, later_ns) in zip(said, pairwise(times_ns), strict=True):
            gap_s = (later_ns - earlier_ns) / 1e9
            yield Looked(
                before, gap_s < 2 * agreed, f"{gap_s:.1f} s of silence behind it, agreed were {agreed} s"
            )

    return conducts(client, rule, "idle")
