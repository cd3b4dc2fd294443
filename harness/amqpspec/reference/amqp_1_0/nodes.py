"""State that outlives links: termini with their unsettled deliveries, nodes created on request, and the users of
nodes.

Knows: when a terminus expires and what happens to its deliveries, the owner of each link name. Must not know:
frames.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Entry, Queue, VirtualHost
from amqpspec.wire.amqp_1_0.performatives import Composed

_LINK_DETACH, _SESSION_END, _CONNECTION_CLOSE = "link-detach", "session-end", "connection-close"
DYNAMIC_PREFIX = "amqpspec.dynamic-"
Key = tuple[str, bool, str]


class Attached(Protocol):
    """A link endpoint, as its terminus sees it."""

    key: int
    terminus: Terminus

    def fail(self, condition: str, text: str, *, closed: bool = False) -> None:
        """Refuse at the scope of the link."""


@dataclass(slots=True, eq=False)
class SentDelivery:
    """A delivery that was sent and is not settled; ``complete`` once all of it has gone out."""

    tag: bytes
    entry: Entry
    queue: Queue
    terminus: Terminus
    delivery_id: int = -1
    state: Any = None
    complete: bool = False
    outcome: str = ""


@dataclass(slots=True, eq=False)
class Terminus:
    """The broker's end of a link, as it is while links come and go; ``endpoint`` is the link that it has now.

    It outlives link, session and connection as far as its expiry policy says (1.0 §3.5.3, §3.5.6), and remembers by
    tag what is not settled, so that a link of its name can take that up again (§2.6).

    ``incoming`` holds, for deliveries that came and are not settled, the outcome by tag; empty while not whole.
    """

    key: Key
    source: dict[str, Any] = field(default_factory=dict)
    target: Any = field(default_factory=dict)
    queue: Queue | None = None
    expiry: str = _SESSION_END
    timeout_s: int = 0
    held: dict[bytes, SentDelivery] = field(default_factory=dict)
    incoming: dict[bytes, str] = field(default_factory=dict)
    numbers: Any = field(default_factory=lambda: count(1))
    endpoint: Attached | None = None
    session: object = None
    connection: object = None
    dynamic: bool = False
    incomplete: bool = False
    modes: dict[bytes, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The link's name."""
        return self.key[2]

    def settle(self, held: SentDelivery) -> None:
        """A delivery is settled."""
        if self.held.get(held.tag) is held:
            del self.held[held.tag]


class Nodes:
    """The termini of one virtual host."""

    def __init__(self, vhost: VirtualHost) -> None:
        self.vhost, self.faulty = vhost, vhost.faulty
        self.termini: dict[Key, Terminus] = {}
        self._numbers = count(1)
        self._timers: dict[Key, asyncio.TimerHandle] = {}

    # --- nodes

    def new_node(self) -> Queue:
        """A node with a unique name."""
        number = 1 if self.faulty("dynamic-names-repeat") else next(self._numbers)
        return self.vhost.declare_queue(f"{DYNAMIC_PREFIX}{number:06d}")

    def delete_node(self, queue: Queue) -> None:
        """Delete a node: links to it lose it."""
        if self.faulty("dynamic-node-stays") or queue.deleted:
            return
        users = [t.endpoint for t in self.termini.values() if t.queue is queue and t.endpoint is not None]
        self.vhost.delete_queue(queue)
        if self.faulty("links-to-deleted-node-stay"):
            return
        for endpoint in users:
            endpoint.fail("amqp:resource-deleted", f"{queue.name} is deleted", closed=True)

    # --- termini

    def terminus(self, key: Key) -> Terminus:
        """The terminus of a name, or a new one."""
        timer = self._timers.pop(key, None)
        if timer is not None:
            timer.cancel()
        return self.termini.setdefault(key, Terminus(key))

    def detached(self, endpoint: Attached, *, closed: bool) -> None:
        """A link has lost its terminus, which stays or goes."""
        terminus = endpoint.terminus
        if terminus.endpoint is not None and terminus.endpoint is not endpoint:
            return
        if closed or terminus.expiry == _LINK_DETACH or self.faulty("terminus-ends-with-detach"):
            self._expire_later(terminus, 0 if closed else terminus.timeout_s)

    def session_ended(self, session: object) -> None:
        """Termini that live as long as their session go."""
        for terminus in tuple(self.termini.values()):
            if terminus.session is session and terminus.endpoint is None:
                terminus.session = None
                if terminus.expiry == _SESSION_END or self.faulty("terminus-ends-with-session"):
                    self._expire_later(terminus, terminus.timeout_s)

    def connection_ended(self, connection: object) -> None:
        """Termini that live as long as their connection go."""
        its = [terminus for terminus in self.termini.values() if terminus.connection is connection]
        if self.faulty("termini-of-all-connections-end"):
            its = list(self.termini.values())
        for terminus in its:
            if terminus.endpoint is None:
                terminus.connection = None
                if terminus.expiry == _CONNECTION_CLOSE:
                    self._expire_later(terminus, terminus.timeout_s)

    def _expire_later(self, terminus: Terminus, timeout_s: int) -> None:
        if self.faulty("timeout-of-terminus-ignored"):
            timeout_s = 0
        if timeout_s <= 0:
            self._expire(terminus)
        else:
            loop = asyncio.get_running_loop()
            self._timers[terminus.key] = loop.call_later(timeout_s, self._expire, terminus)

    def _expire(self, terminus: Terminus) -> None:
        """A terminus goes: what it held goes back."""
        if terminus.endpoint is not None:
            return
        self._timers.pop(terminus.key, None)
        if self.termini.get(terminus.key) is terminus:
            del self.termini[terminus.key]
        self.give_back(terminus, list(terminus.held.values()))
        if terminus.dynamic and terminus.queue is not None:
            self.delete_node(terminus.queue)

    def give_back(self, terminus: Terminus, held: list[SentDelivery]) -> None:
        """Return deliveries without an outcome to their node, as if they had never left."""
        groups: dict[int, list[SentDelivery]] = {}
        for one in held:
            terminus.settle(one)
            if not one.outcome:
                one.entry.deliveries -= 1
                groups.setdefault(id(one.queue), []).append(one)
        for group in groups.values():
            group[0].queue.give_back([one.entry for one in group])


_NODES: WeakKeyDictionary[VirtualHost, Nodes] = WeakKeyDictionary()


def nodes_of(vhost: VirtualHost) -> Nodes:
    """The nodes of a virtual host."""
    if vhost not in _NODES:
        _NODES[vhost] = Nodes(vhost)
    return _NODES[vhost]


def fields_of(composite: Composed) -> dict[str, Any]:
    """The fields of a source or target that were given."""
    return {field.key: composite[field.key] for field in composite.row.fields if field.key in composite.given}


FAULTS = fault_table("""
dynamic-names-repeat: all dynamic nodes have the same name
    [links/establishing/actual-properties definitions/condition/resource-deleted]
dynamic-node-stays: a dynamic node outlives its link [definitions/condition/resource-deleted]
links-to-deleted-node-stay: links to a node that is deleted stay up [definitions/condition/resource-deleted]
terminus-ends-with-detach: a terminus lives as long as its link [links/detaching/by-delivery-id
    performatives/disposition/detached-links performatives/disposition/detached-links/applied model/terminus-outlives
    transfers/resuming/unsettled-map links/establishing/unsettled-state messaging/terminus/expiry-policy]
terminus-ends-with-session: a terminus lives as long as its session
    [model/terminus-outlives transfers/resuming/unsettled-map transfers/resuming/both links/recovering/full-state
    messaging/terminus/expiry-policy]
termini-of-all-connections-end: where a connection ends, the termini of all connections end
    [messaging/terminus/expiry-policy]
timeout-of-terminus-ignored: a terminus is deleted at once when its expiry policy applies, whatever its timeout
    [messaging/terminus/timeout]
""")
