"""The fuzzer's speed beside a raw loop that only connects, sends, receives and closes, and beside boofuzz; one run.

All have the same inputs and the same target, a connection for each input, and end it with a reset. Rows of processor
time count user and system time of this process and of its ended children, the target's not: they hold on a busy
machine, where rows of inputs a second say little. Then what each oracle costs, and a resume far out.

Knows: all three ways to send an input. Must not know: what inputs mean.

The target is the reference broker in a separate process, and a RabbitMQ where one runs that was started from here.
``python -m bench fuzz_speed --target NAME`` (or ``--url URL``) makes the comparison with boofuzz alone, on a target
that runs and speaks 0-9-1.
The plain loop is handed inputs that are answered: it has no other way to know when to continue.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.pool import start_workers
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.inputs.mutation import origins, random_id, random_input
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.triage.triage import Triage
from amqpspec.target.known import known_broker
from amqpspec.target.url import parse_url
from bench.fuzz_rate import named_subject, target_options
from bench.row import Row

DIALECT = "amqp-0-9-1"
STATES = ("raw", "channel")
ROUNDS, INPUTS, BATCH, WORKERS = 5, 1000, 128, 2
FAR = 10**9
REQUESTS = (
    "header",
    "header->connection_start_ok->connection_tune_ok->connection_open->channel_open->method_queue_declare",
)
"""Where boofuzz bends, by its own names: directly after the connect, and after the whole handshake."""
_RESET = struct.pack("ii", 1, 0)
_PATIENCE_S, _HEARS_S = 10.0, 1.0
_GROUPS = (
    frozenset({Oracle.CRASH, Oracle.HANG}),
    frozenset({Oracle.CANARY, Oracle.LEAK}),
    frozenset({Oracle.MEMORY, Oracle.CPU}),
    frozenset({Oracle.LOG}),
    frozenset({Oracle.CONFORMANCE}),
)
"""Oracles that look together."""

Way = Callable[[Subject, Sequence[FuzzInput]], int]
Taken = tuple[float, float]
Both = tuple[Taken, Taken]


def rows(words: Sequence[str] = ()) -> Iterator[Row]:
    """Speed and processor time beside both others, oracles, and a resume; on a named target, beside boofuzz."""
    options = _options(words)
    if options.target or options.url:
        with ExitStack() as stack:
            subject = named_subject(stack, options, options.connections)
            if subject.dialect != DIALECT:
                sys.exit(f"{subject.name}: expected a target of {DIALECT}, actual {subject.dialect}")
            yield from beside_boofuzz(replace(subject, keeping=False), options.inputs)
        return
    with targets() as found:
        for subject in found:
            for state in STATES:
                yield from beside_the_loop(subject, answered(subject, state, INPUTS), state)
        yield from beside_boofuzz(found[0], INPUTS)
        yield from of_oracles(found[0], ROUNDS)
    yield resumed(FAR)


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = target_options("fuzz_speed")
    parser.add_argument("--inputs", type=int, default=INPUTS, help="of boofuzz on each request")
    parser.add_argument("--connections", type=int, default=BATCH, help="of amqpspec at most")
    return parser.parse_args(words)


@contextmanager
def targets() -> Iterator[list[Subject]]:
    """The reference broker, and RabbitMQ where it runs; each input on a separate connection, as with the others."""
    with tempfile.TemporaryDirectory() as folder, SeededBroker(None, Path(folder), DIALECT) as broker:
        found = [replace(broker.subject(), name="reference")]
        rabbitmq = known_broker("rabbitmq", Path(".brokers") / "rabbitmq").running()
        if rabbitmq is not None:
            url = parse_url(rabbitmq.url)
            values = Values(user=url.user, password=url.password, vhost=url.vhost)
            found.append(Subject("rabbitmq", DIALECT, Address(url.host, url.port), values))
        yield [replace(subject, keeping=False) for subject in found]


def answered(subject: Subject, state: str, count: int) -> list[FuzzInput]:
    """Inputs of a state that this target answers, over and over until there are enough."""
    claimed = [item for cell in cells(DIALECT) if cell.state == state for item in _some(cell, 40)]
    executor = subject.executor(Tempo())
    found = [result.item for result in executor.run(claimed) if result.refusal is not None]
    executor.close()
    return (found * (count // len(found) + 1))[:count]


def _some(cell: Any, most: int) -> Iterator[FuzzInput]:
    for number in range(min(most, cell.inputs)):
        item = cell.input(number)
        if item.expectation.must_refuse and len(item.octets) < 4096:
            yield item


# --- three ways


def ours(subject: Subject, items: Sequence[FuzzInput]) -> int:
    """The executor: many connections at once, one for each input."""
    executor = subject.executor(Tempo())
    done = sum(result.reached for result in executor.run(items))
    executor.close()
    return done


def plain(subject: Subject, items: Sequence[FuzzInput]) -> int:
    """Connect, send, receive, close; the way into the state with its answers before that."""
    ways = {item.state: _octets_of_way(item.state, subject.values) for item in items}
    where = (subject.address.host, subject.address.port)
    done = 0
    for item in items:
        with socket.create_connection(where, _PATIENCE_S) as on:
            on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            on.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            for octets in ways[item.state]:
                on.sendall(octets)
                on.recv(65_536)
            try:
                on.sendall(item.octets)
                on.recv(65_536)
            except ConnectionError:
                pass
            done += 1
    return done


def _octets_of_way(state: str, values: Values) -> list[bytes]:
    """The way's steps; steps for which nothing is waited go with what follows."""
    found, held = [], b""
    for step in states(DIALECT)[state].steps:
        held += octets_of_step(DIALECT, step, values)
        if step.wait_for:
            found.append(held)
            held = b""
    return found


def beside_the_loop(subject: Subject, items: Sequence[FuzzInput], state: str) -> Iterator[Row]:
    """Inputs a second, by one executor and by workers, and processor time for each input."""
    name = f"fuzz speed, {subject.name}, state {state}"
    one = _side_by_side(ours, plain, subject, items)
    with working(subject, WORKERS) as way:
        many = _side_by_side(way, plain, subject, items)
    yield _row(f"{name}: inputs/s beside raw loop", "inputs/s", one, 0)
    yield _row(f"{name}: inputs/s of {WORKERS} workers beside raw loop", "inputs/s", many, 0)
    yield _row(f"{name}: CPU per input beside raw loop", "us of CPU/input", one, 1)


@contextmanager
def working(subject: Subject, workers: int) -> Iterator[Way]:
    """A way by this many workers, which are there before the clock starts, as in a campaign."""
    pool = start_workers(subject, Tempo(), workers)
    try:
        yield lambda subject, items: sum(result.reached for result in pool.run(items))
    finally:
        pool.close()


def _side_by_side(mine: Way, other: Way, subject: Subject, items: Sequence[FuzzInput]) -> Both:
    """Medians of both sides, which take turns at being first."""
    taken: dict[Way, list[Taken]] = {mine: [], other: []}
    for number in range(ROUNDS):
        for side in (mine, other) if number % 2 == 0 else (other, mine):
            taken[side].append(_taken(side, subject, items))
    return _middle(taken[mine]), _middle(taken[other])


def _middle(taken: Sequence[Taken]) -> Taken:
    return statistics.median(rate for rate, _ in taken), statistics.median(cost for _, cost in taken)


def _row(name: str, unit: str, both: Both, which: int) -> Row:
    mine, other = both[0][which], both[1][which]
    return Row(name, round(mine), round(other), round(mine / other, 2), unit)


def _taken(way: Way, subject: Subject, items: Sequence[FuzzInput]) -> Taken:
    """Inputs a second, and microseconds of processor time for each."""
    begun_s, cpu_s = time.perf_counter(), _cpu_s()
    done = way(subject, items)
    assert done, "nothing was sent"
    return done / (time.perf_counter() - begun_s), (_cpu_s() - cpu_s) / done * 1e6


def _cpu_s() -> float:
    """Of this process, as finely as it is known, and of children that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


# --- boofuzz


def beside_boofuzz(subject: Subject, count: int) -> Iterator[Row]:
    """boofuzz with the exported session, and then the very inputs that it sent by the executor, which reads answers.

    boofuzz has no page, no log, no pause, no check after a case, and keeps nothing of a case that passed: once blind,
    and once as it has to be to hear what its input is answered; on a request directly after the connect, and on one
    after the handshake, which each case goes through.
    """
    for request, hears in product(REQUESTS, (True, False)):
        sent: list[FuzzInput] = []
        theirs = _taken(partial(_boofuzz, request, count, sent, hears), subject, ())
        mine = _taken(ours, subject, sent)
        name = f"boofuzz ({request.rpartition('->')[2]}, hears {'answers' if hears else 'nothing'})"
        label = f"fuzz speed, {subject.name}"
        yield _row(f"{label}: inputs/s beside {name}", "inputs/s", (mine, theirs), 0)
        yield _row(f"{label}: CPU per input beside {name}", "us of CPU/input", (mine, theirs), 1)


def _boofuzz(
    request: str, count: int, sent: list[FuzzInput], hears: bool, subject: Subject, items: Sequence[FuzzInput]
) -> int:
    """This many cases of boofuzz on one request; what each one sent is put into ``sent``."""
    import boofuzz

    from amqpspec.fuzz.interop.boofuzz_engine import load_session
    from amqpspec.fuzz.interop.graph import session_graph

    module = load_session(subject)
    edges = {(edge.after, edge.request): edge for edge in session_graph(DIALECT).edges}
    line: list[bytes] = []

    class Connection(boofuzz.TCPSocketConnection):  # type: ignore[misc]  # boofuzz has no types
        """Its own connection, that says what was sent."""

        def open(self) -> None:
            super().open()
            line.clear()

        def send(self, data: bytes) -> int:
            line.append(data)
            return int(super().send(data))

    def note(session: Any, **kwargs: Any) -> None:
        path = ["", *session.current_test_case_name.partition(":")[0].split("->")]
        edge = edges[path[-2], path[-1]]
        steps = tuple(line[-1 - len(edge.since) :])
        number = InputId("0" * 8, "random", "boofuzz", edge.state, 0, len(sent))
        sent.append(FuzzInput(number, DIALECT, edge.state, steps, session.current_test_case_name))

    with tempfile.TemporaryDirectory() as folder:
        where = subject.address
        session, _ = module.session_of(
            module.DEFINITION,
            boofuzz.Target(connection=Connection(where.host, where.port, recv_timeout=_HEARS_S)),
            index_end=count, sleep_time=0.0, fuzz_loggers=[], post_test_case_callbacks=[note],
            db_filename=str(Path(folder) / "results.db"), fuzz_db_keep_only_n_pass_cases=1,
            receive_data_after_fuzz=hears, check_data_received_each_request=False,
        )  # fmt: skip
        session.fuzz(name=request)
    return len(sent)


# --- oracles


def of_oracles(subject: Subject, rounds: int) -> Iterator[Row]:
    """A batch with all oracles beside one without some of them; without any at the end."""
    items = answered(subject, "channel", BATCH)
    for group in (*_GROUPS, frozenset(Oracle)):
        name = "all" if len(group) > len(_GROUPS) else " and ".join(sorted(group))
        sides = (Monitor(subject), Monitor(subject, without=group))
        taken: tuple[list[float], list[float]] = ([], [])
        for number in range(rounds):
            for side in (0, 1) if number % 2 == 0 else (1, 0):
                taken[side].append(_batch_ms(subject, sides[side], items))
        for monitor in sides:
            monitor.close()
        with_ms, without_ms = statistics.median(taken[0]), statistics.median(taken[1])
        ratio = round(with_ms / without_ms, 2)
        yield Row(
            f"fuzz oracles, cost of: {name}", round(with_ms), round(without_ms), ratio, f"ms/batch of {BATCH}"
        )


def _batch_ms(subject: Subject, monitor: Monitor, items: Sequence[FuzzInput]) -> float:
    executor: Executor = subject.executor(Tempo())
    begun_s = time.perf_counter()
    monitor.before()
    monitor.after(list(executor.run(items)))
    executor.close()
    return (time.perf_counter() - begun_s) * 1e3


# --- resume


def resumed(number: int) -> Row:
    """A campaign resumed at a number, up to its first batch, beside one resumed at the beginning."""
    far, near = [], []
    with tempfile.TemporaryDirectory() as folder:
        for n in range(ROUNDS):
            near.append(_resume_s(Path(folder) / f"near{n}", 0))
            far.append(_resume_s(Path(folder) / f"far{n}", number))
    mine, other = statistics.median(far), statistics.median(near)
    return Row(f"fuzz resume at {number:.0e}", round(mine, 4), round(other, 4), round(mine / other, 2), "s")


def _resume_s(folder: Path, number: int) -> float:
    subject = Subject("nobody", DIALECT, Address("127.0.0.1", 1))
    begun = Campaign(CampaignOrder(subject, folder, patterns=("C14/*",)))
    target = begun._target
    target.triage = Triage(target.subject, target.monitor, Tempo())
    begun._write_checkpoint()
    _move(folder / "progress.json", number)
    begun_s = time.perf_counter()
    Campaign(CampaignOrder(subject, folder, patterns=("C14/*",), resume=True))
    weights = dict.fromkeys(origins(DIALECT), 4)
    for counter in range(number, number + BATCH):
        random_input(DIALECT, random_id(DIALECT, 1, counter, weights))
    return time.perf_counter() - begun_s


def _move(progress: Path, number: int) -> None:
    """Let a campaign stand behind all cells, at a number of random inputs."""
    kept = json.loads(progress.read_text(encoding="utf-8"))
    kept["position"] |= {"cell": FAR, "number": 0, "counter": number}
    progress.write_text(json.dumps(kept), encoding="utf-8")
