"""A step of a program, and what a target did that the model does not allow.

Knows: words and small values. Must not know: any dialect, how steps are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.context import Context

Arg = int | str


@dataclass(frozen=True, slots=True)
class Step:
    """A verb with its arguments: numbers of connections, channels, queues and tags, as the program counts them."""

    verb: str
    args: tuple[Arg, ...] = ()

    def __str__(self) -> str:
        return f"{self.verb}({', '.join(map(str, self.args))})"

    def to_json(self) -> list[Arg]:
        """For a finding."""
        return [self.verb, *self.args]

    @classmethod
    def from_json(cls, said: Any) -> Step:
        """A step of a finding; raises ValueError."""
        if not isinstance(said, list) or not said or not all(type(arg) in (int, str) for arg in said):
            raise ValueError(f"expected a step as a list of a verb and its arguments, actual {said!r}")
        return cls(str(said[0]), tuple(said[1:]))


Program = tuple[Step, ...]

LOAD = "load"
"""The verb that runs a load; its arguments are a load's name and how many things are taken each time."""

Hold = Callable[[int], None]
"""Is called while a load holds what it has taken, with the octets of the messages among it."""

Load = Callable[[Context, int, Hold], None]
"""Takes this many things and returns all of them, on separate connections. Raises Unmet, StreamEnded."""


class Violation(Exception):
    """The target did what the model does not allow; ``kind`` is the same for the same cause."""

    def __init__(self, kind: str, expected: str, actual: str) -> None:
        super().__init__(f"expected {expected}, actual {actual}")
        self.kind, self.expected, self.actual = kind, expected, actual


@dataclass(frozen=True, slots=True)
class Found:
    """A program and what the target did at its end."""

    program: Program
    violation: Violation


def script(steps: Sequence[Step], violation: Violation | None = None) -> str:
    """A program as lines of text, with its result."""
    lines = [f"{number:3}  {step}" for number, step in enumerate(steps, start=1)]
    if violation is not None:
        lines += [f"     expected {violation.expected}", f"     actual   {violation.actual}"]
    return "\n".join(lines) + "\n"
