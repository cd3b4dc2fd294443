"""Addresses: the node of an address, and the actual source or target.

Knows: nodes are queues, created when an address first names them; some addresses name nothing. Must not know: links.
"""

from __future__ import annotations

from typing import Any

from amqpspec.reference.amqp_1_0.nodes import DYNAMIC_PREFIX, SentDelivery, Terminus
from amqpspec.reference.amqp_1_0.selecting import SELECTOR_CODES, SELECTOR_NAMES, Selector, selector_of
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Entry, Message, Queue, VirtualHost
from amqpspec.wire.amqp_1_0.values import Described, Map, Symbol

_QUEUE_PREFIXES = ("/queue/", "/queues/", "queue://")
_RESERVED = ("amq.", "$", DYNAMIC_PREFIX)
_KNOWN_CAPABILITIES = frozenset(("queue",))


def node_of(session: Session, fields: dict[str, Any], terminus: Terminus) -> Queue | None:
    """The node of a source or target; refuses if there is none."""
    if fields.get("dynamic"):
        if not (terminus.dynamic and terminus.queue is not None):
            terminus.queue, terminus.dynamic = session.nodes.new_node(), True
        fields["address"] = terminus.queue.name
        return terminus.queue
    address = fields.get("address")
    vhost = session.connection.vhost
    made = _plain(address) not in vhost.queues
    node = None if made and session.faulty("nodes-not-made") else named_node(vhost, address)
    if node is None:
        session.refuse("definitions/condition/not-found", f"there is no node {address!r}")
    return node or vhost.declare_queue(_plain(address), durable=True)


def named_node(vhost: VirtualHost, address: Any) -> Queue | None:
    """The node of an address, created as for an attach; None for an address that names nothing."""
    name = _plain(address)
    if name in vhost.queues:
        return vhost.queues[name]
    return None if _names_nothing(name) else vhost.declare_queue(name, durable=True)


def _plain(address: Any) -> str:
    text = address if isinstance(address, str) else ""
    for prefix in _QUEUE_PREFIXES:
        text = text.removeprefix(prefix)
    return text


def _names_nothing(name: str) -> bool:
    return not name or name.startswith(_RESERVED) or "/" in name


def as_created(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    """The actual source or target: without properties that the broker does not support."""
    made = dict(fields)
    if session.faulty("termini-told-as-asked-for"):
        return made
    if "filter" in made:
        kept = {name: one for name, one in _filters(made) if _selector(one) is not None}
        made["filter"] = Map({Symbol(name): one for name, one in kept.items()}) if kept else None
    if "capabilities" in made:
        made["capabilities"] = tuple(c for c in made["capabilities"] if c in _KNOWN_CAPABILITIES) or None
    if "distribution_mode" in made:
        made["distribution_mode"] = Symbol("move")
    if session.faulty("terminus-properties-not-told"):
        made = {"address": made.get("address")}
    return {key: value for key, value in made.items() if value is not None}


def invented_delivery(tag: bytes, terminus: Terminus) -> SentDelivery:
    """A delivery that never existed, which a fault resumes."""
    assert terminus.queue is not None
    return SentDelivery(tag, Entry(Message("", "", b"", b"\x00\x53\x77\x40"), 0), terminus.queue, terminus)


def selector_in(source: dict[str, Any]) -> Selector | None:
    """The selector of a source, if it has one."""
    found = (_selector(one) for _, one in _filters(source))
    return next((selector for selector in found if selector is not None), None)


def _filters(source: dict[str, Any]) -> list[tuple[str, Any]]:
    filters = source.get("filter")
    return list(filters.items()) if isinstance(filters, dict) else []


def _selector(one: Any) -> Selector | None:
    if not isinstance(one, Described):
        return None
    known = SELECTOR_NAMES if isinstance(one.descriptor, str) else SELECTOR_CODES
    return selector_of(one.value) if one.descriptor in known else None


FAULTS = fault_table("""
nodes-not-made: an address that names nothing is refused [links/establishing/create-terminus]
termini-told-as-asked-for: the broker's attach repeats the requested terminus
    [links/establishing/actual-properties links/establishing/adjust]
terminus-properties-not-told: of a terminus, only the address is announced
    [links/establishing/actual-properties links/recovering/full-state]
""")
