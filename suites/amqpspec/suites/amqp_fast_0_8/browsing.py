"""Browsing: QUERY, INDEX, BROWSE (scenario, handle.query, handle.browse, handle.index)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer, listed
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict

_MANY = 50


def _filled(peer: Peer, count: int) -> str:
    """A queue with this many messages, whose bodies are their places; returns its name."""
    peer.open_handle(1)
    name = peer.queue()
    peer.publish_all(name, [b"%d" % n for n in range(count)], 1)
    return name


@case(
    "browsing.index",
    covers=["scenarios/browsing/index", "handle/index/answer", "handle/summary/server/query"],
)
def query_is_answered_with_index(peer: Peer) -> Verdict:
    """QUERY is answered with INDEX, which lists the queue's messages: three, none, and two of another handle."""
    name, empty = _filled(peer, 3), peer.queue()
    other = peer.queue()
    peer.publish_all(other, [b"x", b"y"], 1)
    peer.open_handle(2)
    peer.claim("as many numbers as each queue has messages")
    counts = [len(peer.numbers(queue, handle)) for queue, handle in ((name, 1), (empty, 1), (other, 2))]
    return equals(peer, counts, [3, 0, 2], "numbers")


@case("browsing.not-delivered", covers=["scenarios/browsing/not-delivered", "handle/browse/available"])
def browsed_messages_are_not_delivered(peer: Peer) -> Verdict:
    """Each listed message can be browsed, and arrives in NOTIFY with delivered zero."""
    name = _filled(peer, 3)
    peer.claim("the bodies in order, not delivered, and not redelivered either")
    seen = [(m.body, m.delivered, m.redelivered) for m in map(peer.browse, peer.numbers(name))]
    return equals(peer, seen, [(b"%d" % n, False, False) for n in range(3)], "bodies and flags")


@case("browsing.summary", covers=["handle/summary/server/browse", "handle/browse/available"])
def browse_is_answered(peer: Peer) -> Verdict:
    """BROWSE is answered with the message, for numbers in any order, once for each BROWSE."""
    name = _filled(peer, 3)
    numbers = peer.numbers(name)
    peer.claim("the messages in the order of the BROWSEs")
    bodies = [peer.browse(numbers[place]).body for place in (2, 0, 2)]
    return equals(peer, bodies, [b"2", b"0", b"2"], "bodies")


@case("browsing.untouched", covers=["scenarios/browsing/untouched"])
def browsing_leaves_messages_alone(peer: Peer) -> Verdict:
    """Browsed messages are all delivered afterwards and are not marked redelivered."""
    name = _filled(peer, 3)
    for number in peer.numbers(name):
        peer.browse(number)
    peer.claim("all messages, none of them redelivered")
    peer.reader(name, 2)
    seen = [(m.body, m.redelivered) for m in peer.deliveries(3, 2)]
    return equals(peer, seen, [(b"%d" % n, False) for n in range(3)], "bodies and flags")


@case("browsing.failed", covers=["scenarios/browsing/failed"])
@case("handle.browse.gone", covers=["handle/browse/gone"])
def browse_a_message_that_is_gone(peer: Peer) -> Verdict:
    """BROWSE of a message that another handle has consumed is answered with REPLY and code 310."""
    name = _filled(peer, 2)
    numbers = peer.numbers(name)
    peer.reader(name, 2)
    for message in peer.deliveries(2, 2):
        peer.ack(message.number)
    peer.send("handle.browse", message_nbr=numbers[0], confirm_tag=0x0102)
    return rejects_violation(peer)


@case("browsing.failed.closes-nothing", covers=["scenarios/browsing/failed", "handle/browse/gone"])
def a_browse_that_fails_closes_nothing(peer: Peer) -> Verdict:
    """After a failed BROWSE, the handle can still browse, and the REPLY contains the tag of its BROWSE."""
    name = _filled(peer, 2)
    numbers = peer.numbers(name)
    tag = 0x7F01
    peer.claim("REPLY 310 with the tag, then the message of the next BROWSE")
    peer.send("handle.browse", message_nbr=numbers[-1] + 1000, confirm_tag=tag)
    reply = peer.expect("handle.reply", handle=1)
    body = peer.browse(numbers[1]).body
    seen = (reply["reply_code"], reply["confirm_tag"], body)
    return equals(peer, seen, (310, tag, b"1"), "code, tag and body")


@case("handle.query.from", covers=["handle/query/from"])
def query_from_a_number_on(peer: Peer) -> Verdict:
    """QUERY with the number of the third of five messages lists that message and the later ones."""
    name = _filled(peer, 5)
    numbers = peer.numbers(name)
    peer.claim("numbers that are greater or equal")
    seen = [listed(peer.index(name, numbers[place])["message_list"]) for place in (2, 4)]
    return equals(peer, seen, [numbers[2:], numbers[4:]], "numbers")


@case("handle.query.all", covers=["handle/query/all"])
def query_with_zero_lists_all(peer: Peer) -> Verdict:
    """QUERY with number zero lists every message."""
    name = _filled(peer, 5)
    peer.claim("five numbers")
    return equals(peer, len(listed(peer.index(name, 0)["message_list"])), 5, "numbers")


def _delivered(peer: Peer, name: str, channel: int, count: int) -> int:
    """Put this many messages into a handle and a channel of a number; returns the number of the last."""
    peer.open_channel(channel)
    peer.reader(name, channel, channel, prefetch=count)
    return peer.deliveries(count, channel)[-1].number


def _acknowledged(peer: Peer, name: str, channel: int, count: int) -> None:
    """Take this many messages out; what follows them stays, or returns."""
    last = _delivered(peer, name, channel, count)
    peer.call("handle.flow", handle_id=channel, flow_pause=True)
    peer.ack(last, channel)
    peer.close_channel(channel)


@case("handle.index.list", covers=["handle/index/list"])
def the_syntax_of_a_list(peer: Peer) -> Verdict:
    """The list is ASCII: ascending numbers and hyphenated ranges, with single spaces and without missing numbers."""
    name = _filled(peer, 9)
    # Messages 0 to 2 and 4 are delivered and return; 3 and 5 to 7 are acknowledged: gaps of one and of three.
    _delivered(peer, name, 2, 3)
    _acknowledged(peer, name, 3, 1)
    _delivered(peer, name, 4, 1)
    _acknowledged(peer, name, 5, 3)
    peer.close_channel(4)
    peer.close_channel(2)
    peer.claim("digits, hyphens and single spaces, rising numbers of what is left")
    octets = peer.index(name)["message_list"]
    items = octets.decode("ascii", "replace").split(" ")
    sound = all(part.isdecimal() for item in items for part in item.split("-", 1))
    numbers = listed(octets) if sound else []
    rising = numbers == sorted(set(numbers))
    bodies = [peer.browse(number).body for number in numbers]
    left = [b"%d" % n for n in (0, 1, 2, 4, 8)]
    return holds(peer, sound and rising and sorted(bodies) == left, f"list {octets!r}, bodies {bodies}")


@case("handle.index.more", covers=["handle/index/more"])
def lists_that_are_cut(peer: Peer) -> Verdict:
    """Only an incomplete list comes with its highest number, and continuing from there returns all messages."""
    name = _filled(peer, _MANY)
    full, short = peer.queue(), peer.queue()
    peer.publish_all(short, [b"x", b"y"], 1)
    peer.claim("a number above zero exactly if more messages follow, and all of them in the end")
    first = peer.index(name)
    numbers = listed(first["message_list"])
    told = first["message_nbr"] == (numbers[-1] if len(numbers) < _MANY else 0)
    whole = peer.numbers(name)
    # As many as one list can hold, and not one more.
    peer.publish_all(full, [b"z"] * len(numbers), 1)
    sound = told and len(set(whole)) == _MANY and not any(peer.index(q)["message_nbr"] for q in (short, full))
    return holds(
        peer, sound, f"{len(numbers)} numbers, message-nbr {first['message_nbr']}, {len(whole)} in all"
    )


@case("handle.index.range", covers=["handle/index/range"])
def every_number_of_a_range_can_be_browsed(peer: Peer) -> Verdict:
    """Every number of a list, with ranges expanded, is below 2^32 and identifies its own message."""
    name = _filled(peer, 12)
    peer.claim("twelve messages, each once")
    numbers = peer.numbers(name)
    bodies = [peer.browse(number).body for number in numbers]
    sound = all(number < 1 << 32 for number in numbers)
    return holds(
        peer, sound and sorted(bodies, key=int) == [b"%d" % n for n in range(12)], f"bodies {bodies}"
    )
