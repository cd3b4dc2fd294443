"""What long histories have in common, whatever is spoken; ``walking`` drives them.

Knows: that a model and a target can disagree. Must not know: any dialect, hypothesis.
"""

from __future__ import annotations


class Mismatch(Exception):
    """The target did what the model does not allow, or not what it owes."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(f"expected {expected}, actual {actual}")
        self.expected, self.actual = expected, actual
