"""Sessions, links and deliveries of AMQP 1.0 bent: ranges, windows, credit, and how many there are.

Knows: flow, disposition, transfer. Must not know: what messages hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amqpspec.fuzz.amqp_1_0.kit import MESSAGE, attach, begin, flow, may, say, transfer
from amqpspec.fuzz.amqp_1_0.states import SENDER
from amqpspec.fuzz.families.base import Bend, Location, each, locations_at, numbers_of, over
from amqpspec.fuzz.families.material import RESOURCE_COUNTS
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, Role
from amqpspec.fuzz.trees.values import boundaries
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Symbol

_TOP = (1 << 32) - 1
_RANGES = (
    (0, 0), (0, 1), (0, 255), (0, 65_535), (0, 10**6), (0, (1 << 31) - 1), (0, 1 << 31), (0, _TOP), (1, 0), (5, 2),
    (_TOP, 0), (_TOP - 1, 1), (_TOP, _TOP), (1 << 31, (1 << 31) - 1), (1, _TOP), (0, _TOP - 1),
)  # fmt: skip
_RECEIVED = {"section_number": 0, "section_offset": 0}
_STATES = ("accepted", "released", "rejected", "modified", "received", None)


def _role_of(role: Role) -> Callable[[Place], str]:
    def pick(place: Place) -> str:
        # The part that holds the number is named for it; the number itself is a value.
        parts = place.path.split(".")
        return parts[-2] if place.node.role is role and len(parts) > 1 else ""

    return pick


def _edges(width_octets: int, value: int) -> list[int]:
    return [number for number in boundaries(width_octets) if number != value] if width_octets <= 8 else []


def ranges(dialect_id: str, state: State) -> Iterator[Location]:
    """Dispositions over as many deliveries as numbers can count."""
    touches = (
        "performatives/disposition/last",
        "links/delivery-ids-per-session",
        "definitions/sequence-no/arithmetic",
    )
    yield from locations_at(dialect_id, state, _role_of(Role.DELIVERY), numbers_of(_edges), *touches)
    if may(state, "disposition") or may(state, "transfer"):
        yield Location("disposition.range", _ranges, touches)
    if may(state, "attach"):
        yield Location("unsettled.map", _unsettled, ("performatives/attach/unsettled/too-large",))


def _ranges() -> Iterator[Bend]:
    for first, last in _RANGES:
        for role in ("receiver", "sender"):
            for outcome in _STATES:
                state: dict[str, Any] = _RECEIVED if outcome == "received" else {}
                fields: dict[str, Any] = {"state": encode_composite(outcome, **state)} if outcome else {}
                for settled in (True, False):
                    sent = say("disposition", role=role, first=first, last=last, settled=settled, **fields)
                    yield Bend(
                        f"{role} {first} to {last} {outcome or 'no state'}, settled {settled}", (sent,)
                    )


def _unsettled() -> Iterator[Bend]:
    for count in (1, 64, 1024, 4096):
        tags = {number.to_bytes(4, "big"): None for number in range(count)}
        yield Bend(f"{count} unsettled deliveries", (attach("amqpspec-fuzz-new", 7, unsettled=tags),))
        incomplete = attach("amqpspec-fuzz-new", 7, unsettled=tags, incomplete_unsettled=True)
        yield Bend(f"{count} unsettled deliveries, and more", (incomplete,))


def windows(dialect_id: str, state: State) -> Iterator[Location]:
    """Windows and credit at the edges, echoes, and deliveries of many transfers."""
    touches = (
        "sessions/flow/window-formula",
        "links/flow/credit-formula",
        "definitions/sequence-no/arithmetic",
    )
    for role in (Role.SEQUENCE, Role.TIME):
        yield from locations_at(dialect_id, state, _role_of(role), numbers_of(_edges), *touches)
    if may(state, "flow"):
        yield Location("flow.echo", lambda: _echoes(state), ("performatives/flow/echo/no-loop",))
    if may(state, "flow") and state.handles:
        yield Location("flow.credit", lambda: _credits(state), ("links/flow/credit-decreases",))
    if may(state, "transfer"):
        yield Location(
            "transfer.fragments", _fragments, ("transfers/fragments", "transfers/large/additional-transfers")
        )
        yield Location("transfer.many-fragments", _many_fragments, ("transfers/fragments",))
        yield Location(
            "transfer.no-credit", _without_credit, ("links/flow/no-credit", "links/flow/delivery-limit")
        )


def _handles(state: State) -> list[int | None]:
    return [None, *sorted(state.handles)]


def _echoes(state: State) -> Iterator[Bend]:
    for handle in _handles(state):
        for count in (1, 16, 256, 4096):
            sent = (
                flow(echo=True)
                if handle is None
                else flow(handle=handle, link_credit=0, delivery_count=0, echo=True)
            )
            yield Bend(f"{count} flows with echo, handle {handle}", (sent * count,))


def _credits(state: State) -> Iterator[Bend]:
    for handle in (h for h in _handles(state) if h is not None):
        for credit in (0, 1, (1 << 31) - 1, 1 << 31, _TOP):
            for count in (0, 1, (1 << 31) - 1, 1 << 31, _TOP):
                sent = flow(handle=handle, link_credit=credit, delivery_count=count)
                yield Bend(f"handle {handle}: credit {credit}, count {count}", (sent,))
                drained = flow(handle=handle, link_credit=credit, delivery_count=count, drain=True)
                yield Bend(f"handle {handle}: credit {credit}, count {count}, drained", (drained,))
        up_down = (flow(handle=handle, link_credit=n % 2 * 100, delivery_count=0) for n in range(512))
        yield Bend(f"handle {handle}: credit up and down", (b"".join(up_down),))


def _fragments() -> Iterator[Bend]:
    for count in (1, 2, 64, 1024, 4096):
        more = say("transfer", handle=SENDER, more=True)
        first = transfer(0, b"", more=True)
        yield Bend(
            f"{count} empty transfers, then the end", (first + more * count, say("transfer", handle=SENDER))
        )
        yield Bend(
            f"{count} empty transfers, then aborted",
            (first + more * count, say("transfer", handle=SENDER, aborted=True)),
        )
    for size in (1, 2, 3):
        parts = [MESSAGE[at : at + size] for at in range(0, len(MESSAGE), size)]
        says = [transfer(0, part, more=True) if n == 0 else say("transfer", handle=SENDER, more=True, payload=part)
                for n, part in enumerate(parts)]  # fmt: skip
        yield Bend(f"a message in parts of {size}", (*says, say("transfer", handle=SENDER)))


def _many_fragments() -> Iterator[Bend]:
    """One delivery in as many transfers as a peer cares to send, of one octet each."""
    more = say("transfer", handle=SENDER, more=True, payload=b"x")
    for count in (16_384, 65_536, 262_144):
        sent = transfer(0, b"", more=True) + more * count
        yield Bend(f"{count} transfers of a delivery", (sent, say("transfer", handle=SENDER, aborted=True)))


def _without_credit() -> Iterator[Bend]:
    for count in (64, 512, 2049, 4096):
        yield Bend(f"{count} deliveries", (b"".join(transfer(n, settled=True) for n in range(count)),))
        yield Bend(
            f"{count} unsettled deliveries", (b"".join(transfer(n, settled=False) for n in range(count)),)
        )


def resources(_: str, state: State) -> Iterator[Location]:
    """Sessions, links and deliveries in numbers."""
    if may(state, "begin"):
        yield Location(
            "many.sessions",
            over(RESOURCE_COUNTS, "{} sessions", lambda count: each(begin)(range(count))),
            ("performatives/open/channel-max/sessions", "model/many-sessions"),
        )
        yield Location(
            "many.reopenings",
            over(RESOURCE_COUNTS, "a session begun and ended {} times", (begin() + say("end")).__mul__),
        )
    if may(state, "attach"):
        yield Location("many.links", _links, ("model/many-links",))
        yield Location("many.reattachings", _reattached)
        yield Location("many.dynamic-nodes", _dynamic)
    if state.name == "attached":
        yield Location("many.unfinished", _unfinished)


def _links() -> Iterator[Bend]:
    for count in RESOURCE_COUNTS:
        for role in ("sender", "receiver"):
            links = (attach(f"amqpspec-fuzz-{role}-{n}", n, role) for n in range(count))
            yield Bend(f"{count} links as {role}", (b"".join(links),))


def _reattached() -> Iterator[Bend]:
    for count in RESOURCE_COUNTS:
        for closed in (True, False):
            sent = attach("amqpspec-fuzz-new", 7) + say("detach", handle=7, closed=closed)
            yield Bend(f"a link attached and detached {count} times, closed {closed}", (sent * count,))


def _dynamic() -> Iterator[Bend]:
    policy = {Symbol("lifetime-policy"): encode_composite("delete-on-close")}
    for count in RESOURCE_COUNTS[:4]:
        source = {"dynamic": True, "dynamic_node_properties": policy}
        links = (attach(f"amqpspec-fuzz-dynamic-{n}", n, "receiver", source=source) for n in range(count))
        yield Bend(f"{count} dynamic nodes", (b"".join(links),))


def _unfinished() -> Iterator[Bend]:
    for count in RESOURCE_COUNTS[:4]:
        links = (
            attach(f"amqpspec-fuzz-open-{n}", n) + transfer(n, b"x" * 64, n, more=True)
            for n in range(10, 10 + count)
        )
        yield Bend(f"{count} deliveries that do not end", (b"".join(links),))
