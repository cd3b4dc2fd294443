"""Faults of the 1.0 broker: declared and consulted, tied to rows, wrong where they should be wrong, survivable."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import amqpspec.reference.amqp_1_0
from amqpspec.reference.faults import Fault, all_faults, behaviours
from amqpspec.reference.faults.amqp_1_0.rules import ALSO, REFUSALS
from amqpspec.reference.faults.refusals import right, wrong_code, wrong_scope
from amqpspec.spec.dialects import load_ledger

DIALECT = "amqp-1-0"
LEDGER = load_ledger(DIALECT)
PACKAGE = Path(amqpspec.reference.amqp_1_0.__file__).parent
FAULTS = all_faults(DIALECT)


def _sources() -> Iterator[str]:
    for path in PACKAGE.rglob("*.py"):
        yield path.read_text(encoding="utf-8")


def test_every_declared_behaviour_is_consulted_and_the_other_way_round() -> None:
    consulted = {name for text in _sources() for name in re.findall(r'faulty\(\s*"([^"]+)"', text)}
    assert set(behaviours(DIALECT)) - consulted == set(), "declared, but no line asks for it"
    assert consulted - set(behaviours(DIALECT)) == set(), "asked for, but not declared"


def test_every_refusal_is_used_and_listed() -> None:
    text = "\n".join(_sources())
    assert [rule for rule in REFUSALS if f'"{rule}"' not in text] == []
    assert set(re.findall(r'refuse\(\s*"([^"]+)"', text)) - set(REFUSALS) == set()
    assert set(ALSO) - set(REFUSALS) == set()


def test_every_testable_row_has_a_fault() -> None:
    broken = {rule for fault in FAULTS.values() for rule in fault.breaks}
    assert [
        row.id for row in LEDGER.values() if row.testable and not row.excluded and row.id not in broken
    ] == []


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_a_fault_breaks_requirements_that_exist(fault: Fault) -> None:
    assert fault.breaks
    assert [rule for rule in fault.breaks if rule not in LEDGER or not LEDGER[rule].testable] == []
    assert fault.says and not fault.says.endswith(".")


@pytest.mark.parametrize("rule", REFUSALS)
def test_wrong_refusals_are_wrong(rule: str) -> None:
    row = LEDGER[rule]
    assert right(rule, DIALECT) == row.accepts[0]
    for wrong in (wrong_code(row, DIALECT), wrong_scope(row, DIALECT)):
        if wrong is not None:
            assert not any(k.scope is wrong.scope and k.code in (None, wrong.code) for k in row.accepts)
