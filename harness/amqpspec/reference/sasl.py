"""Login: the security mechanisms, each as a conversation that takes octets and gives octets.

Knows: PLAIN, ANONYMOUS, EXTERNAL (the name in a TLS client's certificate), SCRAM with two hashes.
Must not know: frames or phases. A step gives octets (the next challenge), a user (logged in) or None (refused).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from amqpspec.reference.model import User

Result: TypeAlias = bytes | User | None

_ITERATIONS = 4096
_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-1")
_ALWAYS = ("PLAIN", "ANONYMOUS", *_SCRAM)


@dataclass(slots=True)
class Login:
    """One attempt to log in; ``last_words`` go with the outcome."""

    users: Mapping[str, User]
    over_tls: bool
    certificate_name: str
    last_words: bytes | None = None
    _server: Any = None
    _mechanism: str = ""
    _name: str = ""

    @property
    def offered(self) -> tuple[str, ...]:
        """The mechanisms that this connection may use."""
        return (*_ALWAYS, "EXTERNAL") if self.over_tls else _ALWAYS

    def first(self, mechanism: str, response: bytes) -> Result:
        """The client has chosen."""
        self._mechanism = mechanism
        if mechanism not in self.offered:
            return None
        if mechanism == "PLAIN":
            return self._plain(response)
        if mechanism == "EXTERNAL":
            return self.users.get(self.certificate_name)
        return self.users["guest"] if mechanism == "ANONYMOUS" else self._scram_first(response)

    def second(self, response: bytes) -> Result:
        """The client has answered the challenge."""
        from scramp import ScramException

        if self._server is None:
            return None
        try:
            self._server.set_client_final(response.decode("utf-8"))
        except (ScramException, UnicodeDecodeError, ValueError):
            return None
        self.last_words = self._server.get_server_final().encode()
        return self.users.get(self._name)

    def _plain(self, response: bytes) -> Result:
        parts = response.split(b"\0")
        if len(parts) != 3:
            return None
        user = self.users.get(parts[1].decode("utf-8", "replace"))
        return user if user is not None and user.password.encode() == parts[2] else None

    def _scram_first(self, response: bytes) -> Result:
        from scramp import ScramException, ScramMechanism

        self._server = ScramMechanism(self._mechanism).make_server(self._stored)
        try:
            self._server.set_client_first(response.decode("utf-8"))
            return bytes(self._server.get_server_first().encode())
        except (ScramException, UnicodeDecodeError, ValueError, KeyError):
            self._server = None
            return None

    def _stored(self, name: str) -> Any:
        self._name = name
        return _stored(self._mechanism, self.users[name].password)


@cache
def _stored(mechanism: str, password: str) -> Any:
    """What a server keeps of a password."""
    from scramp import ScramMechanism

    return ScramMechanism(mechanism).make_auth_info(password, iteration_count=_ITERATIONS)
