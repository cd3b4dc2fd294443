"""The benchmark of the fuzzer's rate: both sides open connections to the same target, and give one row."""

from __future__ import annotations

import json

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.net.ports import free_port
from amqpspec.reference.server import ReferenceBroker
from bench import __main__ as bench
from bench import fuzz_rate


@pytest.mark.parametrize("dialect", fuzzed_dialects())
def test_handshakes_are_counted(dialect: str) -> None:
    with ReferenceBroker(dialect) as broker:
        subject = Subject("r", dialect, Address(broker.host, broker.port))
        assert fuzz_rate.handshakes(subject, 4, 0.5) > 0


def test_a_url_gives_the_rate_and_the_time_that_it_leaves_out(capsys: pytest.CaptureFixture[str]) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        words = [
            "--url",
            broker.url,
            "--seconds",
            "3",
            "--rounds",
            "1",
            "--connections",
            "8",
            "--cells",
            "C05/*/limits",
        ]
        assert bench.main(["fuzz_rate", *words]) == 0
    row, aside = map(json.loads, capsys.readouterr().out.splitlines())
    assert set(row) == {"name", "ours", "theirs", "ratio", "unit"}
    assert row["ours"] > 0 and row["theirs"] > 0 and row["ratio"] > 0
    assert 0 <= aside["ours"] < aside["theirs"] and aside["unit"] == "s of all s"


def test_a_target_that_a_campaign_ended_is_restarted_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_rate, "_PATIENCE_S", 0.0)
    with ReferenceBroker("amqp-0-9-1") as broker:
        alive = Address(broker.host, broker.port)
        ended = Subject("r", "amqp-0-9-1", Address("127.0.0.1", free_port()))
        restarts: list[None] = []

        def restart() -> None:
            restarts.append(None)
            object.__setattr__(ended, "address", alive)

        with pytest.raises(Unanswered, match="no longer answers after a round"):
            fuzz_rate._awaken(ended)
        object.__setattr__(ended, "restart", restart)
        fuzz_rate._awaken(ended)
        fuzz_rate._awaken(ended)
    assert len(restarts) == 1


def test_time_of_blame_counts_for_no_rate() -> None:
    measured = fuzz_rate.Measured(30, 10.0, 4.0).since(fuzz_rate.Measured(10, 5.0, 1.0))
    assert measured.a_second == 20 / (5.0 - 3.0)


def test_a_target_that_is_not_there_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["fuzz_rate", "--url", f"amqp://127.0.0.1:{free_port()}/"]) == 3
    said = capsys.readouterr().err
    assert "cannot connect" in said and said.count("\n") == 1
    assert bench.main(["fuzz_rate", "--target", "nosuch"]) == 2


def test_other_benchmarks_take_no_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["codec", "--target", "x"]) == 2
    assert "fuzz_detection, fuzz_rate, fuzz_speed only" in capsys.readouterr().err
