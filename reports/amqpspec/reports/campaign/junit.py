"""JUnit XML of a campaign: one testsuite for each family, one testcase for each planned cell.

Knows: the junit-xml package, what the Jenkins xUnit schema allows. Must not know: the fuzzer.

A cell passes if all its inputs were sent and nothing was found; it fails with its findings; otherwise it is skipped
with the reason. Findings that belong to no cell, and the end of the campaign, are separate testcases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from junit_xml import TestCase, TestSuite

from amqpspec.reports.campaign.causes import causes
from amqpspec.reports.campaign.load import LoadedCampaign
from amqpspec.reports.campaign.rows import COVERED, CellRow, FindingRow
from amqpspec.reports.junit import write_suites
from amqpspec.reports.text import one_line, visible

_MESSAGE_CHARS = 300
_HEX_CHARS = 400


def write_junit(path: Path, campaign: LoadedCampaign) -> None:
    """Write the campaign as JUnit XML."""
    name = f"amqpspec fuzz {visible(campaign.summary.target)}"
    write_suites(path, name, _suites(campaign), campaign.summary.seconds)


def _suites(campaign: LoadedCampaign) -> Iterator[TestSuite]:
    rest = campaign.elsewhere()
    extra = sorted({found.family or "batch" for found in rest} - set(campaign.families))
    names = ["campaign", *campaign.families, *extra]
    for place, name in enumerate(names):
        yield TestSuite(
            name=visible(f"{campaign.summary.dialect}.{name}"),
            package=visible(f"amqpspec.fuzz.{campaign.summary.dialect}"),
            id=str(place),
            timestamp=visible(campaign.summary.started) or None,
            properties=_properties(campaign),
            test_cases=[_ended(campaign)] if place == 0 else list(_of_family(campaign, name, rest)),
        )


def _properties(campaign: LoadedCampaign) -> dict[str, str]:
    names = ("target", "product", "version", "dialect", "run", "grammar", "seed", "inputs", "ended")
    values = ((name, visible(str(getattr(campaign.summary, name)))) for name in names)
    return {name: value for name, value in values if value}


def _of_family(campaign: LoadedCampaign, family: str, rest: Iterable[FindingRow]) -> Iterator[TestCase]:
    found: dict[str, list[FindingRow]] = {}
    for row in campaign.findings:
        found.setdefault(row.cell, []).append(row)
    for cell in campaign.cells:
        if cell.family == family:
            yield _cell(campaign, cell, found.get(cell.key, []))
    for row in rest:
        if (row.family or "batch") == family:
            case = TestCase(
                name=visible(f"finding {row.name}"), classname=_class(campaign, family), elapsed_sec=0
            )
            _fail(case, [row])
            yield case


def _cell(campaign: LoadedCampaign, cell: CellRow, found: Sequence[FindingRow]) -> TestCase:
    inputs = "" if cell.inputs is None else f"{cell.inputs} inputs"
    case = TestCase(
        name=visible(f"{cell.role}/{cell.state}"),
        classname=_class(campaign, cell.family),
        elapsed_sec=0,
        stdout="; ".join(
            filter(None, (visible(cell.coverage), visible(cell.reason), inputs, *_again(campaign, cell)))
        ),
    )
    if found:
        _fail(case, found)
    elif cell.coverage != COVERED:
        case.add_skipped_info(f"{cell.coverage}: {one_line(cell.reason) or 'no reason recorded'}")
    return case


def _again(campaign: LoadedCampaign, cell: CellRow) -> Iterator[str]:
    """Known causes that occurred again in the family and state of a cell, if they have no finding there."""
    for cause in causes(campaign):
        if f"{cell.family}/{cell.state}" in cause.again:
            yield f"a known cause came again in {cell.family}/{cell.state}: {one_line(cause.words)}"


def _class(campaign: LoadedCampaign, family: str) -> str:
    return visible(f"amqpspec.fuzz.{campaign.summary.dialect}.{family}")


def _fail(case: TestCase, found: Sequence[FindingRow]) -> None:
    message = "; ".join(one_line(f"{row.oracle} ({row.status}): {row.top}", _MESSAGE_CHARS) for row in found)
    case.add_failure_info(message, visible("\n\n".join(map(_detail, found))), found[0].oracle or "finding")


def _detail(row: FindingRow) -> str:
    octets = ",".join(row.steps)
    shown = octets if len(octets) <= _HEX_CHARS else f"{octets[:_HEX_CHARS]}… ({row.octets} octets)"
    lines = {
        "finding": row.folder,
        "cause": row.cause_words,
        "what": row.detail,
        "input": row.input or f"a batch of {len(row.batch)}",
        "words": row.words,
        "octets": shown,
        "requirement": row.requirement,
        "replay": row.replay,
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items() if value)


def _ended(campaign: LoadedCampaign) -> TestCase:
    summary = campaign.summary
    case = TestCase(
        name="ended",
        classname=_class(campaign, "campaign"),
        elapsed_sec=summary.seconds,
        stdout=visible(f"{summary.inputs} inputs; {summary.ended}"),
    )
    if campaign.target_lost:
        case.add_error_info(f"target lost: {one_line(summary.ended)}", error_type="target")
    return case
