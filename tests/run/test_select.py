from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amqpspec.run.coverage import coverage_of
from amqpspec.run.select import SelectionError, select
from amqpspec.spec.model import Level, Requirement
from tests.run.worlds import make

CASES = {
    made.id: made
    for made in (
        make("channel.open.twice", covers=("channel/open/state",)),
        make("channel.close.ok", covers=("channel/close/ok", "amq_wlp_frame_01")),
        make("queue.purge", covers=("queue/purge/x",)),
    )
}


def names(*patterns: str) -> list[str]:
    return [made.id for made in select(CASES, patterns)]


@pytest.mark.parametrize(
    ("patterns", "found"),
    [
        ((), list(CASES)),
        (("queue.purge", "channel.open.twice"), ["channel.open.twice", "queue.purge"]),
        (("channel.*",), ["channel.open.twice", "channel.close.ok"]),
        (("channel/open/state",), ["channel.open.twice"]),
        (("amq_wlp_frame_01",), ["channel.close.ok"]),
        (("queue/*",), ["queue.purge"]),
        (("channel",), list(CASES)),
    ],
)
def test_cases_are_named_by_id_glob_requirement_or_module(
    patterns: tuple[str, ...], found: list[str]
) -> None:
    assert names(*patterns) == found


def test_lists_stand_in_files_with_comments(tmp_path: Path) -> None:
    path = tmp_path / "list"
    path.write_text("# mine\nqueue.purge  # the best\n\n  channel/open/state\n", encoding="utf-8")
    assert names(f"@{path}") == ["channel.open.twice", "queue.purge"]


def test_what_names_nothing_is_said(tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match="'nothing' names no case; try: amqpspec list"):
        names("queue.purge", "nothing")
    with pytest.raises(SelectionError, match=r"cannot read .*none: No such file"):
        names(f"@{tmp_path / 'none'}")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(SelectionError, match=r"cannot read .*binary"):
        names(f"@{tmp_path / 'binary'}")


def test_coverage_counts_every_row_once() -> None:
    def row(id: str, source: str = "R1", **facts: Any) -> Requirement:
        return Requirement(id, Level.MUST, "server", "s", "says", source=source, **facts)

    rows = [
        row("queue/purge/x"),
        row("left/out", excluded="because"),
        row("still/open"),
        row("not/testable", testable=False, excluded="inside"),
        row("channel/close/ok", source=""),
        row("own/open", source=""),
    ]
    table = coverage_of({r.id: r for r in rows}, CASES)
    assert table.to_json() == {
        "testable": 3, "covered": 1, "excluded": 1, "open": 2, "untestable": 1, "beyond_inventory": 2,
    }  # fmt: skip
    assert [r.id for r in table.open] == ["still/open"]
