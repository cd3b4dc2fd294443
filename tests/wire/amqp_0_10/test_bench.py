"""The benchmark measures what it says: whole frames, read to the end and written again."""

from __future__ import annotations

import pytest

pytest.importorskip("proton", reason="python-qpid-proton is not installed")

from amqpspec.wire.amqp_0_10.frames import encode_assembly
from bench import codec_0_10 as bench
from bench.row import Row


def test_both_ways_do_the_same_work() -> None:
    frames = [encode_assembly(name, 1, **args) for name, args in bench.INSTRUCTIONS]
    assert bench.our_decoder(frames)() == bench.our_encoder(frames)() == len(frames)


def test_there_are_figures_beside_both_codecs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "_row", lambda name, ours, theirs: Row(name, ours(), theirs(), 1, "frames/s"))
    found = {row.name: (row.ours, row.theirs) for row in bench.rows()}
    assert found == {
        "decode.beside-pamqp": (8, 8),
        "encode.beside-pamqp": (8, 8),
        "decode.beside-proton": (8, 6),
        "encode.beside-proton": (8, 6),
    }
