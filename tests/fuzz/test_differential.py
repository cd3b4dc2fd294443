"""``fuzz --differential``: what differs between two targets is reported, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.schedule import chosen_cells, legs
from amqpspec.fuzz.differential import comparison
from amqpspec.fuzz.differential.comparison import Comparison, compare, inputs
from amqpspec.fuzz.differential.report import to_json
from amqpspec.fuzz.differential.side import ENDED, Reaction, Side, SideLost
from amqpspec.fuzz.differential.tally import Kind
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.reference.server import ReferenceBroker

DIALECT, ROW = "amqp-0-9-1", "wire/content/body-exceeds-size"
CELLS = ("C05/body.too-long/content", "C05/body.too-long/body")


def subject_of(broker: ReferenceBroker, name: str) -> Subject:
    return Subject(name, DIALECT, Address(broker.host, broker.port))


@pytest.fixture
def pair() -> Iterator[tuple[Subject, Subject]]:
    """A broker, and one that refuses with another code."""
    with ReferenceBroker(DIALECT) as clean, ReferenceBroker(DIALECT, faults=[f"wrong-code:{ROW}"]) as wrong:
        yield subject_of(clean, "clean"), subject_of(wrong, "wrong")


@pytest.fixture
def twins() -> Iterator[tuple[Subject, Subject]]:
    with ReferenceBroker(DIALECT) as one, ReferenceBroker(DIALECT) as other:
        yield subject_of(one, "one"), subject_of(other, "other")


def done_of(subjects: Sequence[Subject], patterns: tuple[str, ...] = CELLS) -> dict[str, Any]:
    return to_json(compare(Comparison(subjects, patterns=patterns, mutate=False)), {})


def test_equal_brokers_do_not_differ(twins: tuple[Subject, Subject]) -> None:
    result = done_of(twins, ("C04/*/ready", *CELLS))
    assert result["differences"] == [] and result["instabilities"] == []
    assert result["compared"] == result["equal"] == result["inputs"] > 20 and result["ended"] == "all done"


def test_a_fault_is_the_only_difference(pair: tuple[Subject, Subject]) -> None:
    result = done_of(pair, ("C04/body.size/content", *CELLS))
    assert {group["requirement"] for group in result["differences"]} == {ROW}
    assert {group["cell"] for group in result["differences"]} == set(CELLS)
    assert all(group["violates"] == {"wrong": ROW} for group in result["differences"])
    assert result["different"] == sum(group["count"] for group in result["differences"])
    assert result["equal"] + result["different"] == result["compared"] == result["inputs"]


def test_a_declared_violation_is_no_difference(pair: tuple[Subject, Subject]) -> None:
    clean, wrong = pair
    result = done_of((clean, replace(wrong, known=frozenset({ROW}))))
    assert result["differences"] == [] and result["declared"] > 0
    # Declared by the other one, it proves nothing.
    assert done_of((replace(clean, known=frozenset({ROW})), wrong))["differences"]


def test_a_third_target_still_differs_from_the_first(pair: tuple[Subject, Subject]) -> None:
    clean, wrong = pair
    known = replace(wrong, name="declared", known=frozenset({ROW}))
    groups = done_of((clean, wrong, known))["differences"]
    assert groups and all(list(group["reactions"]) == ["clean", "wrong"] for group in groups)
    assert all(group["declared"] == ["declared"] for group in groups)


def test_the_inputs_are_those_of_a_campaign_and_always_the_same(pair: tuple[Subject, Subject]) -> None:
    order = Comparison(pair, patterns=CELLS, seed=3)
    first = [str(item.id) for item, _ in zip(inputs(order), range(200), strict=False)]
    assert first == [str(item.id) for item, _ in zip(inputs(order), range(200), strict=False)]
    cells = [item for item in first if "/random/" not in item]
    planned = chosen_cells("amqp-0-9-1", CELLS)
    assert cells[:2] == [str(planned[0].id(n)) for n in legs(planned)[0].numbers[:2]]
    assert sorted(cells) == sorted(str(item.id) for cell in planned for item in cell)
    assert len(cells) < 200 and first[-1].split("/")[4] == "s3"


class FakeSide:
    """A target whose reactions are given by look: the first glance, and two more."""

    def __init__(self, subject: Subject, *looks: str | None) -> None:
        self.subject, self.name, self._looks = subject, subject.name, list(looks)

    def react(self, items: Sequence[FuzzInput], *, patient: bool = False) -> Mapping[InputId, Reaction]:
        text = self._looks.pop(0)
        return {item.id: Reaction(text) for item in items} if text is not None else {}


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (("a", "a", "a"), ("b", "b", "b"), Kind.DIFFERENT),
        (("a", "a", "b"), ("b", "b", "b"), Kind.UNSTABLE),
        (("silence", "b", "b"), ("b", "b", "b"), Kind.EQUAL),
        (("a", "a", None), ("b", "b", "b"), Kind.UNREPEATED),
        (("a", None), ("b", None), None),
        (("a",), ("a",), Kind.EQUAL),
    ],
)
def test_what_differs_is_repeated(
    monkeypatch: pytest.MonkeyPatch,
    first: tuple[str | None, ...],
    second: tuple[str | None, ...],
    kind: Kind | None,
) -> None:
    looks = {"one": first, "other": second}
    monkeypatch.setattr(
        comparison, "Side", lambda subject, over: FakeSide(subject, *looks[subject.name], None, None)
    )
    subjects = [Subject(name, DIALECT, Address("127.0.0.1", 1)) for name in looks]
    cell = by_key(DIALECT)[f"{DIALECT}/C04/frame.size/ready"]
    monkeypatch.setattr(comparison, "inputs", lambda order: iter([cell.input(0)]))
    tally = compare(Comparison(subjects)).tally
    assert tally.kinds == ({kind: 1} if kind else {Kind.UNREPEATED: 1})
    assert [list(group.reactions) for group in tally.unstable.values()] == (
        [["one"]] if kind is Kind.UNSTABLE else []
    )


class Mortal(Side):
    """A target that one input ends; a restart helps as often as it may."""

    def __init__(self, subject: Subject, killer: InputId, restarts: int) -> None:
        self.subject, self.over = subject, Event()
        self._tempo = self._patient = None  # type: ignore[assignment]  # nothing is sent
        self.killer, self.restarts, self.dead = killer, restarts, False
        object.__setattr__(self, "subject", self)
        self.hang_s = 1.0

    name = "mortal"

    def awake(self, within_s: float) -> bool:
        return not self.dead

    def renew(self) -> bool:
        self.restarts -= 1
        self.dead = False
        return self.restarts >= 0

    def _send(self, items: Sequence[FuzzInput], tempo: Any) -> list[Any]:
        self.dead = self.dead or any(item.id == self.killer for item in items)
        return []


def test_the_input_that_ends_a_target_is_found_by_halves() -> None:
    cell = by_key(DIALECT)[f"{DIALECT}/C04/frame.size/ready"]
    items = [cell.input(n) for n in range(8)]
    subject = Subject("mortal", DIALECT, Address("127.0.0.1", 1))
    assert Mortal(subject, items[5].id, 9).react(items) == {items[5].id: Reaction(ENDED)}
    with pytest.raises(SideLost, match="2 inputs from"):
        Mortal(subject, items[5].id, 2).react(items)


def test_the_command_writes_json_and_a_page(tmp_path: Path) -> None:
    with ReferenceBroker(DIALECT) as clean, ReferenceBroker(DIALECT, faults=[f"wrong-code:{ROW}"]) as wrong:
        asked = [
            "fuzz",
            "--differential",
            clean.url,
            wrong.url,
            "--cells",
            CELLS[0],
            "--families-only",
            "--out",
        ]
        result = CliRunner().invoke(cli, [*asked, str(tmp_path), "--json"])
    assert result.exit_code == 1
    said = json.loads(result.output)
    assert said == json.loads((tmp_path / "differences.json").read_text(encoding="utf-8"))
    assert said["exit_code"] == 1 and len(said["differences"]) == 1
    page = (tmp_path / "differences.html").read_text(encoding="utf-8")
    assert said["differences"][0]["sample"] in page and "src=" not in page and "href=" not in page


def test_a_target_that_is_not_there_ends_in_one_line() -> None:
    with ReferenceBroker(DIALECT) as broker:
        gone = broker.url
    with ReferenceBroker(DIALECT) as broker:
        result = CliRunner().invoke(cli, ["fuzz", "--differential", broker.url, gone, "-d", DIALECT])
    assert result.exit_code == 3 and result.output.count("\n") == 1


@pytest.mark.parametrize("names", [(), ("reference",), ("reference", "reference")])
def test_two_targets_are_needed(names: tuple[str, ...]) -> None:
    result = CliRunner().invoke(cli, ["fuzz", "--differential", *names])
    assert result.exit_code == 2 and "expected two different targets or more" in result.output


def test_targets_of_two_dialects_are_refused() -> None:
    result = CliRunner().invoke(cli, ["fuzz", "--differential", "reference", "reference:amqp-1-0"])
    assert result.exit_code == 2 and "expected targets of one dialect" in result.output
