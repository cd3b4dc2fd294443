from __future__ import annotations

import time
from typing import Any

import pytest

from amqpspec.reference.deviations import NONE
from amqpspec.reference.model.routing import MATCHERS


def matches(kind: str, pattern: str, key: str, **more: Any) -> bool:
    return MATCHERS[kind](pattern, more.get("arguments", {}), key, more.get("headers", {}), NONE)


@pytest.mark.parametrize(
    ("pattern", "key", "expected"), [("a", "a", True), ("a", "A", False), ("", "", True)]
)
def test_direct(pattern: str, key: str, expected: bool) -> None:
    assert matches("direct", pattern, key) is expected


def test_fanout() -> None:
    assert matches("fanout", "a", "b")


@pytest.mark.parametrize(
    ("pattern", "key", "expected"),
    [
        ("*.stock.#", "usd.stock", True),
        ("*.stock.#", "eur.stock.db", True),
        ("*.stock.#", "stock.nasdaq", False),
        ("#", "", True),
        ("#", "a.b.c", True),
        ("", "", True),
        ("", "a", False),
        ("*", "", False),
        ("*", "a", True),
        ("*", "a.b", False),
        ("a.#.b", "a.b", True),
        ("a.#.b", "a.x.y.b", True),
        ("a.#.b", "a.x.y", False),
        ("#.a.#", "b.a.c.a", True),
        ("#.#", "", True),
        ("a.*.#", "a", False),
        ("a..b", "a..b", True),
        ("a.*.b", "a..b", True),
    ],
)
def test_topic(pattern: str, key: str, expected: bool) -> None:
    assert matches("topic", pattern, key) is expected


def test_topic_patterns_cannot_explode() -> None:
    started_s = time.process_time()
    assert not matches("topic", ".".join(["#", "a"] * 60), ".".join(["a"] * 120) + ".b")
    assert time.process_time() - started_s < 1


@pytest.mark.parametrize(
    ("arguments", "headers", "expected"),
    [
        ({"x-match": b"all", "a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}, True),
        ({"x-match": b"all", "a": 1, "b": 2}, {"a": 1}, False),
        ({"a": 1, "b": 2}, {"a": 1}, False),
        ({"x-match": b"any", "a": 1, "b": 2}, {"a": 1}, True),
        ({"x-match": b"any", "a": 1}, {"a": 2}, False),
        ({"x-match": b"all", "a": None}, {"a": b"whatever"}, True),
        ({"x-match": b"all", "a": None}, {}, False),
        ({"x-match": b"all", "a": True}, {"a": 1}, False),
        ({"x-match": b"all", "x-other": 1, "a": 1}, {"a": 1}, True),
        ({"x-match": b"all", "a": b"v"}, {"a": "v"}, True),
        ({}, {}, True),
    ],
)
def test_headers(arguments: dict[str, Any], headers: dict[str, Any], expected: bool) -> None:
    assert matches("headers", "", "key", arguments=arguments, headers=headers) is expected
