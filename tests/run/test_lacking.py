"""What a target of 0-10 turns out to lack: identified by its answers, and never by one that it gives to everything."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from amqpspec.peer.context import Patience
from amqpspec.record.journal import Journal
from amqpspec.reference.amqp_0_10.handlers import COMMANDS
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.engine import meet
from amqpspec.run.execute import World
from amqpspec.target.config import Target
from amqpspec.target.live import live
from amqpspec.target.url import parse_url

DIALECT = "amqp-0-10"


def lacks(folder: Path, *faults: str) -> Mapping[str, str]:
    """What a run finds out about the reference broker before its first case."""
    with ReferenceBroker(DIALECT, faults=faults) as broker:
        target = Target("it", DIALECT, parse_url(broker.url))
        with live(target) as running, Journal(folder) as journal:
            _, identity = meet(World(running, folder, "t", Patience()), journal)
    return identity.lacks


def test_the_reference_broker_lacks_nothing(tmp_path: Path) -> None:
    assert lacks(tmp_path) == {}
    assert (tmp_path / "evidence" / "parts.jsonl").exists()


def test_what_is_not_implemented_is_lacking_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("file.qos", "dtx.forget"):
        monkeypatch.delitem(COMMANDS, name)
    assert lacks(tmp_path) == {
        "file": "the target answers file.qos with session exception 540 not-implemented",
        "dtx-heuristics": "the target answers dtx.forget with session exception 540 not-implemented",
    }


def test_an_answer_like_that_to_no_class_at_all_is_lacking(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(session: Session, order: object) -> None:
        session.core.refuse("encoding/command/unknown-class", "no such class")

    monkeypatch.setitem(COMMANDS, "stream.qos", unknown)
    (part, why), *others = lacks(tmp_path).items()
    assert (part, others) == ("stream", [])
    assert why.startswith("the target answers stream.qos with ")
    assert why.endswith(", as it does a command of a class that does not exist")


def test_another_refusal_is_that_of_a_target_that_has_the_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(session: Session, order: object) -> None:
        session.core.refuse("queue/delete/if-empty/not-empty", "not just now")

    monkeypatch.setitem(COMMANDS, "tx.select", refused)
    assert lacks(tmp_path) == {}
