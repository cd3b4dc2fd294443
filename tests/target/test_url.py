from __future__ import annotations

import pytest

from amqpspec.target.url import AmqpUrl, UrlError, parse_url


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amqp://host", AmqpUrl("host", 5672)),
        ("amqp://host/", AmqpUrl("host", 5672)),
        ("amqp://host/%2f", AmqpUrl("host", 5672)),
        ("amqp://host/%2F", AmqpUrl("host", 5672)),
        ("amqp://host/v%2fhost", AmqpUrl("host", 5672, vhost="v/host")),
        ("amqp://user:pass@host:10000/vhost", AmqpUrl("host", 10000, "user", "pass", "vhost")),
        (
            "amqp://user%61:%61pass@ho%61st:10000/v%2fhost",
            AmqpUrl("hoast", 10000, "usera", "apass", "v/host"),
        ),
        ("amqp://user@host", AmqpUrl("host", 5672, "user")),
        ("amqp://:@host", AmqpUrl("host", 5672, "", "")),
        ("amqp://[::1]", AmqpUrl("::1", 5672)),
        ("amqps://host", AmqpUrl("host", 5671, tls=True)),
        (
            "amqps://h/x?verify=verify_none",
            AmqpUrl("h", 5671, vhost="x", tls=True, query={"verify": "verify_none"}),
        ),
    ],
)
def test_the_examples_of_the_uri_specification(text: str, expected: AmqpUrl) -> None:
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://host", "expected scheme amqp or amqps, actual 'http'"),
        ("host", "actual 'none'"),
        ("amqp://", "expected a host, actual: none"),
        ("amqp://h:99999", "'amqp://h:99999': expected host and port"),
        ("amqp://h:0", "expected host and port"),
        ("amqp://u:s3/cret@h", r"'amqp://…@h': expected host and port .* written %2F"),
        ("amqp://u:p@s3#cret@h", r"'amqp://…@h': expected host and port .* written %2F"),
        ("amqps://h?verify=none", "verify: expected one of .*'verify_none'.*, actual 'none'"),
        ("amqp://h?auth_mechanism=md5", "auth_mechanism: expected one of .*, actual 'md5'"),
        ("amqp://h?colour=red", "unknown query parameter 'colour'"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, said: str) -> None:
    with pytest.raises(UrlError, match=said):
        parse_url(text)


def test_a_url_shows_no_password() -> None:
    assert parse_url("amqps://user:secret@[::1]:1234/a%2fb").redacted == "amqps://[::1]:1234/a%2Fb"
