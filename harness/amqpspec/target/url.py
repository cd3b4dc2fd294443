"""AMQP URLs as the AMQP URI specification and RabbitMQ's query parameters have them, and those over WebSocket.

Knows: scheme, authority, virtual host, query. Must not know: sockets, targets.yaml.
``amqp://host`` opens the virtual host ``/``; ``amqp://host/`` the empty one is written by the specification, but every
client reads a lone slash as the default host, and so do we; ``%2f`` says ``/`` outright.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlencode, urlsplit

PORTS = {"amqp": 5672, "amqps": 5671, "amqp+ws": 80, "amqp+wss": 443}
_TLS = ("amqps", "amqp+wss")
_WEBSOCKET = ("amqp+ws", "amqp+wss")
_PATH = "/-._~!$&'()*+,;=:@%"
_QUERY = frozenset(
    {"cacertfile", "certfile", "keyfile", "verify", "server_name_indication", "auth_mechanism", "heartbeat",
     "channel_max", "connection_timeout", "vhost"}
)  # fmt: skip
_VALUES = {
    "verify": ("verify_peer", "verify_none"),
    "auth_mechanism": ("plain", "amqplain", "anonymous", "external", "scram-sha-1", "scram-sha-256", "none"),
}


class UrlError(ValueError):
    """A URL that cannot be used; the text says what was expected and what was there."""


@dataclass(frozen=True, slots=True)
class AmqpUrl:
    """A parsed URL; ``query`` holds the parameters of RabbitMQ's URI query convention.

    ``path`` is that of the WebSocket which carries the octets, empty if none does.
    """

    host: str
    port: int
    user: str = "guest"
    password: str = "guest"
    vhost: str = "/"
    tls: bool = False
    query: Mapping[str, str] = field(default_factory=dict)
    path: str = ""

    @property
    def redacted(self) -> str:
        """The URL without user, password and parameters but the virtual host."""
        vhost = f"?{urlencode({'vhost': self.vhost})}" if self.path and self.vhost != "/" else ""
        return self._written("") + vhost

    @property
    def whole(self) -> str:
        """The URL with all of it, the password, too."""
        query = f"?{urlencode(self.query)}" if self.query else ""
        return self._written(f"{quote(self.user, safe='')}:{quote(self.password, safe='')}@") + query

    def _written(self, login: str) -> str:
        scheme = ("amqps" if self.tls else "amqp") if not self.path else "amqp+wss" if self.tls else "amqp+ws"
        host = f"[{self.host}]" if ":" in self.host else self.host
        path = self.path or "/" + ("" if self.vhost == "/" else quote(self.vhost, safe=""))
        return f"{scheme}://{login}{host}:{self.port}{path}"


def _shown(text: str) -> str:
    """The text without what may be a password."""
    before, at, after = text.rpartition("@")
    return f"{before.partition('://')[0]}://…@{after}" if at else text


def _port(parts: SplitResult, text: str) -> int | None:
    """The port; a password with a bare / ? or # cuts the URL short, which shows here and must not show the password."""
    try:
        if parts.port != 0 and not parts.fragment:
            return parts.port
    except ValueError:
        pass
    raise UrlError(
        f"{_shown(text)!r}: expected host and port (1 to 65535) after user and password;"
        " in these, / ? # @ are written %2F %3F %23 %40"
    )


def _check_vhost(parts: SplitResult, query: Mapping[str, str], text: str) -> None:
    """Over WebSocket the path is that of HTTP, and the virtual host a parameter; elsewhere the path is the host."""
    if "vhost" in query and parts.scheme not in _WEBSOCKET:
        raise UrlError(f"{_shown(text)!r}: vhost: expected as the path of the URL, actual: a parameter")


def _one_of(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}"


def parse_url(text: str) -> AmqpUrl:
    """Read ``amqp://user:password@host:port/vhost?query``; raises UrlError."""
    try:
        parts = urlsplit(text)
    except ValueError as error:
        raise UrlError(f"{_shown(text)!r}: {error}") from error
    port = _port(parts, text)
    if parts.scheme not in PORTS:
        raise UrlError(
            f"{_shown(text)!r}: expected scheme {_one_of(PORTS)}, actual {parts.scheme or 'none'!r}"
        )
    if not parts.hostname:
        raise UrlError(f"{_shown(text)!r}: expected a host, actual: none")
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    unknown = set(query) - _QUERY
    if unknown:
        raise UrlError(
            f"{_shown(text)!r}: unknown query parameter {sorted(unknown)[0]!r}, expected one of {sorted(_QUERY)}"
        )
    for name, known in _VALUES.items():
        if query.get(name, known[0]).lower() not in known:
            raise UrlError(f"{_shown(text)!r}: {name}: expected one of {list(known)}, actual {query[name]!r}")
    _check_vhost(parts, query, text)
    path = quote(parts.path, safe=_PATH) or "/" if parts.scheme in _WEBSOCKET else ""
    return AmqpUrl(
        host=unquote(parts.hostname),
        port=PORTS[parts.scheme] if port is None else port,
        user=unquote(parts.username) if parts.username is not None else "guest",
        password=unquote(parts.password) if parts.password is not None else "guest",
        vhost=query.get("vhost") or "/" if path else unquote(parts.path[1:]) or "/",
        tls=parts.scheme in _TLS,
        query=query,
        path=path,
    )
