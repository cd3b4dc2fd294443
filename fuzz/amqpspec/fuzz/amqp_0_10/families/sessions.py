"""Sessions of AMQP 0-10 bent: sets of commands, command ids, credit, completions.

Knows: what controls say of commands. Must not know: frames, entities.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amqpspec.fuzz.amqp_0_10.kit import may, point, say, transfer
from amqpspec.fuzz.families.base import Bend, Location, by_role, edges, locations_at, many, numbers_of
from amqpspec.fuzz.families.material import RESOURCE_COUNTS
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Role
from amqpspec.wire.amqp_0_10.malformed import counted, sized
from amqpspec.wire.amqp_0_10.values import Array, Packed

_TOP = (1 << 32) - 1
_RANGES: tuple[tuple[str, tuple[tuple[int, int], ...]], ...] = (
    ("one", ((0, 0),)), ("two", ((0, 1),)), ("65536", ((0, 65_535),)), ("a million", ((0, 10**6),)),
    ("2^31", ((0, (1 << 31) - 1),)), ("2^31 and one", ((0, 1 << 31),)), ("all", ((0, _TOP),)),
    ("all, twice", ((0, _TOP), (0, _TOP))), ("from the last on", ((_TOP, 0),)), ("wrapped", ((_TOP - 1, 1),)),
    ("backwards", ((5, 2),)), ("backwards by much", ((1 << 31, 0),)), ("none", ()), ("overlapping", ((0, 5), (3, 8))),
    ("touching", ((0, 5), (6, 8))), ("descending", ((7, 8), (0, 1))),
    ("half and half", ((0, 1 << 31), (1 << 31, _TOP))),
    ("512 of one", tuple((2 * n, 2 * n) for n in range(512))),
    ("512 of a million", tuple((n << 23, (n << 23) + 10**6) for n in range(512))),
    ("4000 of one", tuple((2 * n, 2 * n) for n in range(4000))),
)  # fmt: skip
_SETS = ("type/sequence-set/disjoint",)
_COMMANDS = ("message.accept", "message.reject", "message.release", "message.acquire")
_CONTROLS = (
    "session.expected",
    "session.confirmed",
    "session.completed",
    "session.known-completed",
    "session.gap",
)
_IDS = (0, 1, 2, 255, 65_535, 65_536, (1 << 31) - 1, 1 << 31, _TOP - 1, _TOP)
_OFFSETS = (0, 1, 12, 1 << 31, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)


# --- C7


def ranges(dialect_id: str, state: State) -> Iterator[Location]:
    """Sets of commands and transfers that contain as many ids as a target is willing to count."""
    yield from locations_at(dialect_id, state, by_role(Role.DELIVERY), numbers_of(edges), *_SETS)
    for name in (*_COMMANDS, *_CONTROLS):
        if may(state, name):
            key = "transfers" if name in _COMMANDS else "commands"
            yield Location(f"{name}.set", _sets(name, key), _SETS)
    if may(state, "session.command-point"):
        yield Location("command-point.id", _points, ("session/command-point/nonzero-offset/next-frame",))
    if may(state, "session.confirmed"):
        yield Location("fragments.set", _fragments, ("byte-ranges/ascending", "byte-ranges/disjoint"))


def _sets(name: str, key: str) -> Callable[[], Iterator[Bend]]:
    def of(held: Any) -> bytes:
        more: dict[str, Any] = {key: held, **({"code": 0} if name == "message.reject" else {})}
        return say(name, **more)

    def bends() -> Iterator[Bend]:
        for words, found in _RANGES:
            yield Bend(f"{name}: {words}", (of(found),))
            yield Bend(f"{name}: {words}, 16 times", (of(found) * 16,))
        for octets in (1, 3, 4, 7, 9, 12):
            odd = sized("sequence-set", b"\0" * octets)
            yield Bend(f"{name}: a set of {octets} octets", (of(odd),))

    return bends


def _points() -> Iterator[Bend]:
    """Ids and offsets from which commands continue."""
    for number in _IDS:
        for offset in _OFFSETS:
            octets = point(command_id=number, offset=offset)
            yield Bend(
                f"command-point {number} at {offset}, then a command",
                (octets + say("execution.sync", sync=True),),
            )
        three = point(command_id=number) + transfer(b"x") * 3
        yield Bend(
            f"command-point {number}, then three messages", (three + say("session.flush", completed=True),)
        )
    for count in (2, 64, 1024):
        yield Bend(
            f"{count} command-points", (b"".join(point(command_id=number) for number in range(count)),)
        )


def _fragments() -> Iterator[Bend]:
    """Parts of commands that are confirmed, in ranges of octets."""
    for words, found in (
        ("one", ((0, 0),)), ("all", ((0, (1 << 64) - 1),)), ("descending", ((9, 10), (0, 1))),
        ("overlapping", ((0, 9), (5, 12))), ("512", tuple((4 * n, 4 * n + 1) for n in range(512))),
    ):  # fmt: skip
        for name in ("session.confirmed", "session.expected"):
            item = Packed("session.command-fragment", {"command_id": 0, "byte_ranges": found})
            none = say(name, commands=((0, 0),), fragments=Array("struct32", ()))
            yield Bend(f"{name}: no fragments", (none,))
            octets = item.fields["command_id"].to_bytes(4, "big") + sized(
                "byte-ranges", b"".join(n.to_bytes(8, "big") for pair in found for n in pair)
            )
            odd = counted("array", octets, 1, item_code=0xAB)
            yield Bend(f"{name}: {words}", (say(name, commands=((0, 0),), fragments=odd),))


# --- C8


def windows(dialect_id: str, state: State) -> Iterator[Location]:
    """Credit, modes, completions that ask for more, heartbeats."""
    if state.name != "tune":
        yield from locations_at(dialect_id, state, by_role(Role.SEQUENCE), numbers_of(edges))
    if may(state, "message.flow"):
        yield Location("credit.value", _credits, ("message/set-flow-mode/mode-switching",))
        yield Location("credit.mode", _modes, ("message/set-flow-mode/mode-switching",))
    if may(state, "session.flush"):
        yield Location("flush.echo", _flushes)
    if may(state, "connection.heartbeat"):
        yield Location(
            "heartbeat.many", many("heartbeats", RESOURCE_COUNTS, lambda n: say("connection.heartbeat") * n)
        )
    if may(state, "session.request-timeout"):
        yield Location("session.timeout", _timeouts)


def _credits() -> Iterator[Bend]:
    for value in (0, 1, 2, 65_535, 65_536, (1 << 31) - 1, 1 << 31, _TOP - 1, _TOP):
        for unit in (0, 1, 2, 255):
            flow = say("message.flow", unit=unit, value=value)
            for count in (1, 2, 64):
                yield Bend(f"credit of {value} in unit {unit}, {count} times", (flow * count,))
        filled = say("message.flow", unit=0, value=value) + say("message.flow", unit=1, value=value)
        for name in ("message.flush", "message.stop"):
            yield Bend(f"credit of {value}, then {name}", (filled + say(name),))


def _modes() -> Iterator[Bend]:
    window, credit = (say("message.set-flow-mode", flow_mode=mode) for mode in (1, 0))
    for count in (1, 2, 64, 512):
        yield Bend(f"modes in turn {count} times", ((window + credit) * count,))
        flow = say("message.flow", unit=0, value=1)
        yield Bend(
            f"window, then credit and a message {count} times", (window + (flow + transfer(b"x")) * count,)
        )
    for mode in (2, 127, 255):
        yield Bend(f"flow mode {mode}", (say("message.set-flow-mode", flow_mode=mode),))


def _flushes() -> Iterator[Bend]:
    for count in (1, 64, 1024):
        for kind in ("expected", "confirmed", "completed"):
            yield Bend(f"{count} flushes for {kind}", (say("session.flush", **{kind: True}) * count,))
        timely = say("session.completed", commands=((0, 0),), timely_reply=True)
        yield Bend(f"{count} completions that ask for a reply", (timely * count,))
        yield Bend(f"{count} syncs", (say("execution.sync", sync=True) * count,))


def _timeouts() -> Iterator[Bend]:
    for timeout in (0, 1, 600, 601, 65_535, (1 << 31) - 1, 1 << 31, _TOP):
        yield Bend(f"timeout {timeout}", (say("session.request-timeout", timeout=timeout),))
    yield Bend("64 timeouts", (say("session.request-timeout", timeout=0) * 64,))
    yield Bend("no timeout at all", (say("session.request-timeout"),))
