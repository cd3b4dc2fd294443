"""Packages of npm for tests with clients that run on node.

Knows: npm as a command. Must not know: where registries are; the machine's own configuration says that.
"""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

_PROBE_S, _INSTALL_S = 20.0, 180.0
_RETRIES = ("--fetch-retries=1", "--fetch-retry-mintimeout=500", "--fetch-retry-maxtimeout=1000")
_PROBE_TIMEOUT = "--fetch-timeout=4000"


def npm_package(
    name: str, wanted: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder in which node finds a package, kept in pytest's cache between runs; skips if it is not available."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip(f"node and npm are needed for {name}")
    kept = getattr(request.config, "cache", None)
    # A release has a separate folder: another test may want another one.
    folder = Path(kept.mkdir(wanted)) if kept else tmp_path_factory.mktemp(wanted)
    if not (folder / "node_modules" / name).is_dir():
        if why := _registry_is_missing():
            pytest.skip(f"npm has no registry: {why}")
        options = ("--no-audit", "--no-fund", "--prefix", str(folder))
        if why := _npm(_INSTALL_S, "install", *options, wanted):
            pytest.skip(f"npm install {name}: {why}")
    return folder


@cache
def _registry_is_missing() -> str:
    """Why the registry gives nothing, found out in seconds and once for all packages; empty if it does."""
    return _npm(_PROBE_S, "view", "rhea", "version", _PROBE_TIMEOUT)


def _npm(patience_s: float, *arguments: str) -> str:
    """What npm complains of, in one line; empty if all is well."""
    command = ["npm", *arguments, *_RETRIES]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=patience_s, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {patience_s:.0f} s"
    if not done.returncode:
        return ""
    errors = [line for line in done.stderr.splitlines() if line.startswith("npm error")]
    return next((line for line in errors if "http" in line), (errors or [f"exit code {done.returncode}"])[0])
