"""The dialect of a target that is given by URL: identified by the protocol header that it answers."""

from __future__ import annotations

import pytest

from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.detect import Detected, detect, offered
from amqpspec.spec.dialects import certified_dialects, load_dialect, widest
from amqpspec.target.config import Target
from amqpspec.target.url import parse_url


@pytest.mark.parametrize("dialect", certified_dialects())
def test_every_dialect_is_told_by_its_own_header(dialect: str) -> None:
    assert offered(load_dialect(widest(dialect)).protocol_header) == dialect


@pytest.mark.parametrize(
    ("answer", "dialect"),
    [(b"AMQP\x01\x01\x00\x09\x01", "amqp-0-9-1"), (b"AMQP\x03\x01\x00\x00", "amqp-1-0")],
)
def test_a_header_may_name_a_version_in_another_way(answer: bytes, dialect: str) -> None:
    assert offered(answer) == dialect


@pytest.mark.parametrize("answer", [b"", b"AMQP\0", b"HTTP/1.1 400 Bad", b"AMQP\x07\x07\x07\x07"])
def test_other_answers_tell_nothing(answer: bytes) -> None:
    assert offered(answer) is None


# A server of AMQP/Fast sends no header: it ends the socket, and has to be spoken to by --dialect.
@pytest.mark.parametrize("dialect", [d for d in certified_dialects() if d != "amqp-fast-0-8"])
def test_a_broker_of_one_dialect_is_spoken_to_in_it(dialect: str) -> None:
    with ReferenceBroker(widest(dialect)) as broker:
        assert detect(Target("it", url=parse_url(broker.url))).dialect == dialect


def test_a_target_that_nobody_serves_keeps_its_dialect() -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        url = parse_url(broker.url)
    assert detect(Target("gone", url=url)) == Detected("amqp-0-9-1")
