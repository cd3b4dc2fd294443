"""What is printed can be done: replay lines, addresses; a lost target is one line; ways count as the target does."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, way
from amqpspec.fuzz.triage.triage import TargetLost, Triage
from amqpspec.reference.server import ReferenceBroker

ROW = "wire/content/body-exceeds-size"
CELL = "C05/body.too-long/body"
BEGINS_AT = 4_294_967_292


def test_the_replay_line_of_a_target_of_ones_own_can_be_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ReferenceBroker("amqp-0-9-1", faults=[f"wrong-code:{ROW}"]) as broker:
        mine = tmp_path / "mine.yaml"
        mine.write_text(
            f"targets:\n  own:\n    url: {broker.url}\n    dialect: amqp-0-9-1\n", encoding="utf-8"
        )
        out = tmp_path / "c"
        where = [
            "--target",
            "own",
            "--targets",
            str(mine),
            "--cells",
            CELL,
            "--families-only",
            "--workers",
            "1",
        ]
        ran = CliRunner().invoke(cli, ["fuzz", *where, "--out", str(out)])
        assert ran.exit_code == 1, ran.output
        (line,) = [path.read_text(encoding="utf-8") for path in out.glob("findings/*/REPLAY")]
        program, *arguments = shlex.split(line)
        assert program == "amqpspec" and str(mine) in arguments
        monkeypatch.chdir(tmp_path)
        assert CliRunner().invoke(cli, arguments).exit_code == 1

        def gone(self: Triage, *given: object) -> None:
            raise TargetLost("own does not answer any more")

        monkeypatch.setattr(Triage, "again", gone)
        lost = CliRunner().invoke(cli, arguments)
        assert lost.exit_code == 3 and lost.stderr.count("\n") == 1 and "does not answer" in lost.stderr


def test_an_address_goes_with_a_url() -> None:
    ran = CliRunner().invoke(cli, ["run", "--target", "reference", "--address", "/queues/{name}"])
    assert ran.exit_code == 2 and "--address requires a URL" in ran.stderr
    ran = CliRunner().invoke(cli, ["run", "amqp://127.0.0.1:1/", "--address", "/queues/q"])
    assert ran.exit_code == 2 and "{name}" in ran.stderr


@pytest.mark.parametrize("values", [Values(next_incoming=BEGINS_AT), Values(delivery_count=BEGINS_AT)])
def test_a_way_counts_from_where_the_target_begins(values: Values) -> None:
    def said(known: Values) -> bytes:
        return b"".join(octets_of_step("amqp-1-0", step, known) for step in way("amqp-1-0", "consuming"))

    begins_at = BEGINS_AT.to_bytes(4, "big")
    assert begins_at in said(values) and begins_at not in said(Values())


def test_the_number_is_taken_from_the_begin_of_the_target() -> None:
    with ReferenceBroker("amqp-1-0") as broker:
        address = Address(broker.host, broker.port)
        with Client(address, "amqp-1-0", Values(), 10.0) as client:
            client.enter("session")
            began = client.values.next_incoming
        assert began == 2**32 - 2
        executor = Subject("r", "amqp-1-0", address).executor(Tempo())
        executor.recording = True
        consuming = next(cell for cell in cells("amqp-1-0") if cell.state == "consuming").input(0)
        flow = next(filter(_is_flow, _inputs("session")))
        for item in (consuming, flow):
            (result,) = executor.run([item])
            assert result.reached and executor.last is not None and executor.last.spoken is not None
            said = b"".join(spoken.octets for spoken in executor.last.spoken if spoken.direction == "out")
            assert began.to_bytes(4, "big") in said
        executor.close()


def _inputs(state: str) -> Iterator[FuzzInput]:
    for cell in cells("amqp-1-0"):
        if cell.state == state:
            yield from map(cell.input, range(cell.inputs))


def _is_flow(item: FuzzInput) -> bool:
    """Whether it is a flow that counts from 0, as all do that are made before the target begins."""
    return item.octets[8:12] == b"\x00\x53\x13\xc0" and item.octets[14:19] == b"\x70\0\0\0\0"
