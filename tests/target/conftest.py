from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:/bin:/usr/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return directory
