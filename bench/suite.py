"""The whole 0-9-1 suite against a RabbitMQ that is running: wall time beside the longest case, by connections at once.

Knows: how to run the command and read its results. Must not know: what cases do.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from amqpspec.target.known import known_broker
from bench.row import Row

BROKER = "rabbitmq"
CONNECTIONS = (1, 4, 16, 64)
RUN = [sys.executable, "-m", "amqpspec.cli.main", "run", "--target", BROKER, "--quiet"]


def rows() -> Iterator[Row]:
    """One row a setting: seconds from start to reports, and seconds of the longest case."""
    if known_broker(BROKER, Path(".brokers") / BROKER).running() is None:
        print(
            f"suite: no {BROKER} is running, left out; try: amqpspec brokers start {BROKER}", file=sys.stderr
        )
        return
    for connections in CONNECTIONS:
        wall_s, longest_s = _run(connections)
        name = f"suite.{BROKER}.connections-{connections}"
        yield Row(name, round(wall_s, 1), round(longest_s, 1), round(wall_s / longest_s, 2), "s")


def _run(connections: int) -> tuple[float, float]:
    """Wall time and the longest case, in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        command = [*RUN, "--connections", str(connections), "--out", str(out)]
        started_s = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wall_s = time.perf_counter() - started_s
        results = out / "results.json"
        if not results.is_file():
            raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
        cases = json.loads(results.read_text(encoding="utf-8"))["cases"]
        return wall_s, max(case["duration_ms"] for case in cases) / 1000
