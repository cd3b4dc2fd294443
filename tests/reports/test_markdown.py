"""The Markdown summary: what is new first, counts that add up, nothing that escapes or grows too long."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.markdown import LIMIT, code, plain, summary
from tests.reports import synthetic


def with_cases(run: LoadedRun, cases: list[CaseRow]) -> LoadedRun:
    return replace(run, cases=tuple(cases), tally=Tally.of(case.verdict for case in cases), exit_code=0)


def test_the_head_says_who_and_how(harbor: LoadedRun, quay: LoadedRun) -> None:
    says = "partial: 23 of 27 requirements judged, deviates"
    assert summary(harbor).startswith(f"### AMQP 0-9-1: HarborMQ 3.10.8, {says}\n")
    assert "27 planned = 24 run + 1 not applicable + 2 blocked + 0 excluded." in summary(harbor)
    assert "**Partial run:**" in summary(quay)


def test_the_table_adds_up(harbor: LoadedRun) -> None:
    rows = [line.strip("| ").split(" | ") for line in summary(harbor).splitlines() if line.startswith("| ")]
    head, *levels, total = rows
    assert head[0] == "level" and head[-1] == "planned" and total[0] == "**all**"
    for column in range(1, len(head)):
        numbers = [int(row[column].strip() or 0) for row in levels]
        assert sum(numbers) == int(total[column].strip("* ") or 0), head[column]
    for row in levels:
        assert sum(int(cell.strip() or 0) for cell in row[1:-1]) == int(row[-1])


def test_unexpected_deviations_come_first_and_known_ones_are_folded(harbor: LoadedRun) -> None:
    text = summary(harbor)
    unexpected, known = (
        text.index("#### Unexpected deviations (3)"),
        text.index("<summary>Known deviations (1)"),
    )
    assert (
        unexpected
        < text.index("connection.tune-ok.frame-max")
        < known
        < text.index("framing.heartbeat.channel")
    )
    assert "  - expected: connection closed without further data\n" in text
    assert "  - observed: connection.close 530 not-allowed, then FIN\n" in text
    assert "`connection/tune-ok/frame-max` (connection.tune-ok.frame-max\\#upper-limit, R91-027)" in text
    assert "  - known because: issue 17 of HarborMQ" in text
    assert text.count("<details>") == text.count("</details>") == 3
    assert "- 1 case: targets.yaml has no restart hook" in text


def test_hostile_text_stays_text(harbor: LoadedRun) -> None:
    text = summary(harbor)
    assert "<script" not in text.replace("\\<script", "").replace("`basic.publish.hostile<script>`", "")
    assert "@team" not in text
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\ud800-\udfff]", text)


@pytest.mark.parametrize("text", ["a`b", "``", "`", "a|b", "plain", "a\nb"])
def test_inline_code_ends_where_it_should(text: str) -> None:
    fence = re.match("`+", code(text))
    assert fence and code(text).endswith(fence[0]) and "\n" not in code(text) and "|" not in code(text)
    assert fence[0] not in code(text)[len(fence[0]) : -len(fence[0])].strip()


def test_plain_text_is_cut_and_escaped() -> None:
    assert plain("*a* [b](c) <d> @e") == r"\*a\* \[b\](c) \<d\> &#64;e"
    assert len(plain("x" * 1000)) == 300


@pytest.mark.parametrize("count", [0, 300, 3000])
def test_the_comment_keeps_its_limit_and_counts_what_it_left_out(harbor: LoadedRun, count: int) -> None:
    base = synthetic.hostile_case()
    cases = [replace(base, id=f"case.{n}", expected="e" * 400, observed="o" * 400) for n in range(count)]
    cases += [replace(base, id=f"error.{n}", verdict=Outcome.ERROR) for n in range(count // 3)]
    cases += [replace(base, id=f"known.{n}", baseline="known") for n in range(count // 3)]
    text = summary(with_cases(harbor, cases))
    assert len(text) < LIMIT
    shown = len(re.findall(r"`case\.\d+`", text))
    left = re.search(r"and (\d+) more in matrix.html", text)
    assert shown + int(left[1] if left else 0) == count
    if count:
        assert f"Known deviations ({count // 3})" in text and f"harness error ({count // 3})" in text


def test_a_spotless_run_says_so(harbor: LoadedRun) -> None:
    passed = [case for case in harbor.cases if case.verdict is Outcome.PASS]
    text = summary(replace(with_cases(harbor, passed), requirements={}))
    assert "3.10.8, conforms\n" in text and "16 of 16 pass" in text and "details" not in text


def test_a_stale_baseline_is_listed(harbor: LoadedRun) -> None:
    text = summary(replace(harbor, stale=("channel.gone: fixed in 4.0", "other")))
    assert "**Stale baseline:** 2 entries matched no result." in text and "channel.gone: fixed in 4.0" in text
    assert "and 80 more" in summary(replace(harbor, stale=("x",) * 100))
