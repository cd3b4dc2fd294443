"""Findings of a campaign: each signature once, in a folder of its own and in the journal.

Knows: folders, signatures. Must not know: how anybody was blamed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.journal import CampaignJournal, findings_in
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.triage.findings import Finding, write_finding
from amqpspec.fuzz.triage.triage import Blame
from amqpspec.record.journal import JournalError


class FindingStore:
    """``signatures`` are the folders of all findings; ``found`` are those since this part of the campaign began."""

    def __init__(
        self, out: Path, subject: Subject, journal: CampaignJournal, seconds_s: Callable[[], float],
        saved: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._out, self._subject, self._journal, self._seconds_s = out, subject, journal, seconds_s
        self.found: list[Finding] = []
        self.signatures: dict[str, str] = {} if saved is None else saved["signatures"] | findings_in(out)

    def made(
        self, signature: str, blame: Blame, place: tuple[str, str], suspects: tuple[str, ...]
    ) -> Finding:
        """The finding of a blame in a family and a state."""
        return Finding(
            signature, blame.status, blame.suspicion, self._subject.dialect, *place, blame.item, suspects,
            self._seconds_s(),
        )  # fmt: skip

    def write(self, finding: Finding, blame: Blame) -> None:
        """A finding goes to its folder; where there is no room for it, the error itself has to say what was found."""
        self.found.append(finding)
        try:
            place = write_finding(self._out, finding, blame, self._subject)
            self._journal.line("finding", folder=place.name, **finding.to_json())
        except OSError as error:
            input = finding.item.id if finding.item else f"a batch of {len(finding.batch)}"
            raise JournalError(
                f"cannot write finding {finding.name} ({finding.suspicion.top}; {input}): "
                f"{error.strerror or error}"
            ) from error
        self.signatures[finding.signature] = place.name
