"""Sequences made smaller: what is needed stays, nothing else does, and trials are counted."""

from __future__ import annotations

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.grammar import grammar, grammar_hash
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.fuzz.triage.shrink import Steps, smaller_steps
from amqpspec.fuzz.triage.triage import Blame, Status, TargetLost, Triage, _Trial

NAMES = (
    "method/queue.declare", "method/queue.bind", "content/basic.publish", "method/basic.get", "method/tx.select",
    "method/tx.commit", "method/basic.qos", "method/exchange.declare",
)  # fmt: skip
FRAMES = [octets_of(grammar("amqp-0-9-1")[name].tree) for name in NAMES]
STEPS = (FRAMES[0] + FRAMES[1] + FRAMES[2], FRAMES[3], FRAMES[4] + FRAMES[5], FRAMES[6] + FRAMES[7])
ALL = 300


def item(steps: Steps = STEPS) -> FuzzInput:
    return FuzzInput(
        InputId(grammar_hash("amqp-0-9-1"), "random", "x", "channel", 0, 0),
        "amqp-0-9-1",
        "channel",
        steps,
        "",
    )


class Needs:
    """An effect that needs whole frames by their numbers; what was asked is kept."""

    def __init__(self, *numbers: int) -> None:
        self.numbers, self.asked = numbers, list[Steps]()

    def __call__(self, steps: Steps) -> bool:
        self.asked.append(steps)
        octets = b"".join(steps)
        return all(FRAMES[number] in octets for number in self.numbers)


@pytest.mark.parametrize("numbers", [(0,), (3,), (7,), (0, 7), (1, 4), (3, 4), (2, 5, 6)])
def test_what_is_needed_is_left_and_nothing_else(numbers: tuple[int, ...]) -> None:
    needs = Needs(*numbers)
    smaller = smaller_steps(item(), needs, ALL)
    assert b"".join(smaller) == b"".join(FRAMES[number] for number in numbers)
    assert len(set(needs.asked)) == len(needs.asked) and STEPS not in needs.asked


@pytest.mark.parametrize("limit", [0, 1, 4, 16])
def test_trials_are_counted_and_what_is_found_in_them_stands(limit: int) -> None:
    needs = Needs(3, 4)
    smaller = smaller_steps(item(), needs, limit)
    assert min(limit, 4) <= len(needs.asked) <= limit
    kept = [steps for steps in needs.asked if Needs(3, 4)(steps)]
    assert smaller == min([STEPS, *kept], key=lambda steps: len(b"".join(steps)))


def test_four_trials_are_enough_for_one_frame_of_the_last_step() -> None:
    assert b"".join(smaller_steps(item(), Needs(7), 4)) == FRAMES[7]


def test_the_search_is_the_same_each_time() -> None:
    first, second = Needs(0, 4), Needs(0, 4)
    assert smaller_steps(item(), first, 20) == smaller_steps(item(), second, 20)
    assert first.asked == second.asked


def test_the_end_of_the_last_frame_is_cut() -> None:
    begin = FRAMES[3][:11]
    smaller = smaller_steps(item(), lambda steps: begin in b"".join(steps), ALL)
    assert smaller == (begin,)


def test_what_cannot_be_smaller_stays() -> None:
    assert smaller_steps(item(), lambda steps: False, ALL) == STEPS


def test_an_effect_that_comes_and_goes_ends_the_search_with_one_that_was_seen() -> None:
    asked = list[tuple[Steps, bool]]()

    def fickle(steps: Steps) -> bool:
        asked.append((steps, len(asked) % 3 != 0))
        return asked[-1][1]

    smaller = smaller_steps(item(), fickle, 40)
    assert (smaller, True) in asked


def test_what_a_trial_raises_ends_it() -> None:
    asked = list[Steps]()

    def lost(steps: Steps) -> bool:
        asked.append(steps)
        raise TargetLost("gone")

    with pytest.raises(TargetLost, match="gone"):
        smaller_steps(item(), lost, ALL)
    assert len(asked) == 1


def test_frames_of_types_are_left_out_too() -> None:
    names = ("performative/flow/bare", "performative/attach", "frame/empty")
    frames = [octets_of(grammar("amqp-1-0")[name].tree) for name in names]
    id = InputId(grammar_hash("amqp-1-0"), "random", "x", "session", 0, 0)
    sequence = FuzzInput(id, "amqp-1-0", "session", (b"".join(frames),), "")
    assert smaller_steps(sequence, lambda steps: frames[1] in b"".join(steps), ALL) == (frames[1],)


# --- in triage


class Simulated(Triage):
    """Trials are decided by an effect."""

    def __init__(self, needs: Needs) -> None:
        subject = Subject("simulated", "amqp-0-9-1", Address("127.0.0.1", 1))
        super().__init__(subject, Monitor(subject), Tempo())
        self.needs = needs

    def _try(self, items: object, seen: Suspicion, *, hasty: bool = False) -> _Trial:
        assert isinstance(items, list)
        return _Trial(seen if self.needs(items[0].steps) else None)


@pytest.mark.parametrize(("oracle", "asks"), [(Oracle.LOG, 16), (Oracle.CRASH, 8), (Oracle.MEMORY, 2)])
def test_in_a_hurry_only_the_first_attempts_are_made(oracle: Oracle, asks: int) -> None:
    needs = Needs(7) if asks < 8 else Needs(0, 3, 7)
    triage = Simulated(needs)
    triage.is_hurried = lambda: True
    smaller = triage.smaller(Blame(Status.STABLE, Suspicion(oracle, "boom", "boom"), item()))
    assert len(needs.asked) == smaller.asks == asks and smaller.item is not None
    assert len(smaller.item.octets) < len(b"".join(STEPS))


@pytest.mark.parametrize(("oracle", "most"), [(Oracle.LOG, 64), (Oracle.HANG, 8), (Oracle.CPU, 8)])
def test_triage_shrinks_sequences_within_its_trials(oracle: Oracle, most: int) -> None:
    needs = Needs(7)
    seen = Suspicion(oracle, "boom", "boom")
    smaller = Simulated(needs).smaller(Blame(Status.STABLE, seen, item()))
    assert smaller.item is not None and smaller.item.octets == FRAMES[7]
    assert 0 < len(needs.asked) <= most
