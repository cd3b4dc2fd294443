"""Programs that tests start, and those that a machine may lack."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="java is not installed")


def amqpspec(place: Path, *words: str) -> subprocess.Popen[str]:
    """The program in a separate process, which works in a folder."""
    command = [sys.executable, "-m", "amqpspec.cli.main", *words]
    return subprocess.Popen(command, cwd=place, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
