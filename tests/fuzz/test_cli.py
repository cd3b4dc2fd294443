"""``amqpspec fuzz``: cells and single inputs."""

from __future__ import annotations

import json

from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.inputs.catalogue import cells


def run(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(cli, ["fuzz", *args])
    return result.exit_code, result.output


def test_cells_are_listed_and_counts_add_up() -> None:
    code, text = run("--list-cells", "--json", "-d", "amqp-wire-9-1")
    told = json.loads(text)["dialects"]["amqp-wire-9-1"]
    assert code == 0 and told["inputs"] == sum(cell["inputs"] for cell in told["cells"])
    assert len(told["cells"]) == len(cells("amqp-wire-9-1"))
    assert set(told["absent"]) == {"C01"}
    code, text = run("--list-cells", "-d", "amqp-wire-9-1")
    assert code == 0 and f"{len(told['cells'])} cells, {told['inputs']} inputs" in text
    assert "C01 does not exist: " in text


def test_the_deployed_dialect_has_cells_and_no_seeded_defects() -> None:
    code, text = run("--list-cells", "-d", "amqp-0-8")
    assert code == 0 and text.startswith("amqp-0-8 ")
    code, text = run("--selftest", "-d", "amqp-0-8")
    assert code == 2 and "actual amqp-0-8" in text


def test_an_input_is_shown_with_its_frames() -> None:
    id = next(c for c in cells("amqp-0-9-1") if c.key == "amqp-0-9-1/C04/frame.end/ready").id(0)
    code, text = run("show", str(id))
    assert code == 0 and "amq_wlp_frame_02" in text and "connection closed without further data" in text
    assert "not readable" in text and "01 00 01 00 00 00 05 00 14 00 0a 00 00" in text
    code, text = run("show", "--json", str(id))
    assert json.loads(text)["steps"][0]["octets"] == "01000100000005" + "0014000a00" + "00"


def test_an_input_of_types_is_shown_too() -> None:
    id = next(c for c in cells("amqp-1-0") if c.key == "amqp-1-0/C09/order.client/session").id(0)
    code, text = run("show", str(id))
    assert code == 0 and "step 1" in text


def test_a_wrong_id_is_one_line() -> None:
    code, text = run("show", "nonsense")
    assert code == 2 and text.startswith("amqpspec: input id: expected g:HASH8") and text.count("\n") == 1


def test_without_a_task_the_help_is_shown() -> None:
    code, text = run()
    assert code == 0 and "--list-cells" in text and "show" in text
