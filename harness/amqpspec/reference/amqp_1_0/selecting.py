"""Filters on a source: selectors of comparisons joined by AND, which is what the broker understands.

Knows: ``name = 'text'``, ``name <> 3``, joined by AND. Must not know: how a filter is attached.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SELECTOR_NAMES = frozenset(("apache.org:selector-filter:string", "jms-selector"))
SELECTOR_CODES = frozenset((0x0000468C00000004,))
_TERM = re.compile(r"\s*([A-Za-z_][\w.]*)\s*(=|<>)\s*(?:'([^']*)'|(-?\d+)|(TRUE|FALSE))\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Selector:
    """A selector that was understood: (name, whether it is to be equal, value) each."""

    terms: tuple[tuple[str, bool, Any], ...]

    def admits(self, properties: Mapping[str, Any]) -> bool:
        """Whether a message with these application properties passes; with an unknown value nothing passes."""
        return all(
            name in properties and (properties[name] == value) is equal for name, equal, value in self.terms
        )


def selector_of(text: object) -> Selector | None:
    """The selector that a text means, None for one that is not understood."""
    if not isinstance(text, str):
        return None
    found = [_TERM.match(part) for part in re.split(r"\s+AND\s+", text, flags=re.IGNORECASE)]
    if not all(found):
        return None
    return Selector(tuple((m[1], m[2] == "=", _value(m)) for m in found if m is not None))


def _value(found: re.Match[str]) -> Any:
    if found[3] is not None:
        return found[3]
    return int(found[4]) if found[4] is not None else found[5].upper() == "TRUE"
