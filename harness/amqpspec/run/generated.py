"""How hypothesis generates histories against a target: a seed decides, no memory of earlier runs and no clock.

Knows: hypothesis. Must not know: any dialect, what a history is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import strategies as st

T = TypeVar("T")

_FIRST = 3 << 40
CHOICES = st.integers(_FIRST, _FIRST + 9_999).map(lambda number: number - _FIRST)
"""Numbers from 0 that choose among options, modulo how many there are.

Hypothesis prefers numbers that stand in the source text of the modules loaded, so that a seed would choose differently
in another process. No number stands there that is this large.
"""


def chosen(verbs: Sequence[str], options: Callable[[str], Sequence[T]], verb: int, choice: int) -> T:
    """A step of one of the verbs that have any, by two numbers of ``CHOICES``.

    The verb comes first: one with many options is not chosen more often than it stands among ``verbs``. One that stands
    there several times is asked only once.
    """
    offers = {name: options(name) for name in dict.fromkeys(verbs)}
    possible = [name for name in verbs if offers[name]]
    steps = offers[possible[verb % len(possible)]]
    return steps[choice % len(steps)]


def seeded_settings(histories: int, steps: int, phases: Sequence[Phase]) -> settings:
    """Settings for this many histories of at most this many steps."""
    return settings(
        max_examples=histories,
        stateful_step_count=steps,
        database=None,
        deadline=None,
        derandomize=False,
        phases=phases,
        verbosity=Verbosity.quiet,
        report_multiple_bugs=False,
        print_blob=False,
        # They complain about slow histories, and a target may be slow.
        suppress_health_check=list(HealthCheck),
    )
