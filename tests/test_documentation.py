"""The documentation as a site: it builds without a warning, is complete, and fetches nothing."""

from __future__ import annotations

import html
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from amqpspec.cli.main import _VERBS
from amqpspec.reports.marts.rows import ROWS
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import certified_dialects, client_dialects, load_ledger

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
        timeout=120,
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


def test_the_completion_that_the_page_names_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "amqpspec.cli.main"],
        env={**os.environ, "_AMQPSPEC_COMPLETE": "bash_source"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "complete" in done.stdout and "amqpspec" in done.stdout


def test_no_page_fetches_anything(site: Path) -> None:
    pages = [*site.rglob("*.html")]
    assert len(pages) > 30
    fetched = {hit for page in pages for hit in _FETCHED.findall(page.read_text(encoding="utf-8"))}
    assert not fetched
