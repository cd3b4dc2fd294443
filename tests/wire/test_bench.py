"""The benchmark measures what it says: the same octets on both sides, one JSON object a line."""

from __future__ import annotations

import json

import pytest
from pamqp import frame

from bench import __main__ as main
from bench import codec as bench_codec
from bench.row import Row, beside


@pytest.mark.parametrize("corpus", [bench_codec.METHODS, bench_codec.HEADERS, bench_codec.TABLES])
def test_both_sides_do_the_same_work(corpus: tuple[object, ...]) -> None:
    frames = [frame.marshal(item, 1) for item in corpus]
    makers = (
        bench_codec.our_decoder,
        bench_codec.their_decoder,
        bench_codec.our_encoder,
        bench_codec.their_encoder,
    )
    assert [make(frames)() for make in makers] == [len(frames)] * 4


def test_rates_are_medians_of_alternating_rounds() -> None:
    order: list[str] = []

    def side(name: str, done: int) -> int:
        order.append(name)
        return done

    row = beside("x", "frames/s", lambda: side("ours", 2), lambda: side("theirs", 1), rounds=3, round_s=0.001)
    assert (row.name, row.unit, set(order[:2])) == ("x", "frames/s", {"ours", "theirs"})
    assert row.ratio == pytest.approx(row.ours / row.theirs, abs=0.01)


def test_a_row_is_one_line_of_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    row = Row("codec.decode.methods", 3, 2, 1.5, "frames/s")
    monkeypatch.setattr(bench_codec, "rows", lambda: iter([row]))
    assert main.main(["codec"]) == 0
    line = {"name": "codec.decode.methods", "ours": 3, "theirs": 2, "ratio": 1.5, "unit": "frames/s"}
    assert json.loads(capsys.readouterr().out) == line


def test_an_unknown_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["colour"]) == 2
    assert "no benchmark 'colour', expected one of codec" in capsys.readouterr().err
