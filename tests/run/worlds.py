"""Small worlds for the runner: cases made on the spot, a reference broker, a journal, rows by id."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from amqpspec.peer.context import Patience
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.journal import Journal, read_cases
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run.case import Body, Case
from amqpspec.run.engine import Engine, Settings
from amqpspec.run.execute import World
from amqpspec.run.plan import Limits, make_plan
from amqpspec.run.verdict import Verdict
from amqpspec.target.config import Target
from amqpspec.target.live import Live, live

ROW = "channel/open/state"
QUICK = Patience(reply_s=2.0, quiet_s=0.1, ending_s=1.0)


def passes(peer: Peer) -> Verdict:
    """A channel can be opened."""
    peer.open_channel()
    return Verdict(Outcome.PASS, "a channel", "a channel")


def make(id: str, body: Body = passes, **facts: Any) -> Case:
    """A case that is in no suite."""
    covers = facts.pop("covers", (ROW,))
    made = Case(id, f"case {id}", covers, body, "amqp-0-9-1", "channel", **facts)
    return replace(made, hooks=(*made.hooks, "restart")) if made.restarts else made


@contextmanager
def reference_world(folder: Path, **facts: Any) -> Iterator[World]:
    """A world around a reference broker of its own; ``facts`` change what is said of the target."""
    with live(Target("reference", broker="reference")) as target:
        yield World(replace(target, **facts), folder, "t", QUICK)


def run_cases(
    world: World,
    cases: Sequence[Case],
    settings: Settings | None = None,
    limits: Limits | None = None,
    lacks: Mapping[str, str] | None = None,
    engine: Callable[..., Engine] = Engine,
) -> tuple[dict[str, CaseRow], bool]:
    """Run cases; the last row of each by id, and whether the run finished."""
    with Journal(world.folder) as journal:
        plan = make_plan(cases, world.live, lacks or {}, limits)
        complete = engine(world, journal, settings or Settings()).run(plan)
    return {row.id: row for row in read_cases(world.folder)}, complete


class Counter:
    """Counts what runs at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.now = self.most = self.total = 0

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.total += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *exc: object) -> None:
        with self._lock:
            self.now -= 1

    def passes(self, peer: Peer) -> Verdict:
        """A case that is counted while it runs."""
        with self:
            return passes(peer)


__all__ = ["QUICK", "ROW", "Counter", "Live", "make", "passes", "reference_world", "run_cases"]
