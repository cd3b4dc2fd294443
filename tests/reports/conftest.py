"""Runs to render, written once, and one browser for all tests that need it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from reports.load import LoadedRun, load_run
from tests.reports import synthetic
from tests.reports.browser import Browser, find_browser


@pytest.fixture(scope="session")
def runs_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two run folders: ``harbor`` with a hostile case, ``quay`` cut short."""
    root = tmp_path_factory.mktemp("runs")
    synthetic.write_run(root / "harbor", "harbor", hostile=True)
    synthetic.write_run(root / "quay", "quay", partial=True)
    return root


@pytest.fixture(scope="session")
def harbor(runs_folder: Path) -> LoadedRun:
    return load_run(runs_folder / "harbor")


@pytest.fixture(scope="session")
def quay(runs_folder: Path) -> LoadedRun:
    return load_run(runs_folder / "quay")


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium on this machine")
    chromium = Browser(program, tmp_path_factory.mktemp("chromium") / "profile")
    yield chromium
    chromium.close()
