"""TLS over a stream that does not wait: octets of records in and out, plain octets out and in.

Knows: the settings that a target's URL has. Must not know: sockets, the data.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

from amqpspec.target.live import endpoint_of
from amqpspec.target.url import AmqpUrl

_READ_OCTETS = 65_536


@dataclass(frozen=True, slots=True)
class Tls:
    """The parameters of an ``amqps`` URL; each process makes its context from them."""

    settings: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, url: AmqpUrl) -> Self | None:
        """The settings in a URL; None without TLS."""
        return cls(tuple(sorted(url.query.items()))) if url.tls else None

    @property
    def context(self) -> ssl.SSLContext:
        """The context that the runner would make. Raises ConfigError for files that cannot be used."""
        return _context(self.settings)

    def server_name(self, host: str) -> str:
        """The name that the certificate has to carry."""
        return dict(self.settings).get("server_name_indication", "") or host


@lru_cache(maxsize=8)
def _context(settings: tuple[tuple[str, str], ...]) -> ssl.SSLContext:
    context = endpoint_of(AmqpUrl("localhost", 0, tls=True, query=dict(settings))).tls
    assert context is not None
    return context


class Pipe:
    """The client's side of a TLS connection. ``out`` holds records to send; ``agreed`` is True after the handshake."""

    def __init__(self, tls: Tls, host: str) -> None:
        self.out = bytearray()
        self._records_in, self._records_out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = tls.context.wrap_bio(
            self._records_in, self._records_out, server_hostname=tls.server_name(host)
        )
        self.agreed = self._broken = False

    def arrived(self, records: bytes) -> tuple[bytes, bool]:
        """Return the plain octets in what arrived, and whether the stream has ended; no records mean its end."""
        if records:
            self._records_in.write(records)
        else:
            self._records_in.write_eof()
        plain, over = bytearray(), not records
        try:
            if self._shaken():
                while octets := self._tls.read(_READ_OCTETS):
                    plain += octets
                over = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            # An alert, an end without one, or invalid records: nothing more can be read.
            over = self._broken = True
        self._take()
        return bytes(plain), over

    def leave(self, plain: bytearray) -> None:
        """Encrypt plain octets after the handshake; they are taken out of ``plain``."""
        try:
            if not self._broken and self._shaken() and plain:
                self._tls.write(bytes(plain))
                plain.clear()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError:
            self._broken = True
        if self._broken:
            plain.clear()
        self._take()

    def _shaken(self) -> bool:
        if not self.agreed:
            self._tls.do_handshake()
            self.agreed = True
        return self.agreed

    def _take(self) -> None:
        if self._records_out.pending:
            self.out += self._records_out.read()
