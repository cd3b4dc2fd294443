"""The fuzzer's rate on one target, beside the rate at which the same target opens connections; they take turns.

A campaign with all oracles continues where it stood; between its parts a plain client opens as many connections at a
time, each closed with a reset once it is open. Blame waits as long as it can. The rate counts all inputs, over the time
without blame, restarts, and the confirmation of crashes and hangs; a second row has that time beside the whole.

Knows: a target, a campaign, a minimal client. Must not know: what inputs mean, how a campaign is led.

``python -m bench fuzz_rate [--target NAME | --url URL] [--seconds S] [--rounds N] …``; without a target it is the
reference broker in a separate process.
"""

from __future__ import annotations

import argparse
import selectors
import socket
import statistics
import struct
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from amqpspec.cli.common import STATE_DIR
from amqpspec.cli.fuzz_known import with_known
from amqpspec.cli.fuzz_subject import subject_of
from amqpspec.fuzz.campaign.campaign import Campaign
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.decoder import decoder
from amqpspec.fuzz.executor.loop import BEGINNING
from amqpspec.fuzz.executor.pool import workers_for
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.states.ways import octets_of_step, way
from amqpspec.target.find import find_target
from amqpspec.target.live import live
from bench.row import Row

DIALECT = "amqp-0-9-1"
UNIT = "inputs/s beside handshakes/s"
_RESET = struct.pack("ii", 1, 0)
_READ_OCTETS = 65_536
_PATIENCE_S = 10.0


def rows(words: Sequence[str] = ()) -> Iterator[Row]:
    """The rate as medians of the rounds of both sides, and the time that it leaves out."""
    options = _options(words)
    with ExitStack() as stack:
        subject = _subject(stack, options)
        out = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "campaign"
        order = CampaignOrder(
            subject, out, options.seconds, patterns=tuple(options.cells), mutate=not options.families_only,
            workers=workers_for(None), blame_share=0.0,
        )  # fmt: skip
        yield from beside(order, options.rounds, options.connections)


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = target_options("fuzz_rate")
    parser.add_argument("--seconds", type=float, default=20.0, help="of one round of the campaign")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=128, help="of the campaign at most")
    parser.add_argument("--cells", nargs="*", default=())
    parser.add_argument("--families-only", action="store_true", help="no random mutation, which leaves cells")
    return parser.parse_args(words)


def target_options(name: str) -> argparse.ArgumentParser:
    """A parser of options that begin with those that name a target."""
    parser = argparse.ArgumentParser(f"python -m bench {name}")
    parser.add_argument("--target")
    parser.add_argument("--url")
    parser.add_argument("--targets", type=Path)
    parser.add_argument("--dialect")
    return parser


def _subject(stack: ExitStack, options: argparse.Namespace) -> Subject:
    """The target as a campaign has it; without one, the reference broker in a separate process."""
    if options.url or options.target:
        return named_subject(stack, options, options.connections)
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    broker = stack.enter_context(SeededBroker(None, folder, options.dialect or DIALECT))
    return replace(broker.subject(), name="reference", connections=options.connections)


def named_subject(stack: ExitStack, options: argparse.Namespace, connections: int) -> Subject:
    """The target that the options name, with the deviations that its baseline knows."""
    target = find_target(options.url or options.target, options.targets)
    if options.dialect:
        target = replace(target, dialect=options.dialect)
    running = stack.enter_context(live(target, state_dir=STATE_DIR))
    subject = subject_of(running, {"connections": connections, "patience": 1.0})
    return with_known(subject, target.baseline)[0]


def beside(order: CampaignOrder, rounds: int, connections: int) -> Iterator[Row]:
    """Both sides alternately; each round of handshakes takes a quarter of the time of the campaign's."""
    subject, round_s = order.subject, order.budget_s
    for cell in chosen_cells(subject.dialect, order.patterns):
        _ = cell.inputs  # made once, before the clock starts
    at_a_time = min(connections, BEGINNING)  # a campaign also has this many concurrent handshakes
    handshakes(subject, at_a_time, min(1.0, round_s))
    ours: list[Measured] = []
    theirs: list[float] = []
    for number in range(rounds):
        ours.append(_measured(replace(order, resume=number > 0)))
        _awaken(subject)
        theirs.append(handshakes(subject, at_a_time, round_s / 4))
    mine, other = statistics.median(one.a_second for one in ours), statistics.median(theirs)
    name = f"fuzz rate, {subject.name}, {subject.dialect}"
    yield Row(name, round(mine, 1), round(other, 1), round(mine / other, 2), UNIT)
    aside_s, whole_s = sum(one.aside_s for one in ours), sum(one.whole_s for one in ours)
    yield Row(
        f"{name}: blame, restarts, crashes and hangs", round(aside_s, 1), round(whole_s, 1),
        round(aside_s / whole_s, 2), "s of all s",
    )  # fmt: skip


def _awaken(subject: Subject) -> None:
    """A campaign may leave a target that an input has ended: restart it, if possible. Raises Unanswered."""
    if not (subject.awake(_PATIENCE_S) or subject.renew()):
        raise Unanswered("the target no longer answers after a round of the campaign")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a campaign sent, in which time, and how much of that time was blame, restarts, crashes and hangs."""

    inputs: int = 0
    whole_s: float = 0.0
    aside_s: float = 0.0

    @property
    def a_second(self) -> float:
        """Inputs per second of the other time."""
        return self.inputs / (self.whole_s - self.aside_s)

    def since(self, before: Measured) -> Measured:
        """What was added."""
        return Measured(
            self.inputs - before.inputs, self.whole_s - before.whole_s, self.aside_s - before.aside_s
        )


def _measured(order: CampaignOrder) -> Measured:
    """What follows the first batch, in which the target is measured; all, if there is only one. Raises Unanswered."""
    ends: list[Measured] = []
    campaign = Campaign(replace(order, notify=lambda progress: ends.append(_so_far(progress))))
    begun = _so_far(campaign.progress)
    ended = _so_far(campaign.run().progress)
    if ended.inputs == begun.inputs:
        raise Unanswered("expected inputs, actual: none; --seconds is too short")
    return ended.since(ends[0] if len(ends) > 1 else begun)


def _so_far(progress: Progress) -> Measured:
    tally = progress.tally
    return Measured(tally.inputs, tally.seconds_s, tally.aside_s)


# --- the plain client


class _Handshake:
    """One connection that is being opened: ``advance`` reports that it is open."""

    def __init__(self, subject: Subject, number: int) -> None:
        self._dialect, self._decode = subject.dialect, decoder(subject.dialect)
        self._values = replace(subject.values, container=f"amqpspec-bench-{number}")
        self._steps = deque(way(subject.dialect, subject.sentinel_state, subject.values.mechanism))
        self._waiting: list[str] = []
        where = subject.address.host, subject.address.port
        try:
            self.on = socket.create_connection(where, _PATIENCE_S)
        except OSError as error:
            raise Unanswered(f"{subject.name}: cannot connect: {error}", refused_connect=True) from error
        self.on.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.on.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._send()
        self.on.setblocking(False)

    def advance(self) -> bool:
        """Read what has arrived, and say what is next; True once it is open. Raises Unanswered."""
        octets = self.on.recv(_READ_OCTETS)
        if not octets:
            raise Unanswered("a handshake was ended by the target")
        for said in self._decode(octets):
            if said.limits is not None:
                channel_max, frame_max_octets = said.limits
                self._values = replace(
                    self._values, channel_max=channel_max, frame_max_octets=frame_max_octets
                )
            if said.refusal is not None:
                raise Unanswered(f"a handshake was refused: {said.name}", refused=True)
            with suppress(ValueError):
                self._waiting.remove(said.name)
        if not self._waiting:
            self._send()
        return not self._waiting and not self._steps

    def _send(self) -> None:
        octets = b""
        while self._steps and not self._waiting:
            step = self._steps.popleft()
            octets += octets_of_step(self._dialect, step, self._values)
            self._waiting = list(step.wait_for)
        if octets:
            self.on.sendall(octets)


def handshakes(subject: Subject, connections: int, seconds_s: float) -> float:
    """How many connections a second are opened, this many at a time, one at least. Raises Unanswered, OSError."""
    if subject.address.tls is not None or subject.address.path:
        raise ValueError(f"{subject.name}: expected a plain TCP address, actual TLS or WebSocket")
    number = done = 0
    begun_s = time.perf_counter()
    running: dict[int, _Handshake] = {}
    with selectors.DefaultSelector() as selector:
        try:
            while (passed_s := time.perf_counter() - begun_s) < seconds_s or not done:
                while len(running) < connections:
                    number += 1
                    one = _Handshake(subject, number)
                    running[one.on.fileno()] = one
                    selector.register(one.on, selectors.EVENT_READ, one)
                ready = selector.select(_PATIENCE_S)
                if not ready:
                    raise Unanswered(f"no handshake went on within {_PATIENCE_S} s", silent=True)
                for key, _ in ready:
                    one = key.data
                    if one.advance():
                        done += 1
                        del running[one.on.fileno()]
                        selector.unregister(one.on)
                        one.on.close()
        finally:
            for one in running.values():
                one.on.close()
    return done / passed_s
