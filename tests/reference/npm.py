"""Packages of npm for tests with clients that run on node."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

_PATIENCE_S = 180.0


def npm_package(
    name: str, wanted: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder in which node finds a package, kept in pytest's cache between runs; skips where it cannot be had."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip(f"node and npm are needed for {name}")
    cache = getattr(request.config, "cache", None)
    folder = Path(cache.mkdir(name)) if cache else tmp_path_factory.mktemp(name)
    if not (folder / "node_modules" / name).is_dir():
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), wanted]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            pytest.skip(f"npm install {name} did not end within {_PATIENCE_S:.0f} s")
        if done.returncode:
            pytest.skip(f"npm install {name} failed: {done.stderr.strip().splitlines()[-1:]}")
    return folder
