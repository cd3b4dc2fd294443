"""Passwords are hidden in the fields where they belong, however short and however they are cut, and only there."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.peer.context import Login
from amqpspec.record.capture import write_capture
from amqpspec.record.transcript import Transcript, distinctive, starred
from amqpspec.reference.model import User
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import load_suite
from amqpspec.run.driver import driver_of
from amqpspec.run.engine import Settings
from amqpspec.run.execute import World
from amqpspec.target.config import Target
from amqpspec.target.live import live_reference
from amqpspec.wire.capture import read_pcapng
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.frames import Frame, encode_frame
from tests.run.worlds import QUICK, run_cases

CODEC = codec_for("rabbitmq-0-9-1")
SHORT = ("1", "pass", "0a", "channel", "guest1", "12345678")


def octets_of_login(password: str) -> bytes:
    layout = CODEC.dialect.layout
    payload = CODEC.encode_method(
        "connection.start-ok",
        {"client_properties": {"product": password}, "mechanism": "PLAIN",
         "response": b"\0ann\0" + password.encode(), "locale": "en_US"},
    )  # fmt: skip
    return CODEC.dialect.protocol_header + encode_frame(layout, Frame(layout.types["method"], 0, payload))


def recorded(folder: Path, segments: list[bytes], password: str) -> list[dict[str, object]]:
    """The lines of a transcript of what went out in these segments."""
    path = folder / "x.jsonl"
    driver = driver_of("amqp-0-9-1")
    transcript = Transcript(path, lambda way: driver.direction("rabbitmq-0-9-1", way), [password])
    for number, segment in enumerate(segments):
        transcript.octets(number, 1, "out", segment)
    transcript.close()
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("password", SHORT)
def test_a_password_is_hidden_in_its_field_wherever_the_login_is_cut(password: str, tmp_path: Path) -> None:
    octets = octets_of_login(password)
    begin = octets.index(b"\0ann\0")
    end = begin + len(b"\0ann\0") + len(password)
    for at in range(begin - 2, end + 2):
        lines = recorded(tmp_path, [octets[:at], octets[at:]], password)
        shown = bytes.fromhex("".join(str(line["hex"]) for line in lines))
        assert shown[begin:end] == b"*" * (end - begin), at
        # Of a frame that is cut, more may be hidden than its secret; nothing is changed in any other way.
        assert all(new in (old, ord("*")) for old, new in zip(octets, shown, strict=True)), at
    (whole,) = recorded(tmp_path, [octets], password)
    # The product, which has the same words, is no secret.
    assert bytes.fromhex(str(whole["hex"])) == octets[:begin] + b"*" * (end - begin) + octets[end:]


@pytest.mark.parametrize("password", SHORT)
def test_a_short_password_spoils_no_evidence(password: str, tmp_path: Path) -> None:
    case = load_suite("amqp-0-9-1")["channel.open.twice"]
    texts = []
    for number, word in enumerate((password, "a-much-longer-one")):
        with ReferenceBroker("rabbitmq-0-9-1") as broker:
            assert broker._core is not None
            broker._core.users["ann"] = User("ann", word, frozenset({"/"}))
            target = replace(
                live_reference(Target("reference", broker="reference"), broker), login=Login("ann", word)
            )
            rows, _ = run_cases(World(target, tmp_path / str(number), "t", QUICK), [case], Settings())
        path = tmp_path / str(number) / rows[case.id].evidence
        assert read_pcapng(write_capture(path))
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        assert "login" in lines[0]["conditions"] and lines[0]["conditions"]["login"]["password"] == "*" * len(
            word
        )
        frames = [frame["text"] for line in lines for frame in line.get("frames", ())]
        texts.append([text for text in frames if "start-ok" not in text])
    assert texts[0] == texts[1]


def test_what_is_distinctive_is_hidden_everywhere() -> None:
    assert distinctive(
        ["", *SHORT[:-1], "correcthorse", "correcthorsebattery", "s3cr3t-word", "sésame-ö"]
    ) == (
        "correcthorsebattery",
        "s3cr3t-word",
        "sésame-ö",
    )
    assert starred("user ann:s3cr3t-word on pass", ["s3cr3t-word", "pass"]) == "user ann:*********** on pass"
