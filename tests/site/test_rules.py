"""Who keeps a requirement, since when: histories over versions and targets, and the pages that show them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from amqpspec.reports.site import ledger, names
from amqpspec.reports.site.folder import write_site
from amqpspec.reports.site.load import load
from amqpspec.reports.site.rules import State, products, rules, turns
from tests.site import marts
from tests.site.test_site import Page, flat

ATOM = "{http://www.w3.org/2005/Atom}"


def judged(version: str, verdict: str, target: str = "harbor", **more: object) -> marts.Row:
    return (
        marts.requirement("channel/open", "judged", target=target, target_version=version, verdict=verdict)
        | more
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four versions of one product in two targets, the third of which loses what the second gained."""
    tables = marts.literal()
    tables["requirement_coverage"] = [
        judged("3.9", "fail", newest=False),
        judged("3.10", "pass"),
        judged("4.0", "fail", "harbor-4", newest=False),
        judged("4.1", "observed", "harbor-4"),
        judged("0.1", "pass", "quay"),
    ]
    tables["verdicts"].append(marts.verdict("harbor-4", "channel.open", "pass", "4.1", product="Harbor"))
    return marts.write(tmp_path / "marts", tables)


def test_a_history_follows_versions_over_all_targets_of_a_product(folder: Path) -> None:
    (rule,) = rules(load(folder))
    own = {history.product: history for history in rule.histories}
    assert [(span.state, span.versions) for span in own["Harbor"].spans] == [
        (State.VIOLATED, "3.9"), (State.KEPT, "3.10"), (State.VIOLATED, "4.0"), (State.KEPT, "4.1"),
    ]  # fmt: skip
    assert (own["Harbor"].since, own["Quay"].since) == ("since 4.1", "in 0.1, the only version seen")
    assert own["Harbor"].spans[0].seen[0].since == datetime(2026, 11, 1, 2, tzinfo=UTC)


def test_turns_are_changes_between_neighbours_the_newest_first(folder: Path) -> None:
    found = turns(rules(load(folder)), "Harbor")
    assert [(turn.before.version, turn.after.version, turn.better) for turn in found] == [
        ("4.0", "4.1", True), ("3.10", "4.0", False), ("3.9", "3.10", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "verdict", "state"),
    [
        ("judged", "pass", State.KEPT),
        ("judged", "observed", State.KEPT),
        ("judged", "nonstrict", State.NONSTRICT),
        ("judged", "fail", State.VIOLATED),
        ("judged", "inconclusive", State.UNDECIDED),
        ("judged", "no-such-verdict", State.UNDECIDED),
        ("judged", "blocked", State.BLOCKED),
        ("judged", "not-applicable", State.NOT_APPLICABLE),
        ("open", None, State.UNSEEN),
        ("not-run", None, State.UNSEEN),
        ("excluded", None, State.UNSEEN),
    ],
)
def test_the_worst_verdict_decides(status: str, verdict: str | None, state: State, tmp_path: Path) -> None:
    tables = marts.literal() | {
        "requirement_coverage": [judged("1", "") | {"status": status, "verdict": verdict}]
    }
    (rule,) = rules(load(marts.write(tmp_path / "marts", tables)))
    assert rule.histories[0].now.state is state


def test_targets_whose_names_differ_in_case_only_are_of_one_product(tmp_path: Path) -> None:
    tables = marts.literal()
    tables["verdicts"] += [
        marts.verdict("a", "c", "pass", product="HARBOR"),
        marts.verdict("b", "c", "pass", product=""),
    ]
    found = products(load(marts.write(tmp_path / "marts", tables)))
    assert found == {"harbor": "HARBOR", "a": "HARBOR", "quay": "Quay", "b": "b"}
    assert names.broker_page("HARBOR") == names.broker_page("Harbor") == "broker-harbor.html"


def test_a_requirement_page_says_who_keeps_it_and_since_when(folder: Path, tmp_path: Path) -> None:
    site = write_site(folder, tmp_path / "site").parent
    page = Page(site / "requirements/amqp-0-9-1/channel.open.html")
    rows = page.cells()
    assert any(row[:4] == ["Harbor", "4.1", "✓meets it", "since 4.1"] for row in rows)
    assert any(row[:3] == ["Quay", "0.1", "✓meets it"] for row in rows)
    assert "✗violates it 3.9" in flat(page) and "✗violates it 4.0" in flat(page)
    matrix = Page(site / "matrix-amqp-0-9-1.html").cells()
    assert ["Requirement", "harbor3.10", "harbor-44.1", "quay0.1"] in matrix
    assert ["MUST channel/open", "✓meets it", "✓meets it", "✓meets it"] in matrix
    broker = Page(site / "broker-harbor.html").cells()
    assert ["MUST channel/open", "✓meets it3.10", "✗violates it4.0"] in broker


def test_a_requirement_page_has_the_text_of_the_ledger_and_its_cases(tmp_path: Path) -> None:
    tables = marts.literal()
    name = "channel/open/state"
    tables["requirement_coverage"] = [marts.requirement(name, "judged", 1, verdict="pass")]
    site = write_site(marts.write(tmp_path / "marts", tables), tmp_path / "site").parent
    text = flat(Page(site / names.requirement_page(marts.DIALECT, name)))
    declared = ledger.text_of(marts.DIALECT, name)
    assert declared and declared.row.paraphrase in text and declared.expected in text
    assert declared.cases and all(case.id in text and case.title in text for case in declared.cases)
    assert (
        ledger.text_of("no-such-dialect", name) is None and ledger.text_of(marts.DIALECT, "no/such") is None
    )


def test_addresses_are_plain_permanent_and_differ() -> None:
    assert (
        names.requirement_page("amqp-1-0", "links/flow/credit")
        == "requirements/amqp-1-0/links.flow.credit.html"
    )
    assert names.case_page("amqp-1-0", "links.flow") == "differences/amqp-1-0/case.links.flow.html"
    assert names.root_of("requirements/amqp-1-0/links.html") == "../../"
    ids = ["a/b", "a.b", "A/b", "a//b", "../b", "a/b/", "", "x" * 300, marts.HOSTILE]
    made = [names.requirement_page("d", id) for id in ids]
    assert len({page.lower() for page in made}) == len(ids)
    assert all(re.fullmatch(r"requirements/d/[a-z0-9._-]+\.html", page) and ".." not in page for page in made)


def test_the_feed_has_each_regression_once_with_a_lasting_id(tmp_path: Path) -> None:
    built = marts.write(tmp_path / "marts", marts.literal())
    feeds = []
    for name, url in (("one", ""), ("two", "https://amqp.example/site")):
        site = write_site(built, tmp_path / name, url).parent
        feeds.append(ET.parse(site / "regressions.xml").getroot())
        anchors = Page(site / "regressions.html").ids
    relative, absolute = (feed.findall(f"{ATOM}entry") for feed in feeds)
    (entry,) = relative
    assert entry.findtext(f"{ATOM}title") == "harbor: queue.declare pass → fail (version 3.9 to 3.10)"
    assert entry.findtext(f"{ATOM}updated") == "2026-11-03T02:00:00Z"
    assert entry.findtext(f"{ATOM}id") == absolute[0].findtext(f"{ATOM}id")
    link = absolute[0].find(f"{ATOM}link")
    assert link is not None and (href := link.get("href", "")).startswith(
        "https://amqp.example/site/regressions.html#"
    )
    assert href.partition("#")[2] in anchors
    for feed in feeds:
        assert all(feed.findtext(f"{ATOM}{name}") for name in ("id", "title", "updated"))


def test_the_search_knows_every_page_about_one_thing(folder: Path, tmp_path: Path) -> None:
    site = write_site(folder, tmp_path / "site").parent
    script = (site / "assets/search-index.js").read_text("ascii")
    entries = json.loads(script.removeprefix("window.amqpspecPages=").removesuffix(";\n"))
    several = {"index.html", "differences.html", "regressions.html", "search.html"}
    pages = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    assert {entry[0] for entry in entries} == pages - several
    assert ["requirements/amqp-0-9-1/channel.open.html", "channel/open", "AMQP 0-9-1"] in [
        entry[:3] for entry in entries
    ]
