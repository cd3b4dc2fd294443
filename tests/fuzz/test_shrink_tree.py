"""Inputs made smaller on their trees: what is needed stays, sizes follow, wrong sizes stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.grammar import grammar, grammar_hash
from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.defects import Defect
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.trees.tree import Node, Role, edited, group, leaf, octets_of, replaced, walk
from amqpspec.fuzz.triage.search import Search, Spent, Steps, fewest
from amqpspec.fuzz.triage.shrink import smaller_steps
from amqpspec.fuzz.triage.triage import Status, Triage

DIALECT = "amqp-0-9-1"
MARK = b"deep-down"
MANY = 2000


def item(dialect: str, *steps: bytes, state: str = "channel") -> FuzzInput:
    id = InputId(grammar_hash(dialect), "random", "x", state, 0, 0)
    return FuzzInput(id, dialect, state, steps, "")


class Asked:
    """An effect of one step; what was asked is kept."""

    def __init__(self, has: Callable[[bytes], bool]) -> None:
        self.has, self.steps = has, list[Steps]()

    def __call__(self, steps: Steps) -> bool:
        self.steps.append(steps)
        return any(map(self.has, steps))


def smaller(input: FuzzInput, has: Callable[[bytes], bool], limit: int = MANY) -> tuple[bytes, Asked]:
    asked = Asked(has)
    (found,) = smaller_steps(input, asked, limit)
    assert len(asked.steps) <= limit and len(set(asked.steps)) == len(asked.steps)
    assert input.steps not in asked.steps
    return found, asked


def leaves(dialect: str, octets: bytes) -> Iterator[tuple[str, Node]]:
    return ((p.path, p.node) for p in walk(tree_of(dialect, octets)) if not p.node.children)


def holds(dialect: str, path: str, value: bytes) -> Callable[[bytes], bool]:
    """A part at a path has a value, where the octets can be read."""
    return lambda octets: any((p, n.octets) == (path, value) for p, n in leaves(dialect, octets))


def field_of(dialect: str) -> tuple[bytes, str, bytes]:
    """A production with the most parts, and its last text."""
    trees = [octets_of(production.tree) for production in grammar(dialect).values()]
    texts = {
        octets: [(p, n) for p, n in leaves(dialect, octets) if n.role is Role.TEXT and n.octets]
        for octets in trees
    }
    octets = max(
        (octets for octets in trees if texts[octets]), key=lambda one: len(list(leaves(dialect, one)))
    )
    path, node = texts[octets][-1]
    return octets, path, node.octets


@pytest.mark.parametrize("dialect", fuzzed_dialects())
def test_of_a_frame_one_field_is_left_and_its_sizes_are_right(dialect: str) -> None:
    octets, path, value = field_of(dialect)
    found, _ = smaller(item(dialect, octets), holds(dialect, path, value))
    assert len(found) < len(octets) and holds(dialect, path, value)(found)
    for other, node in leaves(dialect, found):
        if node.role in (Role.TEXT, Role.SYMBOL, Role.OPAQUE) and other != path:
            assert not node.octets, other


@pytest.mark.parametrize("dialect", fuzzed_dialects())
def test_a_search_is_the_same_each_time(dialect: str) -> None:
    octets, path, value = field_of(dialect)
    first, second = (smaller(item(dialect, octets), holds(dialect, path, value), 60) for _ in range(2))
    assert first[0] == second[0] and first[1].steps == second[1].steps


def test_of_46_octets_12_are_left_after_a_few_attempts() -> None:
    octets = octets_of(grammar(DIALECT)["method/queue.declare"].tree)
    assert len(octets) == 46

    def has(one: bytes) -> bool:
        return one[7:11] == octets[7:11] and int.from_bytes(one[3:7], "big") == len(one) - 8

    found, asked = smaller(item(DIALECT, octets), has)
    assert len(found) == 12 and asked.steps.index((found,)) < 8


def declare(entries: list[Node], method: str = "queue.declare") -> bytes:
    """A declaration with a table of such entries."""
    tree = grammar(DIALECT)[f"method/{method}"].tree
    way = next(p.way for p in walk(tree) if p.path.endswith("arguments.entries"))
    return octets_of(replaced(tree, way, lambda old: (group("entries", *entries),)))


def text_of(name: str, octets: bytes, width: int = 1) -> Node:
    return leaf(name, Role.TEXT, len(octets).to_bytes(width, "big") + octets)


def entry(key: bytes, value: bytes) -> Node:
    return group("entry", text_of("key", key), leaf("tag", Role.TYPE_TAG, b"S"), text_of("v", value, 4))


def test_of_a_table_one_entry_is_left_and_of_its_value_what_is_needed() -> None:
    entries = [entry(b"key-%d" % n, b"v" * n) for n in range(20)]
    entries[13] = entry(b"needed", b"before " + MARK + b" behind")
    octets = declare(entries)

    def has(octets: bytes) -> bool:
        return any(MARK in n.octets and "arguments.entries" in p for p, n in leaves(DIALECT, octets))

    found, _ = smaller(item(DIALECT, octets), has, 120)
    text = [(p, n.octets) for p, n in leaves(DIALECT, found) if n.role is Role.TEXT and n.octets]
    assert [value for _, value in text] == [MARK], text
    assert len(octets) > 400 and len(found) == 20 + 1 + 1 + 4 + len(MARK)


def test_what_is_deep_in_tables_is_brought_up() -> None:
    inner = entry(b"k", MARK)
    for _ in range(5):
        octets = octets_of(group("t", inner))
        table = text_of("table", octets, 4)
        inner = group("entry", text_of("key", b"k"), leaf("tag", Role.TYPE_TAG, b"F"), table)
    octets = declare([inner])

    def has(octets: bytes) -> bool:
        return any(MARK in n.octets and "arguments.entries" in p for p, n in leaves(DIALECT, octets))

    found, _ = smaller(item(DIALECT, octets), has, 200)
    assert len(found) == 20 + 1 + 1 + 4 + len(MARK)


def test_numbers_go_to_the_least_edge_that_is_enough() -> None:
    octets = octets_of(grammar(DIALECT)["method/basic.qos"].tree)
    path = "frame.payload.args.prefetch-count"
    way = next(p.way for p in walk(tree_of(DIALECT, octets)) if p.path == path)
    octets = octets_of(edited(tree_of(DIALECT, octets), way, b"\xff\xa7"))

    def has(octets: bytes) -> bool:
        return any(p == path and n.octets > b"\x7f\xff" for p, n in leaves(DIALECT, octets))

    found, _ = smaller(item(DIALECT, octets), has)
    (value,) = (n.octets for p, n in leaves(DIALECT, found) if p == path)
    assert value == b"\x80\x00"


def test_a_wrong_size_of_a_frame_stays_and_what_follows_it_goes() -> None:
    octets = octets_of(grammar(DIALECT)["method/queue.declare"].tree)
    octets = octets[:3] + b"\x7f\xff\xff\xff" + octets[7:]
    found, _ = smaller(item(DIALECT, octets), lambda one: one[3:7] == b"\x7f\xff\xff\xff")
    assert len(found) == 7 and found[3:] == b"\x7f\xff\xff\xff"


def test_a_wrong_size_in_a_frame_stays_and_that_of_the_frame_follows() -> None:
    octets = octets_of(grammar(DIALECT)["method/queue.declare"].tree)
    wrong = b"\x7f\xff\xff\xfe"
    octets = octets[:-5] + wrong + octets[-1:]

    def has(one: bytes) -> bool:
        whole = len(one) > 8 and int.from_bytes(one[3:7], "big") == len(one) - 8 and one[-1] == 0xCE
        return whole and wrong in one

    found, _ = smaller(item(DIALECT, octets), has)
    assert len(found) == 8 + len(wrong)


def test_of_a_body_that_cannot_be_read_octets_are_left_out_with_the_frame_size_following() -> None:
    octets = bytes.fromhex(
        "0000002e02010000005341c02103a3ff504c41494ea00c006775657374006775657374a1096c6f63616c686f7374"
    )

    def has(one: bytes) -> bool:
        return int.from_bytes(one[:4], "big") == len(one) and b"\x53\x41" in one and b"\xa3\xff" in one

    found, asked = smaller(item("amqp-1-0", octets, state="sasl-header"), has)
    assert found == bytes.fromhex("0000000c 0201 0000 5341a3ff") and len(asked.steps) < 64


def test_fields_of_a_list_are_left_out_in_their_places() -> None:
    octets = octets_of(grammar("amqp-1-0")["performative/attach"].tree)
    path = next(p for p, n in leaves("amqp-1-0", octets) if p.endswith("target.fields.items.address.value"))
    value = dict(leaves("amqp-1-0", octets))[path].octets
    found, _ = smaller(item("amqp-1-0", octets, state="session"), holds("amqp-1-0", path, value))
    assert len(found) < len(octets) // 2 and not found.count(b"source")


# --- the search itself


@pytest.mark.parametrize("needed", [(), (0,), (15,), (3, 4), (0, 7, 15)])
def test_ddmin_leaves_what_is_needed(needed: tuple[int, ...]) -> None:
    assert list(fewest(range(16), lambda kept: set(needed) <= set(kept))) == list(needed)


def test_nothing_is_asked_twice_and_no_more_than_is_left() -> None:
    asked = Asked(lambda octets: False)
    search = Search((b"abcd",), asked, 2)
    assert not search((b"abc",)) and not search((b"abc",)) and not search((b"abcde",)) and not search(())
    assert not search((b"ab",)) and not search.step(0, b"")
    with pytest.raises(Spent):
        search((b"a",))
    assert asked.steps == [(b"abc",), (b"ab",)] and search.best == (b"abcd",)


# --- on a broker


@pytest.mark.parametrize(
    ("kind", "condition", "octets"),
    [
        ("crash", FrameCondition(frozenset({"exchange.declare"})), 12),
        ("throw", FrameCondition(frozenset({"exchange.declare"}), octets=MARK), 12 + len(MARK)),
    ],
)
def test_on_a_broker_with_a_defect_an_input_becomes_what_the_defect_needs(
    kind: str, condition: FrameCondition, octets: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This broker dies at once: whether one that survives is about to die takes most of the time.
    monkeypatch.setattr("amqpspec.fuzz.oracles.monitor._DYING_LOOKS", 2)
    entries = [entry(b"k%d" % n, b"v" * 9) for n in range(6)] + [entry(b"k", MARK)]
    sent = item(DIALECT, declare(entries, "exchange.declare"))
    assert len(sent.octets) > 100
    oracle = Oracle.CRASH if kind == "crash" else Oracle.LOG
    with SeededBroker(Defect(kind, "deep", condition, DIALECT), tmp_path) as broker:
        subject = broker.subject()
        monitor = Monitor(subject)
        triage = Triage(subject, monitor, Tempo(quiet_s=0.2, settle_s=0.02, refusal_s=2.0, way_s=5.0))
        seen = Suspicion(oracle, "the target is gone", "gone")
        if oracle is Oracle.LOG:
            seen = replace(seen, top="python: RuntimeError: planted: an index that does not fit its table")
        blame = triage.smaller(triage.again(sent, seen))
        monitor.close()
    assert blame.status is Status.STABLE and blame.item is not None
    assert len(blame.item.octets) == octets, blame.item.octets.hex()
    assert 0 < blame.asks <= 64
