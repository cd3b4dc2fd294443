"""Findings of a campaign: each signature once, in a folder of its own and in the journal.

Knows: folders, signatures. Must not know: how an input was blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.journal import CampaignJournal, findings_in
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.triage.causes import cause_of
from amqpspec.fuzz.triage.findings import Finding, FindingError, read_finding, write_finding
from amqpspec.fuzz.triage.triage import Blame, Status
from amqpspec.record.journal import JournalError


class FindingStore:
    """``signatures`` are the folders of all findings; ``found`` are the findings of this part of the campaign."""

    def __init__(
        self, out: Path, subject: Subject, journal: CampaignJournal, seconds_s: Callable[[], float],
        saved: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._out, self._subject, self._journal, self._seconds_s = out, subject, journal, seconds_s
        self.found: list[Finding] = []
        self.signatures: dict[str, str] = {} if saved is None else saved["signatures"] | findings_in(out)
        self._unblamed = {name: size for name in self.signatures if (size := self._size_of(name))}

    def _size_of(self, signature: str) -> int:
        """How many inputs a finding without blame suspects; 0 for any other finding."""
        with suppress(FindingError):
            found = read_finding(self._out / "findings" / self.signatures[signature])
            return len(found.get("batch", ())) if found.get("status") == Status.UNBLAMED else 0
        return 0

    def improves(self, finding: Finding) -> bool:
        """Whether it says more than the finding without blame of the same signature."""
        before = self._unblamed.get(finding.signature, 0)
        return before > 0 and (finding.status is not Status.UNBLAMED or len(finding.batch) < before)

    def made(
        self, signature: str, blame: Blame, place: tuple[str, str], suspects: tuple[str, ...]
    ) -> Finding:
        """Make the finding of a blame in a family and a state."""
        return Finding(
            signature, blame.status, blame.suspicion, self._subject.dialect, *place, blame.item, suspects,
            self._seconds_s(), cause_of(blame, *place), blame.asks,
        )  # fmt: skip

    def write(self, finding: Finding, blame: Blame) -> None:
        """Write a finding to its folder; if there is no room for it, the error itself says what was found."""
        self.found.append(finding)
        self._write(finding, blame, "finding")

    def minimized(self, finding: Finding, blame: Blame) -> None:
        """Replace the input of a finding by a smaller one with the same effect."""
        smaller = replace(finding, item=blame.item, suspicion=blame.suspicion, asks=blame.asks)
        self.found[self.found.index(finding)] = smaller
        self._write(smaller, blame, "minimized")

    def _write(self, finding: Finding, blame: Blame, kind: str) -> None:
        try:
            place = write_finding(self._out, finding, blame, self._subject)
            self._journal.line(kind, folder=place.name, **finding.to_json())
        except OSError as error:
            input = finding.item.id if finding.item else f"a batch of {len(finding.batch)}"
            raise JournalError(
                f"cannot write finding {finding.name} ({finding.suspicion.top}; {input}): "
                f"{error.strerror or error}"
            ) from error
        self.signatures[finding.signature] = place.name
        unblamed = finding.status is Status.UNBLAMED
        self._unblamed[finding.signature] = len(finding.batch) if unblamed else 0
