"""Contents, acknowledgements and transactions as a client sends them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1 import EVERY
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.methods.codec import Call

_PUBLISHING = ("publish", "publish-transactional", "consume", "get", "large", "return")
_RECEIVING = ("consume", "get", "large")
_CONTENT = ("header", "body")


def _contents(talk: Conversation) -> Iterator[tuple[Said, list[Said]]]:
    """Each method of the client that has content, with the content frames that follow it on its channel."""
    said = [s for s in talk.by_client() if s.name != "heartbeat"]
    for at, method in enumerate(said):
        if isinstance(method.what, Call) and method.what.method.content:
            later = [s for s in said[at + 1 :] if s.channel == method.channel]
            ends = next((n for n, s in enumerate(later) if s.name not in _CONTENT), len(later))
            yield method, later[:ends]


@case("client.content.whole", covers=["amq_wlp_content_01"])
def sends_whole_contents(client: Client) -> Verdict:
    """Behind a publish come one header and bodies that add up to the announced size."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for method, frames in _contents(talk):
            names = [s.name for s in frames]
            if names[:1] != ["header"] or "header" in names[1:]:
                yield Looked(method, False, f"followed by {', '.join(names) or 'nothing'}")
                continue
            announced, sent = frames[0].what.body_size_octets, sum(len(s.what) for s in frames[1:])
            yield Looked(frames[0], announced == sent, f"announced {announced} octets, sent {sent}")

    return conducts(client, rule, *_PUBLISHING)


@case("client.content.class", covers=["amq_wlp_content_02"])
def repeats_the_class(client: Client) -> Verdict:
    """The class of a content header is that of the method before it."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for method, frames in _contents(talk):
            for header in (s for s in frames if s.name == "header"):
                yield Looked(header, header.what.class_id == method.what.method.class_id)

    return conducts(client, rule, *_PUBLISHING)


@case("client.content.weight", covers=["amq_wlp_content_04"])
def sends_no_weight(client: Client) -> Verdict:
    """The weight of a content header is zero."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for header in talk.by_client("header"):
            yield Looked(header, header.what.weight == 0, f"weight {header.what.weight}")

    return conducts(client, rule, *_PUBLISHING)


@case("client.content.channel", covers=["amq_wlp_content_03"])
def sends_contents_on_channels(client: Client) -> Verdict:
    """Content frames never travel on channel 0."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client(*_CONTENT):
            yield Looked(said, said.channel > 0)

    return conducts(client, rule, *_PUBLISHING)


@case("client.ack.once", covers=["basic/ack/multiple/exists-once"])
def acknowledges_once(client: Client) -> Verdict:
    """Every acknowledged tag was delivered on that channel, and is acknowledged once."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        open_tags: dict[int, set[int]] = {}
        for said in talk.said:
            tags = open_tags.setdefault(said.channel, set())
            if said.sender is Side.SERVER and said.name in ("basic.deliver", "basic.get-ok"):
                tags.add(said.what["delivery_tag"])
            elif said.sender is Side.CLIENT and said.name in ("basic.ack", "basic.nack", "basic.reject"):
                settled = _settled(said, tags)
                yield Looked(said, bool(settled), f"outstanding: {sorted(tags)[:5]}")
                tags -= settled

    return conducts(client, rule, *_RECEIVING)


def _settled(said: Said, tags: set[int]) -> set[int]:
    tag, multiple = said.what["delivery_tag"], said.what.args.get("multiple", False)
    return {t for t in tags if t == tag or (multiple and (t <= tag or tag == 0))}


@case("client.ack.owed", covers=["basic/get-ok"])
def acknowledges_what_it_took(client: Client) -> Verdict:
    """What was delivered without no-ack is acknowledged, rejected, or left for the end of the channel."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for get in talk.by_server("basic.get-ok"):
            acked = [
                s
                for s in talk.by_client("basic.ack", "basic.nack", "basic.reject")
                if s.channel == get.channel
            ]
            no_ack = any(s.what["no_ack"] for s in talk.by_client("basic.get"))
            yield Looked(get, bool(acked) or no_ack, "never acknowledged")

    return conducts(client, rule, "get")


@case("client.consumer-tag.unique", covers=["basic/consume/consumer-tag/duplicate"])
def uses_a_tag_once(client: Client) -> Verdict:
    """A consumer tag that is in use on a channel is not given to a second consumer."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        used: Counter[tuple[int, str]] = Counter()
        for said in talk.by_client("basic.consume", "basic.cancel"):
            key = (said.channel, said.what["consumer_tag"])
            if said.name == "basic.cancel":
                used[key] = 0
            elif key[1]:
                yield Looked(said, not used[key])
                used[key] += 1

    return conducts(client, rule, "consume", "large")


@case("client.tx.select-first", covers=["tx/commit/transacted"])
def selects_before_it_commits(client: Client) -> Verdict:
    """Commit and rollback come only on channels that have been put into transactions."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        selected: set[int] = set()
        for said in talk.by_client("tx.select", "tx.commit", "tx.rollback"):
            if said.name == "tx.select":
                selected.add(said.channel)
            else:
                yield Looked(said, said.channel in selected)

    return conducts(client, rule, *EVERY)
