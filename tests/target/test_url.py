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
        ("http://host", "expected scheme amqp, amqps, amqp\\+ws or amqp\\+wss, actual 'http'"),
        ("host", "actual 'none'"),
        ("amqp://", "expected a host, actual: none"),
        ("amqp://h:99999", "'amqp://h:99999': expected host and port"),
        ("amqp://h:0", "expected host and port"),
        ("amqp://u:s3/cret@h", r"'amqp://…@h': expected host and port .* written %2F"),
        ("amqp://u:p@s3#cret@h", r"'amqp://…@h': expected host and port .* written %2F"),
        ("amqps://h?verify=none", "verify: expected one of .*'verify_none'.*, actual 'none'"),
        ("amqp://h?auth_mechanism=md5", "auth_mechanism: expected one of .*, actual 'md5'"),
        ("amqp://h?colour=red", "unknown query parameter 'colour'"),
        ("amqp://h/?vhost=x", "vhost: expected as the path of the URL, actual: a parameter"),
        ("amqp+http://h", "actual 'amqp\\+http'"),
        ("amqp+ws://u:s3/cret@h", r"'amqp\+ws://…@h': expected host and port"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, said: str) -> None:
    with pytest.raises(UrlError, match=said):
        parse_url(text)


def test_a_url_shows_no_password() -> None:
    assert parse_url("amqps://user:secret@[::1]:1234/a%2fb").redacted == "amqps://[::1]:1234/a%2Fb"


@pytest.mark.parametrize(
    ("text", "expected", "redacted"),
    [
        ("amqp+ws://h", AmqpUrl("h", 80, path="/"), "amqp+ws://h:80/"),
        ("amqp+ws://u:p@h:15678/ws", AmqpUrl("h", 15678, "u", "p", path="/ws"), "amqp+ws://h:15678/ws"),
        (
            "amqp+wss://[::1]/$servicebus/websocket",
            AmqpUrl("::1", 443, tls=True, path="/$servicebus/websocket"),
            "amqp+wss://[::1]:443/$servicebus/websocket",
        ),
        (
            "amqp+ws://h/a%2fb c\u00e4?vhost=tests",
            AmqpUrl("h", 80, vhost="tests", query={"vhost": "tests"}, path="/a%2fb%20c%C3%A4"),
            "amqp+ws://h:80/a%2fb%20c%C3%A4?vhost=tests",
        ),
    ],
)
def test_over_websocket_the_path_is_that_of_http(text: str, expected: AmqpUrl, redacted: str) -> None:
    url = parse_url(text)
    assert url == expected
    assert url.redacted == redacted
    assert (parse_url(redacted).vhost, parse_url(redacted).path) == (url.vhost, url.path)


@pytest.mark.parametrize(
    "text",
    ["amqp://u:p%2Fw@h:1/v%2Fh", "amqps://u:p@[::1]:2/?verify=verify_none", "amqp+wss://h/ws?vhost=a%20b"],
)
def test_the_whole_url_leads_to_the_same(text: str) -> None:
    url = parse_url(text)
    assert parse_url(url.whole) == url
