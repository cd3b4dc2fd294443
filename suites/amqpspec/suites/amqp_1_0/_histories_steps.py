"""Legal steps: which of them a history can take next.

Knows: the model. Must not know: how a step is driven, hypothesis, requirement rows.

What is proposed follows from what the case itself has done, never from the target's timing: the same choices make the
same steps against every target of the same powers. A step that finds nothing to do at its time does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from amqpspec.peer.amqp_1_0.books import SERIAL
from amqpspec.suites.amqp_1_0._histories_model import Model

NODES = ("A", "B")
# With gaps and out of order: a target that equates its own channels or handles with the peer's is detected.
_CHANNELS, _HANDLES = (0, 3, 1), (0, 1, 5, 2)
# Three before the end of 32 bits: ids wrap within a few transfers (RFC 1982).
_STARTS = (0, SERIAL - 3)
# Here and below the simplest first: hypothesis shrinks towards the first choice.
_CREDITS = (1, 3, 0, 10)
_COUNTS = (1, 2, 4)
_WINDOWS = (2, 5, 1)
_PIECES = (1, 3)
_OUTCOMES = ("accepted", "released", "rejected")
_LINKS_PER_SESSION = 3


@dataclass(frozen=True, slots=True)
class Powers:
    """What a target offers, as far as histories depend on it."""

    channel_max: int
    handle_max: int
    second_mode: bool = False


@dataclass(frozen=True, slots=True)
class Style:
    """How the walks of a case differ from those of the others, besides their mix of steps.

    ``large`` messages come in several transfers; ``windows`` are small; ``mixed`` deliveries, settled and not, are sent
    in one write; all links go to ``one_node``; ``closing`` holds a target to its answer to a closing detach.
    """

    large: bool = False
    windows: bool = False
    mixed: bool = False
    one_node: bool = False
    closing: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """What the walks of a case are made of: verbs as words, those that stand several times being chosen more often."""

    verbs: str
    seed: int
    style: Style = field(default_factory=Style)


@dataclass(frozen=True, slots=True)
class Step:
    """One legal step: what to do, and to what; ``subject`` is a channel or the number of a link."""

    verb: str
    subject: int = 0
    values: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return _WORDS[self.verb].format(self.subject, *self.values)


_WORDS = {
    "begin": "begin channel {0} with next-outgoing-id {1} and incoming-window {2}",
    "end": "end channel {0}",
    "window": "widen the incoming-window of channel {0} by {1}",
    "attach": "attach link {0} on channel {1} as {2} of node {3}, handle {4}, {5}",
    "close": "detach link {0}, closed",
    "suspend": "settle all on link {0} and detach it {1} its credit, not closed",
    "reattach": "attach link {0} again on channel {1}, handle {2}",
    "send": "send {1} {2} deliveries on link {0}, in {3} transfers each",
    "start": "send the first transfer of a delivery on link {0}",
    "finish": "send the last transfer of the delivery on link {0}",
    "abort": "abort the delivery on link {0}",
    "credit": "give link {0} a credit of {1}",
    "settle": "tell {1} of the oldest delivery on link {0}",
    "settle-all": "accept everything on channel {0} by one disposition",
    "look": "a round trip on channel {0}",
}


OPENING = (
    Step("begin", 0, (0, "open")),
    Step("attach", 0, (0, "sender", "A", 0, "unsettled")),
    Step("attach", 1, (0, "receiver", "A", 1, "unsettled")),
)
"""How every walk begins: with a way into a node, and one out of it."""


class Menu:
    """What can come next in a history."""

    def __init__(self, model: Model, powers: Powers, style: Style) -> None:
        self.model, self.powers, self.style = model, powers, style

    def options(self, verb: str) -> list[Step]:
        """The legal steps of a verb, the simplest first."""
        return list(_OPTIONS[verb](self))

    def fits(self, step: Step) -> bool:
        """Whether a step of another history is legal in this one, where its link may have another number."""
        if step.verb == "attach" and step.subject in self.model.reaches:
            return False
        # Numbers of new links follow from those before. When steps are left out, a link keeps the number
        # that later steps know it by.
        alike = [
            replace(one, subject=step.subject) for one in self.options(step.verb) if one.verb == "attach"
        ]
        # With small windows only, the first begin, whose window is open, is among no options.
        first = step == OPENING[0] and not self.model.courses
        return first or step in alike or step in self.options(step.verb)

    def _begins(self) -> Iterator[Step]:
        limit = self.powers.channel_max
        for channel in (c for c in _CHANNELS if c <= limit and c not in self.model.courses):
            for start in _STARTS:
                for window in _WINDOWS if self.style.windows else ("open",):
                    yield Step("begin", channel, (start, window))

    def _on_sessions(self, verb: str) -> Iterator[Step]:
        for channel in self.model.courses:
            for value in _WINDOWS if verb == "window" else ("",):
                yield Step(verb, channel, (value,))

    def _handles(self, channel: int) -> list[int]:
        used = {reach.link.handle for reach in self.model.live(channel=channel)}
        # Below handle-max and at most three: one handle is always left for the link of a barrier.
        free = [handle for handle in _HANDLES if handle not in used and handle < self.powers.handle_max]
        return free if len(used) < _LINKS_PER_SESSION else []

    def _attaches(self) -> Iterator[Step]:
        modes = ("unsettled", "settled", *(("second",) if self.powers.second_mode else ()))
        fresh = max(self.model.reaches, default=-1) + 1
        for channel in self.model.courses:
            for handle in self._handles(channel):
                for node in NODES[:1] if self.style.one_node else NODES:
                    # The modes are those of receiving links: there it is the target that settles, or not.
                    yield Step("attach", fresh, (channel, "sender", node, handle, "unsettled"))
                    for mode in modes:
                        yield Step("attach", fresh, (channel, "receiver", node, handle, mode))

    def _sends(self) -> list[tuple[Any, ...]]:
        ways = ("unsettled", "mixed") if self.style.mixed else ("unsettled",)
        return [(count, how, pieces) for count in _COUNTS for how in ways for pieces in _PIECES]

    def _reattaches(self) -> Iterator[Step]:
        for reach in self.model.reaches.values():
            for channel in self.model.courses if reach.state == "suspended" else ():
                for handle in self._handles(channel):
                    yield Step("reattach", reach.number, (channel, handle))

    def _on_links(
        self, verb: str, role: str, values: Sequence[tuple[Any, ...]] = ((),), opened: bool | None = None
    ) -> Iterator[Step]:
        for reach in self.model.live(role):
            # A delivery that was begun has to be finished or aborted before the next one (amqp-1.0 §2.6.14).
            if opened in (None, reach.begun):
                for value in values:
                    yield Step(verb, reach.number, value)


_OPTIONS: dict[str, Callable[[Menu], Iterator[Step]]] = {
    "begin": Menu._begins,
    "end": lambda menu: menu._on_sessions("end"),
    "window": lambda menu: menu._on_sessions("window"),
    "look": lambda menu: menu._on_sessions("look"),
    "attach": Menu._attaches,
    "reattach": Menu._reattaches,
    "close": lambda menu: menu._on_links("close", ""),
    "suspend": lambda menu: menu._on_links("suspend", "", [("with",), ("without",)], opened=False),
    "send": lambda menu: menu._on_links("send", "sender", menu._sends(), opened=False),
    "start": lambda menu: menu._on_links("start", "sender", opened=False),
    "finish": lambda menu: menu._on_links("finish", "sender", opened=True),
    "abort": lambda menu: menu._on_links("abort", "sender", opened=True),
    "credit": lambda menu: menu._on_links("credit", "receiver", [(n,) for n in _CREDITS]),
    "settle": lambda menu: menu._on_links("settle", "receiver", [(o,) for o in _OUTCOMES]),
    "settle-all": lambda menu: menu._on_sessions("settle-all"),
}
