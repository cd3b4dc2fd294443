"""What a history of branches has done so far: messages, sessions, branches, and which steps are legal next.

Knows: the states of XA. Must not know: how a step is driven, hypothesis, requirement rows.

What is proposed follows from what the case itself has done: the same choices make the same steps against every target.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

CHANNELS = (0, 1)
NAMES = ("a", "b", "c")


@dataclass(frozen=True, slots=True)
class Step:
    """One step: what is done, by which session, about which branch."""

    verb: str
    channel: int = 0
    branch: str = ""

    def __str__(self) -> str:
        return " ".join(filter(None, (self.verb, self.branch, f"on {self.channel}")))


class State(Enum):
    """What can become of a branch."""

    OPEN = "open"
    PREPARED = "prepared"
    DOOMED = "fit for rollback only"


@dataclass(slots=True)
class Branch:
    """One branch: who works on it, or means to continue, and what it has published and taken."""

    state: State = State.OPEN
    active: set[int] = field(default_factory=set)
    suspended: set[int] = field(default_factory=set)
    published: list[bytes] = field(default_factory=list)
    taken: list[bytes] = field(default_factory=list)

    @property
    def in_use(self) -> bool:
        """Whether a session works on it, or means to continue."""
        return bool(self.active or self.suspended)


class Model:
    """One queue, two sessions, a few branches."""

    def __init__(self) -> None:
        self.ready: list[bytes] = []
        self.held: dict[int, list[bytes]] = {channel: [] for channel in CHANNELS}
        self.branches: dict[str, Branch] = {}

    def working_on(self, channel: int) -> str:
        """The branch on which a session works; empty for none."""
        return next((name for name, branch in self.branches.items() if channel in branch.active), "")

    # --- what can come next

    def options(self, verb: str) -> Sequence[Step]:
        """The legal steps of a verb, the simplest first."""
        if verb in _OF_SESSIONS:
            return [Step(verb, channel) for channel in CHANNELS if self.fits(Step(verb, channel))]
        steps = (Step(verb, channel, name) for name in NAMES for channel in CHANNELS)
        return [step for step in steps if self.fits(step)]

    def fits(self, step: Step) -> bool:
        """Whether a step is legal now."""
        working = bool(self.working_on(step.channel))
        if step.verb in ("take", "accept", "release"):
            return bool(self.ready if step.verb == "take" else self.held[step.channel])
        if step.verb in ("end", "suspend"):
            return working
        if step.verb in _OF_SESSIONS:
            return True
        known = self.branches.get(step.branch)
        if step.verb == "start":
            return known is None and not working
        if known is None:
            return False
        if step.verb == "resume":
            return step.channel in known.suspended and not working
        if step.verb == "join":
            return known.state is State.OPEN and step.channel not in known.suspended and not working
        return self._may_end(step.verb, known)

    def _may_end(self, verb: str, branch: Branch) -> bool:
        if branch.in_use:
            return False
        return {
            "prepare": branch.state is State.OPEN,
            "commit": branch.state is not State.DOOMED,
            "rollback": True,
        }[verb]

    # --- what happens to messages

    def publish(self, channel: int, body: bytes) -> None:
        """A message is published."""
        name = self.working_on(channel)
        (self.branches[name].published if name else self.ready).append(body)

    def take(self, channel: int, body: bytes) -> None:
        """A message was delivered."""
        self.ready.remove(body)
        self.held[channel].append(body)

    @property
    def loose(self) -> int:
        """How many messages may be back already: those taken in branches that can only be rolled back.

        ``rollback`` gives them back at the latest; no text forbids it earlier (dtx.end#session-closed).
        """
        return sum(len(branch.taken) for branch in self._doomed())

    def give_back(self, body: bytes) -> None:
        """A message is delivered: if a doomed branch had taken it, that branch has given it back."""
        for branch in self._doomed():
            if body in branch.taken:
                branch.taken.remove(body)
                self.ready.append(body)

    def _doomed(self) -> list[Branch]:
        return [branch for branch in self.branches.values() if branch.state is State.DOOMED]

    def accept(self, channel: int) -> None:
        """The message that was delivered first is accepted."""
        body, name = self.held[channel].pop(0), self.working_on(channel)
        if name:
            self.branches[name].taken.append(body)

    def release(self, channel: int) -> None:
        """The message that was delivered first is given back."""
        self.ready.append(self.held[channel].pop(0))

    def complete(self, name: str, *, committed: bool) -> None:
        """A branch ends."""
        branch = self.branches.pop(name)
        self.ready += branch.published if committed else branch.taken

    def leave(self, channel: int) -> None:
        """A session ends."""
        self.ready += self.held[channel]
        self.held[channel] = []
        for branch in self.branches.values():
            if channel in branch.active | branch.suspended:
                branch.state = State.DOOMED
            branch.active.discard(channel)
            branch.suspended.discard(channel)


_OF_SESSIONS = ("publish", "take", "accept", "release", "end", "suspend", "leave", "look", "recover")
