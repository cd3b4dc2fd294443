"""The agents of examples/agents, made with the tools of their languages: the command line that starts each.

Knows: npm, go, Maven and pip as commands. A test whose packages are not available is skipped, in seconds.
Must not know: what the clients are judged by.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from amqpspec.target.known.install import _MAVEN
from tests.reference.npm import npm_package

AGENTS = Path(__file__).parents[3] / "examples" / "agents"
_BUILD_S, _PROBE_S = 240.0, 20.0
_GO_PROBE = "golang.org/x/sync@latest"


def on_node(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> str:
    """An agent for node."""
    needs = json.loads((AGENTS / name / "package.json").read_text("utf-8"))["dependencies"]
    folder = npm_package(name, f"{name}@{needs[name]}", request, tmp_path_factory)
    agent = shutil.copy(AGENTS / name / "agent.js", tmp_path)
    shutil.copy(AGENTS / name / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    return f"node {agent}"


def in_go(name: str, tmp_path: Path) -> str:
    """An agent in Go. Without its modules nothing can be said; one that does not compile is a failure."""
    _needs("go")
    source = shutil.copytree(AGENTS / name, tmp_path / "source")
    # Go waits for a proxy that does not answer as long as the system does, unless all is here already.
    if _complaint("env", "GOPROXY=off", "go", "mod", "download", cwd=source):
        _available(name, "go", "list", "-m", _GO_PROBE, cwd=source, patience_s=_PROBE_S)
        _available(name, "go", "mod", "download", cwd=source)
    assert not _complaint("go", "build", "-o", str(tmp_path / "agent"), ".", cwd=source)
    return str(tmp_path / "agent")


def in_java(name: str, tmp_path: Path) -> str:
    """An agent in Java."""
    _needs("mvn", "javac")
    source = shutil.copytree(AGENTS / name, tmp_path / name, ignore=shutil.ignore_patterns("target"))
    _available(name, "mvn", "-q", "-B", *_MAVEN, "dependency:copy-dependencies", cwd=source)
    jars, classes = f"{source}/target/dependency/*", tmp_path / "classes"
    assert not _complaint("javac", "-cp", jars, "-d", str(classes), "Agent.java", cwd=source)
    return f"java -cp {classes}:{jars} Agent"


def in_python(agent: str, wanted: str, tmp_path: Path) -> str:
    """An agent in Python, with a package that stands beside it."""
    packages = tmp_path / "packages"
    words = ["install", "-q", "--no-deps", "--disable-pip-version-check", "--timeout=10", "--retries=1"]
    _available(wanted, sys.executable, "-m", "pip", *words, "--target", str(packages), wanted, cwd=tmp_path)
    return f"{sys.executable} {shutil.copy(AGENTS / agent, packages)}"


def _needs(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is needed")


def _available(name: str, *words: str, cwd: Path, patience_s: float = _BUILD_S) -> None:
    if why := _complaint(*words, cwd=cwd, patience_s=patience_s):
        pytest.skip(f"what {name} needs is not available: {why}")


def _complaint(*words: str, cwd: Path, patience_s: float = _BUILD_S) -> str:
    """What a tool complains of, in one line; empty if all is well. Maven complains on its standard output."""
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=patience_s, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {patience_s:.0f} s"
    return ((done.stderr or done.stdout).strip().splitlines() or ["no word"])[-1] if done.returncode else ""
