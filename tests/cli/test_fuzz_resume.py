"""``--resume``: what a campaign was begun with needs not be repeated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli

BEGUN = ("--seed", "7", "--shard", "2/4", "--cells", "C07/*/channel", "--cells", "C05/*/channel")


def fuzz(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["fuzz", "campaign", *map(str, arguments), "--families-only", "--json"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A campaign that was begun with a dialect, a seed, a part of the inputs and cells."""
    place = tmp_path / "c"
    begun = fuzz("--target", "reference", "--dialect", "amqp-wire-9-1", *BEGUN, "--out", place)
    assert begun.exit_code == 0, begun.output
    return place


def plan(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "progress.json").read_text())["plan"]
    return found


def test_the_plan_of_a_campaign_is_the_default_when_it_is_resumed(folder: Path) -> None:
    before = plan(folder)
    assert before["seed"] == 7 and before["shard"] == [2, 4] and before["dialect"] == "amqp-wire-9-1"
    resumed = fuzz("--resume", folder)
    assert resumed.exit_code == 0, resumed.output
    assert plan(folder) == before and json.loads(resumed.stdout)["inputs"] > 0


def test_what_is_given_counts_and_has_to_fit(folder: Path) -> None:
    other = fuzz("--resume", folder, "--seed", "8")
    assert other.exit_code == 4 and "'seed': 8" in other.stderr and len(other.stderr.splitlines()) == 1


def test_a_url_takes_the_place_of_the_target(folder: Path) -> None:
    elsewhere = fuzz("amqp://127.0.0.1:1", "--resume", folder)
    assert elsewhere.exit_code == 4 and "'target': '127.0.0.1:1'" in elsewhere.stderr


@pytest.mark.parametrize(
    "saved",
    ["", "[]", '{"plan": 1}', '{"plan": {"seed": "7"}}', '{"plan": {"target": "reference", "cells": [1]}}'],
)
def test_a_plan_that_cannot_be_read_gives_no_defaults(tmp_path: Path, saved: str) -> None:
    (tmp_path / "progress.json").write_text(saved)
    said = fuzz("--resume", tmp_path)
    assert said.exit_code == 2 and "expected a URL or --target, actual: none" in said.stderr
