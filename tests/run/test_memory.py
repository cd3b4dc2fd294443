"""Memory of a run does not grow with its evidence: rows and octets go to files as they come."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE_S

RUN = """
import resource, sys
from pathlib import Path
from tests.run.worlds import make, reference_world, run_cases
from amqpspec.record.rows import Outcome
from amqpspec.run.engine import Settings
from amqpspec.run.verdict import Verdict

def talks(peer):
    peer.open_channel()
    for _ in range(4):
        peer.publish("", b"x" * 40_000)
    peer.barrier()
    return Verdict(Outcome.PASS, "x" * 200, "y" * 200)

folder, repeat = Path(sys.argv[1]), int(sys.argv[2])
with reference_world(folder) as world:
    rows, complete = run_cases(world, [make(f"c{n}", talks) for n in range(30)], Settings(4, repeat))
assert complete and len(rows) == 30
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, (folder / "journal.jsonl").stat().st_size)
"""


def test_ten_times_the_evidence_takes_no_more_memory(tmp_path: Path) -> None:
    once_kib, once_octets = measured(tmp_path / "once", 1)
    often_kib, often_octets = measured(tmp_path / "often", 10)
    assert often_octets > 9 * once_octets
    assert often_kib / once_kib < 1.3


def measured(folder: Path, repeat: int) -> tuple[int, int]:
    command = [sys.executable, "-c", RUN, str(folder), str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    peak, octets = done.stdout.split()
    return int(peak), int(octets)
