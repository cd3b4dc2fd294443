"""Branches of distributed transactions, by their xids.

Knows: which sessions work on a branch, its possible outcomes, its timeout. Must not know: commands, refusals.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.reference.amqp_0_10.work import Work
from amqpspec.reference.model import VirtualHost
from amqpspec.spec.amqp_0_10 import DIALECT

Xid = tuple[int, bytes, bytes]
_STATUS = {c.name: int(c.value) for c in DIALECT.choices("dtx.xa-status")}
OK, ROLLED_BACK, TIMED_OUT, READ_ONLY = (
    _STATUS[name] for name in ("xa-ok", "xa-rbrollback", "xa-rbtimeout", "xa-rdonly")
)
DEFAULT_TIMEOUT_S = 0
"""A branch times out only after set-timeout."""


@dataclass(slots=True, eq=False)
class Branch:
    """One branch; ``doomed`` is the reason why it can only be rolled back, OK if there is none."""

    xid: Xid
    work: Work = field(default_factory=lambda: Work(ends_with_session=False))
    active: set[int] = field(default_factory=set)
    """The sessions, by their keys, that work on it."""
    suspended: set[int] = field(default_factory=set)
    """The sessions that have suspended their work."""
    prepared: bool = False
    doomed: int = OK
    timeout_s: int = DEFAULT_TIMEOUT_S
    timer: asyncio.TimerHandle | None = None
    patient: bool = True
    """Whether it waits for its coordinator after it is prepared; only a fault disables this."""

    def set_timeout(self, timeout_s: int) -> None:
        """Start the timeout; zero is the default."""
        self.timeout_s = timeout_s or DEFAULT_TIMEOUT_S
        self.stop_timer()
        if self.timeout_s:
            self.timer = asyncio.get_running_loop().call_later(self.timeout_s, self._expire)

    def stop_timer(self) -> None:
        """Stop the timeout."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = None

    def _expire(self) -> None:
        # A prepared branch waits for the coordinator, however long that takes (obligation-1).
        if not (self.prepared and self.patient):
            self.doomed = TIMED_OUT


class Branches:
    """The branches of one virtual host."""

    def __init__(self) -> None:
        self._known: dict[Xid, Branch] = {}

    def find(self, xid: Xid) -> Branch | None:
        """The branch of that xid."""
        return self._known.get(xid)

    def begin(self, xid: Xid) -> Branch:
        """A new branch."""
        branch = self._known[xid] = Branch(xid)
        return branch

    def forget(self, branch: Branch) -> None:
        """Remove a completed branch."""
        branch.stop_timer()
        if self._known.get(branch.xid) is branch:
            del self._known[branch.xid]

    def prepared(self) -> list[Branch]:
        """The branches that wait for the decision of their coordinator."""
        return [branch for branch in self._known.values() if branch.prepared]

    def every(self) -> list[Branch]:
        """All branches."""
        return list(self._known.values())


_OF_HOSTS: WeakKeyDictionary[VirtualHost, Branches] = WeakKeyDictionary()


def branches_of(vhost: VirtualHost) -> Branches:
    """The branches of one virtual host."""
    return _OF_HOSTS.setdefault(vhost, Branches())


def xid_of(value: Any) -> Xid:
    """An xid as a key."""
    fields = value.fields
    return fields["format"], fields["global_id"], fields["branch_id"]
