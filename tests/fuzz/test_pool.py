"""Worker processes: the same results as one executor, deaths that are noticed, nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.frames import Frames, framed
from amqpspec.fuzz.executor.pool import ExecutorPool, SingleWorker, WorkerError, start_workers, workers_for
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.executor.worker import WorkerSettings, executor_of, portable
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.reference.server import ReferenceBroker
from tests.waiting import PATIENCE_S

TEMPO = Tempo()
ROOT = Path(__file__).parents[2]


@pytest.fixture
def subject() -> Iterator[Subject]:
    with ReferenceBroker("amqp-0-9-1") as broker:
        yield Subject("reference", "amqp-0-9-1", Address(broker.host, broker.port), connections=8)


@pytest.fixture
def items() -> list[FuzzInput]:
    return [item for cell in chosen_cells("amqp-0-9-1", ("C05/*/limits",)) for item in cell]


def test_workers_say_what_one_executor_says(subject: Subject, items: list[FuzzInput]) -> None:
    alone = {result.item.id: result for result in start_workers(subject, TEMPO, 1).run(items)}
    pool = start_workers(subject, TEMPO, 2)
    shared, workers = {}, set()
    for result in pool.run(items):
        shared[result.item.id] = result
        workers.add(pool.worker)
    pool.close()
    assert set(shared) == set(alone) == {item.id for item in items}
    assert {i: o.reaction for i, o in shared.items()} == {i: o.reaction for i, o in alone.items()}
    assert workers == {0, 1} and pool.deaths == [] and pool.undecided == []
    # The input is the parent's own, and what the worker judged of it stays with it.
    assert all(any(result.item is item for item in items) for result in shared.values())
    assert all(vars(item)["expectation"] == alone[item.id].item.expectation for item in items)


def test_one_input_several_times_has_several_outcomes(subject: Subject, items: list[FuzzInput]) -> None:
    pool = start_workers(subject, TEMPO, 2)
    results = list(pool.run([items[0], items[1]] * 5))
    pool.close()
    assert sorted(o.item.id for o in results) == sorted(item.id for item in [items[0], items[1]] * 5)


def test_a_worker_that_is_killed_is_replaced_and_its_inputs_are_sent_again(
    subject: Subject, items: list[FuzzInput]
) -> None:
    """On a busy machine a worker may have answered all its inputs before it is killed: then a new pool is tried."""
    for _ in range(20):
        with closing(ExecutorPool(subject, TEMPO, 2)) as pool:
            victim = pool.pids[1]
            results = []
            for result in pool.run(items):
                results.append(result)
                if pool.worker == 1 and psutil.pid_exists(victim) and not pool.deaths:
                    os.kill(victim, signal.SIGKILL)
            assert sorted(o.item.id for o in results) == sorted(item.id for item in items)
            if pool.deaths:
                break
    assert [(d.worker, d.how, d.again) for d in pool.deaths] == [(1, "signal 9", True)]
    assert victim not in pool.pids and pool.undecided == []


def test_a_worker_killed_between_batches_costs_nothing(subject: Subject, items: list[FuzzInput]) -> None:
    pool = ExecutorPool(subject, TEMPO, 2)
    assert len(list(pool.run(items[:4]))) == 4
    for pid in pool.pids:
        os.kill(pid, signal.SIGKILL)
        psutil.Process(pid).wait()
    assert len(list(pool.run(items))) == len(items) and len(pool.deaths) == 2
    pool.close()


def test_inputs_that_kill_their_worker_again_and_again_stay_undecided(
    subject: Subject, items: list[FuzzInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amqpspec.fuzz.executor.pool._WORKER", ("import sys; sys.stdin.buffer.read(1)",))
    doomed = ExecutorPool(subject, TEMPO, 1)
    assert list(doomed.run(items[:3])) == []
    assert [item.id for item in doomed.undecided] == [item.id for item in items[:3]]
    assert [death.again for death in doomed.deaths] == [True, True, True, False]
    assert {death.unfinished for death in doomed.deaths} == {tuple(str(item.id) for item in items[:3])}
    with pytest.raises(WorkerError, match="ended without an outcome"):
        for _ in range(9):
            list(doomed.run(items[:3]))
    doomed.close()


def test_a_fault_of_our_own_in_a_worker_is_no_outcome(subject: Subject, items: list[FuzzInput]) -> None:
    pool = ExecutorPool(replace(subject, dialect="no-such-dialect"), TEMPO, 2)
    with pytest.raises(WorkerError, match="no-such-dialect"):
        list(pool.run(items))
    pool.close()


def test_workers_end_with_their_parent(subject: Subject) -> None:
    script = (
        "import os, signal, sys\n"
        "from amqpspec.fuzz.executor.conversation import Tempo\n"
        "from amqpspec.fuzz.executor.address import Address\n"
        "from amqpspec.fuzz.executor.pool import ExecutorPool\n"
        "from amqpspec.fuzz.executor.subject import Subject\n"
        "from amqpspec.fuzz.campaign.schedule import chosen_cells\n"
        "subject = Subject('r', 'amqp-0-9-1', Address(sys.argv[1], int(sys.argv[2])))\n"
        "pool = ExecutorPool(subject, Tempo(), 2)\n"
        "items = [i for cell in chosen_cells('amqp-0-9-1', ('C04/*/channel',)) for i in cell]\n"
        "for _ in pool.run(items):\n"
        "    print(*pool.pids, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    where = (subject.address.host, str(subject.address.port))
    done = subprocess.run(
        [sys.executable, "-c", script, *where], check=False, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    assert done.returncode == -signal.SIGKILL
    pids = [int(pid) for pid in done.stdout.split()]
    gone, alive = psutil.wait_procs([p for p in map(_process, pids) if p is not None], timeout=PATIENCE_S)
    assert len(pids) == 2 and not alive, (gone, alive)


def _process(pid: int) -> psutil.Process | None:
    try:
        return psutil.Process(pid)
    except psutil.NoSuchProcess:
        return None


def test_close_leaves_no_process(subject: Subject) -> None:
    pool = ExecutorPool(subject, TEMPO, 3)
    pids = pool.pids
    pool.close()
    assert len(pids) == 3 and not any(map(psutil.pid_exists, pids))


def test_names_of_one_worker_are_no_other_workers(subject: Subject) -> None:
    queues: set[str] = set()
    for generation, number in ((1, 0), (2, 1), (3, 0)):
        executor = executor_of(WorkerSettings(portable(subject), TEMPO, number, 2, generation))
        assert executor.connections == 4
        mine = {executor.filling(n).queue for n in range(1, 50)}
        executor.close()
        assert len(mine) == 49 and not mine & queues
        queues |= mine


def test_messages_come_whole_however_they_are_cut() -> None:
    octets = framed({"a": 1}) + framed("b" * 1000) + framed(None)
    frames = Frames()
    found = [message for at in range(0, len(octets), 7) for message in frames.take(octets[at : at + 7])]
    assert found == [{"a": 1}, "b" * 1000, None]
    assert list(Frames().take(octets[:-1])) == found[:2]


def test_how_many_workers_are_usual(subject: Subject) -> None:
    assert [workers_for(n) for n in (None, 1, 2, 3, 4, 8, 64)] == [1, 1, 1, 1, 2, 4, 4]
    one = start_workers(subject, TEMPO, 1)
    assert isinstance(one, SingleWorker)
    one.close()
