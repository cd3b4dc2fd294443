"""JUnit XML that Jenkins accepts: one testsuite for each section of a dialect.

Knows: the junit-xml package and what the Jenkins xUnit schema allows. Must not know: how verdicts are made.

The schema allows properties only in a testsuite. Therefore level, clause and requirements of a case are written in
two forms that every reader accepts: as properties of its testsuite, named ``CASE:level``, and as
``[[PROPERTY|level=MUST]]`` lines in the system-out of the testcase.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from xml.etree import ElementTree as ET

from junit_xml import TestCase, TestSuite

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.causes import said
from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.outcomes import LOOKS, is_deviation
from amqpspec.reports.standing import numbers
from amqpspec.reports.summary import headline
from amqpspec.reports.text import cut_octets, one_line, visible
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import dialect_ids

_COUNTED = ("tests", "failures", "errors")


def write_junit(path: Path, run: LoadedRun) -> None:
    """Write the run as JUnit XML."""
    taken_s = sum(case.duration_ms for case in run.cases) / 1000
    write_suites(path, f"amqpspec {visible(run.meta.target.label)}", _suites(run), taken_s)


def write_suites(path: Path, name: str, suites: Iterable[TestSuite], taken_s: float) -> None:
    """Write testsuites as one document with totals; ``taken_s`` is the time of all of them."""
    root = ET.Element("testsuites", {"name": name})
    root.extend(_schema_form(suite.build_xml_doc()) for suite in suites)
    for key in _COUNTED:
        root.set(key, str(sum(int(suite.get(key, 0)) for suite in root)))
    root.set("time", f"{taken_s:.3f}")
    ET.indent(root)
    with atomic_text(path) as out:
        out.write('<?xml version="1.0" encoding="utf-8"?>\n')
        out.write(ET.tostring(root, encoding="unicode"))
        out.write("\n")


def _schema_form(suite: ET.Element) -> ET.Element:
    """The package's output without what the schema does not allow: ``disabled``, and digits below 1 ms.

    Every testcase has a time, even if it is zero, because some readers of JUnit require it.
    """
    suite.attrib.pop("disabled", None)
    for timed in (suite, *suite.iter("testcase")):
        timed.set("time", f"{float(timed.get('time', 0)):.3f}")
    return suite


def _suites(run: LoadedRun) -> Iterator[TestSuite]:
    places = {_section(case): number for number, case in reversed(list(enumerate(run.cases)))}
    ordered = sorted(run.cases, key=lambda case: places[_section(case)])
    for number, (section, cases) in enumerate(groupby(ordered, key=_section)):
        yield _suite(run, number, section, list(cases))


def _section(case: CaseRow) -> tuple[str, str]:
    return case.dialect, case.suite


def _suite(run: LoadedRun, number: int, section: tuple[str, str], cases: list[CaseRow]) -> TestSuite:
    dialect, suite = map(visible, section)
    return TestSuite(
        name=f"{dialect}.{suite}",
        package=f"amqpspec.{dialect}",
        id=str(number),
        timestamp=visible(run.meta.started),
        file=_file(cases),
        properties={**_run_properties(run), **_case_properties(run, cases)},
        test_cases=[_case(run, case) for case in cases],
    )


def _file(cases: Sequence[CaseRow]) -> str:
    """The file that declares the case, relative to the root of the packages; for a case outside the suites, its
    evidence.
    """
    suite = load_suite(cases[0].dialect) if cases[0].dialect in dialect_ids() else {}
    known = next((suite[case.id].body.__module__ for case in cases if case.id in suite), "")
    return f"{known.replace('.', '/')}.py" if known else visible(cases[0].evidence)


def _run_properties(run: LoadedRun) -> Mapping[str, str]:
    meta, target = run.meta, run.meta.target
    facts = {
        "target": target.name,
        "target.url": target.url,
        "target.product": target.product,
        "target.version": target.version,
        "target.profile": target.profile,
        "dialect": target.dialect,
        "run": meta.id,
        "suite_version": meta.suite_version,
        "partial": str(meta.partial).lower(),
        "strict": str(meta.strict).lower(),
        "says": headline(run),
        **{
            f"numbers.{key}": str(value) for key, value in numbers(run).to_json().items() if key != "verdicts"
        },
    }
    return {key: visible(value) for key, value in facts.items() if value}


def _case_properties(run: LoadedRun, cases: Iterable[CaseRow]) -> Mapping[str, str]:
    return {
        f"{visible(case.id)}:{key}": value for case in cases for key, value in _properties(run, case).items()
    }


def _properties(run: LoadedRun, case: CaseRow) -> Mapping[str, str]:
    clauses = [row.clause for row in run.clauses(case) if row.clause]
    return {
        "level": visible(case.level),
        "clause": one_line("; ".join(clauses)),
        "requirements": one_line(" ".join(case.requirements)),
        "verdict": str(case.verdict),
        **_facts(case),
    }


def _facts(case: CaseRow) -> Mapping[str, str]:
    """The reason why the case was not judged, or the facts of its verdict; empty ones are omitted."""
    refusal = case.facts.refusal
    facts = {
        "blocked_by": case.blocked_by or "",
        "refusal": "" if refusal is None else said(refusal),
        "arrivals": ", ".join(case.facts.arrivals),
        "way": case.facts.way,
        "quiet_s": f"{case.facts.quiet_s:g}" if case.facts.quiet_s else "",
    }
    return {name: one_line(text) for name, text in facts.items() if text}


def _case(run: LoadedRun, case: CaseRow) -> TestCase:
    answer = TestCase(
        name=visible(case.id),
        classname=visible(f"amqpspec.{case.dialect}.{case.suite}"),
        elapsed_sec=case.duration_ms / 1000,
        stdout=_system_out(run, case),
    )
    _judge(answer, run, case)
    return answer


def _judge(answer: TestCase, run: LoadedRun, case: CaseRow) -> None:
    strict = run.meta.strict
    if case.is_known:
        answer.add_skipped_info(
            f"known deviation: {one_line(case.reason) or _message(case)}", _detail(run, case)
        )
    elif is_deviation(case, strict):
        kind = "deviation" if case.verdict is Outcome.FAIL else "nonstrict"
        answer.add_failure_info(_message(case), _detail(run, case), kind)
    elif case.verdict in (Outcome.ERROR, Outcome.INCONCLUSIVE):
        answer.add_error_info(_message(case), _detail(run, case), str(case.verdict))
    elif case.verdict in (Outcome.NOT_APPLICABLE, Outcome.BLOCKED, Outcome.EXCLUDED):
        answer.add_skipped_info(f"{case.verdict}: {one_line(case.reason) or 'no reason recorded'}")


def _message(case: CaseRow) -> str:
    said = [f"{name} {one_line(cut_octets(text))}" for name, text in _said(case) if text]
    return "; ".join(said) or f"{case.verdict}, nothing recorded"


def _said(case: CaseRow) -> tuple[tuple[str, str], ...]:
    return ("expected", case.expected), ("observed", case.observed)


def _detail(run: LoadedRun, case: CaseRow) -> str:
    lines = [case.title, *(f"{name}: {text}" for name, text in _said(case) if text)]
    for row in run.clauses(case):
        says = f": {row.says}" if row.says else ""
        lines.append(
            f"clause: {row.id} [{', '.join(part for part in (row.level, row.clause) if part)}]{says}"
        )
    lines += [f"connection: {case.ended}"] if case.ended else []
    lines += [f"evidence: {case.evidence}"] if case.evidence else []
    return visible("\n".join(lines))


def _system_out(run: LoadedRun, case: CaseRow) -> str:
    lines = [f"[[PROPERTY|{key}={value}]]" for key, value in _properties(run, case).items()]
    if case.verdict is Outcome.NONSTRICT:
        lines.append(f"nonstrict: {LOOKS[Outcome.NONSTRICT].meaning}; {_message(case)}")
    if case.verdict is Outcome.OBSERVED:
        lines.append(f"observed: {one_line(case.observed)}")
    if case.evidence:
        lines.append(f"evidence: {visible(case.evidence)}")
    if path := run.evidence(case):
        lines.append(f"[[ATTACHMENT|{visible(str(path))}]]")
    return "\n".join(lines)
