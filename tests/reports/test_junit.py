"""JUnit: valid against the Jenkins schema, stable names, every outcome where a CI server looks for it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.reports.junit import write_junit
from amqpspec.reports.load import LoadedRun
from amqpspec.spec.model import Refusal, Scope
from tests.reports import synthetic

XSD = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))


def render(run: LoadedRun, path: Path) -> ET.Element:
    write_junit(path, run)
    XSD.validate(str(path))
    return ET.parse(path).getroot()


def find_case(root: ET.Element, id: str) -> ET.Element:
    found = [case for case in root.iter("testcase") if case.get("name") == id]
    assert len(found) == 1
    return found[0]


def result(root: ET.Element, id: str, tag: str) -> ET.Element:
    found = find_case(root, id).find(tag)
    assert found is not None, ET.tostring(find_case(root, id))
    return found


@pytest.fixture(scope="module")
def harbor_xml(harbor: LoadedRun, tmp_path_factory: pytest.TempPathFactory) -> ET.Element:
    return render(harbor, tmp_path_factory.mktemp("junit") / "junit.xml")


@pytest.fixture(scope="module")
def quay_xml(quay: LoadedRun, tmp_path_factory: pytest.TempPathFactory) -> ET.Element:
    return render(quay, tmp_path_factory.mktemp("junit") / "junit.xml")


def test_the_schema_refuses_what_jenkins_refuses() -> None:
    suite = '<testsuites><testsuite name="a" tests="1" failures="0" errors="0" {}>{}</testsuite></testsuites>'
    assert XSD.is_valid(suite.format("", '<testcase name="b"/>'))
    assert not XSD.is_valid(suite.format('disabled="0"', ""))
    assert not XSD.is_valid(suite.format('time="0.1234"', ""))
    assert not XSD.is_valid(suite.format("", '<testcase name="b"><properties/></testcase>'))


def test_every_case_has_its_time_and_every_suite_its_file(
    harbor: LoadedRun, harbor_xml: ET.Element, tmp_path: Path
) -> None:
    times = [case.get("time") for case in harbor_xml.iter("testcase")]
    assert len(times) == len(harbor.cases) and all(re.fullmatch(r"\d+\.\d{3}", time or "") for time in times)
    assert {case.get("time") for case in harbor_xml.iter("testcase") if case.find("skipped") is not None} > {
        "0.000"
    }
    assert all(suite.get("file") for suite in harbor_xml)
    ours = replace(harbor.cases[0], id="channel.open.twice", suite="channel")
    (suite,) = render(replace(harbor, cases=(ours,)), tmp_path / "junit.xml")
    assert suite.get("file") == "amqpspec/suites/amqp_0_9_1/channel.py"
    attached = re.findall(r"\[\[ATTACHMENT\|(.*)\]\]", "".join(harbor_xml.itertext()))
    assert sorted(attached) == sorted(str(path) for case in harbor.cases if (path := harbor.evidence(case)))
    assert attached and all(Path(path).is_file() for path in attached)


def test_one_suite_for_each_section_in_their_order(harbor_xml: ET.Element) -> None:
    names = [suite.get("name") for suite in harbor_xml]
    assert names == [f"amqp-0-9-1.{section}" for section in synthetic.DATA["sections"]]
    assert {suite.get("package") for suite in harbor_xml} == {"amqpspec.amqp-0-9-1"}


def test_names_are_stable(harbor: LoadedRun, harbor_xml: ET.Element) -> None:
    assert {case.get("name") for case in harbor_xml.iter("testcase")} == {case.id for case in harbor.cases}
    assert find_case(harbor_xml, "channel.open.state").get("classname") == "amqpspec.amqp-0-9-1.channel"


def test_counts_add_up(
    harbor: LoadedRun, harbor_xml: ET.Element, quay: LoadedRun, quay_xml: ET.Element
) -> None:
    for run, root in ((harbor, harbor_xml), (quay, quay_xml)):
        tags = Counter(
            child.tag for case in root.iter("testcase") for child in case if child.tag != "system-out"
        )
        assert int(root.get("tests", "")) == len(run.cases) == len(list(root.iter("testcase")))
        assert int(root.get("failures", "")) == tags["failure"]
        assert int(root.get("errors", "")) == tags["error"]
        assert sum(int(suite.get("skipped", "")) for suite in root) == tags["skipped"]
        assert sum(tags.values()) == sum(case.verdict not in GREENISH for case in run.cases)


GREENISH = (Outcome.PASS, Outcome.OBSERVED, Outcome.NONSTRICT)


def test_a_failure_says_expected_observed_and_clause(harbor_xml: ET.Element) -> None:
    failure = result(harbor_xml, "connection.tune-ok.frame-max", "failure")
    assert failure.get("type") == "deviation"
    assert failure.get("message") == (
        "expected connection closed without further data; observed connection.close 530 not-allowed, then FIN"
    )
    text = failure.text or ""
    assert (
        "clause: connection/tune-ok/frame-max [MUST, connection.tune-ok.frame-max#upper-limit, R91-027]: "
        in text
    )
    assert "evidence: evidence/connection.tune-ok.frame-max.jsonl" in text


def test_a_known_deviation_is_skipped_with_its_reason(harbor_xml: ET.Element) -> None:
    skipped = result(harbor_xml, "framing.heartbeat.channel", "skipped")
    assert skipped.get("message") == "known deviation: issue 17 of HarborMQ"
    assert "observed: the heartbeat was taken" in (skipped.text or "")


def test_what_did_not_run_is_skipped_with_its_reason(harbor_xml: ET.Element, quay_xml: ET.Element) -> None:
    blocked = result(harbor_xml, "queue.declare.durable", "skipped")
    assert blocked.get("message") == "blocked: targets.yaml has no restart hook"
    outside = result(harbor_xml, "basic.publish.immediate", "skipped")
    assert outside.get("message") == "not-applicable: profile: immediate was withdrawn"
    excluded = result(quay_xml, "basic.publish.immediate", "skipped")
    assert excluded.get("message") == "excluded: left out by --shared-target"


def test_errors_and_undecided_cases_are_errors(harbor_xml: ET.Element, quay_xml: ET.Element) -> None:
    assert result(harbor_xml, "tx.rollback.not-transacted", "error").get("type") == "inconclusive"
    assert result(quay_xml, "queue.purge.message-count", "error").get("type") == "error"


def test_nonstrict_passes_with_a_note_and_fails_when_strict(harbor: LoadedRun, tmp_path: Path) -> None:
    note = result(render(harbor, tmp_path / "a.xml"), "framing.frame.unknown-type", "system-out")
    assert "nonstrict: serves the purpose of the requirement, not its wording" in (note.text or "")
    strict = replace(harbor, meta=replace(harbor.meta, strict=True))
    failure = result(render(strict, tmp_path / "b.xml"), "framing.frame.unknown-type", "failure")
    assert failure.get("type") == "nonstrict"


def test_level_and_clause_are_properties_of_suite_and_case(harbor_xml: ET.Element) -> None:
    channel = next(suite for suite in harbor_xml if suite.get("name") == "amqp-0-9-1.channel")
    properties = {p.get("name"): p.get("value") for p in channel.iter("property")}
    assert properties["channel.open.state:level"] == "MUST"
    assert (
        properties["channel.open.state:clause"]
        == "channel.open#state, R91-044; channel.close#stability, R91-054"
    )
    assert properties["channel.open.state:requirements"] == "channel/open/state channel/close/stability"
    assert properties["target.product"] == "HarborMQ" and properties["strict"] == "false"
    said = result(harbor_xml, "channel.open.state", "system-out").text or ""
    assert "[[PROPERTY|level=MUST]]" in said and "[[PROPERTY|clause=channel.open#state, R91-044" in said


def test_what_a_verdict_rests_on_are_properties_too(harbor: LoadedRun, tmp_path: Path) -> None:
    refused = Facts(Refusal(Scope.CHANNEL, 504), ("channel.close 504", "end"), "at once")
    case = replace(harbor.cases[0], id="one", facts=refused)
    blocked = replace(harbor.cases[0], id="two", facts=Facts(), blocked_by=BlockedBy.HOOK)
    root = render(replace(harbor, cases=(case, blocked)), tmp_path / "junit.xml")
    said = {p.get("name"): p.get("value") for p in root.iter("property")}
    told = {name: said.get(f"one:{name}") for name in ("blocked_by", "refusal", "arrivals", "way")}
    assert told == {
        "blocked_by": None, "refusal": "channel 504", "arrivals": "channel.close 504, end", "way": "at once",
    }  # fmt: skip
    assert said["two:blocked_by"] == "hook" and "two:refusal" not in said
    assert "[[PROPERTY|refusal=channel 504]]" in (result(root, "one", "system-out").text or "")


def test_hostile_text_arrives_as_text(harbor_xml: ET.Element) -> None:
    failure = result(harbor_xml, synthetic.HOSTILE_ID, "failure")
    assert r"</script><script>alert('x')</script> & \x00\x1b[31m \u202eevil\ufffe ]]>" in (
        failure.get("message") or ""
    )
    assert r"second line \ud800 end" in (failure.text or "")


def test_a_case_that_says_nothing_still_counts(harbor: LoadedRun, tmp_path: Path) -> None:
    base: dict[str, Any] = {"dialect": "d", "suite": "s", "title": "", "requirements": (), "level": "MUST"}
    silent = [CaseRow(id=str(o), verdict=o, **base) for o in Outcome]
    root = render(replace(harbor, cases=tuple(silent), requirements={}), tmp_path / "junit.xml")
    assert [root.get(key) for key in ("tests", "failures", "errors")] == ["9", "1", "2"]
    assert result(root, "fail", "failure").get("message") == "fail, nothing recorded"


def test_a_run_without_cases_is_valid(harbor: LoadedRun, tmp_path: Path) -> None:
    assert len(render(replace(harbor, cases=()), tmp_path / "junit.xml")) == 0


def test_cases_in_any_order_make_one_suite_each(harbor: LoadedRun, tmp_path: Path) -> None:
    mixed = (*harbor.cases[::2], *harbor.cases[1::2])
    root = render(replace(harbor, cases=mixed), tmp_path / "junit.xml")
    assert len(root) == len(synthetic.DATA["sections"])
