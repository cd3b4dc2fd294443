"""A campaign read back, as JUnit and as SARIF: nothing is lost, counts add up, hostile text stays text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import xmlschema

from amqpspec.reports.campaign.causes import causes
from amqpspec.reports.campaign.junit import write_junit
from amqpspec.reports.campaign.load import load_campaign
from amqpspec.reports.campaign.render import render_campaign
from amqpspec.reports.campaign.rows import cell_of
from amqpspec.reports.campaign.sarif import CAUSE, FINGERPRINT, sarif
from amqpspec.reports.load import ReportError
from tests.reports.campaigns import CELLS, DIALECT, FINDINGS, finding, id_of, write_campaign

XSD = xmlschema.XMLSchema(str(Path(__file__).with_name("junit.xsd")))
NAMES = {f"{row['oracle']}-{row['signature']}" for row in FINDINGS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_campaign(tmp_path_factory.mktemp("campaign") / "c")


def junit(folder: Path) -> ET.Element:
    write_junit(folder / "junit.xml", load_campaign(folder))
    XSD.validate(str(folder / "junit.xml"))
    return ET.parse(folder / "junit.xml").getroot()


def case(root: ET.Element, classname: str, name: str) -> ET.Element:
    found = [c for c in root.iter("testcase") if (c.get("classname"), c.get("name")) == (classname, name)]
    assert len(found) == 1
    return found[0]


# --- read back


def test_the_worst_oracle_stands_first_and_blames_its_cell(folder: Path) -> None:
    campaign = load_campaign(folder)
    assert [row.oracle for row in campaign.findings] == ["crash", "log", "late", "conformance"]
    assert [row.cell for row in campaign.findings] == [
        f"{DIALECT}/C03/nested.array/channel", "", "", f"{DIALECT}/C04/frame.end/channel",
    ]  # fmt: skip
    assert {row.name for row in campaign.elsewhere()} == {"log-0ddba1100003", "late-1a7e00000004"}


def test_a_finding_that_the_summary_does_not_name_is_not_lost(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path, findings=FINDINGS[:1])
    assert {row.name for row in load_campaign(folder).findings} == NAMES


def test_a_batch_of_one_cell_blames_that_cell(tmp_path: Path) -> None:
    batch = [id_of("C04", "frame.size", "channel", number) for number in (0, 1)]
    folder = write_campaign(tmp_path, findings=[{**FINDINGS[2], "batch": batch}])
    found = {row.name: row.cell for row in load_campaign(folder).findings}
    assert found["log-0ddba1100003"] == f"{DIALECT}/C04/frame.size/channel"


def test_a_role_may_have_a_slash_and_random_inputs_have_no_cell() -> None:
    assert cell_of("g:1/C04/a/b/channel/s0/3", "d") == "d/C04/a/b/channel"
    assert cell_of("g:1/random/method@queue.declare/channel/s1/3", "d") == "" == cell_of("nonsense", "d")


@pytest.mark.parametrize("octets", [None, b"", b"[]", b"{}", b"\xff", b'{"dialect": 1}'])
def test_what_is_no_summary_is_one_line(tmp_path: Path, octets: bytes | None) -> None:
    if octets is not None:
        (tmp_path / "summary.json").write_bytes(octets)
    with pytest.raises(ReportError, match=r"summary\.json: expected") as error:
        load_campaign(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "more",
    [
        {"cell_states": {}, "findings": [], "shard": None, "cells": None},
        {"cell_states": {"short": "x", "a/b/c/d": ["covered"], "d/C1/r/s": [3, 4, "5"]}, "findings": 7},
        {"inputs": "many", "seconds": None, "reactions": [1], "suppressed": "x", "unblamed": {"a": 1}, "seed": None},
        {"findings": [{"oracle": "../../x", "signature": "\ud800", "steps": "zz", "batch": 3, "found_after_s": "x"}]},
    ],
)  # fmt: skip
def test_fields_of_any_type_are_rendered(tmp_path: Path, more: dict[str, Any]) -> None:
    folder = write_campaign(tmp_path / "c", **more)
    for path in render_campaign(folder).values():
        assert path.stat().st_size
    assert {path.name for path in tmp_path.iterdir()} == {"c"}
    XSD.validate(str(folder / "junit.xml"))


# --- JUnit


def test_one_suite_for_each_family_and_one_case_for_each_cell(folder: Path) -> None:
    root = junit(folder)
    names = [f"{DIALECT}.{name}" for name in ("campaign", "C02", "C03", "C04", "C09", "random")]
    assert [suite.get("name") for suite in root] == names
    cells = [c for c in root.iter("testcase") if "/" in str(c.get("name"))]
    told = {f"{DIALECT}/{str(c.get('classname')).rpartition('.')[2]}/{c.get('name')}" for c in cells}
    assert told == set(CELLS)


def test_counts_add_up(folder: Path) -> None:
    root = junit(folder)
    cases = list(root.iter("testcase"))
    failed = [c for c in cases if c.find("failure") is not None]
    skipped = [c for c in cases if c.find("skipped") is not None]
    assert int(root.get("tests", "")) == len(cases) == len(CELLS) + 2 + 1
    assert int(root.get("failures", "")) == len(failed) == len(FINDINGS)
    assert len(skipped) == 3 and root.get("errors") == "0"


def test_a_finding_fails_its_cell_and_says_how_to_replay_it(folder: Path) -> None:
    failure = case(junit(folder), f"amqpspec.fuzz.{DIALECT}.C04", "frame.end/channel").find("failure")
    assert failure is not None and failure.get("type") == "conformance"
    assert "conformance (stable): amq_wlp_frame_02" in str(failure.get("message"))
    assert "replay: amqpspec fuzz replay campaign/findings/conformance-c0ffee000001" in str(failure.text)
    assert "octets: 01000100000005,0014000a00ce" in str(failure.text)


def test_a_stopped_cell_with_a_finding_fails_and_others_are_skipped_with_the_reason(folder: Path) -> None:
    root = junit(folder)
    assert case(root, f"amqpspec.fuzz.{DIALECT}.C03", "nested.array/channel").find("failure") is not None
    reasons = {c.get("name"): s.get("message") for c in root.iter("testcase") for s in c.iter("skipped")}
    assert reasons == {
        "table.size.cut/channel": "open: not finished: budget spent",
        "order.client/limits": "open: not finished: budget spent",
        "frame.size/header": "not reachable: header was not reached",
    }


def test_findings_of_no_cell_are_cases_of_their_own_and_hostile_text_is_text(folder: Path) -> None:
    root = junit(folder)
    case(root, f"amqpspec.fuzz.{DIALECT}.random", "finding late-1a7e00000004")
    failure = case(root, f"amqpspec.fuzz.{DIALECT}.C04", "finding log-0ddba1100003").find("failure")
    assert failure is not None and r"</script><script>alert('x')</script>" in str(failure.text)
    assert r"\x00\x1b[31m \u202eevil" in str(failure.text)


def test_a_lost_target_is_an_error(tmp_path: Path) -> None:
    root = junit(write_campaign(tmp_path, exit_code=3, ended="no answer at 127.0.0.1"))
    error = case(root, f"amqpspec.fuzz.{DIALECT}.campaign", "ended").find("error")
    assert error is not None and error.get("message") == "target lost: no answer at 127.0.0.1"


# --- SARIF


def test_every_finding_is_a_result_of_a_declared_rule(folder: Path) -> None:
    log = json.loads(json.dumps(sarif(load_campaign(folder))))
    run = log["runs"][0]
    rules, results = run["tool"]["driver"]["rules"], run["results"]
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-schema-2.1.0.json")
    assert len(results) == len(FINDINGS) and len({rule["id"] for rule in rules}) == len(rules) == 4
    for result in results:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"] and result["level"] in ("error", "warning", "note")
    assert {result["fingerprints"][FINGERPRINT] for result in results} == {r["signature"] for r in FINDINGS}


def test_levels_follow_the_status(folder: Path) -> None:
    results = sarif(load_campaign(folder))["runs"][0]["results"]
    levels = {result["ruleId"]: result["level"] for result in results}
    assert levels == {
        "crash/C03": "error", "log/C04": "note", "late/random": "warning", "conformance/C04": "error",
    }  # fmt: skip


def test_a_result_leads_to_its_folder_and_its_replay(folder: Path) -> None:
    results = sarif(load_campaign(folder))["runs"][0]["results"]
    result = next(r for r in results if r["ruleId"] == "conformance/C04")
    place = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert (folder / place["uri"]).is_file() and place["uriBaseId"] == "CAMPAIGN"
    logical = result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"]
    assert logical == id_of("C04", "frame.end", "channel", 3)
    assert result["properties"]["replay"].startswith("amqpspec fuzz replay ")
    assert result["properties"]["requirement"] == "amq_wlp_frame_02"


def test_the_log_has_the_shape_that_readers_ask_for(folder: Path) -> None:
    """The required properties of the objects used, and no key that the format does not know."""
    log = sarif(load_campaign(folder))
    _shape(log, {"$schema", "version", "runs"}, {"version", "runs"})
    run = log["runs"][0]
    known = {"tool", "automationDetails", "originalUriBaseIds", "invocations", "results", "properties"}
    _shape(run, known, {"tool"})
    _shape(run["tool"]["driver"], {"name", "version", "rules"}, {"name"})
    _shape(run["invocations"][0], {"executionSuccessful", "exitCode", "exitCodeDescription", "startTimeUtc"},
           {"executionSuccessful"})  # fmt: skip
    for rule in run["tool"]["driver"]["rules"]:
        _shape(rule, {"id", "shortDescription", "properties"}, {"id"})
        assert set(rule["shortDescription"]) == {"text"}
    for result in run["results"]:
        _shape(
            result,
            {"ruleId", "ruleIndex", "level", "message", "locations", "fingerprints", "properties"},
            {"message"},
        )
        assert all(isinstance(value, str) for value in result["fingerprints"].values())


def _shape(data: dict[str, Any], known: set[str], required: set[str]) -> None:
    assert required <= set(data) <= known


def test_a_lost_target_is_an_unsuccessful_execution(tmp_path: Path) -> None:
    for code, successful in ((0, True), (1, True), (3, False)):
        run = sarif(load_campaign(write_campaign(tmp_path, exit_code=code)))["runs"][0]
        assert run["invocations"][0]["executionSuccessful"] is successful


# --- causes

SAME = {"cause": "ca05e0000001", "cause_words": "go: nil in a.b | c"}
VARIANTS = [
    finding(
        "crash",
        f"dead0000000{n}",
        status,
        id_of("C04", "frame.size", state, n),
        "gone",
        steps=["41" * size],
        **SAME,
    )
    for n, (status, state, size) in enumerate(
        (("stable", "channel", 30), ("stable", "header", 12), ("lost", "channel", 4))
    )
]
AGAIN = {"crash: go: nil in a.b | c": {"C09/open": 3}}


@pytest.fixture
def clustered(tmp_path: Path) -> Path:
    return write_campaign(tmp_path, findings=[*VARIANTS, FINDINGS[0]], unblamed=AGAIN)


def test_findings_of_one_cause_are_one_with_its_variants(clustered: Path) -> None:
    found = causes(load_campaign(clustered))
    assert [len(cause.variants) for cause in found if cause.id == SAME["cause"]] == [3]
    (cause,) = [cause for cause in found if cause.id == SAME["cause"]]
    assert cause.words == SAME["cause_words"] and cause.again == {"C09/open": "3"}
    assert cause.first.signature == "dead00000001", "the smallest of those that happened each time"


def test_a_cause_is_one_result_and_its_fingerprint(clustered: Path) -> None:
    results = sarif(load_campaign(clustered))["runs"][0]["results"]
    (result,) = [r for r in results if r["fingerprints"][CAUSE] == SAME["cause"]]
    assert result["fingerprints"][FINGERPRINT] == "dead00000001" and len(result["relatedLocations"]) == 2
    others = [r for r in results if r is not result]
    assert all(r["fingerprints"][CAUSE] == r["fingerprints"][FINGERPRINT] for r in others)


def test_each_cause_has_a_page_that_lists_its_variants(clustered: Path) -> None:
    folder = render_campaign(clustered)["causes"]
    page = (folder / f"{SAME['cause']}.md").read_text("utf-8")
    assert page.startswith("# go: nil in a.b \\| c\n") and "C09/open (3)" in page
    for row in VARIANTS:
        assert f"findings/crash-{row['signature']}/finding.json" in page
    assert len(list(folder.iterdir())) == len(causes(load_campaign(clustered)))


def test_cells_in_which_a_known_cause_came_again_say_so(tmp_path: Path) -> None:
    again = {"crash: go: nil in a.b | c": {"C02/channel": 3}}
    root = junit(write_campaign(tmp_path, findings=VARIANTS, unblamed=again))
    said = case(root, f"amqpspec.fuzz.{DIALECT}.C02", "table.size/channel").findtext("system-out")
    assert said is not None and "a known cause came again in C02/channel: go: nil in a.b | c" in said


def test_a_page_of_a_cause_that_is_none_any_more_goes(clustered: Path) -> None:
    (folder := clustered / "causes").mkdir()
    (folder / "0123.md").write_text("old", "utf-8")
    render_campaign(clustered)
    assert not (folder / "0123.md").exists()


def test_the_page_has_a_section_for_each_cause(clustered: Path) -> None:
    html = render_campaign(clustered)["campaign.html"].read_text("utf-8")
    found = causes(load_campaign(clustered))
    assert html.count('<section class="cause"') == len(found) < len(load_campaign(clustered).findings)
    assert html.count("the same cause") == 2 and "3 variants; seen again" in html
