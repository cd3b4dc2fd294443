"""Other people's machines: a system without locks and signals of Unix, a broker that is 100 ms away."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.cli.verbs import amqpspec, outside

CASE = "channel.open.twice"
WITHOUT_UNIX = """
import asyncio, multiprocessing, os, psutil, signal, subprocess, sys, tempfile
sys.modules.update(dict.fromkeys(("fcntl", "resource", "pwd", "grp", "termios", "tty")))
for module, names in ((os, "fork getuid geteuid killpg"), (signal, "SIGKILL SIGHUP SIGQUIT")):
    for name in names.split():
        delattr(module, name)
from amqpspec.cli.main import main
main()
"""


def test_a_system_without_what_unix_has_runs_reports_and_replays(tmp_path: Path) -> None:
    """What Windows lacks is taken away: modules, signals, functions of the system."""
    for words in (
        ("run", "reference", CASE, "-o", "run"),
        ("report", "run"),
        ("replay", f"run/evidence/{CASE}.jsonl"),
        ("certificate", "run"),
        ("compare", "run", "run"),
        ("list", CASE),
        ("reference", "--list-faults"),
    ):
        done = outside([sys.executable, "-c", WITHOUT_UNIX, *words], cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), words


# --- far away

DELAY_S = 0.05
FAR_CASES = (
    "channel.open.twice",
    "channel.close.*",
    "framing.frame.*",
    "queue.declare.*",
    "basic.publish.*",
    "amq_wlp_frame_0*",
)


@contextmanager
def far_away(port: int) -> Iterator[int]:
    """A way to a port of this machine that takes everything 50 ms in each direction; returns its own port."""
    loop = asyncio.new_event_loop()

    async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while octets := await reader.read(65_536):
                loop.call_later(DELAY_S, writer.write, octets)
        loop.call_later(DELAY_S, writer.close)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        await asyncio.gather(carry(reader, back), carry(there, writer), return_exceptions=True)

    server = loop.run_until_complete(asyncio.start_server(serve, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(2 * DELAY_S))
        loop.close()


def verdicts(url: str, folder: Path) -> dict[str, str]:
    amqpspec("run", url, *FAR_CASES, "-q", "-o", folder)
    cases = json.loads((folder / "results.json").read_text(encoding="utf-8"))["cases"]
    return {case["id"]: case["verdict"] for case in cases}


@pytest.mark.parametrize("faults", [(), ("not-refused:channel/open/state",)])
def test_a_broker_that_is_far_away_has_the_same_verdicts(faults: tuple[str, ...], tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1", faults=faults) as broker, far_away(broker.port) as port:
        near = verdicts(broker.url, tmp_path / "near")
        far = verdicts(broker.url.replace(str(broker.port), str(port)), tmp_path / "far")
    assert len(near) > 20 and far == near
    assert ("fail" in near.values()) == bool(faults)
