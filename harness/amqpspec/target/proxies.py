"""The proxy that the environment names for a target: ``https_proxy``, ``HTTPS_PROXY``, ``no_proxy``, ``NO_PROXY``.

Knows: these variables, as curl and Python read them; the small letters go first. Must not know: what is sent to a
proxy.
"""

from __future__ import annotations

from urllib.parse import unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from amqpspec.net.proxy import Proxy
from amqpspec.target.config import ConfigError
from amqpspec.target.url import AmqpUrl

_HTTP_PORT = 80


def proxy_of(url: AmqpUrl) -> Proxy | None:
    """The proxy on the way to a URL, None for the straight way; raises ConfigError for one that cannot be used."""
    text = getproxies_environment().get("https", "")
    host = f"[{url.host}]" if ":" in url.host else url.host
    if not text or any(proxy_bypass(name) for name in (url.host, f"{host}:{url.port}")):
        return None
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        place, port = parts.hostname, parts.port or _HTTP_PORT
    except ValueError as error:
        raise _unusable("no such address") from error
    if parts.scheme != "http" or not place:
        raise _unusable(f"scheme {parts.scheme!r}" if place else "no host")
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else ""
    return Proxy(place, port, login)


def _unusable(actual: str) -> ConfigError:
    """The value is not repeated: it may hold a password."""
    return ConfigError(f"HTTPS_PROXY: expected http://HOST:PORT, actual {actual}")
