"""A comparison as JSON, with a line for each target that sends a sample again.

Knows: what is written down. Must not know: how it was observed, pages.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from amqpspec.fuzz.differential.comparison import Compared
from amqpspec.fuzz.differential.tally import Group, Kind
from amqpspec.fuzz.executor.announced import announced
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.grammar import grammar_hash


def to_json(done: Compared, notes: Mapping[str, str]) -> dict[str, Any]:
    """What ``differences.json`` holds; ``notes`` say what is special about targets, by their names."""
    order, tally = done.order, done.tally
    groups = sorted(tally.different.values(), key=lambda group: (group.cell, -group.count))
    return {
        "dialect": order.dialect, "grammar": grammar_hash(order.dialect), "seed": order.seed,
        "cells": list(order.patterns),
        "targets": [_target(subject, notes.get(subject.name, "")) for subject in order.subjects],
        "ended": done.ended, "lost": done.lost, "seconds": round(done.seconds_s, 1),
        "inputs": tally.inputs, "compared": tally.compared, **{str(kind): tally.kinds[kind] for kind in Kind},
        "not_compared": [
            {"target": target, "state": state, "inputs": number}
            for (target, state), number in sorted(tally.missing.items())
        ],
        "ungrouped": tally.ungrouped,
        "differences": [_group(group, order.subjects) for group in groups],
        "instabilities": [_group(group, order.subjects) for group in tally.unstable.values()],
    }  # fmt: skip


def _target(subject: Subject, note: str) -> dict[str, str]:
    product, version = announced(subject)
    return {"name": subject.name, "url": subject.url, "product": product, "version": version, "note": note}


def _group(group: Group, subjects: Iterable[Subject]) -> dict[str, Any]:
    item = group.sample
    return {
        "cell": group.cell, "count": group.count, "sample": str(item.id), "words": item.words,
        "requirement": item.expectation.requirement,
        "reactions": {name: " / ".join(seen) for name, seen in group.reactions.items()},
        "violates": dict(group.violates), "declared": list(group.declared),
        "replay": {s.name: _replay(s, str(item.id)) for s in subjects if s.name in group.reactions},
    }  # fmt: skip


def _replay(subject: Subject, id: str) -> str:
    """The line that sends an input to one target."""
    more: Sequence[str] = subject.replay
    where = (
        (subject.url,) if subject.url else () if more[:1] and "://" in more[0] else ("--target", subject.name)
    )
    return shlex.join(("amqpspec", "fuzz", "replay", id, *where, *more))
