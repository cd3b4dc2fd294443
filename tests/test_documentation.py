"""The documentation as a site: it builds without a warning, is complete, and fetches nothing."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amqpspec.cli.main import _VERBS
from amqpspec.reports.marts.rows import ROWS
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import certified_dialects, client_dialects, load_ledger
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[1]
_FETCHED = re.compile(r"<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^\"'> ]+")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


def text_of(page: Path) -> str:
    """The text of a page without its markup, with the entities decoded."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("dialect", [*certified_dialects(), *client_dialects()])
def test_a_dialects_page_has_every_requirement_and_every_case(site: Path, dialect: str) -> None:
    text = text_of(site / "dialects" / f"{dialect}.html")
    assert not [row.id for row in load_ledger(dialect).values() if row.id not in text]
    missing = [case.id for case in load_suite(dialect).values() if f"{case.id} {case.title}" not in text]
    assert not missing


def test_columns_of_the_marts_have_their_types(site: Path) -> None:
    text = text_of(site / "marts.html")
    for column in (column for row in ROWS for column in row.columns()):
        assert re.search(rf"\b{re.escape(column.name)}\s+{re.escape(column.spark.lower())}\b", text)


def test_commands_have_their_help_and_shells_their_completion(site: Path) -> None:
    text = text_of(site / "commands.html")
    assert not [verb for verb in _VERBS if f"Usage: amqpspec {verb}" not in text]
    assert 'eval "$(_AMQPSPEC_COMPLETE=bash_source amqpspec)"' in text


def completed(**environment: str) -> str:
    program = "import sys; sys.argv[0] = 'amqpspec'; from amqpspec.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    ).stdout


@pytest.mark.parametrize(
    ("shell", "registers"),
    [("bash", "complete -o nosort"), ("zsh", "#compdef amqpspec"), ("fish", "complete --no-files --command")],
)
def test_the_completion_that_the_page_names_is_there(shell: str, registers: str) -> None:
    if shell == "bash" and shutil.which("bash") is None:
        pytest.skip("no bash on this machine, whose version the script depends on")
    script = completed(_AMQPSPEC_COMPLETE=f"{shell}_source")
    assert registers in script and f"_AMQPSPEC_COMPLETE={shell}_complete" in script


def test_completion_knows_commands_and_options() -> None:
    def words(typed: str) -> set[str]:
        told = completed(
            _AMQPSPEC_COMPLETE="bash_complete", COMP_WORDS=typed, COMP_CWORD=str(typed.count(" "))
        )
        return {line.partition(",")[2] for line in told.splitlines()}

    assert {*_VERBS} == words("amqpspec ")
    assert {"campaign", "replay"} <= words("amqpspec fuzz ")
    assert words("amqpspec run --shared") == {"--shared-target"}


def test_the_notebook_is_a_page_with_its_outputs(site: Path) -> None:
    text = text_of(site / "notebook.html")
    for cell in json.loads((ROOT / "examples/notebooks/marts.ipynb").read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", ()):
            assert "".join(output["text"]).strip() in text
    for page in ("pipeline.html", "tasks.html"):
        assert '<a href="notebook.html">notebook</a>' in (site / page).read_text("utf-8")


@pytest.fixture(scope="module")
def manual() -> str:
    """The man page as its generator writes it."""
    generator = [sys.executable, str(ROOT / "docs/_site/manual.py")]
    return subprocess.run(generator, capture_output=True, text=True, timeout=PATIENCE_S, check=True).stdout


def test_the_man_page_is_what_the_commands_say(manual: str, site: Path) -> None:
    page = (ROOT / "docs/man/amqpspec.1").read_text("utf-8")
    assert (site / "man/amqpspec.1").read_text("utf-8") == manual
    if page.partition("\n")[0] != manual.partition("\n")[0]:
        pytest.skip(f"another release of click made the page: {page.partition(chr(10))[0]}")
    assert page == manual, "python docs/_site/manual.py > docs/man/amqpspec.1"


def test_the_man_page_has_every_command_with_its_options(manual: str) -> None:
    plain = manual.replace(r"\-", "-")
    for verb, (_, _, short) in _VERBS.items():
        assert f"\n.SS amqpspec {verb}\n" in plain, short
    for subcommand in ("fuzz campaign", "pipeline build", "brokers install", "certificate verify"):
        assert f"\n.SS amqpspec {subcommand}\n" in plain
    of_run = plain.partition(".SS amqpspec run\n")[2].partition(".SS")[0]
    assert {"--shared-target", "-q, --quiet", "-h, --help"} <= {*re.findall(r"^\.B (-.*)", of_run, re.M)}
    assert re.findall(r"^\.B (\d)", plain.partition(".SH EXIT STATUS")[2], re.M) == [*"012345"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff on this machine")
def test_the_man_page_is_formatted_without_a_warning(manual: str) -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-Tutf8"], input=manual, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "amqpspec fuzz campaign" in done.stdout and "\\[" not in done.stdout


def test_no_page_fetches_anything(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 30
    fetched = {hit for page in pages for hit in _FETCHED.findall(page.read_text(encoding="utf-8"))}
    assert not fetched
