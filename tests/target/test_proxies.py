"""Which proxy the environment names, and for whom."""

from __future__ import annotations

import pytest

from amqpspec.net.proxy import Proxy
from amqpspec.target.config import ConfigError
from amqpspec.target.live import endpoint_of
from amqpspec.target.proxies import proxy_of
from amqpspec.target.url import parse_url

NAMES = ("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "REQUEST_METHOD")
URL = parse_url("amqp+wss://broker.example/ws")


@pytest.fixture(autouse=True)
def nothing_from_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "proxy"),
    [
        ({}, None),
        ({"HTTPS_PROXY": "http://proxy:3128"}, Proxy("proxy", 3128)),
        ({"https_proxy": "http://proxy:3128/"}, Proxy("proxy", 3128)),
        ({"HTTPS_PROXY": "http://other:1", "https_proxy": "http://proxy:3128"}, Proxy("proxy", 3128)),
        ({"HTTPS_PROXY": "proxy:3128"}, Proxy("proxy", 3128)),
        ({"HTTPS_PROXY": "http://[::1]"}, Proxy("::1", 80)),
        ({"HTTPS_PROXY": "http://ann:p%40ss@proxy:1"}, Proxy("proxy", 1, "ann:p@ss")),
        ({"HTTP_PROXY": "http://proxy:3128", "ALL_PROXY": "http://proxy:3128"}, None),
        ({"HTTPS_PROXY": "http://proxy:1", "NO_PROXY": "other, broker.example"}, None),
        ({"HTTPS_PROXY": "http://proxy:1", "no_proxy": ".example"}, None),
        ({"HTTPS_PROXY": "http://proxy:1", "no_proxy": "broker.example:443"}, None),
        ({"HTTPS_PROXY": "http://proxy:1", "no_proxy": "broker.example:444"}, Proxy("proxy", 1)),
        ({"HTTPS_PROXY": "http://proxy:1", "no_proxy": "*"}, None),
        ({"HTTPS_PROXY": "http://proxy:1", "no_proxy": "roker.example"}, Proxy("proxy", 1)),
    ],
)
def test_which_proxy(
    environment: dict[str, str], proxy: Proxy | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert proxy_of(URL) == endpoint_of(URL).proxy == proxy


def test_an_address_of_ipv6_may_be_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    for text in ("::1", "[::1]", "[::1]:443"):
        monkeypatch.setenv("NO_PROXY", text)
        assert proxy_of(parse_url("amqp+wss://[::1]/")) is None
        assert proxy_of(URL) is not None


@pytest.mark.parametrize("url", ["amqp+ws://h/", "amqps://h/", "amqp://h/"])
def test_others_go_straight(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:1")
    assert endpoint_of(parse_url(url)).proxy is None


@pytest.mark.parametrize(
    ("text", "actual"),
    [
        ("https://u:secret@proxy:1", "scheme 'https'"),
        ("socks5://secret@proxy", "scheme 'socks5'"),
        ("http://secret@", "no host"),
        ("http://proxy:secret", "no such address"),
        ("http://[::1", "no such address"),
    ],
)
def test_a_proxy_that_cannot_be_used_is_one_line_without_its_password(
    text: str, actual: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", text)
    with pytest.raises(ConfigError) as caught:
        proxy_of(URL)
    assert str(caught.value) == f"HTTPS_PROXY: expected http://HOST:PORT, actual {actual}"
