"""Runs to render, written once."""

from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.reports.load import LoadedRun, load_run
from tests.reports import synthetic


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
