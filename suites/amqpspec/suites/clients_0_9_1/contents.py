"""Contents, acknowledgements and transactions as a client sends them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.methods.codec import Call

_PUBLISHING = ("publish", "publish-transactional", "consume", "get", "large", "return")
_RECEIVING = ("consume", "get", "large")
_CONTENT = ("header", "body")
_NO_WAIT = ("no_wait", "nowait")
"""The field as 0-9-1 and the 9.1 draft name it."""
_DELIVERING = ("basic.deliver", "basic.get-ok")
_SETTLING = ("basic.ack", "basic.nack", "basic.reject")


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


@conduct("client.content.whole", covers=["amq_wlp_content_01"], scenarios=_PUBLISHING)
def sends_whole_contents(talk: Conversation) -> Iterator[Looked]:
    """The client sends one header after a publish, and bodies that add up to the announced size."""
    for stray in _strays(talk.by_client()):
        yield Looked(stray, False, "no content is in progress on its channel")
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


def _strays(frames: Iterable[Said]) -> Iterator[Said]:
    """Content frames that no method announced; any other frame ends a content on its channel (0-9-1 §4.2.6)."""
    within: set[int] = set()
    for said in frames:
        if said.name in _CONTENT:
            yield from (s for s in (said,) if s.channel not in within)
        elif said.name != "heartbeat":
            within.discard(said.channel)
            within |= {said.channel} if isinstance(said.what, Call) and said.what.method.content else set()


def _is_broken_off(talk: Conversation, last: Said) -> bool:
    """Whether a content ends with the connection, or with its channel, and not by what the client sends next."""
    said = list(talk.by_client())
    later = said[next(at for at, s in enumerate(said) if s is last) + 1 :]
    after = next((s for s in later if s.channel == last.channel or s.name == "connection.close"), None)
    return after is None or after.name in ("channel.close-ok", "connection.close", "garbled")


@conduct("client.content.class", covers=["amq_wlp_content_02"], scenarios=_PUBLISHING)
def repeats_the_class(talk: Conversation) -> Iterator[Looked]:
    """The class of a content header is that of the preceding method."""
    for method, frames in contents_of(talk.by_client()):
        for header in (s for s in frames if s.name == "header"):
            yield Looked(header, header.what.class_id == method.what.method.class_id)


@conduct("client.content.weight", covers=["amq_wlp_content_04"], scenarios=_PUBLISHING)
def sends_no_weight(talk: Conversation) -> Iterator[Looked]:
    """The weight of a content header is zero."""
    for header in talk.by_client("header"):
        yield Looked(header, header.what.weight == 0, f"weight {header.what.weight}")


@conduct("client.content.channel", covers=["amq_wlp_content_03"], scenarios=_PUBLISHING)
def sends_contents_on_channels(talk: Conversation) -> Iterator[Looked]:
    """The client never sends content frames on channel 0."""
    for said in talk.by_client(*_CONTENT):
        yield Looked(said, said.channel > 0)


@conduct("client.ack.once", covers=["basic/ack/multiple/exists-once"], scenarios=_RECEIVING)
def acknowledges_once(talk: Conversation) -> Iterator[Looked]:
    """Every acknowledged tag was delivered on that channel and is acknowledged only once."""
    known: dict[int, _Tags] = {}
    for said in talk.said:
        tags = known.setdefault(said.channel, _Tags())
        if said.name == "channel.open":
            known[said.channel] = _Tags()
        elif said.sender is Side.SERVER and said.name in _DELIVERING:
            tags.delivered(said.what["delivery_tag"])
        elif said.sender is Side.CLIENT and said.name in _SETTLING:
            why = f"outstanding: {sorted(tags.outstanding)[:5]}"
            yield Looked(said, tags.settle(said), why)
        elif said.sender is Side.CLIENT and said.name in ("tx.select", "tx.commit", "tx.rollback"):
            tags.begin(again=said.name == "tx.rollback")


@dataclass(slots=True)
class _Tags:
    """The delivery tags of a channel, since its open."""

    outstanding: set[int] = field(default_factory=set)
    last: int = 0
    settled: set[int] = field(default_factory=set)
    """In the current transaction: a rollback abandons acknowledgments, and does not deliver again (tx.rollback)."""

    def delivered(self, tag: int) -> None:
        """A delivery, or the answer to a get."""
        self.outstanding.add(tag)
        self.last = max(self.last, tag)

    def settle(self, said: Said) -> bool:
        """An acknowledgment or a rejection; whether it is about a tag that was delivered and is outstanding.

        One of several names a delivered tag as well, or zero for all (basic.ack, rule "exists").
        """
        found, tag = _settled(said, self.outstanding), said.what["delivery_tag"]
        self.outstanding -= found
        self.settled |= found
        is_all = tag == 0 and bool(said.what.args.get("multiple", False))
        return is_all or (bool(found) and tag <= self.last)

    def begin(self, *, again: bool) -> None:
        """A transaction begins; ``again``: after a rollback of the one before."""
        self.outstanding |= self.settled if again else set()
        self.settled.clear()


def _is_closed(talk: Conversation) -> bool:
    """Whether the client said itself that it is done: until then it may still acknowledge."""
    return any(talk.by_client("connection.close", "channel.close"))


def _settled(said: Said, tags: set[int]) -> set[int]:
    tag, multiple = said.what["delivery_tag"], said.what.args.get("multiple", False)
    return {t for t in tags if t <= tag or tag == 0} if multiple else {tag} & tags


@conduct("client.ack.owed", covers=["basic/get-ok"], scenarios=["get"])
def acknowledges_what_it_took(talk: Conversation) -> Iterator[Looked]:
    """The client acknowledges or rejects each message that a get without no-ack returns."""
    fetched: dict[int, _Fetched] = {}
    left: list[Said] = []
    for said in talk.said if _is_closed(talk) else ():
        known = fetched.setdefault(said.channel, _Fetched())
        if said.name == "channel.open":
            left += known.owed.values()
            fetched[said.channel] = _Fetched()
        else:
            yield from known.take(said)
    left += (get for known in fetched.values() for get in known.owed.values())
    yield from (Looked(get, False, "never acknowledged") for get in left)


@dataclass(slots=True)
class _Fetched:
    """The gets of a channel since its open: whether each unanswered one sets no-ack, and what has to be settled."""

    asked: list[bool] = field(default_factory=list)
    owed: dict[int, Said] = field(default_factory=dict)

    def take(self, said: Said) -> Iterator[Looked]:
        """Take down a frame; what it settles, or what need not be settled, is as it should be."""
        if said.name == "basic.get":
            self.asked.append(said.what["no_ack"])
        elif said.name in ("basic.get-ok", "basic.get-empty"):
            no_ack = self.asked.pop(0) if self.asked else False
            if said.name == "basic.get-ok" and no_ack:
                yield Looked(said, True)
            elif said.name == "basic.get-ok":
                self.owed[said.what["delivery_tag"]] = said
        elif said.sender is Side.CLIENT and said.name in _SETTLING:
            yield from (Looked(self.owed.pop(tag), True) for tag in _settled(said, set(self.owed)))


@conduct(
    "client.consumer-tag.unique",
    covers=["basic/consume/consumer-tag/duplicate"],
    scenarios=["consume", "large"],
)
def uses_a_tag_once(talk: Conversation) -> Iterator[Looked]:
    """The client does not reuse a consumer tag that is in use on a channel for a second consumer."""
    known: dict[int, _Consumers] = {}
    for said in talk.said:
        consumers = known.setdefault(said.channel, _Consumers())
        if said.name == "channel.open":
            known[said.channel] = _Consumers()
        elif said.name == "basic.cancel":
            consumers.used.discard(said.what["consumer_tag"])
        elif said.name == "basic.consume-ok":
            consumers.answered(said.what["consumer_tag"])
        elif said.name == "basic.consume":
            if tag := said.what["consumer_tag"]:
                yield Looked(said, tag not in consumers.used)
            consumers.ask(tag, waits=not any(said.what.args.get(key) for key in _NO_WAIT))


@dataclass(slots=True)
class _Consumers:
    """The tags of a channel's consumers, and those of the requests without an answer (empty: the server chooses)."""

    used: set[str] = field(default_factory=set)
    asked: list[str] = field(default_factory=list)

    def ask(self, tag: str, *, waits: bool) -> None:
        """The client asks for a consumer, and perhaps waits for the answer."""
        self.used |= {tag} if tag else set()
        self.asked += [tag] if waits else []

    def answered(self, tag: str) -> None:
        """The server has made the consumer; a tag of the client's may be cancelled by now."""
        if self.asked and not self.asked.pop(0):
            self.used.add(tag)


@conduct("client.tx.select-first", covers=["tx/commit/transacted"])
def selects_before_it_commits(talk: Conversation) -> Iterator[Looked]:
    """The client sends commit and rollback only on channels in transaction mode."""
    selected: set[int] = set()
    for said in talk.by_client("channel.open", "tx.select", "tx.commit", "tx.rollback"):
        if said.name == "channel.open":
            selected.discard(said.channel)
        elif said.name == "tx.select":
            selected.add(said.channel)
        else:
            yield Looked(said, said.channel in selected)
