"""What several connections of AMQP 1.0 contend for: a node, which a target may create and delete with its links.

Knows: the peer's verbs. Must not know: whose turn it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.fuzz.sequences.contention import Asking, Contended
from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet

_GONE = "amqp:not-found"
_DETACH = "detach"

Turn = tuple[str, str]
"""A role in which a link is attached, or a detach; and the address."""


def _send(peer: Peer, turn: Turn) -> Link:
    what, address = turn
    session = peer.session(0)
    if what != _DETACH:
        peer.send("attach", 0, **peer.attach_fields(what, address))
        return session.every_link[-1]
    link = session.every_link[-1]
    peer.send("detach", 0, handle=link, closed=True)
    return link


def _reply(peer: Peer, link: Link) -> bool:
    """An attach is answered by an attach, which a detach follows if the link is refused (§2.6.3); a detach by one."""
    if link.detach_sent:
        peer.until(lambda: link.detached_by is not None, "detach", session=link.session)
    else:
        peer.until(lambda: link.attached is not None, "attach", session=link.session)
        if link.refused:
            peer.until(lambda: link.detached_by is not None, "detach", session=link.session)
    peer.take(lambda frame: frame.link is link)
    ended = link.detached_by
    if ended is None or ended.condition is None:
        return True
    if ended.condition != _GONE:
        raise Unmet("no error", ended.describe(peer.dialect), ended)
    return False


def _turns(peer: Peer, address: str) -> Sequence[Turn]:
    return (("receiver", address), (_DETACH, address), ("sender", address), (_DETACH, address))


ASKING: Asking[Peer, Turn, Link] = Asking(_send, _reply)
NODE: Contended[Peer, Turn] = Contended(lambda peer: peer.node("contended"), _turns, _turns)
