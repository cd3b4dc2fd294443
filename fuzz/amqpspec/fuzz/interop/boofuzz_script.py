"""Grammar and session graph of a dialect as one runnable boofuzz script.

Knows: trees, the session graph, boofuzz' words for them. Must not know: targets; boofuzz itself is not needed here.

Sizes become Size over what they span, wrapped in a block if that is more than one part; counts become Count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from pprint import pformat

from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.interop.graph import Request, session_graph
from amqpspec.fuzz.interop.part import BoofuzzFacts, interop_part
from amqpspec.fuzz.states.model import Slot, Values
from amqpspec.fuzz.trees.tree import Measure, Node, Role, Way
from amqpspec.spec.dialects import UnknownDialectError

_PRIMITIVES = {1: "Byte", 2: "Word", 4: "DWord", 8: "QWord"}
_TEXTS = (Role.TEXT, Role.SYMBOL, Role.OPAQUE)
_MAX_TEXT_OCTETS = 70_000
_MAGIC = "magic"
_NOT_BENT = frozenset({_MAGIC})
"""Roles that a script mutates only on request: the four letters of the protocol header."""


@dataclass(frozen=True, slots=True)
class ScriptTarget:
    """Where a script looks for its target; there is no password in it."""

    host: str = "127.0.0.1"
    port: int = 5672
    vhost: str = "/"
    queue: str = "amqpspec.fuzz.q"


@cache
def script(dialect_id: str, address: ScriptTarget | None = None) -> str:
    """The script; raises KeyError for an unknown dialect."""
    address, facts = address or ScriptTarget(), interop_part(dialect_id).boofuzz()
    if facts is None:
        raise UnknownDialectError(
            f"{dialect_id}: expected a dialect with a boofuzz session, actual: it has none"
        )
    graph = session_graph(dialect_id)
    requests = [_request(request) for request in graph.requests.values()]
    edges = "".join(f"    {(edge.after, edge.request, edge.waits)!r},\n" for edge in graph.edges)
    parts = (
        _TITLE.format(dialect=dialect_id, hash=grammar_hash(dialect_id)),
        _runtime(),
        _ROLES_TITLE + "".join(_roles()),
        *requests,
        "REQUESTS = {\n" + "".join(f'    "{name}": make_{name},\n' for name in graph.requests) + "}\n",
        f"EDGES = (\n{edges})\n",
        _definition(dialect_id, facts, address),
        _END.format(host=address.host, port=address.port),
    )
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


_TITLE = '''#!/usr/bin/env python3
"""A boofuzz session for {dialect}, made by amqpspec from its tables (grammar {hash}).

It needs nothing but boofuzz 0.4.2. ``--help`` tells its options. What is bent is chosen by role below.
"""

from __future__ import annotations

import sys
'''
_ROLES_TITLE = "# --- what is bent, by the role of a part\n\n"
_END = """if __name__ == "__main__":
    sys.exit(main(DEFINITION, "{host}", {port}))
"""


def _runtime() -> str:
    """The part that all scripts have in common, without its title."""
    text = (Path(__file__).parent / "boofuzz_runtime.py").read_text(encoding="utf-8")
    text = text.partition("from __future__ import annotations\n")[2]
    return re.sub(r"\n__all__ = \[.*?\n\]\n", "", text, flags=re.DOTALL)


def _roles() -> Iterator[str]:
    roles = [role.value for role in Role if role is not Role.GROUP] + [_MAGIC]
    return (f"{_constant(role)} = {role not in _NOT_BENT}\n" for role in roles)


def _constant(role: str) -> str:
    return role.upper().replace("-", "_")


# --- what a server says


def _definition(dialect_id: str, facts: BoofuzzFacts, address: ScriptTarget) -> str:
    values = Values(vhost=address.vhost, queue=address.queue, hostname=address.host)
    slots = {_slot(slot): _plain(values.of(slot)) for slot in Slot}
    return (
        f"NAMES = {pformat(dict(facts.names), width=110)}\n\nSLOTS = {pformat(slots, width=110)}\n\n"
        f'DEFINITION = Definition(\n    "{dialect_id}", {facts.frame!r}, {facts.named_by!r}, NAMES, SLOTS,\n'
        f"    REQUESTS, EDGES, own_queue={facts.own_queue}, size_octets={facts.size_octets},\n)"
    )


def _slot(slot: Slot) -> str:
    return slot.name.lower()


def _plain(value: str | bytes | int) -> str | int:
    return value.decode() if isinstance(value, bytes) else value


# --- requests


def _request(request: Request) -> str:
    writer = _Writer(request)
    children = writer.children(request.tree.children, (), 3)
    return (
        f"def make_{request.name}() -> Any:\n    return Request(\n"
        f'        "{request.name}",\n        children=(\n{children}        ),\n    )\n'
    )


class _Writer:
    """One request as an expression."""

    def __init__(self, request: Request) -> None:
        self._slots: Mapping[Way, Slot] = request.slots

    def children(self, nodes: Sequence[Node], way: Way, depth: int) -> str:
        """Parts one after the other; what a size spans as a separate block, if that is more than one part."""
        placed = [(node, (*way, at)) for at, node in enumerate(nodes)]
        return "".join(self._run(placed, _unique([node.name for node in nodes]), depth))

    def _run(self, placed: list[tuple[Node, Way]], names: list[str], depth: int) -> Iterator[str]:
        pad = "    " * depth
        for at, (node, way) in enumerate(placed):
            name = names[at]
            if node.measure is None:
                yield f"{pad}{self._part(node, name, way, depth)},\n"
                continue
            spanned = [n for n, (other, _) in enumerate(placed) if other.name in node.measure.of]
            if len(spanned) > 1 and spanned[0] == at + 1 and spanned[-1] == len(placed) - 1:
                block = f"{name}_spans"
                yield f"{pad}{_measure(node, name, '.' + block)},\n"
                rest = "".join(self._run(placed[at + 1 :], names[at + 1 :], depth + 2))
                yield f'{pad}Block("{block}", children=(\n{rest}{pad})),\n'
                return
            yield f"{pad}{_measure(node, name, self._spanned(node.measure, names, spanned))},\n"

    @staticmethod
    def _spanned(measure: Measure, names: list[str], spanned: list[int]) -> str:
        (wanted,) = measure.of
        if wanted.startswith("/"):
            return ".".join(_word(part) for part in wanted[1:].split("."))
        (place,) = spanned
        return f".{names[place]}"

    def _part(self, node: Node, name: str, way: Way, depth: int) -> str:
        if node.is_group:
            inside = self.children(node.children, way, depth + 1)
            pad = "    " * depth
            return f'Block("{name}", children=(\n{inside}{pad}))' if inside else f'Block("{name}")'
        role = _MAGIC if node.kind == _MAGIC else str(node.role)
        bent = f"fuzzable={_constant(role)}"
        slot = self._slots.get(way)
        if slot is not None:
            return self._of_slot(slot, node, name, bent)
        if node.role not in _TEXTS and len(node.octets) in _PRIMITIVES:
            value = int.from_bytes(node.octets, "big")
            return f'{_PRIMITIVES[len(node.octets)]}("{name}", {value}, endian=">", {bent})'
        if node.role not in _TEXTS:
            return f'Bytes("{name}", {node.octets!r}, size={len(node.octets)}, {bent})'
        text = _text(node)
        if text is None:
            return f'Bytes("{name}", {node.octets!r}, max_len={_MAX_TEXT_OCTETS}, {bent})'
        return f'String("{name}", {text!r}, max_len={_MAX_TEXT_OCTETS}, {bent})'

    @staticmethod
    def _of_slot(slot: Slot, node: Node, name: str, bent: str) -> str:
        if slot in (Slot.CHANNEL_MAX, Slot.FRAME_MAX):
            value = int.from_bytes(node.octets, "big")
            reference = f'ProtocolSessionReference("{_slot(slot)}", {value})'
            return f'{_PRIMITIVES[len(node.octets)]}("{name}", {reference}, endian=">", {bent})'
        reference = f'ProtocolSessionReference("{_slot(slot)}", {node.octets.decode()!r})'
        return f'String("{name}", {reference}, max_len={_MAX_TEXT_OCTETS}, {bent})'


def _measure(node: Node, name: str, of: str) -> str:
    measure = node.measure
    assert measure is not None
    common = f'"{name}", "{of}", offset={measure.extra}, length={measure.width_octets}, endian=">"'
    bent = f"fuzzable={_constant(str(node.role))}"
    if measure.counts:
        return f"Count({common}, {bent})"
    if measure.unit != 1:
        return f"Size({common}, math=lambda octets: octets // {measure.unit}, {bent})"
    return f"Size({common}, {bent})"


def _text(node: Node) -> str | None:
    """A text that stays the same when it is written and read; None for octets."""
    if node.role is Role.OPAQUE:
        return None
    try:
        return node.octets.decode()
    except UnicodeDecodeError:
        return None


def _word(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "_", name)


def _unique(names: Sequence[str]) -> list[str]:
    """Names without dots, each another."""
    found: list[str] = []
    for name in map(_word, names):
        found.append(name if name not in found else f"{name}_{len(found)}")
    return found
