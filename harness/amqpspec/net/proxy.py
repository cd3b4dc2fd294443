"""Connects through an HTTP proxy with CONNECT; reports any refusal in one line.

Knows: h11, sockets. Must not know: the purpose of the tunnel, the source of the proxy's address.
"""

from __future__ import annotations

import socket
import time
from base64 import b64encode
from dataclasses import dataclass, field

_READ_OCTETS = 4096
_SHOWN_OCTETS = 24


class ProxyError(OSError):
    """The proxy did not open a tunnel; the message states what was expected and what arrived."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """The address of a proxy, and its login, ``user:password``, if it has one."""

    host: str
    port: int
    login: str = field(default="", repr=False)

    @property
    def authority(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def tunnel(self, raw: socket.socket, authority: str, timeout_s: float) -> None:
        """Open a tunnel to another host and port; on failure, closes the connection and raises ProxyError.

        The answer may take this many seconds and have 16 KiB, the limit of h11.
        """
        try:
            actual = _answer(raw, authority, self.login, timeout_s)
        except BaseException:
            raw.close()
            raise
        if actual:
            raw.close()
            raise ProxyError(f"expected HTTP 200 to CONNECT, actual {actual}")
        raw.settimeout(timeout_s)


def _answer(raw: socket.socket, authority: str, login: str, timeout_s: float) -> str:
    """The proxy's answer if it is not a success; otherwise empty."""
    # Imported here: it belongs to an extra that a run without WebSocket does not need.
    import h11

    until_s, seen = time.monotonic() + timeout_s, b""
    talk = h11.Connection(h11.CLIENT)
    host = authority.encode("idna").decode()
    sign = [("Proxy-Authorization", f"Basic {b64encode(login.encode()).decode()}")] if login else []
    try:
        request = h11.Request(method="CONNECT", target=host, headers=[("Host", host), *sign])
        raw.sendall((talk.send(request) or b"") + (talk.send(h11.EndOfMessage()) or b""))
        while not isinstance(event := talk.next_event(), h11.Response):
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            if event is h11.NEED_DATA:
                raw.settimeout(left_s)
                octets = raw.recv(_READ_OCTETS)
                if not octets:
                    return f"the end of the connection{_behind(seen)}"
                seen = (seen + octets)[:_SHOWN_OCTETS]
                talk.receive_data(octets)
    except TimeoutError:
        return f"no complete answer within {timeout_s:g} s{_behind(seen)}"
    except h11.RemoteProtocolError:
        return f"no HTTP: {seen!r}"
    except h11.LocalProtocolError:
        return f"a host that HTTP cannot name: {host!r}"
    if not 200 <= event.status_code < 300:
        return f"HTTP {event.status_code}"
    return f"octets behind it: {talk.trailing_data[0][:_SHOWN_OCTETS]!r}" if talk.trailing_data[0] else ""


def _behind(seen: bytes) -> str:
    return f" behind {seen!r}" if seen else ""
