"""The folder of pages: whole, complete in itself, without script, safe against hostile text, replaced at once."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner

import amqpspec.reports.html
import amqpspec.reports.site
from amqpspec.cli.main import cli
from amqpspec.reports.load import ReportError
from amqpspec.reports.site import folder as folders
from amqpspec.reports.site.folder import write_site
from amqpspec.reports.site.names import page_name
from tests.reports.test_palette import contrast
from tests.site import marts

VOID = {"meta", "link", "wbr", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """A page as its elements, its text and the rows of its tables; tags have to be closed in order."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.tags: set[str] = set()
        self.text = ""
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(path.read_text("utf-8"))
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        told = dict(attrs)
        assert not [name for name in told if name.startswith("on")]
        self.ids += [told["id"] or ""] if "id" in told else []
        self.links += [told[name] or "" for name in ("href", "src") if name in told]
        if tag == "tr":
            self.rows.append([])
        if tag in ("th", "td"):
            self.rows[-1].append("")
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == "style":
            return
        self.text += data
        if {"th", "td"} & set(self._open):
            self.rows[-1][-1] += data

    def cells(self) -> list[list[str]]:
        return [[" ".join(cell.split()) for cell in row] for row in self.rows]


@pytest.fixture
def built(tmp_path: Path) -> Path:
    tables = marts.literal()
    evidence = tmp_path / "runs/evidence"
    evidence.mkdir(parents=True)
    (evidence / "queue.declare.jsonl").write_text('{"kind": "open"}\n')
    tables["verdicts"][2]["evidence"] = str(evidence / "queue.declare.jsonl")
    tables["verdicts"][1]["evidence"] = str(evidence / "no-such.jsonl")
    return marts.write(tmp_path / "marts", tables)


@pytest.fixture
def site(built: Path, tmp_path: Path) -> Path:
    return write_site(built, tmp_path / "site").parent


def flat(page: Page) -> str:
    return " ".join(page.text.split())


def test_the_index_says_each_target_and_version(site: Path) -> None:
    page = Page(site / "index.html")
    assert "2 targets, 3 versions" in flat(page)
    rows = [row for row in page.cells() if row and row[0].startswith(("harbor", "quay"))]
    old = rows[0]
    assert old[0] == "harbor" and old[1] == "33 % 1/3 3.10" and old[3] == "3.9 100 %"
    assert (old[4], old[5], old[6]) == ("1 unexpected1 known", "1", "1")
    assert "8/10 to 10/10 in 3 runs" in old[2] and "3 runs, 1 partial" in old[2]
    assert ["channel", "1/2", "1/2"] in page.cells() and ["queue", "0/1", "1/1"] in page.cells()
    assert "harbor, 2026-11-04: 17 (2 new)" in flat(page)


def test_a_target_page_has_all_that_is_known_of_it(site: Path) -> None:
    page = Page(site / "target-harbor.html")
    text, cells = flat(page), page.cells()
    assert "AMQP 0-9-1" in text and "AMQP 1.0" in text
    assert ["night-2", "2026-11-02 02:00", "3.10", "0.1", "9", "10"] in cells
    assert ["only-one", "2026-11-03 09:00", "3.10", "0.1", "1", "1 (part)"] in cells
    assert ["queue", "–", "0/1", "0/1"] in cells and ["All sections", "1/2", "0/1", "1/3"] in cells
    assert "✗queue.declare SHOULD fail, unexpected" in text and "Title of queue.declare" in text
    assert ["queue.declare MUST", "regressed", "✓pass", "✗fail", "target 3.9 → 3.10"] in cells
    assert ["channel.open MUST", "fixed", "✗fail", "✓pass", "suite 0.1 → 0.2"] in cells
    assert ["channel.wobbles MAY", "3.10, 0.1", "✓pass", "✗fail", "2", "5", "0.50"] in cells
    assert "1 open, 1 closed" in text and "amqpspec fuzz replay findings/aa11" in text
    assert "9 in the last week, 3 in the week before" in text
    assert ["MUST", "4", "2", "1", "0", "1", "1"] in cells
    assert "only a client can know" in text and "queue/old" not in text
    assert text.index("top of aa11") < text.index("top of bb22")


def test_differences_are_of_targets_side_by_side(site: Path) -> None:
    page = Page(site / "differences.html")
    text = flat(page)
    assert ["MUST channel.closeTitle of channel.close", "✗fail, known", "✓pass"] in page.cells()
    assert ["SHOULD queue.declareTitle of queue.declare", "✗fail", "○observed"] in page.cells()
    assert "5 inputs such as g:sample/v1 harbor 1connection 502quay 1silence" in text
    assert "9 cases such as queue.declare" in text
    assert "Only harbor was seen in this dialect" in text


def test_every_link_leads_somewhere_within_the_site(site: Path) -> None:
    pages = {path: Page(path) for path in site.rglob("*.html")}
    assert {path.parent.parent.name for path in pages} >= {"requirements", "differences"}
    for path, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), path
        assert not page.tags & {"img", "iframe", "object", "embed", "base"}
        for link in page.links:
            if link.startswith("data:image/svg+xml,"):
                continue
            parts = urlsplit(link)
            assert not parts.scheme and not parts.netloc, link
            target = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
            assert target.is_file() and target.is_relative_to(site), (path, link)
            assert not parts.fragment or parts.fragment in pages[target].ids, (path, link)


def test_scripts_are_files_of_the_site(site: Path) -> None:
    scripts = [
        found for path in site.rglob("*.html") for found in re.findall("<script.*?>", path.read_text("utf-8"))
    ]
    assert len(scripts) > 3 and all(
        re.fullmatch(r'<script defer src="(\.\./)*assets/[\w.-]+">', script) for script in scripts
    )
    for path in site.rglob("*.html"):
        assert "script-src 'self';" in path.read_text("utf-8"), path


def test_marts_lie_beside_the_pages(site: Path, built: Path) -> None:
    for name in marts.literal():
        for form in ("csv", "json"):
            copy = site / f"data/{name}.{form}"
            assert copy.read_bytes() == (built / name / copy.name).read_bytes()
            assert f"data/{name}.{form}" in Page(site / "index.html").links


def test_transcripts_of_deviations_are_kept(site: Path) -> None:
    kept = list((site / "evidence").iterdir())
    assert [path.read_text() for path in kept] == ['{"kind": "open"}\n']
    assert f"evidence/{kept[0].name}" in Page(site / "target-harbor.html").links


def test_a_journal_cannot_name_any_file_as_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "evidence"
    home.mkdir()
    (tmp_path / "secret.jsonl").write_text("secret")
    (home / "secret.txt").write_text("secret")
    (home / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (home / "large.jsonl").write_text("secret" * 10)
    monkeypatch.setattr(folders, "TRANSCRIPT_MAX_OCTETS", 50)
    tables = marts.literal()
    names = (
        "../secret.jsonl",
        "secret.txt",
        "link.jsonl",
        "large.jsonl",
        "sub/../../evidence/../secret.jsonl",
        "\0.jsonl",
    )
    tables["verdicts"] += [
        marts.verdict("harbor", f"c{number}", "fail", evidence=f"{home}/{name}")
        for number, name in enumerate(names)
    ]
    site = write_site(marts.write(tmp_path / "marts", tables), tmp_path / "site").parent
    assert not (site / "evidence").exists()


def test_hostile_text_is_only_text(tmp_path: Path) -> None:
    site = write_site(marts.write(tmp_path / "marts", marts.hostile()), tmp_path / "site").parent
    for path in site.rglob("*.html"):
        page, text = Page(path), path.read_text("utf-8")
        assert not page.tags & {"img"} and "<script>" not in text, path
        assert "\u202e" not in text and "49" not in page.tags
    own = Page(site / page_name(marts.HOSTILE))
    assert "</script><img src=x onerror=alert(1)>\\u202e\"'&{{ 7*7 }}" in own.text
    assert all(path.is_relative_to(site) for path in site.rglob("*.html"))


def test_names_of_pages_are_plain_and_differ() -> None:
    names = [
        "rabbitmq",
        "RabbitMQ",
        "rabbit/mq",
        "rabbit:mq",
        "",
        "..",
        "x" * 300,
        marts.HOSTILE,
        "ünï",
        "rabbit-mq",
    ]
    made = [page_name(name) for name in names]
    assert len({name.lower() for name in made}) == len(names)
    assert all(re.fullmatch(r"target-[a-z0-9-]*\.html", name) and len(name) < 100 for name in made)
    assert made[0] == "target-rabbitmq.html"


def test_marts_without_a_row_give_pages_that_say_so(tmp_path: Path) -> None:
    empty = marts.write(tmp_path / "marts", {name: [] for name in marts.literal()})
    index = write_site(empty, tmp_path / "site")
    assert "The marts have no target yet." in flat(Page(index))
    assert "The marts have no campaign." in flat(Page(index))


def test_long_lists_say_what_they_leave_out(tmp_path: Path) -> None:
    tables = marts.literal()
    tables["verdicts"] += [marts.verdict("harbor", f"many.{number:03}", "fail") for number in range(300)]
    site = write_site(marts.write(tmp_path / "marts", tables), tmp_path / "site").parent
    assert "102 rows more in verdicts.csv" in flat(Page(site / "target-harbor.html"))


def test_a_site_is_replaced_as_a_whole_or_stays(
    built: Path, site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {path.name: path.read_bytes() for path in site.iterdir() if path.is_file()}
    (site / "left-over.html").write_text("old")
    write_site(built, site)
    assert {path.name: path.read_bytes() for path in site.iterdir() if path.is_file()} == before

    def fails(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(folders, "_write_manifest", fails)
    with pytest.raises(OSError, match="disk full"):
        write_site(built, site)
    assert {path.name: path.read_bytes() for path in site.iterdir() if path.is_file()} == before
    assert sorted(path.name for path in site.parent.iterdir()) == ["marts", "runs", "site"]


def test_a_folder_of_something_else_is_left_alone(built: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("all of it")
    with pytest.raises(
        ReportError, match=r"mine: expected a site or an empty folder, actual: files without a site\.json"
    ):
        write_site(built, tmp_path / "mine")
    with pytest.raises(ReportError, match="expected a folder for pages, actual: a file"):
        write_site(built, tmp_path / "mine/thesis.txt")
    assert (tmp_path / "mine/thesis.txt").read_text() == "all of it"


def test_the_command_names_the_page_to_open(built: Path, tmp_path: Path) -> None:
    out = tmp_path / "new/site"
    done = CliRunner().invoke(cli, ["site", "--marts", str(built), "--out", str(out)])
    assert (done.exit_code, done.stdout) == (0, f"{out}/index.html\n")
    told = json.loads((out / "site.json").read_text())
    assert told["as_of"] == "2026-11-04" and "target-quay.html" in told["pages"]


def test_the_command_ends_in_one_line_where_there_are_no_marts(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        cli, ["pipeline", "pages", "--marts", str(tmp_path), "--out", str(tmp_path / "site")]
    )
    assert done.exit_code == 2
    assert (
        len(done.stderr.splitlines()) == 1
        and "expected the folder of `amqpspec pipeline build`" in done.stderr
    )


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_of_plots_are_legible(scheme: int) -> None:
    def palette(path: Path) -> dict[str, str]:
        block = re.findall(r":root \{(.*?)\}", path.read_text("utf-8"), re.DOTALL)[scheme]
        return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", block))

    own = palette(Path(amqpspec.reports.site.__file__).parent / "assets/site.css")
    shared = palette(Path(amqpspec.reports.html.__file__).parent / "style.css")
    assert [n for n in range(8) if contrast(own[f"s{n}"], shared["surface"]) < 4.5] == []
    heats = [str(heat) for heat in (0, 1, 2, 3, 4, "none")]
    assert [heat for heat in heats if contrast(own[f"h{heat}-fg"], own[f"h{heat}-bg"]) < 4.5] == []
