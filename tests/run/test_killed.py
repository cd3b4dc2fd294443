"""After kill -9 nothing of a run stays forever: not on its target, and no half-written file in its folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from amqpspec.record.journal import JournalError, Node, read_nodes
from amqpspec.reference.server import ReferenceBroker
from tests.tools import amqpspec
from tests.waiting import PATIENCE_S, until

DIALECTS = {
    "amqp-0-9-1": ("rabbitmq-0-9-1", ("queue", "exchange", "basic", "tx")),
    "amqp-0-10": ("amqp-0-10", ("queue", "exchange", "message")),
    "amqp-1-0": ("amqp-1-0", ("transfer*", "links*", "flow*")),
}
ENOUGH = 8


def nodes_of(folder: Path) -> list[Node]:
    try:
        return read_nodes(folder)
    except JournalError:
        return []


def there(broker: ReferenceBroker) -> set[str]:
    """Queues and exchanges of runs on the broker, of 1.0 those that still hold something."""
    assert broker._core is not None
    found = set()
    for vhost in broker._core.vhosts.values():
        queues = [q.name for q in vhost.queues.values() if broker.dialect != "amqp-1-0" or q.ready_count]
        found |= {name for name in (*queues, *vhost.exchanges) if name.startswith("run-")}
    return found


@pytest.fixture(params=DIALECTS)
def killed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, ReferenceBroker]:
    """A dialect, and a broker on which a run was killed that had more in use than one thing."""
    served, cases = DIALECTS[request.param]
    broker = ReferenceBroker(served)
    request.addfinalizer(broker.stop)
    broker.start()
    run = amqpspec(tmp_path, "run", broker.url, "-d", request.param, "-q", "-n", "16", "-o", "run", *cases)
    until(
        lambda: len(nodes_of(tmp_path / "run")) >= ENOUGH and len(there(broker)) > 1, "nodes that were made"
    )
    run.kill()
    run.communicate()
    assert there(broker) and nodes_of(tmp_path / "run")
    (tmp_path / "run" / f".matrix.html.{run.pid}.tmp").write_text("half")
    (tmp_path / "run" / f".results.json.{os.getpid()}.tmp").write_text("of one who lives")
    return request.param, broker


@pytest.mark.parametrize("again", ["clean", "run"])
def test_what_a_killed_run_left_is_deleted(
    again: str, killed: tuple[str, ReferenceBroker], tmp_path: Path
) -> None:
    dialect, broker = killed
    words = ("clean",) if again == "clean" else ("run", "-d", dialect, "-q", "-o", "next", "--shard", "1/600")
    done = amqpspec(tmp_path, words[0], broker.url, *words[1:])
    said, _ = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 0, said
    assert there(broker) == set()
    assert again == "run" or "0 left because runs are active" in said
    assert [path.name for path in (tmp_path / "run").glob(".*")] == [f".results.json.{os.getpid()}.tmp"]
    assert not list(tmp_path.glob(".brokers/**/*"))
    assert (
        amqpspec(tmp_path, "clean", broker.url)
        .communicate(timeout=PATIENCE_S)[0]
        .endswith(": 0 nodes of killed runs deleted, 0 left because runs are active\n")
    )


def test_the_killed_run_itself_goes_on_and_leaves_nothing(
    killed: tuple[str, ReferenceBroker], tmp_path: Path
) -> None:
    dialect, broker = killed
    done = amqpspec(tmp_path, "run", *DIALECTS[dialect][1], "-q", "--resume", "run")
    said, _ = done.communicate(timeout=PATIENCE_S)
    assert done.returncode == 0, said
    assert there(broker) == set()
    assert not list(tmp_path.glob(".brokers/**/*"))
