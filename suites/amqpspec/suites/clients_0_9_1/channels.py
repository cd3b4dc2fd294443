"""Channels and closes: the order of methods on a channel, and the answers to closes."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.conduct import conduct, pauses, says_goodbye
from amqpspec.run.clients.judging import Looked, Rule, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1 import EVERY
from amqpspec.suites.clients_0_9_1._hostile import OCTETS
from amqpspec.wire.conversation import Conversation, Said

_SIGNS = ("heartbeat", "trace")
"""Frames that are no work, and allowed at any time; traces are of the 9.1 draft."""
_CHANNEL_CLOSES = ("channel.close", "channel.close-ok")
_CONNECTION_CLOSES = ("connection.close", "connection.close-ok")


@conduct("client.channel.open.twice", covers=["channel/open/state"])
def opens_no_channel_twice(talk: Conversation) -> Iterator[Looked]:
    """The client does not open a channel that is already open."""
    is_open: set[int] = set()
    for said in talk.said:
        if said.name == "channel.open" and said.sender is Side.CLIENT:
            yield Looked(said, said.channel not in is_open)
            is_open.add(said.channel)
        elif said.name == "channel.close-ok":
            is_open.discard(said.channel)


@conduct("client.channel.grammar", covers=["channel/grammar"])
def works_on_open_channels(talk: Conversation) -> Iterator[Looked]:
    """The client sends no method on a channel before its open or after the client's own close."""
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


@case("client.channel.close-ok", covers=["channel/close-ok"])
def answers_a_channel_close(client: Client) -> Verdict:
    """The client answers channel.close with close-ok on the same channel, before anything else there."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        unanswered: dict[int, Said] = {}
        for said in talk.said:
            if said.name == "channel.close" and said.sender is Side.SERVER:
                unanswered[said.channel] = said
            elif said.sender is Side.CLIENT and said.name in ("channel.open", *_CHANNEL_CLOSES):
                close = unanswered.pop(said.channel, None)
                if close is not None:
                    yield Looked(close, said.name != "channel.open", "no channel.close-ok")
            elif said.name in _CONNECTION_CLOSES and not client.arena.is_prompted:
                return  # It may have crossed the server's close; a scenario waits for that one first.
        is_closed = any(talk.by_client(*_CONNECTION_CLOSES))
        if talk.talk.is_whole and (is_closed or not talk.talk.is_left):
            for close in unanswered.values():
                yield Looked(close, False, "no channel.close-ok", is_lesser=_closes_all(talk, close))

    return conducts(client, rule, "refused")


def _closes_all(talk: Conversation, close: Said) -> bool:
    """Whether the client closed the connection before anything else, in place of a channel that the server closed."""
    since = (s for s in talk.by_client() if s.at_ns >= close.at_ns and s.channel != close.channel)
    first = next((s for s in since if s.name not in _SIGNS), None)
    return first is not None and first.name == "connection.close"


@conduct("client.connection.close", covers=["connection/grammar"])
def works_no_more_after_its_close(talk: Conversation) -> Iterator[Looked]:
    """After connection.close the client sends no method but close-ok; heartbeats are allowed."""
    said = list(talk.by_client())
    for at, close in enumerate(said):
        if close.name == "connection.close":
            rest = [s for s in said[at + 1 :] if s.name not in ("connection.close-ok", *_SIGNS)]
            yield Looked(rest[0] if rest else close, not rest, "after connection.close")
            return


@case("client.connection.close.codes", covers=["connection/close/reply-code"])
def closes_with_a_code_of_the_specification(client: Client) -> Verdict:
    """The reply codes in the client's closes are 200 or errors that the specification defines."""
    return conducts(client, codes_among(OCTETS.codec.dialect.codes), *EVERY)


def codes_among(codes: Collection[int]) -> Rule:
    """The reply codes in the client's closes are some of these."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for close in talk.by_client("connection.close", "channel.close"):
            code = close.what["reply_code"]
            yield Looked(close, code in codes, f"reply code {code}")

    return rule


@case("client.connection.ends-after-close-ok", covers=["connection/close-ok"])
def closes_before_it_leaves(client: Client) -> Verdict:
    """A client that has finished closes the connection before it closes the socket."""
    return conducts(client, says_goodbye("connection.open", *_CONNECTION_CLOSES), "connect", "reconnect")


@conduct("client.heartbeat.interval", covers=["wire/heartbeat/interval"], scenarios=["idle"], slow=True)
def sends_heartbeats(talk: Conversation) -> Iterator[Looked]:
    """An idle client sends something in every interval that it agreed to."""
    tuned = next(talk.by_client("connection.tune-ok"), None)
    agreed = 0 if tuned is None else tuned.what["heartbeat"]
    if tuned is None or not agreed:
        return
    for before, gap_s in pauses(talk, tuned.at_ns):
        yield Looked(before, gap_s < 2 * agreed, f"{gap_s:.1f} s of silence after it, agreed were {agreed} s")
