"""The nodes that runs make on a target: told before they are made, and not forgotten when a run dies.

Knows: a list in memory, journals, where the folders of runs are noted. Must not know: how nodes are made or deleted.

A run that makes its first node notes its folder below ``.brokers/left/TARGET/`` and takes the note back when nothing of
it is left on the target. Whoever is killed leaves note and journal: the next run of the same target reads them.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from amqpspec.record.journal import Journal, JournalError, read_nodes

STATE_DIR = Path(".brokers")
Node = tuple[str, str]
"""Virtual host and address."""


class Made:
    """Nodes that were made and not deleted yet; ``making`` and ``gone`` are told of them, the former before."""

    def __init__(
        self,
        making: Callable[[Node], None] = lambda node: None,
        gone: Callable[[list[Node]], None] = lambda nodes: None,
    ) -> None:
        self._making, self._gone = making, gone
        self._lock = threading.Lock()
        self._left: dict[Node, None] = {}

    def add(self, node: Node) -> None:
        """A node is about to be made."""
        with self._lock:
            self._making(node)
            self._left[node] = None

    def discard(self, nodes: Iterable[Node]) -> None:
        """Nodes were deleted; of others nothing is said."""
        with self._lock:
            gone = [node for node in nodes if node in self._left]
            for node in gone:
                del self._left[node]
            if gone:
                self._gone(gone)

    @property
    def left(self) -> list[Node]:
        """What may still be there, in the order of its making."""
        with self._lock:
            return list(self._left)


class Notes:
    """Which runs may have left nodes on a target."""

    def __init__(self, target: str, state_dir: Path = STATE_DIR) -> None:
        legal = "".join(c if c.isalnum() or c in "-.@" else "-" for c in target)
        self._folder = state_dir / "left" / legal

    def made(self, journal: Journal) -> Made:
        """A list that this run's journal keeps, and that the run is noted for."""

        def making(node: Node) -> None:
            self._note(journal.folder)
            journal.node(*node)

        return Made(making, journal.deleted)

    def runs(self) -> Iterator[tuple[Path, list[Node]]]:
        """The folders of runs that are noted, and what each may have left; those that are gone are forgotten."""
        for note in sorted(self._folder.glob("*")):
            folder = Path(note.read_text())
            try:
                yield folder, read_nodes(folder)
            except JournalError:
                note.unlink(missing_ok=True)

    def forget(self, folder: Path) -> None:
        """Nothing of a run is left."""
        self._place(folder).unlink(missing_ok=True)

    def _note(self, folder: Path) -> None:
        place = self._place(folder)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(str(folder.absolute()))

    def _place(self, folder: Path) -> Path:
        return self._folder / hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]
