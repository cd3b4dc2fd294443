"""The identity of an input: one line of text from which its octets can be made again, anywhere.

Knows: the parts of an id and how they are written. Must not know: what they lead to.

``g:29310249/C04/frame.size/channel/s0/17``: grammar hash, family, field role, state, seed, counter. The hash names
dialect and tables, so that an id of other tables is refused instead of meaning something else. Families do not draw:
their seed is 0.
"""

from __future__ import annotations

import re
from typing import NamedTuple

RANDOM = "random"
"""The family of random mutation."""

_SHAPE = re.compile(
    r"g:(?P<grammar>[0-9a-f]{8})/(?P<family>C[0-9]{2}|random)/(?P<role>[a-z0-9][a-z0-9.+@-]*)"
    r"/(?P<state>[a-z][a-z0-9-]*)/s(?P<seed>0|[1-9][0-9]*)/(?P<counter>0|[1-9][0-9]*)"
)


class IdError(ValueError):
    """A text that names no input; says what was expected."""


class InputId(NamedTuple):
    """What names one input."""

    grammar: str
    family: str
    role: str
    state: str
    seed: int
    counter: int

    def __str__(self) -> str:
        return f"g:{self.grammar}/{self.family}/{self.role}/{self.state}/s{self.seed}/{self.counter}"

    @classmethod
    def parse(cls, text: str) -> InputId:
        """The id that a text writes; raises IdError."""
        found = _SHAPE.fullmatch(text)
        if found is None:
            raise IdError(f"input id: expected g:HASH8/FAMILY/ROLE/STATE/sSEED/COUNTER, actual {text!r}")
        parts = found.groupdict()
        seed, counter = int(parts.pop("seed")), int(parts.pop("counter"))
        return cls(**parts, seed=seed, counter=counter)
