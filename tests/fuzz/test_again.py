"""``amqpspec fuzz replay`` of an id and of octets: sent once, every oracle asked."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.reference.server import ReferenceBroker

ROW = "wire/content/body-exceeds-size"
DIALECT = "amqp-0-9-1"
CELL = by_key(DIALECT)[f"{DIALECT}/C05/body.too-long/body"]
TOO_LONG = next(item for item in CELL if item.expectation.requirement == ROW)
HEX = ",".join(step.hex() for step in TOO_LONG.steps)


def run(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(cli, ["fuzz", "replay", *args])
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture(scope="module")
def wrong() -> Iterator[str]:
    with ReferenceBroker(DIALECT, faults=[f"wrong-code:{ROW}"]) as broker:
        yield broker.url


@pytest.fixture(scope="module")
def clean() -> Iterator[str]:
    with ReferenceBroker(DIALECT) as broker:
        yield broker.url


@pytest.mark.parametrize("what", [(str(TOO_LONG.id),), (HEX, "--state", TOO_LONG.state)])
def test_one_input_by_id_and_by_octets(what: tuple[str, ...], wrong: str, clean: str) -> None:
    code, text, _ = run(*what, wrong)
    assert code == 1 and f"conformance: {ROW}: " in text
    code, text, _ = run(*what, clean)
    assert code == 0 and "connection 505" in text and "no complaint" in text


def test_only_the_oracles_that_are_named_are_asked(wrong: str) -> None:
    code, text, _ = run(str(TOO_LONG.id), wrong, "--oracle", "crash", "--json")
    assert code == 0 and json.loads(text)["complaints"] == []
    code, text, _ = run(str(TOO_LONG.id), wrong, "--oracle", "crash", "--oracle", "conformance", "--json")
    told = json.loads(text)
    assert code == 1 and [c["oracle"] for c in told["complaints"]] == [Oracle.CONFORMANCE]
    assert told["requirement"] == ROW and told["state"] == "body"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ((str(TOO_LONG.id),), "expected a URL or --target"),
        (("0g", "--state", "body"), "expected hex digits"),
        ((",", "--state", "body"), "expected at least one"),
        (("00", "--state", "nowhere"), "--state: expected one of raw, header"),
        (("g:00000000/C05/body.too-long/body/s0/0",), "expected the grammar hash"),
    ],
)
def test_wrong_orders_are_one_line(args: tuple[str, ...], told: str, clean: str) -> None:
    code, _, line = run(*args, *(() if "--target" in told else (clean,)))
    assert code == 2 and told in line and line.count("\n") == 1


def test_an_id_of_another_dialect_is_refused(clean: str) -> None:
    other = next(iter(by_key("amqp-1-0").values())).id(0)
    code, _, line = run(str(other), clean)
    assert code == 2 and "expected one of amqp-0-9-1" in line
