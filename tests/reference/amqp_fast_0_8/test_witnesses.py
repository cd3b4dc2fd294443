"""Someone else's reading of the text: the two clients of AMQP/Fast that were written in 2005, against our broker.

Their recorded octets are golden input everywhere; the clients themselves run where ``.ci/witnesses-fast`` can bring
them, which takes the sources of openamq, gsl and a JDK.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from amqpspec.reference.server import ReferenceBroker
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from tests.reference.amqp_fast_0_8.witnessed import JAVA_SAID, PERL_HEARD, PERL_SAID
from tests.tools import needs_java
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[3]
WITNESSES = ROOT / ".witnesses"
CANNOT_BE_HAD = 3


@pytest.fixture
def broker() -> Iterator[ReferenceBroker]:
    with ReferenceBroker("amqp-fast-0-8") as broker:
        yield broker


@pytest.fixture(scope="module")
def witnesses() -> Path:
    """The folder with both clients; skips where they are not available."""
    done = subprocess.run(
        [ROOT / ".ci/witnesses-fast", WITNESSES], capture_output=True, text=True, timeout=590, cwd=ROOT
    )
    if done.returncode == CANNOT_BE_HAD:
        pytest.skip(f"the clients of 2005 cannot be had: {done.stdout.strip()}")
    assert done.returncode == 0, done.stdout + done.stderr
    return WITNESSES / "clients"


def commands(octets: bytes, greets: bool = False) -> list[CommandFrame]:
    reader = CommandReader(greets=greets)
    reader.feed(octets)
    return [item for item in iter(reader.next, None) if isinstance(item, CommandFrame)]


def answers(broker: ReferenceBroker, octets: bytes) -> list[CommandFrame]:
    """What the broker answers to octets in one write, up to the end."""
    with socket.create_connection((broker.host, broker.port), 10) as line:
        line.sendall(octets)
        return commands(b"".join(iter(lambda: line.recv(65_536), b"")))


# --- golden input


def test_the_codec_reads_what_the_perl_client_wrote() -> None:
    found = commands(PERL_SAID, greets=True)
    assert [frame.error for frame in found] == [None] * 12
    by_name = {frame.name: frame.args for frame in found}
    assert by_name["connection.response"]["responses"].plain() == {"LOGIN": b"guest", "PASSWORD": b"guest"}
    assert by_name["connection.tune"]["options"].plain() == {"FRAME_MAX": 32_000}
    opened, consumed = by_name["handle.open"], by_name["handle.consume"]
    assert (opened["producer"], opened["consumer"], opened["browser"]) == (True, True, False)
    assert [consumed[bit] for bit in ("no_local", "no_ack", "dynamic", "exclusive")] == [
        False,
        False,
        True,
        False,
    ]
    sent = next(frame for frame in found if frame.name == "handle.send")
    head, body = decode_opening(sent.fragment)
    assert (head["body_size"], head["priority"], head["mime_type"], head["identifier"]) == (
        5,
        4,
        "text/plain",
        "one",
    )
    assert body == b"hello"


def test_the_broker_answers_a_recorded_conversation(broker: ReferenceBroker) -> None:
    found = answers(broker, PERL_SAID)
    names = [frame.name for frame in found]
    # In one write, the answer to PING overtakes what goes by channels (command-priorities).
    assert sorted(names) == sorted(PERL_HEARD)
    assert [n for n in names if n != "connection.ping"] == [n for n in PERL_HEARD if n != "connection.ping"]
    assert [frame.args["reply_code"] for frame in found if "reply_code" in frame.args] == [200] * 8
    assert next(f for f in found if f.name == "handle.notify").fragment[-5:] == b"hello"


def test_the_java_client_differs_in_handle_open_only(broker: ReferenceBroker) -> None:
    said = commands(JAVA_SAID, greets=True)
    assert [(f.name, f.error is None) for f in said if f.error] == [("handle.open", False)]
    # 0.8d5: the flags stand behind a service type, which 0.8d6 moved to SEND and CONSUME.
    assert next(f for f in said if f.name == "handle.open").fields.hex() == "00010001000200010200000000"
    names = [(f.name, f.args.get("reply_code")) for f in answers(broker, JAVA_SAID)]
    assert names == [
        ("connection.challenge", None),
        ("connection.tune", None),
        ("channel.reply", 200),
        ("connection.close", 501),
    ]


# --- the clients themselves


def test_where_the_sources_cannot_be_had_is_told_at_once(tmp_path: Path) -> None:
    nowhere = {**os.environ, "OPENAMQ_GIT": "http://127.0.0.1:1/none"}
    command = [ROOT / ".ci/witnesses-fast", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, env=nowhere)
    said = (done.returncode, done.stdout, done.stderr)
    assert said == (CANNOT_BE_HAD, "cannot reach http://127.0.0.1:1/none\n", "")


def test_the_perl_client_converses(broker: ReferenceBroker, witnesses: Path) -> None:
    modules = witnesses / "agnostic/perl"
    done = subprocess.run(
        ["perl", "-I", modules, ROOT / "tests/witnesses/fast.pl", broker.host, str(broker.port)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "done: hello from temporary.00000001"


@needs_java
def test_the_java_client_opens_a_session(broker: ReferenceBroker, witnesses: Path, tmp_path: Path) -> None:
    folder = witnesses / "java2"
    classes = ":".join(map(str, [*sorted((folder / "lib").glob("*/*.jar")), folder / "out", tmp_path]))
    source = ROOT / "tests/witnesses/Fast.java"
    subprocess.run(
        ["javac", "-nowarn", "-d", tmp_path, "-cp", classes, source], check=True, timeout=PATIENCE_S
    )
    command = ["java", "-cp", classes, "Fast", broker.host, str(broker.port)]
    said = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout is not None
        for line in client.stdout:
            said.append(line)
            if "Connection$Close" in line:
                client.kill()
    text = "".join(said)
    assert "session" in text, "CHANNEL OPEN was confirmed"
    assert "Connection$Close" in text, "it answers the CLOSE that its HANDLE OPEN leads to"
