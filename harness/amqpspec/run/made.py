"""The nodes that runs create on a target: recorded before they are created, and kept if a run dies.

Knows: a list in memory, journals, where the folders of runs are noted. Must not know: how nodes are made or deleted.

A run notes its folder below ``.brokers/left/TARGET/DIALECT/`` when it begins, and takes the note back when it ends and
nothing of it is left on the target. A killed run leaves note and journal: the next run of the same target reads
them.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from amqpspec.record.drafts import draft_of
from amqpspec.record.journal import Journal, JournalError, Node, read_nodes

STATE_DIR = Path(".brokers")


class Made:
    """Nodes that were made and not deleted yet; ``making`` is called before, ``removed`` after."""

    def __init__(
        self,
        making: Callable[[Node], None] = lambda node: None,
        removed: Callable[[list[Node]], None] = lambda nodes: None,
        left: Iterable[Node] = (),
    ) -> None:
        self._making, self._on_deletion = making, removed
        self._lock = threading.Lock()
        self._left: dict[Node, None] = dict.fromkeys(left)

    def add(self, node: Node) -> None:
        """A node is about to be made."""
        with self._lock:
            if node not in self._left:
                self._making(node)
                self._left[node] = None

    def discard(self, nodes: Iterable[Node]) -> None:
        """Nodes were deleted; of others nothing is reported."""
        with self._lock:
            removed = [node for node in nodes if node in self._left]
            for node in removed:
                del self._left[node]
            if removed:
                self._on_deletion(removed)

    @property
    def left(self) -> list[Node]:
        """What may still be there, in the order of its making."""
        with self._lock:
            return list(self._left)


class Notes:
    """Which runs may have left something of theirs on a target, or in their folders."""

    def __init__(self, target: str, dialect: str, state_dir: Path = STATE_DIR) -> None:
        self._folder = _place_of(target, state_dir) / dialect
        self._top = state_dir

    @staticmethod
    def dialects(target: str, state_dir: Path = STATE_DIR) -> list[str]:
        """The dialects in which runs against a target may have left something."""
        return sorted(path.name for path in _place_of(target, state_dir).glob("*"))

    @contextmanager
    def noted(self, folder: Path) -> Iterator[None]:
        """A run is at work; it is forgotten at its end, unless it leaves nodes behind."""
        # If nothing can be noted, no one else cleans up: no reason not to run.
        with suppress(OSError):
            self._note(folder)
        try:
            yield
        finally:
            if not _left_by(folder):
                self.forget(folder)

    def runs(self) -> Iterator[tuple[Path, list[Node]]]:
        """The folders of runs that are noted, and what each may have left; those that are gone are forgotten."""
        for note in sorted(self._folder.glob("[!.]*")):
            folder = _folder_in(note)
            if folder is None:
                continue
            if folder.is_dir():
                yield folder, _left_by(folder)
            else:
                self.forget(folder)

    def forget(self, folder: Path) -> None:
        """Nothing of a run is left."""
        with suppress(OSError):  # there was no place for notes, or someone else's are there
            self._place(folder).unlink(missing_ok=True)
            for empty in (self._folder, self._folder.parent, self._folder.parent.parent, self._top):
                empty.rmdir()

    def _note(self, folder: Path) -> None:
        place = self._place(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        draft = draft_of(place)  # other runs read the notes at any time: a note is whole, or not there
        draft.write_text(str(folder.absolute()), encoding="utf-8")
        draft.replace(place)

    def _place(self, folder: Path) -> Path:
        return self._folder / hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]


def _place_of(target: str, state_dir: Path) -> Path:
    legal = "".join(c if c.isalnum() or c in "-.@" else "-" for c in target)
    return state_dir / "left" / legal


def _folder_in(note: Path) -> Path | None:
    """The folder of which a note tells; None if its run took it back a moment ago, or it names none."""
    try:
        folder = Path(note.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None
    return folder if folder.is_absolute() else None


def _left_by(folder: Path) -> list[Node]:
    """What the journal of a run says of nodes; nothing if there is none."""
    try:
        return read_nodes(folder)
    except JournalError:
        return []


def kept_by(journal: Journal) -> Made:
    """A list that a run's journal keeps; it begins with what the run has left behind before it continues."""
    return Made(journal.node, journal.deleted, _left_by(journal.folder))
