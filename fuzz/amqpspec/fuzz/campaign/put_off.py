"""Inputs that wait until everything else was sent: they are likely to end the target.

What is left of a batch that ended on a known crash or hang waits: each such end costs a restart and shows nothing new,
and which cell of the batch caused it is not known. So do cells of a family in a state in which an input has ended the
target: the others do the same to it. Inputs wait, too, whose state was not reached although others reach it: a target
that is busy serves some connections and not others. Later, each cell has a batch to itself, and nothing waits again.

Knows: batches. Must not know: how they are sent, why they wait.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from amqpspec.fuzz.campaign.schedule import Batch, Position, Span
from amqpspec.fuzz.inputs.catalogue import by_key, resolve
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId


class PutOff:
    """Batches of one cell each, in the order in which they were put off. ``saved`` is an earlier state."""

    def __init__(self, dialect: str, saved: Sequence[Mapping[str, Any]] = ()) -> None:
        self._waiting: list[Batch] = []
        self._under_way: Batch | None = None
        for one in saved:
            # With other tables an id means nothing: its cell stays open.
            with suppress(ValueError, KeyError, TypeError):
                self._waiting.append(_restored(dialect, one))

    def __len__(self) -> int:
        return len(self._waiting)

    def holds(self, cell: str) -> bool:
        """Whether something of a cell waits."""
        return any(cell == span.cell.key for batch in self._waiting for span in batch.spans)

    def end(self, cell: str) -> None:
        """Nothing else of a cell is to come: it is covered when what waits was sent."""
        self._waiting = [
            _ended(batch) if cell == batch.spans[0].cell.key else batch for batch in self._waiting
        ]

    def add(self, batch: Batch, left: Sequence[FuzzInput]) -> list[str]:
        """Put off what is left of a batch and does not wait already; returns the keys of the cells."""
        waiting = {item.id for one in self._waiting for item in one.items}
        parts = list(batch.parts([item for item in left if item.id not in waiting]))
        self._waiting += parts
        return [cell.key for part in parts for cell in part.cells]

    def sift(self, batch: Batch, places: Collection[tuple[str, str]]) -> tuple[Batch, list[str]]:
        """Put off the cells of some families and states; returns the rest of the batch, and the keys of these cells."""
        wait = [item for item in batch.items if (item.id.family, item.state) in places]
        if not batch.whole or not wait:
            return batch, []
        keys, waiting = self.add(batch, wait), {item.id for item in wait}
        spans = tuple(span for span in batch.spans if (span.cell.family, span.cell.state) not in places)
        return replace(batch, items=[i for i in batch.items if i.id not in waiting], spans=spans), keys

    def next(self, at: Position, stopped: Callable[[str], bool]) -> Batch | None:
        """The batch that has waited longest, which leaves the position; None if none is left."""
        self._under_way = None
        while self._waiting and self._under_way is None:
            batch = self._waiting.pop(0)
            if not any(stopped(cell.key) for cell in batch.cells):
                self._under_way = replace(batch, after=at)
        return self._under_way

    def to_json(self, behind: Iterable[Batch] = ()) -> list[dict[str, Any]]:
        """The state, for ``saved``; a batch that is in progress, or whose results are still to come, is sent again."""
        under_way = [self._under_way] if self._under_way is not None else []
        return [
            {
                "spans": batch.names["spans"],
                "inputs": [str(item.id) for item in batch.items],
                "ends": any(span.ends for span in batch.spans),
            }
            for batch in (*behind, *under_way, *self._waiting)
        ]


def _ended(batch: Batch) -> Batch:
    return replace(batch, spans=tuple(replace(span, ends=True) for span in batch.spans))


def _restored(dialect: str, one: Mapping[str, Any]) -> Batch:
    """Raises ValueError, KeyError, TypeError for what ``to_json`` did not write with the same tables."""
    items = [resolve(InputId.parse(id)) for id in one["inputs"]]
    ends = one.get("ends") is True
    return Batch(items, Position(), tuple(_spans(dialect, one["spans"], ends)), whole=False)


def _spans(dialect: str, spans: Iterable[Sequence[Any]], ends: bool) -> Iterable[Span]:
    for first, last, step in spans:
        id, end = InputId.parse(first), InputId.parse(last)
        cell = by_key(dialect)[f"{dialect}/{id.family}/{id.role}/{id.state}"]
        yield Span(cell, range(id.counter, end.counter + 1, step), ends)
