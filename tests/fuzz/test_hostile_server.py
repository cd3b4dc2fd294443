"""A server that announces gigabytes and streams without end costs the fuzzer neither its budget nor its memory."""

from __future__ import annotations

import json
import resource
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.states.model import Values
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
HEARTBEATS = b"\x08\x00\x00\x00\x00\x00\x00\xce" * 4096
HUGE = b"\x01\x00\x00\xff\xff\xff\xff" + bytes(65_536)
TYPED = b"\xff\xff\xff\xff\x02\x00\x00\x00" + bytes(65_536)
LIMIT_MIB, BUDGET_S = 512, 4


DRIP_S = 0.02


class Hostile:
    """Answers every connection with the same octets, forever; or only begins a huge frame, octet by octet."""

    def __init__(self, octets: bytes, *, drips: bool = False) -> None:
        self._octets, self._drips = octets, drips
        self._on = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.address = Address("127.0.0.1", self._on.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                stream, _ = self._on.accept()
                threading.Thread(target=self._stream, args=(stream,), daemon=True).start()

    def _stream(self, stream: socket.socket) -> None:
        with suppress(OSError), stream:
            while not self._drips:
                stream.sendall(self._octets)
            for at in count():
                stream.sendall(self._octets[at % len(self._octets) :][:1])
                time.sleep(DRIP_S)

    def close(self) -> None:
        """Take no more."""
        self._on.close()


@pytest.fixture(params=[HEARTBEATS, HUGE, TYPED, "drip"], ids=["heartbeats", "huge", "typed", "drip"])
def hostile(request: pytest.FixtureRequest) -> Iterator[Hostile]:
    server = Hostile(HUGE, drips=True) if request.param == "drip" else Hostile(request.param)
    yield server
    server.close()


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-1-0"])
def test_a_client_gives_up_on_a_stream_without_end(hostile: Hostile, dialect: str) -> None:
    begun_s = time.monotonic()
    with pytest.raises(Unanswered), Client(hostile.address, dialect, Values(), 1.0) as client:
        client.enter("channel" if dialect == "amqp-0-9-1" else "session")
    assert len(client.passed) <= 20_000 and time.monotonic() - begun_s < 60


PEAK_MIB = """
import resource
from pathlib import Path
def peak_mib():
    # What a process was before it became another program counts in ru_maxrss: here, the tests themselves.
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    return next(int(line.split()[1]) >> 10 for line in status.read_text().splitlines() if line.startswith("VmHWM"))
"""
SCRIPT = (
    PEAK_MIB
    + """
import json, sys, time
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import by_key
begun_s = time.monotonic()
keyed = by_key("amqp-0-9-1")
cell, raw = keyed["amqp-0-9-1/C09/order.twice/channel"], keyed["amqp-0-9-1/C09/order.client/raw"]
subject = Subject("hostile", "amqp-0-9-1", Address("127.0.0.1", int(sys.argv[1])))
executor = subject.executor(Tempo(way_s=1.0, refusal_s=1.0))
executor.recording = True
results = [*executor.run([raw.input(n) for n in range(48)]), *executor.run([cell.input(n) for n in range(40)])]
print(json.dumps({
    "results": len(results), "seconds": time.monotonic() - begun_s,
    "arrivals": max(len(result.arrivals) for result in results),
    "mib": peak_mib(),
}))
"""
)


def test_inputs_end_in_time_and_keep_little(hostile: Hostile) -> None:
    command = [sys.executable, "-c", SCRIPT, str(hostile.address.port)]
    ran = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=240,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_MIB << 20, LIMIT_MIB << 20)),
    )  # fmt: skip
    assert not ran.returncode, ran.stderr
    told = json.loads(ran.stdout)
    assert told["results"] >= 48 and told["arrivals"] <= 64 and told["mib"] < LIMIT_MIB, told


PEAK = (
    PEAK_MIB
    + """
import atexit, runpy
atexit.register(lambda: print("peak", peak_mib()))
runpy.run_module("amqpspec.cli.main", run_name="__main__", alter_sys=True)
"""
)


def test_a_campaign_against_it_ends_with_one_line(hostile: Hostile, tmp_path: Path) -> None:
    command = [
        sys.executable, "-c", PEAK, "fuzz", f"amqp://127.0.0.1:{hostile.address.port}/", "-d",
        "amqp-0-9-1", "--budget", str(BUDGET_S), "--out", str(tmp_path / "c"), "--no-baseline", "--workers", "1",
    ]  # fmt: skip
    ran = subprocess.run(
        command, check=False, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (LIMIT_MIB << 20, LIMIT_MIB << 20)),
    )  # fmt: skip
    assert ran.returncode in (1, 3, 4) and ran.stderr.count("Traceback") == 0, ran.stderr
    assert int(ran.stdout.rpartition("peak ")[2]) < LIMIT_MIB
