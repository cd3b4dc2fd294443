"""Whatever a target does to its connections, a case ends in a verdict, never in an error of the suite."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference.memory import ClientEnd, Meddling
from amqpspec.run.case import Case, load_suite
from amqpspec.run.memory import Conditions, judged_in_memory
from amqpspec.run.verdict import Verdict
from amqpspec.wire.transport import StreamEnd

DIALECTS = ("amqp-0-9-1", "amqp-wire-9-1", "amqp-0-10", "amqp-1-0", "amqp-fast-0-8")
CASES = 60
FOUND = [
    # A second copy of a file was unpacked as if there could be only one; the confirmation of another command has no
    # handle.
    ("amqp-0-10", "file.ack.session-local", 10),
    ("amqp-fast-0-8", "frames.size-in-pieces", 2),
]


def reset(octets: bytes, end: ClientEnd) -> bytes:
    end.end(StreamEnd.RST)
    return b""


def cut(octets: bytes, end: ClientEnd) -> bytes:
    end.end(StreamEnd.FIN)
    return octets[: len(octets) // 2]


def lost(octets: bytes, end: ClientEnd) -> bytes:
    return b""


def doubled(octets: bytes, end: ClientEnd) -> bytes:
    return 2 * octets


DISTURBANCES = (reset, cut, lost, doubled)


@dataclass
class Disturbed(Meddling):
    """Disturbs what the broker writes at one place, counted over all connections of a case."""

    how: Callable[[bytes, ClientEnd], bytes]
    place: int
    writes: int = 0

    def from_broker(self, octets: bytes, end: ClientEnd) -> bytes:
        self.writes += 1
        return self.how(octets, end) if self.writes == self.place + 1 else octets


def judged(case: Case, disturbed: Disturbed) -> Verdict:
    return judged_in_memory(case, Conditions(meddle=lambda: disturbed, calls=20_000))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_disturbed_case_ends_in_a_verdict(dialect: str) -> None:
    chance = random.Random(1)
    suite = load_suite(dialect)
    reached = 0
    for name in chance.sample(sorted(suite), CASES):
        quiet = Disturbed(lost, -1)
        judged(suite[name], quiet)
        how, place = chance.choice(DISTURBANCES), chance.randrange(max(1, quiet.writes))
        disturbed = Disturbed(how, place)
        verdict = judged(suite[name], disturbed)
        assert verdict.outcome is not Outcome.ERROR, (name, how.__name__, place, verdict.observed)
        reached += disturbed.writes > place
    assert reached > CASES / 2


@pytest.mark.parametrize(("dialect", "name", "place"), FOUND)
def test_what_a_sweep_over_all_places_found(dialect: str, name: str, place: int) -> None:
    verdict = judged(load_suite(dialect)[name], Disturbed(doubled, place))
    assert verdict.outcome not in (Outcome.ERROR, Outcome.PASS), verdict
