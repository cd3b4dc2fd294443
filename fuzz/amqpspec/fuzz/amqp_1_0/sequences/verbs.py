"""The verbs of programs of AMQP 1.0, races among them.

Knows: desks and books. Must not know: how outcomes are observed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from amqpspec.fuzz.amqp_1_0.sequences.books import Terminus
from amqpspec.fuzz.amqp_1_0.sequences.desk import TypedDesk as Desk
from amqpspec.fuzz.sequences.step import Violation
from amqpspec.fuzz.sequences.stock import Copy, Stock
from amqpspec.fuzz.sequences.world import Args, Table, Verb
from amqpspec.peer.amqp_1_0.books import Outgoing

_PEERS, _NODES, _LINKS, _BURST = 3, ("n0", "n1"), 3, 3

# --- connections and links


def _peers(desk: Desk) -> Iterable[Args]:
    return [(n,) for n in sorted(desk.peers)]


def _attachable(desk: Desk) -> Iterable[Args]:
    ends = [*desk.books.senders.values(), *desk.books.receivers.values()]
    busy = [end.peer for end in ends]
    return [(n, node) for n in sorted(desk.peers) for node in _NODES if busy.count(n) < _LINKS]


def _attach(desk: Desk, role: str, peer: int, node: Stock, name: str) -> Terminus:
    links: list[Terminus] = []

    def attach() -> None:
        link = desk.peers[peer].attach(role, node.address, name=f"{desk.context.tag}.{name}")
        links.append(Terminus(name, peer, link, node))

    desk.owed("link not attached", attach)
    return links[0]


def _sender(desk: Desk, peer: int, node: str) -> None:
    end = _attach(desk, "sender", peer, desk.node(node), desk.books.name("s"))
    desk.books.senders[end.name] = end


def _receiver(desk: Desk, peer: int, node: str) -> None:
    end = _attach(desk, "receiver", peer, desk.node(node), desk.books.name("r"))
    desk.books.receivers[end.name] = end


def _ends(desk: Desk) -> Iterable[Args]:
    return [(name,) for name in (*desk.books.receivers, *desk.books.senders)]


def _detach(desk: Desk, name: str) -> None:
    end = desk.books.receivers.get(name) or desk.books.senders[name]
    # Removed from the state that is checked: the answer is an expected end.
    desk.books.senders.pop(name, None)
    _answered(desk, [end], "detach not answered", lambda: desk.peers[end.peer].detach(end.link))


def _answered(desk: Desk, ends: list[Terminus], kind: str, act: Callable[[], object]) -> None:
    """End links; what arrives before the answer is theirs, and goes back with the rest."""
    receivers = [end for end in ends if desk.books.receivers.pop(end.name, None)]
    desk.books.ending += receivers
    desk.owed(kind, act)
    for end in receivers:
        desk.books.end(end)


def _end(desk: Desk, peer: int) -> None:
    """A session ends, with its links; the next one begins on the same channel."""
    ends = [end for end in desk.books.receivers.values() if end.peer == peer]
    desk.books.senders = {n: s for n, s in desk.books.senders.items() if s.peer != peer}
    _answered(desk, ends, "end not answered", lambda: desk.peers[peer].end(0))
    desk.owed("session not begun", lambda: desk.peers[peer].begin(0))


def _leave(desk: Desk, peer: int) -> None:
    desk.leave(peer)
    desk.books.end_peer(peer)


def _reset(desk: Desk, peer: int) -> None:
    desk.reset(peer)
    desk.books.end_peer(peer)


def _stealable(desk: Desk) -> Iterable[Args]:
    return [(name, n) for name, r in desk.books.receivers.items() for n in sorted(desk.peers) if n != r.peer]


def _steal(desk: Desk, name: str, peer: int) -> None:
    """The same link on another connection of the container: the first one loses it (§2.6.1)."""
    old = desk.books.receivers.pop(name)
    desk.books.ending.append(old)
    new = _attach(desk, "receiver", peer, old.node, name)
    first = desk.peers[old.peer]
    until_s = first.now() + desk.patience_s
    while old.link.detached_by is None and first.over(old.link) is None:
        if first.now() > until_s:
            raise Violation(
                "stolen link not detached", f"detach of {name}", f"nothing in {desk.patience_s:.1f} s"
            )
        desk.glance([old.peer], until_s)
    if not old.link.detach_sent:
        first.send("detach", old.link.session.channel, handle=old.link, closed=True)
    desk.collect()
    # Unsettled deliveries may stay with the link's terminus, or go back.
    desk.books.end(old, unsure=True)
    desk.books.receivers[name] = new


# --- messages


def _senders(desk: Desk) -> Iterable[Args]:
    return [(name, n) for n in (1, 2, 3) for name in desk.books.senders]


def _burst(desk: Desk, sender: Terminus, count: int) -> list[tuple[Outgoing, Copy]]:
    peer, sent = desk.peers[sender.peer], list[tuple[Outgoing, Copy]]()

    def send() -> None:
        for _ in range(count):
            peer.credit_for(sender.link)
            copy = desk.books.new(sender.node)
            sent.append((peer.transfer(sender.link, copy.body), copy))

    desk.owed("no credit", send)
    return sent


def _send(desk: Desk, name: str, count: int) -> None:
    sender = desk.books.senders[name]
    _accepted(desk, sender, _burst(desk, sender, count))


def _accepted(desk: Desk, sender: Terminus, sent: list[tuple[Outgoing, Copy]]) -> None:
    for outgoing, copy in sent:
        desk.owed("no outcome", partial(desk.peers[sender.peer].outcome, outgoing))
        if outgoing.outcome not in ("accepted", ""):
            raise Violation("message not accepted", "accepted", f"{outgoing.outcome} for m{copy.number}")


def _creditable(desk: Desk) -> Iterable[Args]:
    """Not less than before where a message may still be in progress: it counts against what was given before."""
    for count in (1, 2, 10):
        for name, receiver in desk.books.receivers.items():
            if count >= receiver.credit or len(receiver.node.certain) == len(receiver.node.ready):
                yield name, count


def _credit(desk: Desk, name: str, count: int) -> None:
    receiver = desk.books.receivers[name]
    desk.peers[receiver.peer].credit(receiver.link, count)
    receiver.credit = count
    # Done before anything else: what arrives for a link that another one has taken ends the session (§2.8.17).
    desk.owed("no round trip", lambda: desk.peers[receiver.peer].barrier(0))


def _held(desk: Desk) -> Iterable[Args]:
    return [(name, number) for name, r in desk.books.receivers.items() for number in range(len(r.held))]


def _accept(desk: Desk, name: str, number: int) -> None:
    receiver = desk.books.receivers[name]
    delivery, copy = receiver.held.pop(number)
    desk.peers[receiver.peer].disposition(delivery)
    copy.stock.drop(copy, "accepted")
    desk.owed("no round trip", lambda: desk.peers[receiver.peer].barrier(0))


def _release(desk: Desk, name: str, number: int) -> None:
    receiver = desk.books.receivers[name]
    delivery, copy = receiver.held.pop(number)
    # It may return at once.
    copy.stock.give_back(copy)
    desk.peers[receiver.peer].disposition(delivery, state="released")
    desk.owed("no round trip", lambda: desk.peers[receiver.peer].barrier(0))


# --- races


def _send_reset(desk: Desk, name: str) -> None:
    """Messages are sent, and the connection reset at once: some of them arrive, or none."""
    sender = desk.books.senders[name]
    for _, copy in _burst(desk, sender, _BURST):
        copy.unsure, copy.fresh = True, False
    _reset(desk, sender.peer)


def _named_senders(desk: Desk) -> Iterable[Args]:
    return [(name,) for name in desk.books.senders]


def _holding(desk: Desk) -> Iterable[Args]:
    return [(name,) for name, receiver in desk.books.receivers.items() if receiver.held]


def _accept_reset(desk: Desk, name: str) -> None:
    """All is accepted, and the connection reset at once: each message is gone or goes back."""
    receiver = desk.books.receivers[name]
    for delivery, _ in receiver.held:
        desk.peers[receiver.peer].disposition(delivery)
    desk.books.end(receiver, unsure=True)
    _reset(desk, receiver.peer)


def _fed(desk: Desk) -> Iterable[Args]:
    """A receiver, and a sender of another connection to the same node."""
    return [
        (r.name, s.name)
        for r in desk.books.receivers.values()
        for s in desk.books.senders.values()
        if r.node is s.node and r.peer != s.peer
    ]


def _detach_beside(desk: Desk, receiver: str, sender: str) -> None:
    """Messages arrive while a link with credit is detached."""
    end, source = desk.books.receivers[receiver], desk.books.senders[sender]
    sent = _feed(desk, end, source)
    _answered(desk, [end], "detach not answered", lambda: desk.peers[end.peer].detach(end.link))
    _accepted(desk, source, sent)


def _end_beside(desk: Desk, receiver: str, sender: str) -> None:
    """Messages arrive while a session ends."""
    end, source = desk.books.receivers[receiver], desk.books.senders[sender]
    sent = _feed(desk, end, source)
    _end(desk, end.peer)
    _accepted(desk, source, sent)


def _feed(desk: Desk, end: Terminus, source: Terminus) -> list[tuple[Outgoing, Copy]]:
    """Messages in flight to a link that is about to end, which lose their place when it ends."""
    desk.peers[end.peer].credit(end.link, 10)
    end.credit = 10
    desk.settle()
    sent = _burst(desk, source, _BURST)
    for _, copy in sent:
        copy.fresh = False
    return sent


TABLE: Table[Desk] = {
    "connect": Verb(lambda desk: desk.unused(_PEERS), Desk.connect, 2),
    "sender": Verb(_attachable, _sender, 3),
    "send": Verb(_senders, _send, 6),
    "receiver": Verb(_attachable, _receiver, 3),
    "credit": Verb(_creditable, _credit, 5),
    "accept": Verb(_held, _accept, 4),
    "release": Verb(_held, _release, 3),
    "detach": Verb(_ends, _detach),
    "end": Verb(_peers, _end),
    "leave": Verb(_peers, _leave),
    "reset": Verb(_peers, _reset),
    "steal": Verb(_stealable, _steal, 2),
    "detach-beside-send": Verb(_fed, _detach_beside, 2),
    "end-beside-send": Verb(_fed, _end_beside, 2),
    "send-then-reset": Verb(_named_senders, _send_reset),
    "accept-then-reset": Verb(_holding, _accept_reset),
}
"""All verbs, the simplest first; those that end connections are rarer than others."""
