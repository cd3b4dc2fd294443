"""Planted defects: each strikes where it should, is found by its oracle, and counts as found only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.catalogue import by_key
from fuzz.findings import Finding
from fuzz.oracles.suspicion import Oracle, Suspicion
from fuzz.schedule import chosen_cells
from fuzz.seeded.broker import _EFFECTS
from fuzz.seeded.defects import KINDS, SPOTS, defect, defects
from fuzz.seeded.selftest import CELLS, Detection, SelfTest, seek
from fuzz.states import Values, octets_of_step, states
from fuzz.triage import Status

CELL = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.client/consuming"]
RARE = next(item for item in CELL if defect("crash@rare").is_in(item.octets))
OTHER = next(item for item in CELL if not defect("crash@rare").is_in(item.octets))


def finding(item: object, oracle: Oracle = Oracle.CRASH) -> Finding:
    return Finding("0" * 12, Status.STABLE, Suspicion(oracle, "x", "x"), "amqp-0-9-1", "C09", "channel", item)  # type: ignore[arg-type]


def test_each_oracle_over_the_target_has_a_defect_at_two_spots() -> None:
    assert set(KINDS.values()) == set(Oracle) - {Oracle.CONFORMANCE}
    assert len(defects()) == 2 * len(KINDS) == 16
    assert set(_EFFECTS) == set(KINDS)


@pytest.mark.parametrize("spot", SPOTS)
def test_cells_of_the_self_test_strike_and_ways_do_not(spot: str) -> None:
    planted = next(d for d in defects() if d.spot == spot)
    hits = [i for cell in chosen_cells("amqp-0-9-1", CELLS) for i in cell if planted.is_in(i.octets)]
    assert len(hits) >= 10
    for state in states("amqp-0-9-1").values():
        way = b"".join(octets_of_step("amqp-0-9-1", step, Values()) for step in state.steps)
        assert not planted.is_in(way.removeprefix(b"AMQP\x00\x00\x09\x01"))


def test_a_detection_counts_by_what_it_blames() -> None:
    planted = defect("crash@rare")
    assert Detection(planted, finding(RARE), 1).right_blame
    assert not Detection(planted, finding(OTHER), 1).right_blame
    assert not Detection(planted, finding(None), 1).right_blame
    assert "not found" in Detection(planted, None, 1).line


def test_the_counts_of_a_self_test() -> None:
    planted = defect("crash@rare")
    good = SelfTest([Detection(planted, finding(RARE), 5)])
    said = good.to_json()
    assert (said["seeded"], said["found"], said["right_blame"], said["false_alarms"]) == (1, 1, 1, 0)
    assert good.holds
    assert not SelfTest([Detection(planted, None, 5)]).holds
    assert not SelfTest([Detection(planted, finding(RARE), 5, (finding(OTHER),))]).holds
    assert not SelfTest([Detection(planted, finding(RARE), 5)], clean=[finding(OTHER)]).holds


@pytest.mark.parametrize("name", ["crash@rare", "wrong-user@rare"])
def test_a_planted_defect_is_found_and_the_right_input_blamed(name: str, tmp_path: Path) -> None:
    detection = seek(defect(name), tmp_path, cells=("C09/order.client/consuming",))
    assert detection.right_blame and not detection.false, detection.line
    assert detection.finding is not None and detection.finding.status is Status.STABLE
