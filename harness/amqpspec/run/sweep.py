"""What runs have left on a target is deleted: of this one, and of others that were killed.

Knows: notes of runs, locks on their folders, drivers. Must not know: cases, how a driver deletes.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import BudgetSpent, Unmet
from amqpspec.record.drafts import remove_drafts
from amqpspec.record.journal import Node
from amqpspec.record.lock import locked_folder
from amqpspec.run.driver import sweeper_of
from amqpspec.run.execute import World
from amqpspec.run.made import Notes
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Streams
from amqpspec.wire.transport import StreamEnded

_BUDGET_S = 120.0


def sweep(world: World, notes: Notes, own: Path) -> int:
    """Delete what this run, and runs that are dead, have left on the target; how many nodes that were.

    What cannot be deleted now stays noted for the next run.
    """
    world = replace(world, stop=threading.Event())
    count = 0
    for folder, nodes in notes.runs():
        if folder != own.absolute() and _is_at_work(folder):
            continue
        gone = _delete(world, nodes)
        world.made.discard(gone)
        count += len(gone)
        if folder != own.absolute():
            remove_drafts(folder)
            if len(gone) == len(nodes):
                notes.forget(folder)
    return count


def _is_at_work(folder: Path) -> bool:
    """Whether a folder must be left alone: a run holds its lock."""
    try:
        with locked_folder(folder):
            return False
    except OSError:  # another has it, or has removed it since its note was read
        return True


def _delete(world: World, nodes: Sequence[Node]) -> list[Node]:
    """Delete what can be deleted, one virtual host after the other; returns it."""
    streams = Streams(world.live.endpoint, NO_TRANSCRIPT, Budget(monotonic_s() + _BUDGET_S))
    context = world.context("sweep", streams)
    by_address = replace(context, nodes=replace(context.nodes, address="{name}"))
    gone: list[Node] = []
    for vhost in dict.fromkeys(vhost for vhost, _, _ in nodes):
        here = [node for node in nodes if node[0] == vhost]
        with suppress(Unmet, StreamEnded, BudgetSpent), world.aside(by_address, vhost, _BUDGET_S) as own:
            # What was made last may need what was made first.
            sweeper_of(world.dialect)(own, [(kind, address) for _, address, kind in reversed(here)])
            gone += here
    return gone
