"""matrix.html as text: complete, self-contained, its counts add up, nothing breaks out of it, memory stays flat."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tracemalloc
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pytest

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.html import targets
from amqpspec.reports.html.model import build
from amqpspec.reports.html.page import Evidence, script_json, write_matrix
from amqpspec.reports.json_report import write_results
from amqpspec.reports.load import LoadedRun, ReportError, load_run
from amqpspec.reports.outcomes import GREEN
from amqpspec.reports.render import render_all
from tests.reports import synthetic

VOID = {"meta", "link", "input", "br", "wbr"}


@dataclass
class Page(HTMLParser):
    """The page as a browser without a script sees it."""

    tags: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    open_tags: list[str] = field(default_factory=list)
    scripts: dict[str, Any] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {key: value or "" for key, value in attrs}))
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data: str) -> None:
        inside = self.open_tags[-1] if self.open_tags else ""
        if inside == "script" and "json" in self.tags[-1][1].get("type", ""):
            self.scripts[self.tags[-1][1]["id"]] = json.loads(data)
        elif inside not in ("script", "style"):
            self.words.append(data)

    def attributes(self, name: str) -> list[str]:
        return [attrs[name] for _, attrs in self.tags if name in attrs]

    def of_class(self, name: str) -> list[dict[str, str]]:
        return [attrs for _, attrs in self.tags if name in attrs.get("class", "").split()]


def read_page(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text("utf-8"))
    page.close()
    assert page.open_tags == []
    return page


@pytest.fixture(scope="module")
def both(harbor: LoadedRun, quay: LoadedRun, tmp_path_factory: pytest.TempPathFactory) -> Page:
    path = tmp_path_factory.mktemp("matrix") / "matrix.html"
    write_matrix(path, [harbor, quay], Evidence.ALL)
    return read_page(path)


def test_every_case_is_a_row_with_a_cell_for_each_target(
    both: Page, harbor: LoadedRun, quay: LoadedRun
) -> None:
    rows = {row["data-id"]: row["data-v"].split() for row in both.of_class("case")}
    assert rows.keys() == {case.id for case in harbor.cases}
    for number, run in enumerate((harbor, quay)):
        for case in run.cases:
            known = "!" if case.baseline == "known" else ""
            assert rows[case.id][number] == f"{case.verdict}{known}"
    assert rows[synthetic.HOSTILE_ID] == ["fail", "-"]


def test_rows_that_differ_are_marked(both: Page, harbor: LoadedRun, quay: LoadedRun) -> None:
    other = {case.id: case.verdict for case in quay.cases}
    differing = {case.id for case in harbor.cases if other.get(case.id, case.verdict) != case.verdict}
    assert {row["data-id"] for row in both.of_class("case") if "data-differs" in row} == differing


def test_the_page_needs_no_network(both: Page) -> None:
    policy = next(a["content"] for t, a in both.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'")
    assert both.attributes("src") == []
    links = [href for href in both.attributes("href") if not href.startswith(("#", "data:"))]
    assert links == []


def test_ids_are_unique(both: Page) -> None:
    assert [id for id, times in Counter(both.attributes("id")).items() if times > 1] == []


def test_nothing_breaks_out(both: Page) -> None:
    plain = [attrs for tag, attrs in both.tags if tag == "script" and "type" not in attrs]
    assert len(plain) == 1
    text = "".join(both.words)
    assert "</script><script>alert('x')</script> & \\x00\\x1b[31m \\u202eevil\\ufffe" in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\ufffe\ud800-\udfff]", text)


def test_script_json_is_inert() -> None:
    text = script_json({"</script>": "<!-- & \u2028 -->"})
    assert not re.search("[<>&\u2028]", text)
    assert json.loads(text) == {"</script>": "<!-- & \u2028 -->"}


def test_counts_of_each_target_add_up(both: Page, harbor: LoadedRun, quay: LoadedRun) -> None:
    text = " ".join("".join(both.words).split())
    for run in (harbor, quay):
        t = run.tally
        sentence = (
            f"{t.planned} planned = {t.run} run + {t.not_applicable} not applicable"
            f" + {t.blocked} blocked + {t.excluded} excluded"
        )
        assert sentence in text and t.planned == len(run.cases)
    for card, run in zip(targets.cards([harbor, quay]), (harbor, quay), strict=True):
        assert sum(level.planned for level in card.levels) == card.total.planned == run.tally.planned
        for outcome in Outcome:
            assert sum(level.outcomes.get(outcome, 0) for level in card.levels) == card.total.outcomes.get(
                outcome, 0
            )


def test_sections_and_scores(harbor: LoadedRun, quay: LoadedRun) -> None:
    sections = build([harbor, quay]).sections
    assert [section.name for section in sections] == list(synthetic.DATA["sections"])
    assert {s.name: s.scores for s in sections}["tx"] == ((1, 2), (0, 2))
    assert sum(len(list(section.rows)) for section in sections) == 27
    assert [row.index for section in sections for row in section.rows] == list(range(27))


def test_requirements_stand_in_the_order_of_the_ledger(harbor: LoadedRun) -> None:
    backwards = replace(harbor, cases=tuple(reversed(harbor.cases)))
    channel = next(section for section in build([backwards]).sections if section.name == "channel")
    expected = [row["id"] for row in synthetic.DATA["sections"]["channel"]]
    assert [group.requirement.id for group in channel.groups] == expected


def test_a_requirement_covered_in_passing_has_its_place(harbor: LoadedRun) -> None:
    cases = [case for case in harbor.cases if case.id == "channel.open.state"]
    [section] = build([replace(harbor, cases=tuple(cases))]).sections
    stability = next(group for group in section.groups if group.requirement.id == "channel/close/stability")
    assert stability.rows == () and stability.also == ("channel.open.state",)


def test_coverage_is_told(both: Page) -> None:
    text = " ".join("".join(both.words).split())
    assert "26 of 28 requirements covered by a case of this report, 1 excluded with a reason, 1 open." in text
    assert "excluded: binds the client only" in text


def test_a_partial_run_and_a_stale_baseline_have_a_banner(
    harbor: LoadedRun, both: Page, tmp_path: Path
) -> None:
    assert "Partial run: quayd 0.1.0." in "".join(both.words)
    write_matrix(tmp_path / "m.html", [replace(harbor, stale=("channel.gone",))])
    text = " ".join("".join(read_page(tmp_path / "m.html").words).split())
    assert "Stale baseline: HarborMQ 3.10.8. 1 entry matched no result" in text and "channel.gone" in text


def test_transcripts_are_embedded(both: Page, harbor: LoadedRun, quay: LoadedRun) -> None:
    embedded = [id for id in both.scripts if id.startswith("ev-")]
    assert len(embedded) == sum(1 for run in (harbor, quay) for case in run.cases if case.evidence)
    index = next(row["data-i"] for row in both.of_class("case") if row["data-id"] == "channel.open.state")
    log = both.scripts[f"ev-{index}-2"]["log"]
    assert [entry["x"] for entry in log if entry["k"] == "frame"] == [
        said["text"] for said in synthetic.DATA["talk"]
    ]


def test_without_transcripts_the_page_links_to_their_files(harbor: LoadedRun, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "matrix.html"
    write_matrix(path, [harbor], Evidence.LINKS)
    page = read_page(path)
    assert not any(id.startswith("ev-") for id in page.scripts)
    cells = [cell for id, row in page.scripts.items() if id.startswith("case-") for cell in row["cells"]]
    links = [cell["link"] for cell in cells if "link" in cell]
    assert len(links) == sum(1 for case in harbor.cases if case.evidence)
    assert all((path.parent / unquote(link)).is_file() for link in links)


def test_a_page_to_publish_holds_deviations_and_links_to_nothing(harbor: LoadedRun, tmp_path: Path) -> None:
    path = tmp_path / "matrix.html"
    write_matrix(path, [harbor], Evidence.DEVIATIONS)
    page = read_page(path)
    cells = [cell for id, row in page.scripts.items() if id.startswith("case-") for cell in row["cells"]]
    assert not [cell for cell in cells if "link" in cell]
    told = [case for case in harbor.cases if harbor.evidence(case) and case.verdict not in GREEN]
    assert sum(id.startswith("ev-") for id in page.scripts) == len(told) > 0


def test_by_default_a_page_holds_what_did_not_pass_and_one_case_of_each_section_that_did(
    harbor: LoadedRun, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(harbor.folder, tmp_path / "run"))
    run = load_run(folder)
    gone = next(case for case in run.cases if case.verdict in GREEN and run.evidence(case))
    (folder / gone.evidence).unlink()
    write_matrix(folder / "matrix.html", [run])
    page = read_page(folder / "matrix.html")
    there = [case for case in run.cases if run.evidence(case)]
    red = {case.id for case in there if case.verdict not in GREEN}
    sections = [case.suite for case in there if case.verdict in GREEN]
    held = {row["id"] for row in rows_with_transcripts(page)}
    assert red < held and len(held - red) == len(set(sections)) < len(sections)
    cells = [row["cells"][0] for id, row in page.scripts.items() if id.startswith("case-")]
    links = {cell["link"] for cell in cells if "link" in cell}
    assert links == {quote(case.evidence) for case in there}
    said = " ".join("".join(page.words).split())
    told = re.search(r"contains (\d+) of (\d+) transcripts: .* in the folder of this page: (.*? all) ", said)
    assert told is not None and (int(told[1]), int(told[2])) == (len(held), len(there))
    assert told[3] == "amqpspec report . --evidence all"


def test_the_command_of_a_page_elsewhere_leads_from_there_to_its_runs(
    harbor: LoadedRun, quay: LoadedRun, runs_folder: Path
) -> None:
    page = runs_folder / "deep" / "both's.html"
    write_matrix(page, [harbor, quay])
    (command,) = [line for line in "".join(read_page(page).words).splitlines() if "amqpspec report" in line]
    words = shlex.split(command.partition("this page: ")[2])
    assert [(page.parent / word).resolve() for word in words[2:4]] == [harbor.folder, quay.folder]
    assert words[4:] == ["--out", "both's.html", "--evidence", "all"]


def test_a_page_with_all_transcripts_says_nothing_of_others(both: Page) -> None:
    assert "--evidence all" not in "".join(both.words)


def rows_with_transcripts(page: Page) -> list[dict[str, Any]]:
    """The cases whose first target's transcript is in the page."""
    numbers = [id.split("-")[1] for id in page.scripts if id.startswith("ev-") and id.endswith("-1")]
    return [page.scripts[f"case-{number}"] for number in numbers]


def test_a_missing_transcript_is_no_error(tmp_path: Path) -> None:
    rows = list(synthetic.cases("quay"))
    write_results(tmp_path, synthetic.run_row(synthetic.target_row("quay")), rows, {}, exit_code=0)
    write_matrix(tmp_path / "matrix.html", [load_run(tmp_path)])
    page = read_page(tmp_path / "matrix.html")
    assert not any(id.startswith("ev-") for id in page.scripts)
    assert page.scripts["case-0"]["cells"][0]["file"].startswith("evidence/")


def test_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="expected at least one run"):
        write_matrix(tmp_path / "matrix.html", [])


@pytest.mark.parametrize("cases", [(), (CaseRow("a", "d", "s", "", (), "", Outcome.PASS),)])
def test_poor_runs_make_a_page(harbor: LoadedRun, tmp_path: Path, cases: tuple[CaseRow, ...]) -> None:
    write_matrix(tmp_path / "matrix.html", [replace(harbor, cases=cases, requirements={})])
    assert len(read_page(tmp_path / "matrix.html").of_class("case")) == len(cases)


def test_targets_of_one_name_are_told_apart(harbor: LoadedRun) -> None:
    later = replace(harbor, meta=replace(harbor.meta, started="2026-12-01T00:00:00Z", id="second"))
    assert targets.labels([harbor]) == ["HarborMQ 3.10.8"]
    assert targets.labels([harbor, later]) == ["HarborMQ 3.10.8 (2026-11-21)", "HarborMQ 3.10.8 (2026-12-01)"]
    same_day = replace(harbor, meta=replace(harbor.meta, id="second"))
    assert targets.labels([harbor, same_day])[1] == "HarborMQ 3.10.8 (second)"


@pytest.mark.parametrize(
    ("started", "ended", "text"),
    [
        ("2026-11-21T02:00:00Z", "2026-11-21T02:00:04.5Z", "21 Nov 2026, 02:00:00–02:00:04 UTC (4.5 s)"),
        ("2026-11-21T02:00:00Z", "2026-11-21T02:12:03Z", "21 Nov 2026, 02:00:00–02:12:03 UTC (12 min 3 s)"),
        (
            "2026-11-21T22:00:00Z",
            "2026-11-22T06:00:00Z",
            "21 Nov 2026, 22:00:00–22 Nov 2026, 06:00:00 UTC (8 h 0 min)",
        ),
        ("2026-11-21T02:00:00Z", "", "21 Nov 2026, 02:00:00 UTC"),
        ("yesterday", "", "yesterday"),
    ],
)
def test_times_are_told_as_people_do(started: str, ended: str, text: str) -> None:
    assert targets.when(started, ended) == text


def peak_octets(path: Path, run: LoadedRun, embed: bool) -> int:
    tracemalloc.start()
    write_matrix(path, [run], Evidence.ALL if embed else Evidence.LINKS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_memory_stays_flat_however_much_evidence_there_is(tmp_path: Path) -> None:
    rows = [case for case in synthetic.cases("harbor") if case.evidence]
    for case in rows:
        synthetic.write_lines(tmp_path / case.evidence, synthetic.transcript(case, repeat=200))
    write_results(tmp_path, synthetic.run_row(synthetic.target_row("harbor")), rows, {}, exit_code=0)
    run = load_run(tmp_path)
    write_matrix(tmp_path / "warm.html", [run])
    bare = peak_octets(tmp_path / "bare.html", run, embed=False)
    full = peak_octets(tmp_path / "full.html", run, embed=True)
    assert (tmp_path / "full.html").stat().st_size > 1_000_000
    assert full - bare < 700_000


def test_all_reports_of_a_folder(tmp_path: Path) -> None:
    synthetic.write_run(tmp_path / "run", "quay")
    paths = render_all(load_run(tmp_path / "run"))
    assert list(paths) == ["matrix.html", "junit.xml", "summary.md", "badge.svg", "deviations.sarif"]
    assert all(path == tmp_path / "run" / name and path.stat().st_size for name, path in paths.items())
    assert not list((tmp_path / "run").glob(".*"))


def test_a_page_that_cannot_be_written_leaves_the_old_one(
    harbor: LoadedRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "matrix.html"
    path.write_text("old", encoding="utf-8")

    def broken(_: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("amqpspec.reports.html.evidence.read_evidence", broken)
    with pytest.raises(OSError, match="Input/output"):
        write_matrix(path, [harbor])
    assert [file.name for file in tmp_path.iterdir()] == ["matrix.html"] and path.read_text("utf-8") == "old"
