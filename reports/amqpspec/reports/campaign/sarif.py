"""The findings of a campaign as SARIF 2.1.0, for the code scanners and editors that read it.

Knows: SARIF. Must not know: the fuzzer, JUnit, HTML.

A rule is an oracle and a family; a result is a cause, located at its representative finding, with the other findings
as related locations. It is an error if it happened each time or is not blamed yet, a warning if it happened
sometimes, and a note if it did not happen again. The cause and the signature of the finding are the fingerprints that
identify the same cause in later campaigns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from amqpspec.reports.campaign.causes import Cause, causes
from amqpspec.reports.campaign.load import LoadedCampaign
from amqpspec.reports.campaign.rows import FindingRow
from amqpspec.reports.campaign.words import FAMILIES, ORACLES
from amqpspec.reports.sarif import log, write_log
from amqpspec.reports.text import one_line, visible

BASE = "CAMPAIGN"
FINGERPRINT = "amqpspecSignature/v1"
CAUSE = "amqpspecCause/v1"
LEVELS = {"stable": "error", "unblamed": "error", "flaky": "warning", "lost": "note"}
_MESSAGE_CHARS = 1000


def write_sarif(path: Path, campaign: LoadedCampaign) -> None:
    """Write the findings as one SARIF log with one run."""
    write_log(path, sarif(campaign))


def sarif(campaign: LoadedCampaign) -> dict[str, Any]:
    """The log as JSON data."""
    found = causes(campaign)
    rules = list(dict.fromkeys(_rule_id(cause.first) for cause in found))
    summary = campaign.summary
    return log(
        visible(f"amqpspec-fuzz/{summary.target}/{summary.dialect}/"),
        [_rule(id) for id in rules],
        [_result(campaign, cause, rules) for cause in found],
        originalUriBaseIds={BASE: {"description": {"text": "The folder of the campaign."}}},
        invocations=[_invocation(campaign)],
        properties=dict(_facts(campaign)),
    )


def _rule_id(row: FindingRow) -> str:
    return visible(f"{row.oracle or 'unknown'}/{row.family or 'batch'}")


def _rule(id: str) -> dict[str, Any]:
    oracle, _, family = id.partition("/")
    bends = FAMILIES.get(family, "inputs of several families")
    return {
        "id": id,
        "shortDescription": {"text": f"{ORACLES.get(oracle, oracle)}; family {family}: {bends}"},
        "properties": {"oracle": oracle, "family": family},
    }


def _invocation(campaign: LoadedCampaign) -> dict[str, Any]:
    summary = campaign.summary
    found: dict[str, Any] = {
        "executionSuccessful": not campaign.target_lost,
        "exitCode": summary.exit_code,
        "exitCodeDescription": one_line(summary.ended),
    }
    return found | ({"startTimeUtc": summary.started} if summary.started else {})


def _facts(campaign: LoadedCampaign) -> Iterator[tuple[str, Any]]:
    for name in ("target", "product", "version", "dialect", "grammar", "seed", "run"):
        if value := getattr(campaign.summary, name):
            yield name, visible(value)
    yield "inputs", campaign.summary.inputs


def _result(campaign: LoadedCampaign, cause: Cause, rules: list[str]) -> dict[str, Any]:
    row, others = cause.first, [row for row in cause.variants if row is not cause.first]
    what = one_line(row.detail or row.top, _MESSAGE_CHARS) or "no detail recorded"
    where = row.input or f"a batch of {len(row.batch)} inputs"
    return {
        "ruleId": _rule_id(row),
        "ruleIndex": rules.index(_rule_id(row)),
        "level": LEVELS.get(row.status, "warning"),
        "message": {"text": f"{what} [{one_line(where)}{f': {one_line(row.words)}' if row.words else ''}]"},
        "locations": [_location(campaign, row)],
        **({"relatedLocations": [_location(campaign, row) for row in others]} if others else {}),
        "fingerprints": {FINGERPRINT: visible(row.signature), CAUSE: visible(cause.id)},
        "properties": {name: value for name, value in _properties(row).items() if value},
    }


def _location(campaign: LoadedCampaign, row: FindingRow) -> dict[str, Any]:
    place = "/".join(filter(None, (campaign.summary.target, campaign.summary.dialect, row.state)))
    uri = quote(f"{row.folder}/finding.json", errors="backslashreplace")
    return {
        "physicalLocation": {"artifactLocation": {"uri": uri, "uriBaseId": BASE}, "region": {"startLine": 1}},
        "logicalLocations": [{"fullyQualifiedName": visible(row.input or f"{place}/batch"), "kind": "input"}],
    }


def _properties(row: FindingRow) -> Mapping[str, Any]:
    return {
        "replay": visible(row.replay), "requirement": visible(row.requirement), "status": visible(row.status),
        "state": visible(row.state), "input": visible(row.input), "octets": row.octets,
        "reaction": visible(row.reaction), "top": visible(row.top), "cause": visible(row.cause_words),
    }  # fmt: skip
