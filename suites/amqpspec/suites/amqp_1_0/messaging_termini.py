"""How long a source exists, and what happens to its messages (amqp-1.0 §3.5.3, §3.5.6): expiry policies, timeouts.

Each case has two links with an unsettled delivery each, one whose time is over and one that continues.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import on_connection
from amqpspec.suites.amqp_1_0._connections import about
from amqpspec.suites.amqp_1_0._links import fill, own_terminus
from amqpspec.suites.amqp_1_0._transfers import contents, received
from amqpspec.suites.amqp_1_0._transfers_resume import (
    expires,
    nothing_received,
    reported_unsettled,
    resume,
    suspend,
)

_NEEDS = ("resume",)
_LINK_DETACH, _SESSION_END, _CONNECTION_CLOSE = "link-detach", "session-end", "connection-close"
_TIMEOUT_S = 1
# Half of it is over after the first timeout.
_LONGER_S = 4
_BODY = b"held"


# --- 3.5.6: expiry policies


@case("messaging.expiry.link-detach", covers=["messaging/terminus/expiry-policy"], needs=_NEEDS)
def source_that_goes_with_its_link(peer: Peer) -> Verdict:
    """A source with policy link-detach expires when its link is detached; one with session-end remains."""
    going, staying = _held(peer, _LINK_DETACH), _held(peer, _SESSION_END)
    peer.claim("one message in its node again, the other one still unsettled")
    peer.detach(going[0], closed=False)
    suspend(peer, staying[0])
    return worst((_gone(peer, *going), _kept(peer, *staying)))


@on_connection("messaging.expiry.session-end", covers=["messaging/terminus/expiry-policy"], needs=_NEEDS)
def source_that_goes_with_its_session(peer: Peer) -> Verdict:
    """A source with policy session-end expires when its session ends; the source of another session remains."""
    peer.room_for_channel(1)
    going, staying = (_held(peer, _SESSION_END, channel) for channel in (0, 1))
    peer.claim("one message in its node again, the other one still unsettled")
    for link, _ in (going, staying):
        suspend(peer, link)
    peer.end(0)
    return worst((_gone(peer, *going), _kept(peer, *staying)))


@case("messaging.expiry.connection-close", covers=["messaging/terminus/expiry-policy"], needs=_NEEDS)
def source_that_goes_with_its_connection(peer: Peer) -> Verdict:
    """A source with policy connection-close outlives its session, and expires with its own connection only."""
    other = peer.another()
    going, staying = _held(other, _CONNECTION_CLOSE), _held(peer, _CONNECTION_CLOSE)
    peer.claim("one message in its node again, the other one still unsettled")
    for own, (link, _) in ((other, going), (peer, staying)):
        suspend(own, link)
        own.end(0)
    between = about(_left(peer, going[0], []), "before the connection is closed")
    other.close()
    other.hang_up()
    peer.begin(0)
    return worst((between, _gone(peer, *going), _kept(peer, *staying)))


# --- 3.5.3: timeout


@on_connection("messaging.expiry.timeout", covers=["messaging/terminus/timeout"], needs=_NEEDS, slow=True)
def source_kept_for_a_while(peer: Peer) -> Verdict:
    """A source is kept for its timeout after its session ends; then its messages return to the node."""
    peer.room_for_channel(1)
    links = [_held(peer, _SESSION_END, channel, timeout=_TIMEOUT_S) for channel in (0, 1)]
    peer.claim("one source resumed in time; the message of the other in its node, but not before its time")
    for channel, (link, _) in enumerate(links):
        suspend(peer, link)
        peer.end(channel)
    ended_s = peer.now()
    peer.begin(1)
    kept = about(_kept(peer, *links[1]), "resumed in time")
    return worst((kept, about(_came(peer, links[0][0], ended_s, _TIMEOUT_S), "not resumed")))


@case("messaging.expiry.timeout.resumed", covers=["messaging/terminus/timeout"], needs=_NEEDS, slow=True)
def source_kept_for_its_new_timeout(peer: Peer) -> Verdict:
    """A source that was resumed is kept for the timeout that it has then; the one from before is over."""
    link, held = _held(peer, _SESSION_END, timeout=_TIMEOUT_S)
    peer.claim("the message in its node, but not before the longer timeout")
    suspend(peer, link)
    peer.end(0)
    peer.begin(0)
    source = {"address": link.address, "expiry_policy": _SESSION_END, "timeout": _LONGER_S}
    again = resume(peer, link, nothing_received([held]), source=source)
    if own_terminus(again).get("timeout") != _LONGER_S:
        raise OutOfReach("the source keeps the timeout that it had", again.attached)
    suspend(peer, again)
    peer.end(0)
    return _came(peer, link, peer.now(), _LONGER_S)


# --- steps of this module


def _held(peer: Peer, policy: str, channel: int = 0, **source: Any) -> tuple[Link, Delivery]:
    """A link whose source has this expiry policy, and an unsettled delivery on it."""
    address = fill(peer, peer.node(f"{policy}-{channel}"), _BODY)
    fields = {"address": address, "expiry_policy": policy, **source}
    link, (delivery,) = received(peer, address, 1, channel=channel, source=fields)
    expires(link, policy)
    return link, delivery


def _came(peer: Peer, link: Link, ended_s: float, timeout_s: int) -> Verdict:
    """The message of a source goes to a receiver that waits, once the timeout is over."""
    waiting = peer.another()
    delivery = waiting.delivery(waiting.receiver(link.address, credit=1), within_s=3 * timeout_s)
    early = waiting.now() - ended_s < timeout_s / 2
    return equals(peer, (delivery.body, early), (_BODY, False), "message, and whether it arrived too early")


def _gone(peer: Peer, link: Link, _: Delivery) -> Verdict:
    """The message of a source that is gone is in its node again, once."""
    return about(_left(peer, link, [_BODY]), "gone")


def _left(peer: Peer, link: Link, wanted: list[bytes]) -> Verdict:
    return equals(peer, contents(peer.another(), link.address, len(wanted)), wanted, "messages in the node")


def _kept(peer: Peer, link: Link, delivery: Delivery) -> Verdict:
    """A source that is still there tells its delivery as unsettled, and its node does not have the message."""
    left = _left(peer, link, [])
    again = resume(peer, link, nothing_received([delivery]))
    told = equals(peer, list(reported_unsettled(again)), [delivery.tag], "unsettled")
    return about(worst((left, told)), "kept")
