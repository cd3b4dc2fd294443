"""The benchmark measures what it says: the same values on both sides."""

from __future__ import annotations

import sys
from typing import Any

import pytest

pytest.importorskip("proton", reason="python-qpid-proton is not installed")

from amqpspec.wire.amqp_1_0.frames import performative_frame
from amqpspec.wire.amqp_1_0.types import decode, encode
from bench import __main__ as main
from bench import codec_1_0 as bench
from bench.row import each


@pytest.mark.parametrize("corpus", [bench.PERFORMATIVES, bench.OPENINGS])
def test_both_sides_do_the_same_work_on_frames(corpus: list[tuple[str, dict[str, Any]]]) -> None:
    frames = [performative_frame(name, 1, **fields) for name, fields in corpus]
    done = [bench.our_decoder(frames)(), bench.their_decoder(frames)(), bench.their_encoder(frames)()]
    assert done == [len(corpus)] * 3
    assert bench.our_encoder(corpus)() == len(corpus)


def test_both_sides_do_the_same_work_on_values() -> None:
    octets = [encode(value) for value in bench.VALUES]
    done = [
        each(decode, octets)(),
        each(bench.their_value, octets)(),
        each(encode, bench.VALUES)(),
        bench.their_writer(octets)(),
    ]
    assert done == [len(octets)] * 4


def test_a_benchmark_without_its_counterpart_is_left_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "proton", None)
    monkeypatch.delitem(sys.modules, "bench.codec_1_0")
    assert main.main(["codec_1_0"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "codec_1_0: left out, for proton is not installed\n")
