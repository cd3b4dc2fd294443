"""Queues for brokers that do not make them when a link asks: which way there is, and how it is gone.

Knows: what an open performative says about a broker; management, 0-9-1 and hooks as ways. Must not know: cases,
journals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import unquote

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.amqp_1_0.books import FrameArrived
from amqpspec.peer.amqp_1_0.management import Management
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import LINKS, Context, Login, Nodes, Unmet
from amqpspec.run.driver import driver_of, maker_of, text
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Streams
from amqpspec.spec.dialects import widest
from amqpspec.target.live import TargetError, endpoint_of, run_hook
from amqpspec.target.url import parse_url

MANAGEMENT, METHODS, HOOKS = "management", "amqp-0-9-1", "hooks"
_ELSEWHERE_S = 10.0
_LINK_PAIR = "LINK_PAIR_V1_0"
_QUEUES = ("/queues/", "/queue/")
_RABBITMQ = Nodes(MANAGEMENT, "/queues/amqpspec-1-0.{name}", "vhost:{name}")
"""RabbitMQ from release 4 on, which offers pairs of links; names hold nothing that an address would have to encode."""


def chosen(known: Nodes, opened: FrameArrived | None) -> Nodes:
    """How queues are created: as configured, else as the target's open announces, else with links."""
    if known.way:
        return known
    usual = Nodes()
    found = _RABBITMQ if opened is not None and _is_rabbitmq_4(opened) else Nodes(LINKS)
    address = found.address if known.address == usual.address else known.address
    hostname = found.hostname if known.hostname == usual.hostname else known.hostname
    return replace(known, way=found.way, address=address, hostname=hostname)


def _is_rabbitmq_4(opened: FrameArrived) -> bool:
    offered = opened["offered_capabilities"] or ()
    capabilities = [offered] if isinstance(offered, str) else list(offered)
    product = text((opened["properties"] or {}).get("product"))
    return product == "RabbitMQ" and _LINK_PAIR in map(str, capabilities)


def make(context: Context, addresses: Sequence[str]) -> None:
    """Make queues that outlast the connection; raises Unmet."""
    if context.nodes.way == MANAGEMENT:
        with _managed(context) as management:
            management.make(addresses)
    elif context.nodes.way == HOOKS:
        _hooked("make-node", context.nodes.make_hook, addresses)
    elif context.nodes.are_made:
        with _by_methods(context) as elsewhere:
            maker_of(elsewhere.dialect).make(elsewhere, [queue_of(address) for address in addresses])


def delete(context: Context, addresses: Sequence[str]) -> None:
    """Delete queues that were made; raises Unmet."""
    if context.nodes.way == MANAGEMENT:
        # What a probe noted before the target was known is a bare name, under which such a broker makes nothing.
        prefix = _RABBITMQ.address.partition("{")[0]
        with _managed(context) as management:
            management.delete([address for address in addresses if address.startswith(prefix)])
    elif context.nodes.way == HOOKS:
        _hooked("delete-node", context.nodes.delete_hook, addresses)
    elif context.nodes.are_made:
        with _by_methods(context) as elsewhere:
            driver_of(elsewhere.dialect).delete(
                elsewhere, [("queue", queue_of(address)) for address in addresses]
            )


def queue_of(address: str) -> str:
    """The name of the queue that an address leads to, for those who know it by name."""
    prefix = next((prefix for prefix in _QUEUES if address.startswith(prefix)), "")
    return unquote(address.removeprefix(prefix))


@contextmanager
def _managed(context: Context) -> Iterator[Management]:
    peer = Peer(context)
    peer.begin()
    yield Management(peer)
    peer.close()


def _hooked(name: str, command: str, addresses: Sequence[str]) -> None:
    if not command:
        return
    for address in addresses:
        try:
            run_hook(name, command, node=address, queue=queue_of(address))
        except TargetError as error:
            raise Unmet(f"the hook {name} to end well", str(error)) from error


@contextmanager
def _by_methods(context: Context) -> Iterator[Context]:
    """The context in 0-9-1: on the port of the target, or where a URL leads."""
    here = replace(context, dialect=widest(METHODS))
    if context.nodes.way == METHODS:
        yield here
        return
    url = parse_url(context.nodes.way)
    streams = Streams(endpoint_of(url), NO_TRANSCRIPT, Budget(monotonic_s() + _ELSEWHERE_S))
    login = Login(url.user, url.password, url.vhost)
    try:
        yield replace(here, dial=streams.dial, login=login)
    finally:
        streams.hang_up()
