"""What long histories have in common, whatever is spoken; ``walking`` drives them.

Knows: that a model and a target can disagree, how steps are taken. Must not know: any dialect, hypothesis.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.peer.context import Unmet
from amqpspec.wire.transport import StreamEnded


class Mismatch(Exception):
    """The target did what the model does not allow, or not what it owes."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(f"expected {expected}, actual {actual}")
        self.expected, self.actual = expected, actual


class Driven:
    """One history, as it is driven: a ``walking.Walk`` whose subclass has a menu, and knows how a step is done."""

    peer: Any

    def __init__(self) -> None:
        self.steps: list[Any] = []
        self.is_over = False

    def take(self, step: Any) -> None:
        """Do it, and wait for all that is due then; raises Mismatch."""
        self.steps.append(step)
        self.peer.transport.note(f"step {len(self.steps)}: {step}")
        self._judged(lambda: self._do(step))

    def finish(self) -> None:
        """The check at the end; raises Mismatch."""
        self._judged(self._finish)

    def give_up(self, why: str = "") -> None:
        """Leave the connection as it is; nothing is judged any more."""
        self.is_over = True
        if why:
            self.peer.transport.note(why)
        self.peer.hang_up()

    def _judged(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Unmet as unmet:
            raise Mismatch(unmet.expected, unmet.observed) from unmet
        except StreamEnded as ended:
            raise Mismatch("an open connection", f"connection {ended.how}") from ended

    def _do(self, step: Any) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        raise NotImplementedError
