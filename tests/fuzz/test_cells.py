"""Cells: finite, without duplicates, always the same; ids lead back to the same octets."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.fuzz.families import FAMILIES
from amqpspec.fuzz.grammar import dialect_of, grammar_hash, tables
from amqpspec.fuzz.inputs.catalogue import absent, cells, resolve
from amqpspec.fuzz.inputs.corpus import corpus_role
from amqpspec.fuzz.inputs.identity import IdError, InputId
from amqpspec.fuzz.inputs.mutation import MAX_STEP_OCTETS, origins, random_id, random_input
from amqpspec.fuzz.inputs.strategies import family_inputs, random_inputs
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.model import Slot, Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.spec.canonical import canonical

DIALECTS = fuzzed_dialects()

IDS = tuple(f"C{number:02}" for number in range(1, 15))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_family_exists_or_says_why_not(dialect: str) -> None:
    there = {cell.family for cell in cells(dialect)}
    assert there | set(absent(dialect)) == set(IDS)
    assert not there & set(absent(dialect))
    assert all(len(reason) > 20 for reason in absent(dialect).values())


def test_families_are_known_by_id() -> None:
    assert tuple(f.id for f in FAMILIES) == IDS
    assert FAMILIES[3].title == "frame size, offset, type arithmetic"


@pytest.mark.parametrize("dialect", DIALECTS)
def test_cells_are_finite_without_duplicates_and_their_requirements_exist(dialect: str) -> None:
    from amqpspec.fuzz.judge.expectation import ledger

    keys = Counter(cell.key for cell in cells(dialect))
    assert max(keys.values()) == 1
    total = 0
    for cell in cells(dialect):
        octets = {blake2b(b"".join(b.steps), digest_size=16).digest() for b in cell.bends}
        assert len(octets) == cell.inputs > 0, cell.key
        assert all(b.words for b in cell.bends)
        assert InputId.parse(str(cell.id(0))) == cell.id(0)
        assert set(cell.requirements) <= set(ledger(dialect))
        total += cell.inputs
    assert 10_000 < total < 200_000


def test_every_row_that_a_family_names_is_in_some_ledger() -> None:
    from amqpspec.fuzz.judge.expectation import ledger

    known = {id for dialect in DIALECTS for id in ledger(dialect)}
    named = {
        id
        for f in FAMILIES
        for dialect in DIALECTS
        for state in states(dialect).values()
        for location in f.locations(dialect, state)
        for id in location.touches
    }
    assert len(named) > 40 and named <= known


def test_the_deployed_dialect_has_cells_and_ids_of_its_own() -> None:
    cell = next(c for c in cells("amqp-0-8") if c.family == "C04" and c.state == "channel")
    assert resolve(cell.id(0)).steps == cell.input(0).steps
    assert "C01" in absent("amqp-0-8")


@pytest.mark.parametrize("dialect", DIALECTS)
def test_an_input_by_its_id_is_the_input_of_its_cell(dialect: str) -> None:
    for cell in cells(dialect)[::23]:
        found = cell.input(cell.inputs - 1)
        again = resolve(InputId.parse(str(found.id)))
        assert (again.steps, again.words, again.expectation) == (found.steps, found.words, found.expectation)
        with pytest.raises(IndexError):
            cell.input(cell.inputs)


def test_ids_that_name_nothing_are_refused() -> None:
    good = cells("amqp-0-9-1")[0].id(0)
    assert resolve(good).id == good
    for bad, words in (
        (good._replace(grammar="00000000"), "grammar hash"),
        (good._replace(role="nothing"), "a cell of amqp-0-9-1"),
        (good._replace(seed=1), "s0"),
        (good._replace(counter=10**9), "a number below"),
        (random_id("amqp-0-9-1", 1, 1)._replace(role="nothing"), "a production"),
        (random_id("amqp-0-9-1", 1, 1)._replace(state="nothing"), "a state"),
        (random_id("amqp-0-9-1", 1, 1)._replace(role=corpus_role(b"x")), "corpus"),
    ):
        with pytest.raises(IdError, match=words):
            resolve(bad)
    for text in ("", "g:1234/C04/a/b/s0/0", f"{good}x", f"{good}/1", str(good).replace("/s0/", "/s00/")):
        with pytest.raises(IdError, match="expected g:HASH8"):
            InputId.parse(text)


SCRIPT = """
import sys
from hashlib import blake2b
from amqpspec.fuzz.inputs.catalogue import by_key, resolve
from amqpspec.fuzz.inputs.identity import InputId
for text in sys.argv[1:]:
    found = resolve(InputId.parse(text))
    print(blake2b(b"|".join(found.steps), digest_size=16).hexdigest())
"""


def test_another_process_makes_the_same_octets() -> None:
    ids = [cell.id(cell.inputs // 2) for d in DIALECTS for cell in cells(d)[::101]]
    ids += [random_id(d, seed, 10**9) for d in DIALECTS for seed in range(5)]
    ours = [blake2b(b"|".join(resolve(id).steps), digest_size=16).hexdigest() for id in ids]
    for hash_seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, *map(str, ids)],
            capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": hash_seed, "PATH": ""},
        )  # fmt: skip
        assert done.stdout.split() == ours


def test_golden_inputs() -> None:
    """Hand-checked octets of single inputs: when one changes, REVISION of the grammar has to rise."""
    from amqpspec.fuzz.inputs.catalogue import by_key

    cell = by_key("amqp-0-9-1")["amqp-0-9-1/C04/frame.end/ready"]
    assert cell.input(0).octets.hex() == "0100010000000500" + "14000a00" + "00"
    assert cell.input(206).octets.hex()[-2:] == "cf"
    cell = by_key("amqp-0-9-1")["amqp-0-9-1/C04/frame.size/ready"]
    first = cell.input(0)
    assert first.words == "method/channel.open frame.size: 0 for 5"
    assert first.octets.hex() == "01000100000000" + "0014000a00" + "ce"
    cell = by_key("amqp-wire-9-1")["amqp-wire-9-1/C04/frame.cycle/ready"]
    assert cell.input(0).octets.hex() == "0101000100000005" + "0014000a00" + "ce"
    cell = by_key("amqp-1-0")["amqp-1-0/C04/frame.size/open"]
    empty = next(i for i in cell if i.words == "frame/empty frame.size: 7 for 8")
    assert empty.octets.hex() == "00000007" + "02000000"


@pytest.mark.parametrize("role", ["C01/array.count", "C03/nested.list", "C06/name.key"])
def test_a_value_is_tried_inside_its_section_and_without_one(role: str) -> None:
    from amqpspec.fuzz.inputs.catalogue import by_key

    section = bytes.fromhex("005377")
    inside = [section in item.octets for item in by_key("amqp-1-0")[f"amqp-1-0/{role}/attached"]]
    assert any(inside) and not all(inside)


def test_the_hash_of_a_grammar_changes_with_any_row() -> None:
    from dataclasses import replace

    dialect = tables("amqp-0-9-1")
    assert canonical(dialect) == canonical(replace(dialect))
    assert canonical(dialect) != canonical(replace(dialect, title="x"))
    assert len({grammar_hash(d) for d in DIALECTS}) == len(DIALECTS)
    assert [dialect_of(grammar_hash(d)) for d in DIALECTS] == list(DIALECTS)
    assert dialect_of("00000000") is None
    with pytest.raises(TypeError):
        canonical(object())


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(deadline=None)
@given(data=st.data())
def test_random_inputs_come_from_their_id_alone(dialect: str, data: st.DataObject) -> None:
    found = data.draw(random_inputs(dialect))
    again = resolve(InputId.parse(str(found.id)))
    assert again.steps == found.steps and again.words == found.words
    assert found.expectation == again.expectation


@pytest.mark.parametrize("dialect", DIALECTS)
def test_random_inputs_are_made_whatever_the_counter(dialect: str) -> None:
    inputs = [resolve(random_id(dialect, 11, 10**6 + number)) for number in range(1500)]
    assert len({item.octets for item in inputs}) > 1200
    assert max(len(item.octets) for item in inputs) <= 4 * MAX_STEP_OCTETS
    assert all(item.expectation.kind for item in inputs[::10])


@settings(deadline=None, max_examples=30)
@given(data=st.data())
def test_family_inputs_have_an_expectation(data: st.DataObject) -> None:
    found = data.draw(family_inputs(data.draw(st.sampled_from(DIALECTS))))
    assert found.expectation.kind in ("refusal", "may be legal")
    assert bool(found.expectation.accepts) is found.expectation.must_refuse


def test_weights_choose_the_origin_and_change_no_octets() -> None:
    dialect = "amqp-0-9-1"
    wanted = origins(dialect)[5]
    ids = [
        random_id(dialect, 3, n, {origin: int(origin == wanted) for origin in origins(dialect)})
        for n in range(50)
    ]
    assert {(id.role, id.state) for id in ids} == {wanted}
    assert len({resolve(id).octets for id in ids}) > 25
    spread = {(id.role, id.state) for id in (random_id(dialect, 3, n) for n in range(500))}
    assert len(spread) > 30


def test_corpus_entries_are_bent_too() -> None:
    octets = b"AMQP\0\0\x09\x01" + bytes.fromhex("010001000000050014000a00ce")
    role = corpus_role(octets)
    id = InputId(grammar_hash("amqp-0-9-1"), "random", role, "raw", 1, 0)
    found = [random_input("amqp-0-9-1", id._replace(counter=n), {role: octets}) for n in range(40)]
    assert len({i.octets for i in found}) > 20
    assert all(InputId.parse(str(i.id)) == i.id for i in found)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_ways_into_states_are_legal_and_filled_in(dialect: str) -> None:
    values = Values(user="u", password="p", vhost="/v", queue="q-1", hostname="h", container="c-1")
    for state in states(dialect).values():
        octets = b"".join(octets_of_step(dialect, step, values) for step in state.steps)
        assert b"guest" not in octets and b"Slot" not in octets
        assert state.words.count("C:") == sum(len(step.says) for step in state.steps)
    filled = [values.of(slot) for slot in Slot]
    assert len(filled) == len(Slot) and b"\0u\0p" in filled
