"""Conduct of a server: channels, replies, contents, deliveries, confirms."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.run.clients.mirror import SERVER
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1._servers import is_method, readable
from amqpspec.suites.clients_0_9_1.contents import contents_of
from amqpspec.wire.conversation import Conversation, Said

_CONTENT = ("header", "body")
_HANDSHAKE = ("connection.start", "connection.secure", "connection.tune", "connection.open-ok")
_BREAKS_OFF = ("channel.close", "channel.close-ok", "connection.close", "connection.close-ok", "garbled")
_CAPABILITIES = {
    "basic.cancel": "consumer_cancel_notify",
    "connection.blocked": "connection.blocked",
    "connection.unblocked": "connection.blocked",
}


@conduct("server.channel.open", covers=["server/channel/open"], role=SERVER)
def works_on_open_channels(talk: Conversation) -> Iterator[Looked]:
    """The server sends nothing on a channel that the client did not open or that is closed."""
    used: set[int] = set()
    may_work: set[int] = set()
    for said in readable(talk):
        if said.sender is Side.CLIENT:
            used.add(said.channel)
            may_work |= {said.channel} if said.name == "channel.open" else set()
        elif said.channel and said.name not in ("channel.close", "channel.close-ok", "heartbeat"):
            yield Looked(said, said.channel in may_work)
        elif said.channel:
            # A close refuses what came on a channel that was never open; a close-ok may have crossed a close.
            yield Looked(said, said.channel in used or said.name == "heartbeat")
            may_work -= set() if said.name == "heartbeat" else {said.channel}


@conduct("server.replies.asked", covers=["server/reply/asked"], role=SERVER)
def replies_to_requests_only(talk: Conversation) -> Iterator[Looked]:
    """Every reply answers an unanswered request on its channel that did not forbid an answer."""
    asked: dict[int, list[tuple[str, ...]]] = defaultdict(list)
    for said in readable(talk):
        if said.sender is Side.CLIENT and is_method(said):
            if said.name == "channel.open":
                asked[said.channel].clear()
            if said.what.method.replies and not said.what.args.get("no_wait"):
                asked[said.channel].append(said.what.method.replies)
        elif is_method(said) and said.name not in _HANDSHAKE and _is_reply(said):
            request = next((replies for replies in asked[said.channel] if said.name in replies), None)
            yield Looked(said, request is not None, "not requested")
            if request is not None:
                asked[said.channel].remove(request)


def _is_reply(said: Said) -> bool:
    return said.name.endswith("-ok") or said.name == "basic.get-empty"


@conduct("server.content.whole", covers=["server/content/whole"], role=SERVER)
def sends_whole_contents(talk: Conversation) -> Iterator[Looked]:
    """The server sends one header after a delivery, and bodies that add up to the announced size."""
    said = list(talk.by_server())
    for method, frames in contents_of(said):
        names = [s.name for s in frames]
        last = frames[-1] if frames else method
        announced = frames[0].what.body_size_octets if names[:1] == ["header"] else 0
        sent = sum(len(s.what) for s in frames[1:] if s.name == "body")
        if (not frames or sent < announced) and _is_broken_off(said, last):
            continue
        whole = names[:1] == ["header"] and "header" not in names[1:] and sent == announced
        why = f"announced {announced} octets, sent {sent}, in {', '.join(names[:4]) or 'nothing'}"
        yield Looked(last, whole, why)


def _is_broken_off(said: list[Said], last: Said) -> bool:
    """Whether a content ends with its channel, or with the connection, and not by what the server sends next."""
    later = said[next(at for at, s in enumerate(said) if s is last) + 1 :]
    ends = ("connection.close", "connection.close-ok", "garbled")
    after = next((s for s in later if s.channel == last.channel or s.name in ends), None)
    return after is None or after.name in _BREAKS_OFF


@conduct("server.content.order", covers=["server/content/order"], role=SERVER)
def sends_contents_behind_methods(talk: Conversation) -> Iterator[Looked]:
    """The server sends headers and bodies on channels above 0, after a method that carries content."""
    within: set[int] = set()
    for said in talk.by_server():
        if said.name in _CONTENT:
            yield Looked(said, said.channel in within, f"channel {said.channel}")
        elif is_method(said):
            within.discard(said.channel)
            within |= {said.channel} if said.channel and said.what.method.content else set()


@conduct("server.content.header", covers=["server/content/header"], role=SERVER)
def repeats_the_class(talk: Conversation) -> Iterator[Looked]:
    """The class of a content header is that of the preceding method, and its weight is zero."""
    for method, frames in contents_of(talk.by_server()):
        for header in (s for s in frames if s.name == "header"):
            right = header.what.class_id == method.what.method.class_id and header.what.weight == 0
            yield Looked(header, right, f"class {header.what.class_id}, weight {header.what.weight}")


@conduct("server.delivery-tags", covers=["server/delivery-tag"], role=SERVER)
def numbers_its_deliveries(talk: Conversation) -> Iterator[Looked]:
    """Delivery tags of a channel start above zero and increase; recovered messages may reuse their tags."""
    last: dict[int, int] = {}
    for said in readable(talk):
        if said.sender is Side.CLIENT:
            if said.name in ("channel.open", "basic.recover", "basic.recover-async"):
                last.pop(said.channel, None)
        elif said.name in ("basic.deliver", "basic.get-ok"):
            tag, before = said.what["delivery_tag"], last.get(said.channel, 0)
            yield Looked(said, tag > before, f"the last one was {before}")
            last[said.channel] = tag


@conduct("server.consumer-tags", covers=["server/consumer-tag"], role=SERVER)
def delivers_to_consumers_that_exist(talk: Conversation) -> Iterator[Looked]:
    """Every delivery names a consumer of its channel that was started and is not yet cancelled."""
    known: set[tuple[int, str]] = set()
    for said in readable(talk):
        if said.name == "channel.open":
            known = {key for key in known if key[0] != said.channel}
        elif said.name in ("basic.consume", "basic.consume-ok"):
            known.add((said.channel, said.what["consumer_tag"]))
        elif said.sender is Side.SERVER and said.name in ("basic.cancel", "basic.cancel-ok"):
            known.discard((said.channel, said.what["consumer_tag"]))
        elif said.name == "basic.deliver":
            yield Looked(said, (said.channel, said.what["consumer_tag"]) in known, "no such consumer")


@conduct("server.confirms", covers=["server/confirm"], role=SERVER)
def confirms_what_was_published(talk: Conversation) -> Iterator[Looked]:
    """The server confirms only published, unconfirmed messages, on channels in confirm mode."""
    known: dict[int, _Published] = {}
    for said in readable(talk):
        if said.name == "channel.open":
            known.pop(said.channel, None)
        elif said.name == "confirm.select":
            known.setdefault(said.channel, _Published())
        elif said.name == "basic.publish" and said.channel in known:
            known[said.channel].count += 1
        elif said.sender is Side.SERVER and said.name in ("basic.ack", "basic.nack"):
            published = known.get(said.channel, _Published())
            kept = published.confirm(said.what["delivery_tag"], multiple=said.what["multiple"])
            yield Looked(said, kept, f"published: {published.count}")


@dataclass(slots=True)
class _Published:
    """What was published on a channel in confirm mode; all up to ``settled_to`` is confirmed, and some after it."""

    count: int = 0
    settled_to: int = 0
    settled: set[int] = field(default_factory=set)

    def confirm(self, tag: int, *, multiple: bool) -> bool:
        """Take down a confirm; whether it is about something published, and not yet confirmed."""
        fresh = multiple or (tag > self.settled_to and tag not in self.settled)
        if multiple:
            self.settled_to = max(self.settled_to, min(tag or self.count, self.count))
        else:
            self.settled.add(tag)
        return fresh and tag <= self.count and (tag > 0 or multiple)


@conduct("server.returns", covers=["server/return"], role=SERVER)
def returns_what_wanted_to_be_returned(talk: Conversation) -> Iterator[Looked]:
    """The server returns no more messages on a channel than were published there as mandatory or immediate."""
    left: dict[int, int] = defaultdict(int)
    for said in readable(talk):
        if said.name == "basic.publish":
            left[said.channel] += bool(said.what["mandatory"] or said.what["immediate"])
        elif said.name == "basic.return" and said.sender is Side.SERVER:
            yield Looked(said, left[said.channel] > 0, "nothing left to be returned")
            left[said.channel] -= 1


@conduct("server.capabilities", covers=["server/extension/announced"], role=SERVER)
def keeps_extensions_from_who_does_not_know_them(talk: Conversation) -> Iterator[Looked]:
    """The server sends cancel and blocked notifications only to clients that announce support for them."""
    announced: dict[str, object] = {}
    for said in readable(talk):
        if said.sender is Side.CLIENT and said.name == "connection.start-ok":
            named = said.what["client_properties"].plain().get("capabilities")
            announced = named if isinstance(named, dict) else {}
        elif said.sender is Side.SERVER and said.name in _CAPABILITIES:
            wanted = _CAPABILITIES[said.name]
            yield Looked(said, announced.get(wanted) is True, f"{wanted} was not announced")
