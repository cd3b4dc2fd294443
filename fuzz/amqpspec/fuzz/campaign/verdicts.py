"""What oracles and triage made of each input of a batch, as a verdict of the results contract.

Knows: suspicions, signatures of findings. Must not know: rows, files.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from amqpspec.fuzz.campaign.observations import Judgement
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.triage.findings import signature_of
from amqpspec.record.rows import Outcome as Verdict

_OF_ONE_INPUT = (Oracle.CONFORMANCE, Oracle.OBEDIENCE)


@dataclass(slots=True)
class InputVerdicts:
    """``findings`` are folders by signature, ``known`` the requirements that the target is known to violate.

    ``blamed`` holds signature and folder of the inputs of the current batch that triage has found guilty.
    """

    findings: Mapping[str, str]
    known: frozenset[str]
    blamed: dict[InputId, tuple[str, str]] = field(default_factory=dict)

    def of(self, check: Check, results: Sequence[InputResult]) -> Iterator[Judgement]:
        """One verdict for each result. After a crash or a hang, single answers are not judged."""
        spoilt = any(s.oracle in SPOILS for s in check.suspicions)
        complaints = {
            id: s for s in reversed(check.suspicions) if s.oracle in _OF_ONE_INPUT for id in s.inputs
        }
        for result in results:
            yield self._one(result, complaints.get(result.item.id), spoilt)

    def _one(self, result: InputResult, complaint: Suspicion | None, spoilt: bool) -> Judgement:
        """A complaint that could not be reproduced is not decided."""
        id = result.item.id
        if id in self.blamed:
            return Judgement(Verdict.FAIL, *self.blamed[id], "unexpected")
        if complaint is None:
            undecided = spoilt and result.item.expectation.must_refuse
            return Judgement(Verdict.INCONCLUSIVE if undecided else Verdict.PASS)
        if complaint.top.partition(":")[0] in self.known:
            return Judgement(Verdict.FAIL, baseline="known")
        signature = signature_of(complaint.oracle, complaint.top, id.family, result.item.state)
        if signature in self.findings:
            return Judgement(Verdict.FAIL, signature, self.findings[signature], "unexpected")
        return Judgement(Verdict.INCONCLUSIVE)
