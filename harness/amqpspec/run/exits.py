"""The exit codes of verbs and agents.

Knows: nothing else, so that what starts often starts quickly. Must not know: what decides between them.
"""

from __future__ import annotations

from enum import IntEnum

CANNOT = 89
"""How an agent ends that does not know a scenario."""


class Exit(IntEnum):
    """The exit codes of every verb that runs cases."""

    CONFORMING = 0
    DEVIATIONS = 1
    USAGE = 2
    TARGET = 3
    HARNESS = 4
    STALE = 5
