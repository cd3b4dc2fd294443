"""C14: algorithms that cost much for little: patterns, matches, selectors, weights.

Knows: expressions that are dear to evaluate. Must not know: how a target evaluates them.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location
from amqpspec.fuzz.families.material import MATCHES, TOPIC_KEYS, TOPIC_PATTERNS
from amqpspec.fuzz.methods.kit import Kit, can_say, kit
from amqpspec.fuzz.states.model import State
from amqpspec.wire.values import Typed

QUEUE = "amqpspec.fuzz.q"


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    tools = kit(dialect_id)
    if can_say(dialect_id, state, "queue.bind"):
        yield Location(
            "bind.topic", lambda: _topics(tools), ("exchange/required-types", "exchange/recommended-types")
        )
        yield Location("bind.headers", lambda: _matches(tools), ("exchange/recommended-types",))
    if can_say(dialect_id, state, "exchange.bind") and tools.has("exchange.bind"):
        yield Location("bind.cycle", lambda: _cycles(tools), ("exchange/bind/cyclical",))


def _declare(tools: Kit) -> bytes:
    return tools.method("queue.declare", queue=QUEUE, exclusive=True, auto_delete=True)


def _topics(tools: Kit) -> Iterator[Bend]:
    """Patterns that can match in very many ways, then keys that just fail to."""
    for pattern in TOPIC_PATTERNS:
        bind = tools.method("queue.bind", queue=QUEUE, exchange="amq.topic", routing_key=pattern)
        for key in TOPIC_KEYS:
            sent = tools.publish(b"", exchange="amq.topic", routing_key=key)
            yield Bend(f"pattern {pattern[:40]!r}, key {key[:20]!r}", (_declare(tools), bind, sent * 4))


def _matches(tools: Kit) -> Iterator[Bend]:
    tag = next(t.tag for t in tools.dialect.table_tags if t.primitive == "longstr")
    for count in (0, 1, 64, 512):
        for mode in map(str.encode, MATCHES):
            wanted = {"x-match": Typed(tag, mode), **{f"h{n}": Typed(tag, b"v") for n in range(count)}}
            bind = tools.method("queue.bind", queue=QUEUE, exchange="amq.match", arguments=wanted)
            headers = {f"h{n}": Typed(tag, b"v" if n else b"w") for n in range(count)}
            sent = tools.publish(b"", exchange="amq.match", properties={"headers": headers})
            yield Bend(f"{count} headers, x-match {mode!r}", (_declare(tools), bind, sent))


def _cycles(tools: Kit) -> Iterator[Bend]:
    """Exchanges bound in rings and in layers of which each doubles the ways of a message."""
    for count in (1, 2, 16):
        names = [f"amqpspec.fuzz.x{n}" for n in range(count)]
        says = [
            tools.method("exchange.declare", exchange=name, type="fanout", auto_delete=True) for name in names
        ]
        for at, name in enumerate(names):
            says.append(tools.method("exchange.bind", destination=names[(at + 1) % count], source=name))
        clean = [tools.method("exchange.delete", exchange=name) for name in names]
        yield Bend(
            f"ring of {count}", (b"".join(says), tools.publish(b"", exchange=names[0]), b"".join(clean))
        )
    for layers in (2, 8):
        says, clean = [], []
        for level in range(layers):
            for name in (f"amqpspec.fuzz.l{level}a", f"amqpspec.fuzz.l{level}b"):
                says.append(tools.method("exchange.declare", exchange=name, type="fanout", auto_delete=True))
                clean.append(tools.method("exchange.delete", exchange=name))
                for above in "ab" if level else "":
                    source = f"amqpspec.fuzz.l{level - 1}{above}"
                    says.append(tools.method("exchange.bind", destination=name, source=source))
        sent = tools.publish(b"", exchange="amqpspec.fuzz.l0a")
        yield Bend(f"{layers} layers", (b"".join(says), sent, b"".join(clean)))
