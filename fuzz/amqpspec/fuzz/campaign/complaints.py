"""What oracles complain of, to its end: blamed or counted, written down as a finding, or not to be confirmed.

Knows: triage, findings, how often a thing is blamed. Must not know: what is sent next, how a batch is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amqpspec.fuzz.campaign.deferred import Deferred
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.finding_store import FindingStore
from amqpspec.fuzz.campaign.journal import CampaignJournal
from amqpspec.fuzz.campaign.limits import BlameLimit
from amqpspec.fuzz.campaign.minimizing import Minimizing
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.pace import Pace
from amqpspec.fuzz.campaign.places import (
    OF_ONE_INPUT,
    Place,
    ends_target,
    key_of,
    key_of_input,
    most_blamed,
)
from amqpspec.fuzz.campaign.schedule import Batch
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.fuzz.campaign.verdicts import InputVerdicts
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.oracles.log import complaints
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.triage.findings import Finding, signature_of
from amqpspec.fuzz.triage.triage import NOISY, Blame, OutOfTime, Status, TargetLost, Triage

_MOST_HELD_OCTETS = 1 << 30
_URGENT = SPOILS | {Oracle.LEAK, Oracle.CANARY}
"""After these, what a target says of the next inputs may be a consequence."""


class Complaints:
    """What the oracles reported in a campaign, and the consequences; ``saved`` is the state of an earlier part.

    ``of_a_whole`` counts complaints about whole batches; ``done`` says that what was sought was found; ``unfinished``,
    that the time was over before the last complaints were followed to their end; ``is_confused``, that mixed batches
    led to the same complaint too many times, and to no one new; ``met_known``, that the last batch ended on a crash or
    a hang that was only counted. ``ended`` are the families and states of inputs to which a crash or a hang was traced.
    """

    def __init__(
        self, order: CampaignOrder, store: FindingStore, tally: Tally, energy: Energy, pace: Pace,
        journal: CampaignJournal, saved: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._order, self._store, self._tally, self._energy = order, store, tally, energy
        self._pace, self._journal = pace, journal
        self.known: Counter[tuple[str, ...]] = Counter()
        if saved is not None:
            self.known.update({tuple(key): count for key, count in saved["known"]})
        self.limit = BlameLimit(saved.get("limits") if saved else None)
        waiting = saved.get("deferred", ()) if saved and not order.corpus else ()
        self.deferred = Deferred(order.budget_s, order.blame_share, waiting)
        self.verdicts = InputVerdicts(store.signatures, order.subject.known)
        self.of_a_whole, self.done, self.unfinished, self.is_confused = 0, False, False, False
        self.met_known = False
        self.ended = {(family, state) for family, state in saved.get("ended", ())} if saved else set[Place]()
        self._is_catching_up = False
        self._open: list[Suspicion] = []
        self._large = Minimizing(store)
        self._held_octets = 0

    def to_json(self) -> dict[str, Any]:
        """The state, for ``saved``."""
        return {
            "signatures": self._store.signatures,
            "known": [[list(key), count] for key, count in self.known.items()], "limits": self.limit.to_json(),
            "deferred": self.deferred.to_json(), "ended": sorted(self.ended),
        }  # fmt: skip

    def concerns(self, batch: Batch, check: Check) -> bool:
        """Whether the target may be restarted because of a suspicion.

        A deviation of one input is tried again on connections of its own: the others need not end before.
        """
        followed = (seen for seen in check.suspicions if self._is_followed(batch, seen))
        return any(s.oracle is not Oracle.CONFORMANCE for s in followed) or self._holds_too_much(batch, check)

    def _is_followed(self, batch: Batch, seen: Suspicion) -> bool:
        if seen.oracle in OF_ONE_INPUT and seen.top.partition(":")[0] in self._order.subject.known:
            return False
        new = self.known[key_of(batch, seen)] < most_blamed(batch, seen) and self.limit.allows(seen)
        return (new and not self._waits(seen)) or ends_target(seen)

    def _waits(self, seen: Suspicion) -> bool:
        """Whether blame waits until sending stops for several causes.

        What ends or spoils a target does not; nor does what one input is named for, as long as blame has time: the row
        of that input is written next.
        """
        if seen.oracle in _URGENT or self.deferred.never_waits or self._is_catching_up:
            return False
        return seen.oracle not in OF_ONE_INPUT or not self.deferred.is_due(seen.oracle)

    def take(self, triage: Triage, batch: Batch, check: Check) -> None:
        """Follow the worst complaint about the whole, each line of the log, and each kind of deviation once.

        All of them are recorded before anyone is blamed; if that is cut short, they are findings. Raises TargetLost,
        JournalError.
        """
        self.verdicts.blamed.clear()
        self.met_known = False
        whole, single = [s for s in check.suspicions if s.oracle not in OF_ONE_INPUT], self._singles(check)
        self._open = [*whole[:1], *(s for s in whole[1:] if s.oracle is Oracle.LOG), *single]
        for seen in self._open:
            self._journal.line("suspicion", oracle=seen.oracle, top=seen.top, detail=seen.detail)
        if any(self._is_followed(batch, seen) for seen in whole):
            self.of_a_whole += 1
            self._pace.complained()
        spoilt = self._holds_too_much(batch, check)
        self._held_octets = 0 if spoilt else self._held_octets + self._kept_octets(batch, check)
        self._follow(triage, batch, whole, single)
        if spoilt:
            triage.renew()

    def follow_deferred(self, triage: Triage) -> None:
        """Follow the suspicion that has waited longest; if that is cut short, it waits again.

        Raises TargetLost, JournalError.
        """
        batch, seen = self.deferred.take()
        self._open, single = [seen], seen.oracle in OF_ONE_INPUT
        self._is_catching_up = True
        try:
            self._each(triage, batch, [] if single else [seen], [seen] if single else [])
        except (OutOfTime, KeyboardInterrupt) as how:
            self.unfinished = True
            if self._open:
                self.deferred.put(batch, seen)
            if isinstance(how, KeyboardInterrupt):
                raise
        except TargetLost:
            self.leave(batch, self._open, once_more=False)
            raise
        finally:
            self._is_catching_up = False

    def next_step(self) -> Callable[[Triage], None] | None:
        """What is to be done now: follow a suspicion, or make an input smaller; None if inputs are to be sent."""
        follow = self.deferred.has_due and not self.done
        if not self.deferred.stretches(follow or self._large.has_due(self.deferred)):
            return None
        return self.follow_deferred if follow else self._minimize

    def _minimize(self, triage: Triage) -> None:
        try:
            self._large.minimize(triage, self.deferred)
        except KeyboardInterrupt:
            # The target may have ended on a trial, not on the batch that was sent last.
            self.unfinished = True
            raise

    def leave_deferred(self) -> None:
        """What still waits becomes a finding without blame; a resumed campaign continues with it."""
        for batch, seen in self.deferred:
            self.leave(batch, [seen], once_more=False)

    def _follow(
        self, triage: Triage, batch: Batch, whole: Sequence[Suspicion], single: Sequence[Suspicion]
    ) -> None:
        """Follow each complaint to its end; if that is cut short, the rest are findings. Raises TargetLost,
        JournalError.
        """
        try:
            self._each(triage, batch, whole, single)
        except OutOfTime:
            self.leave(batch, self._open)
        except (TargetLost, KeyboardInterrupt) as how:
            self.leave(batch, self._open, once_more=isinstance(how, KeyboardInterrupt))
            raise

    def _each(
        self, triage: Triage, batch: Batch, whole: Sequence[Suspicion], single: Sequence[Suspicion]
    ) -> None:
        if whole:
            self._of_a_whole(triage, batch, whole)
        for suspicion in single:
            if not self.done:
                self._suspect(triage, batch, suspicion)

    def _kept_octets(self, batch: Batch, check: Check) -> int:
        """By how much the target has grown while no one is blamed for it."""
        grows = [s for s in check.suspicions if s.oracle is Oracle.MEMORY]
        return 0 if not grows or self._is_followed(batch, grows[0]) else check.grown_octets

    def _holds_too_much(self, batch: Batch, check: Check) -> bool:
        """Whether a target has to be restarted because of its size: the next complaint would only be about that."""
        return self._held_octets + self._kept_octets(batch, check) > _MOST_HELD_OCTETS

    def leave(self, batch: Batch, seen: Sequence[Suspicion], *, once_more: bool = True) -> None:
        """Complaints that no one could be blamed for are findings. ``once_more``: a resumed campaign tries again.

        A late answer is no finding: on a busy machine, even a clean target gives one.
        """
        self.unfinished |= once_more and bool(seen)
        for one in seen:
            if one.oracle is Oracle.LATE:
                self._leave_unconfirmed(one)
                continue
            key = key_of(batch, one)
            if self.known[key] >= most_blamed(batch, one) or not self.limit.allows(one):
                self._tally.repeats += 1
                continue
            item = batch.items[0] if len(batch.items) == 1 else None
            alone = item is not None and one.oracle in SPOILS
            self._found(batch, key, Blame(Status.FLAKY if alone else Status.UNBLAMED, one, item))

    def _singles(self, check: Check) -> list[Suspicion]:
        """Complaints about single inputs: the first of each kind that the target is not known for."""
        by_top: dict[str, Suspicion] = {}
        for suspicion in check.suspicions:
            if suspicion.oracle in OF_ONE_INPUT:
                requirement = suspicion.top.partition(":")[0]
                if requirement in self._order.subject.known:
                    self._tally.suppressed[requirement] += 1
                elif by_top.setdefault(suspicion.top, suspicion) is not suspicion:
                    self._tally.repeats += 1
        return list(by_top.values())

    def _of_a_whole(self, triage: Triage, batch: Batch, whole: Sequence[Suspicion]) -> None:
        """Blame the worst, which may explain the others, but not another log line: a known one would hide it."""
        worst, *rest = whole
        explained = self._explained_with(batch, self._suspect(triage, batch, worst), worst)
        for seen in rest:
            if seen.oracle is Oracle.LOG and seen.name not in explained and not self.done:
                explained |= self._explained_with(batch, self._suspect(triage, batch, seen), seen)

    def _explained_with(self, batch: Batch, blame: Blame | None, seen: Suspicion) -> set[str]:
        """The other lines in the log of the single input to blame: they have the same cause."""
        if blame is None or blame.item is None or blame.status is Status.LOST:
            return set()
        others = [one for one in complaints(blame.log) if one.name != seen.name]
        for one in others:
            self.known[key_of(batch, one)] += 1
            self.limit.spent(one, 0.0)
        return {one.name for one in others}

    def _suspect(self, triage: Triage, batch: Batch, seen: Suspicion) -> Blame | None:
        """Follow one complaint to its end; returns the blame, if one was sought and found."""
        blame = self._blamed(triage, batch, seen)
        self._open = [one for one in self._open if one is not seen]
        return blame

    def _blamed(self, triage: Triage, batch: Batch, seen: Suspicion) -> Blame | None:
        """Count a complaint, put it aside, or find the input to blame."""
        if self.known[key_of(batch, seen)] >= most_blamed(batch, seen):
            self._known_here(triage, batch, seen)
        elif not self.limit.allows(seen):
            self._again(triage, batch, seen)
        elif self._waits(seen):
            self._put_aside(batch, seen)
        elif self._waits_for_breadth(batch, seen):
            self._put_aside(batch, seen)
            self._revive(triage, seen)
        else:
            return self._sought(triage, batch, seen)
        return None

    def _known_here(self, triage: Triage, batch: Batch, seen: Suspicion) -> None:
        """Count what was blamed in the same place; a cell that ends the target again and again is stopped."""
        self._tally.repeats += 1
        self.is_confused |= batch.is_mixed and seen.oracle not in (*OF_ONE_INPUT, Oracle.LOG)
        if seen.oracle in SPOILS and len(batch.cells) == 1:
            self._tally.stop(batch.cells[0].key, f"{seen.oracle} again: {seen.top}")
        if ends_target(seen):
            self._revive(triage, seen)

    def _sought(self, triage: Triage, batch: Batch, seen: Suspicion) -> Blame | None:
        """Find the input to blame, and record the finding; None if the complaint was noise."""
        blame, large = self._timed(triage, batch, seen)
        if (blame.status is Status.LOST or blame.item is None) and seen.oracle in NOISY:
            self._leave_unconfirmed(seen)
            return None
        if seen.oracle in SPOILS and blame.item is not None and blame.item.id.family != RANDOM:
            self.ended.add((blame.item.id.family, blame.item.state))
        if (
            batch.is_mixed
            and blame.item is not None
            and self.known[key_of_input(blame.item, blame.suspicion)]
        ):
            self._known_of_mixed(key_of(batch, seen), blame.item, seen)
            return blame
        found = self._found(batch, key_of(batch, seen), blame)
        self._open = [one for one in self._open if one is not seen]
        if found is not None and large and blame.status is Status.STABLE:
            self._large.put(found, blame)
            if self._large.has_due(self.deferred):
                self._minimize(triage)
        return blame

    def _timed(self, triage: Triage, batch: Batch, seen: Suspicion) -> tuple[Blame, bool]:
        """The blame, whose time is counted, and whether its input is made smaller: one of each cause is."""
        begun_s = now_s()
        try:
            with self.deferred.timed():
                blame = triage.blame(batch.items, seen)
                large = self._order.smaller and self.limit.is_new(blame.suspicion)
        finally:
            self.limit.spent(seen, now_s() - begun_s)
        if blame.status is Status.STABLE and blame.item is not None:
            # A batch may hold more than one thing that ends a target: what was blamed is known, not what was seen.
            self.limit.settled(blame.suspicion)
        return blame, large

    def _waits_for_breadth(self, batch: Batch, seen: Suspicion) -> bool:
        """Whether the cause of a crash or a hang is sought only when every cell has had its first inputs.

        A restart costs less than the search; what is left of the batch is put off, cell by cell.
        """
        early = not (self.deferred.breadth_is_over or self._is_catching_up)
        can_wait = batch.whole and len(batch.cells) != 1 and self._order.subject.restart is not None
        return seen.oracle in SPOILS and early and can_wait

    def _put_aside(self, batch: Batch, seen: Suspicion) -> None:
        """Keep a complaint for later; without room, it is a finding without blame."""
        if self.deferred.holds(batch, seen):
            self._tally.repeats += 1
        elif not self.deferred.put(batch, seen):
            self.leave(batch, [seen], once_more=False)

    def _known_of_mixed(self, key: tuple[str, ...], item: FuzzInput, seen: Suspicion) -> None:
        """The same as before in the same place, which shows only after the blame: its cell is stopped."""
        self.known[key] += 1
        self._tally.repeats += 1
        if seen.oracle in SPOILS:
            cell = f"{item.dialect}/{item.id.family}/{item.id.role}/{item.id.state}"
            self._tally.stop(cell, f"{seen.oracle} again: {seen.top}")

    def _leave_unconfirmed(self, seen: Suspicion) -> None:
        """Count what was not reproduced and is no finding."""
        self._tally.unconfirmed += 1
        self._journal.line("unconfirmed", oracle=seen.oracle, top=seen.top, detail=seen.detail)

    def _again(self, triage: Triage, batch: Batch, seen: Suspicion) -> None:
        """Count a known cause, or one that was blamed enough times, when it occurs again."""
        self._tally.repeats += 1
        self.limit.again(seen, batch.place)
        place = "/".join(batch.place)
        self._journal.line("again", oracle=seen.oracle, top=seen.top, cause=seen.cause, place=place)
        if ends_target(seen):
            # Other causes may show in the rest of its cell; a cell in which it occurs repeatedly hides them.
            self.known[key_of(batch, seen)] += 1
            self._revive(triage, seen)

    def _revive(self, triage: Triage, seen: Suspicion) -> None:
        """Bring back a target that ended as before; origins whose inputs were in progress are drawn less often."""
        self.met_known = True
        for id in seen.inputs:
            if id.family == RANDOM:
                self._energy.thin((id.role, id.state))
        triage.revive()

    def _found(self, batch: Batch, key: tuple[str, ...], blame: Blame) -> Finding | None:
        """Record what was found; returns the finding, None if it is known."""
        item, seen = blame.item, blame.suspicion
        if batch.is_mixed and item is not None:
            key = key_of_input(item, seen)
        # A complaint without blame so far is blamed when it occurs again.
        self.known[key] += blame.status is not Status.UNBLAMED
        place = batch.place
        if item is not None:
            place = item.id.family, item.state
            if item.id.family == RANDOM and seen.oracle in SPOILS:
                self._energy.mute((item.id.role, item.state))
        signature = signature_of(seen.oracle, seen.top, *place)
        named = seen.inputs if blame.status is Status.UNBLAMED and seen.oracle in OF_ONE_INPUT else ()
        suspects = () if item is not None else tuple(map(str, named or (i.id for i in batch.items)))
        finding = self._store.made(signature, blame, place, suspects)
        if item is not None:
            self.verdicts.blamed[item.id] = (signature, finding.name)
        if signature in self._store.signatures and not self._store.improves(finding):
            self._tally.repeats += 1
            return None
        self._store.write(finding, blame)
        if self._order.stop_when(finding):
            self.done = True
        return finding
