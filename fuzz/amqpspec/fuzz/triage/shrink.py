"""Smaller sequences by hypothesis' shrinker: fewer steps and frames, and a last frame cut short, with the same effect.

Knows: hypothesis' public search, frames of an input. Must not know: how an effect is seen, targets.

First the sequence is halved as long as one half is enough. Of what is left, each frame is a choice for hypothesis: 0
leaves it out, anything else keeps it, and halves are spans of choices. The search is deterministic, and asks about
other octets than the input's own so many times at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.trees.tree import octets_of

Steps = tuple[bytes, ...]
_KEEP = 127
_MAX_ELEMENTS = 64
_MAX_EXAMPLES = 2000


def is_sequence(item: FuzzInput) -> bool:
    """Whether an input has more than one step or frame."""
    return len(_elements(item)) > 1


def smaller_steps(item: FuzzInput, keeps: Callable[[Steps], bool], limit: int) -> Steps:
    """The smallest steps found that keep the effect, the input's own where there are none.

    ``keeps`` is asked at most ``limit`` times, never twice about the same steps, never about the input's own;
    what it raises ends the search, and is raised.
    """
    search = _Search(item.steps, keeps, limit)
    elements = _halved(_elements(item), search)
    if search.left:
        _find(elements, search)
    if search.error is not None:
        raise search.error
    return search.best


@dataclass(frozen=True, slots=True)
class _Element:
    """Octets that are kept or left out as a whole, and the step that they belong to."""

    step: int
    octets: bytes


@dataclass(slots=True)
class _Search:
    """What was asked, and the best so far."""

    best: Steps
    keeps: Callable[[Steps], bool]
    left: int
    known: dict[Steps, bool] = field(default_factory=dict)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.known[self.best] = True

    def __call__(self, steps: Steps) -> bool:
        if steps and steps not in self.known and self.left > 0:
            self.left -= 1
            self.known[steps] = self._asked(steps)
            if self.known[steps] and _size(steps) < _size(self.best):
                self.best = steps
        return self.known.get(steps, False)

    def _asked(self, steps: Steps) -> bool:
        """The answer. What ``keeps`` raises would be an effect for hypothesis: it is kept, and ends the asking."""
        try:
            return self.keeps(steps)
        except Exception as error:
            self.error, self.left = error, 0
            return False


def _size(steps: Steps) -> tuple[int, int]:
    return sum(map(len, steps)), len(steps)


def _elements(item: FuzzInput) -> list[_Element]:
    """Frame by frame; where there are very many, some together."""
    found = [
        _Element(number, octets_of(part))
        for number, step in enumerate(item.steps)
        for part in tree_of(item.dialect, step).children
    ]
    while len(found) > _MAX_ELEMENTS:
        found = [_joined(found[at : at + 2]) for at in range(0, len(found), 2)]
    return [element for element in found if element.octets]


def _joined(pair: Sequence[_Element]) -> _Element:
    return _Element(pair[0].step, b"".join(element.octets for element in pair))


def _steps(elements: Sequence[_Element]) -> Steps:
    """Elements as steps again; a step of which nothing is left is none."""
    octets: dict[int, bytes] = {}
    for element in elements:
        octets[element.step] = octets.get(element.step, b"") + element.octets
    return tuple(octets.values())


def _halved(elements: Sequence[_Element], search: _Search) -> Sequence[_Element]:
    """Half of them again and again, as long as one half is enough."""
    while len(elements) > 1:
        middle = len(elements) // 2
        halves = (elements[middle:], elements[:middle])
        enough = next((half for half in halves if search(_steps(half))), None)
        if enough is None:
            break
        elements = enough
    return elements


def _find(elements: Sequence[_Element], search: _Search) -> None:
    from hypothesis import HealthCheck, Phase, find, settings
    from hypothesis import strategies as st
    from hypothesis.errors import HypothesisException

    @st.composite
    def halves(draw: st.DrawFn, these: Sequence[_Element]) -> list[_Element]:
        if len(these) == 1:
            return list(these) if draw(st.integers(0, _KEEP)) else []
        middle = len(these) // 2
        return [*draw(halves(these[:middle])), *draw(halves(these[middle:]))]

    @st.composite
    def candidates(draw: st.DrawFn) -> Steps:
        kept = draw(halves(elements))
        # Nearly every length is beyond the frame's end, and keeps it whole.
        length_octets = draw(st.integers(0, longest_octets * _KEEP))
        if kept:
            kept[-1] = _Element(kept[-1].step, kept[-1].octets[:length_octets])
        return _steps([element for element in kept if element.octets])

    begun = False

    def holds(steps: Steps) -> bool:
        # Until what is left as a whole was drawn, which is known to keep it, no trial is spent.
        nonlocal begun
        begun = begun or steps == whole
        return begun and search(steps)

    whole = _steps(elements)
    longest_octets = max(len(element.octets) for element in elements)
    options = settings(
        max_examples=_MAX_EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
    )
    try:
        find(candidates(), holds, settings=options, random=Random(0))
    except HypothesisException:
        # What was found until then stands: a target whose effect comes and goes makes no proof of the rest.
        return
