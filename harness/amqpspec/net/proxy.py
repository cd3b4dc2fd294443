"""A way through an HTTP proxy: CONNECT, and whatever it answers but agreement in one line.

Knows: h11, sockets. Must not know: what the tunnel is for, where its address was found.
"""

from __future__ import annotations

import socket
import time
from base64 import b64encode
from dataclasses import dataclass, field

_READ_OCTETS = 4096
_SHOWN_OCTETS = 24


class ProxyError(OSError):
    """The proxy did not open a tunnel; the text says what was expected and what came."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """Where it listens, and the login that it wants, ``user:password``, if it wants one."""

    host: str
    port: int
    login: str = field(default="", repr=False)

    @property
    def authority(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def tunnel(self, raw: socket.socket, authority: str, timeout_s: float) -> None:
        """Have it lead a connection on to another host and port; closes the connection and raises ProxyError.

        Its answer may take this many seconds, and 16 KiB: h11 reads no more before it is whole.
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
    """What the proxy answers instead of agreement; empty if it agrees."""
    # Imported here: it comes with an extra that a run without WebSocket does not need.
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
