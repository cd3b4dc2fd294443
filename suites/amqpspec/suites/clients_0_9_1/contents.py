"""Contents, acknowledgements and transactions as a client sends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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


def contents_of(frames: Iterable[Said]) -> Iterator[tuple[Said, list[Said]]]:
    """Each method of one side that has content, with the content frames that follow it on its channel."""
    under_way: dict[int, tuple[Said, list[Said]]] = {}
    for said in frames:
        if said.name in _CONTENT and said.channel in under_way:
            under_way[said.channel][1].append(said)
        elif said.name != "heartbeat":
            if said.channel in under_way:
                yield under_way.pop(said.channel)
            if isinstance(said.what, Call) and said.what.method.content:
                under_way[said.channel] = said, []
    yield from under_way.values()


@case("client.content.whole", covers=["amq_wlp_content_01"])
def sends_whole_contents(client: Client) -> Verdict:
    """The client sends one header after a publish, and bodies that add up to the announced size."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for method, frames in contents_of(talk.by_client()):
            names = [s.name for s in frames]
            if not frames and _is_broken_off(talk, method):
                continue
            if names[:1] != ["header"] or "header" in names[1:]:
                yield Looked(method, False, f"followed by {', '.join(names) or 'nothing'}")
                continue
            announced, sent = frames[0].what.body_size_octets, sum(len(s.what) for s in frames[1:])
            if sent < announced and _is_broken_off(talk, frames[-1]):
                continue
            yield Looked(frames[0], announced == sent, f"announced {announced} octets, sent {sent}")

    return conducts(client, rule, *_PUBLISHING)


def _is_broken_off(talk: Conversation, last: Said) -> bool:
    """Whether a content ends with the connection, or with its channel, and not by what the client sends next."""
    said = list(talk.by_client())
    later = said[next(at for at, s in enumerate(said) if s is last) + 1 :]
    after = next((s for s in later if s.channel == last.channel or s.name == "connection.close"), None)
    return after is None or after.name in ("channel.close-ok", "garbled")


@case("client.content.class", covers=["amq_wlp_content_02"])
def repeats_the_class(client: Client) -> Verdict:
    """The class of a content header is that of the preceding method."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for method, frames in contents_of(talk.by_client()):
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
    """The client never sends content frames on channel 0."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client(*_CONTENT):
            yield Looked(said, said.channel > 0)

    return conducts(client, rule, *_PUBLISHING)


@case("client.ack.once", covers=["basic/ack/multiple/exists-once"])
def acknowledges_once(client: Client) -> Verdict:
    """Every acknowledged tag was delivered on that channel and is acknowledged only once."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        open_tags: dict[int, set[int]] = {}
        for said in talk.said:
            if said.name == "channel.open":
                open_tags.pop(said.channel, None)
            tags = open_tags.setdefault(said.channel, set())
            if said.sender is Side.SERVER and said.name in ("basic.deliver", "basic.get-ok"):
                tags.add(said.what["delivery_tag"])
            elif said.sender is Side.CLIENT and said.name in ("basic.ack", "basic.nack", "basic.reject"):
                settled = _settled(said, tags)
                is_all = said.what["delivery_tag"] == 0 and said.what.args.get("multiple", False)
                yield Looked(said, bool(settled) or is_all, f"outstanding: {sorted(tags)[:5]}")
                tags -= settled

    return conducts(client, rule, *_RECEIVING)


def _is_closed(talk: Conversation) -> bool:
    """Whether the client said itself that it is done: until then it may still acknowledge."""
    return any(talk.by_client("connection.close", "channel.close"))


def _settled(said: Said, tags: set[int]) -> set[int]:
    tag, multiple = said.what["delivery_tag"], said.what.args.get("multiple", False)
    return {t for t in tags if t <= tag or tag == 0} if multiple else {tag} & tags


@case("client.ack.owed", covers=["basic/get-ok"])
def acknowledges_what_it_took(client: Client) -> Verdict:
    """The client acknowledges or rejects each message that a get without no-ack returns."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        asked = {s.channel: s.what["no_ack"] for s in talk.by_client("basic.get")}
        settlements = list(talk.by_client("basic.ack", "basic.nack", "basic.reject"))
        for get in talk.by_server("basic.get-ok") if _is_closed(talk) else ():
            tag = {get.what["delivery_tag"]}
            settled = any(s.channel == get.channel and _settled(s, tag) for s in settlements)
            yield Looked(get, settled or asked[get.channel], "never acknowledged")

    return conducts(client, rule, "get")


@case("client.consumer-tag.unique", covers=["basic/consume/consumer-tag/duplicate"])
def uses_a_tag_once(client: Client) -> Verdict:
    """The client does not reuse a consumer tag that is in use on a channel for a second consumer."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        used: set[tuple[int, str]] = set()
        for said in talk.said:
            if said.name == "channel.open":
                used = {key for key in used if key[0] != said.channel}
            elif said.name in ("basic.cancel", "basic.consume"):
                key = (said.channel, said.what["consumer_tag"])
                if said.name == "basic.consume" and key[1]:
                    yield Looked(said, key not in used)
                    used.add(key)
                else:
                    used.discard(key)

    return conducts(client, rule, "consume", "large")


@case("client.tx.select-first", covers=["tx/commit/transacted"])
def selects_before_it_commits(client: Client) -> Verdict:
    """The client sends commit and rollback only on channels in transaction mode."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        selected: set[int] = set()
        for said in talk.by_client("channel.open", "tx.select", "tx.commit", "tx.rollback"):
            if said.name == "channel.open":
                selected.discard(said.channel)
            elif said.name == "tx.select":
                selected.add(said.channel)
            else:
                yield Looked(said, said.channel in selected)

    return conducts(client, rule, *EVERY)
