"""Histories of branches: how each step is driven, and compared with the model.

Knows: the peer's verbs, the model. Must not know: hypothesis, requirement rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Context
from amqpspec.peer.line import Line
from amqpspec.suites.amqp_0_10._branches import in_doubt, key_of, selected, told, xid
from amqpspec.suites.amqp_0_10._branches_model import CHANNELS, Branch, Model, State, Step
from amqpspec.suites.amqp_0_10._entities import bodies, soon
from amqpspec.suites.amqp_0_10._messages import SHARED, answer, count_of, fill, has_on_offer_soon
from amqpspec.suites.histories import Driven, Mismatch

_OK, _READ_ONLY = "xa-ok", "xa-rdonly"
_ROLLED_BACK = (_OK, "xa-rbrollback", "xa-rbtimeout")


class Walk(Driven):
    """One history on one connection."""

    peer: Peer

    def __init__(self, context: Context, lines: list[Line]) -> None:
        super().__init__()
        self.peer = Peer(context, lines)
        self.menu = self.model = Model()
        self.queue = ""
        self.at = {channel: channel for channel in CHANNELS}
        """The channels that the model's sessions use: each new session gets a new channel."""
        self.numbers = 0
        self.xids: dict[str, Any] = {}
        self.transfers: dict[int, list[AssemblyArrived]] = {channel: [] for channel in CHANNELS}

    def open(self) -> None:
        """Two sessions, and a queue for the walk."""
        selected(self.peer, *CHANNELS)
        self.queue = self.peer.queue(**SHARED)

    def _do(self, step: Step) -> None:
        _DOES[step.verb](self, step)

    def _finish(self) -> None:
        """Roll back what is not complete, end both sessions, and check what the queue holds."""
        for name in tuple(self.model.branches):
            for channel in CHANNELS:
                self._set_free(Step("end", channel, name))
            self._rollback(Step("rollback", 0, name))
        for channel in CHANNELS:
            self.peer.detach(self.at[channel])
            self.model.leave(channel)
        self.peer.close()
        other = Peer(self.peer.context, self.peer.lines)
        other.open_session()
        self._same("count at the end", has_on_offer_soon(other, self.queue, len(self.model.ready)), True)
        left = sorted(body or b"" for body in bodies(other, self.queue))
        self._same("messages at the end", left, sorted(self.model.ready))
        other.close()

    def _set_free(self, step: Step) -> None:
        branch = self.model.branches[step.branch]
        if step.channel in branch.suspended:
            if self.model.working_on(step.channel):
                self._end(Step("end", step.channel))
            self._resume(step)
        if step.channel in branch.active:
            self._end(step)

    def _same(self, what: str, actual: object, wanted: object) -> None:
        if actual != wanted:
            raise Mismatch(f"{what} {wanted!r}", f"{what} {actual!r}")

    def _told(self, step: Step, command: str, *results: str, **args: Any) -> str:
        status = told(self.peer, command, self.xids[step.branch], self.at[step.channel], **args)
        if status not in (results or (_OK,)):
            raise Mismatch(f"{command} with {' or '.join(results or (_OK,))}", status)
        return status

    # --- messages

    def _publish(self, step: Step) -> None:
        self.numbers += 1
        body = b"%d" % self.numbers
        fill(self.peer, self.queue, body, channel=self.at[step.channel])
        self.model.publish(step.channel, body)

    def _take(self, step: Step) -> None:
        destination = self.peer.subscribe(self.queue, self.at[step.channel], messages=1)
        transfer = self.peer.transfer(self.at[step.channel])
        self.peer.call("message.cancel", self.at[step.channel], destination=destination)
        self.model.give_back(transfer.body)
        if transfer.body not in self.model.ready:
            raise Mismatch(f"one of {self.model.ready}", repr(transfer.body))
        self.transfers[step.channel].append(transfer)
        self.model.take(step.channel, transfer.body)

    def _accept(self, step: Step) -> None:
        answer(self.peer, "accept", [self.transfers[step.channel].pop(0)], self.at[step.channel])
        self.model.accept(step.channel)

    def _release(self, step: Step) -> None:
        answer(self.peer, "release", [self.transfers[step.channel].pop(0)], self.at[step.channel])
        self.model.release(step.channel)

    def _look(self, step: Step) -> None:
        least, most = len(self.model.ready), len(self.model.ready) + self.model.loose
        at = self.at[step.channel]
        if not soon(self.peer, lambda: least <= count_of(self.peer, self.queue, at) <= most):
            raise Mismatch(f"{least} to {most} messages in the queue", "another number")

    # --- sessions and branches

    def _leave(self, step: Step) -> None:
        self.peer.detach(self.at[step.channel])
        self.at[step.channel] += len(CHANNELS)
        selected(self.peer, self.at[step.channel])
        self.transfers[step.channel] = []
        self.model.leave(step.channel)

    def _start(self, step: Step) -> None:
        self.xids[step.branch] = xid(self.peer, step.branch.encode())
        self._told(step, "start")
        self.model.branches[step.branch] = Branch(active={step.channel})

    def _join(self, step: Step) -> None:
        self._told(step, "start", join=True)
        self.model.branches[step.branch].active.add(step.channel)

    def _resume(self, step: Step) -> None:
        branch = self.model.branches[step.branch]
        results = _ROLLED_BACK if branch.state is State.DOOMED else ()
        status = self._told(step, "start", *results, resume=True)
        branch.suspended.discard(step.channel)
        if status == _OK:
            branch.active.add(step.channel)

    def _end(self, step: Step, suspend: bool = False) -> None:
        name = self.model.working_on(step.channel)
        branch = self.model.branches[name]
        doomed = branch.state is State.DOOMED
        of = Step(step.verb, step.channel, name)
        self._told(of, "end", *(_ROLLED_BACK if doomed else ()), suspend=suspend)
        branch.active.discard(step.channel)
        if suspend:
            branch.suspended.add(step.channel)

    def _suspend(self, step: Step) -> None:
        self._end(step, suspend=True)

    def _prepare(self, step: Step) -> None:
        branch = self.model.branches[step.branch]
        idle = not (branch.published or branch.taken)
        status = self._told(step, "prepare", *((_OK, _READ_ONLY) if idle else ()))
        if status == _READ_ONLY:
            self.model.complete(step.branch, committed=True)
        else:
            branch.state = State.PREPARED

    def _commit(self, step: Step) -> None:
        two_phases = self.model.branches[step.branch].state is State.PREPARED
        self._told(step, "commit", **({} if two_phases else {"one_phase": True}))
        self.model.complete(step.branch, committed=True)

    def _rollback(self, step: Step) -> None:
        self._told(step, "rollback", *_ROLLED_BACK)
        self.model.complete(step.branch, committed=False)

    def _recover(self, step: Step) -> None:
        found = in_doubt(self.peer, self.at[step.channel])
        mine = sorted(name for name, of in self.xids.items() if key_of(of) in found)
        wanted = [name for name, one in self.model.branches.items() if one.state is State.PREPARED]
        self._same("branches in doubt", mine, sorted(wanted))


_DOES: dict[str, Callable[[Walk, Step], None]] = {
    "publish": Walk._publish,
    "take": Walk._take,
    "accept": Walk._accept,
    "release": Walk._release,
    "look": Walk._look,
    "leave": Walk._leave,
    "start": Walk._start,
    "join": Walk._join,
    "resume": Walk._resume,
    "end": Walk._end,
    "suspend": Walk._suspend,
    "prepare": Walk._prepare,
    "commit": Walk._commit,
    "rollback": Walk._rollback,
    "recover": Walk._recover,
}
