"""Login: the security mechanisms, each as a sequence of steps on octets.

Knows: PLAIN, ANONYMOUS, EXTERNAL (the name in a TLS client's certificate), SCRAM with two hashes. Must not know:
frames or phases. A step returns octets (the next challenge), a user (logged in) or None (refused).
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
_CLIENT_FIRST = ("PLAIN", *_SCRAM)
_PARTS = 3


@dataclass(slots=True)
class Login:
    """One attempt to log in; ``last_words`` go with the outcome, ``is_challenged`` says that a response is due."""

    users: Mapping[str, User]
    over_tls: bool
    certificate_name: str
    last_words: bytes | None = None
    is_challenged: bool = False
    mechanism: str = ""
    _server: Any = None
    _name: str = ""

    @property
    def offered(self) -> tuple[str, ...]:
        """The mechanisms that this connection may use."""
        return (*_ALWAYS, "EXTERNAL") if self.over_tls else _ALWAYS

    def first(self, mechanism: str, response: bytes | None) -> Result:
        """The client has chosen; requests the response that its mechanism begins with if there is none."""
        self.mechanism = mechanism
        if mechanism not in self.offered:
            return None
        if response is None and mechanism in _CLIENT_FIRST:
            self.is_challenged = True
            return b""
        return self._begun(response or b"")

    def second(self, response: bytes) -> Result:
        """The client has answered the challenge."""
        if not self.is_challenged:
            return None
        self.is_challenged = False
        return self._begun(response) if self._server is None else self._scram_second(response)

    def _begun(self, response: bytes) -> Result:
        if self.mechanism == "PLAIN":
            return self._plain(response)
        if self.mechanism == "EXTERNAL":
            return self.users.get(self.certificate_name)
        return self.users["guest"] if self.mechanism == "ANONYMOUS" else self._scram_first(response)

    def _plain(self, response: bytes) -> User | None:
        parts = response.split(b"\0")
        if len(parts) != _PARTS:
            return None
        user = self._named(parts[1])
        return user if user is not None and self._is_password(user, parts[2]) else None

    def _named(self, name: bytes) -> User | None:
        return self.users.get(name.decode("utf-8", "replace"))

    def _is_password(self, user: User, given: bytes) -> bool:
        return bool(given) and user.password.encode() == given

    def _scram_first(self, response: bytes) -> Result:
        from scramp import ScramException, ScramMechanism

        self._server = ScramMechanism(self.mechanism).make_server(self._stored)
        try:
            self._server.set_client_first(response.decode("utf-8"))
            challenge = bytes(self._server.get_server_first().encode())
        except (ScramException, UnicodeDecodeError, ValueError, KeyError):
            self._server = None
            return None
        self.is_challenged = True
        return challenge

    def _scram_second(self, response: bytes) -> User | None:
        from scramp import ScramException

        try:
            self._server.set_client_final(response.decode("utf-8"))
        except ScramException as error:
            return self._unproven(of_proof="proof" in str(error.server_error).lower())
        except (UnicodeDecodeError, ValueError):
            return None
        self.last_words = self._server.get_server_final().encode()
        return self.users.get(self._name)

    def _unproven(self, *, of_proof: bool) -> User | None:
        """The result of a wrong response of SCRAM: by its proof, or by what it repeats."""
        return None

    def _stored(self, name: str) -> Any:
        self._name = name
        return _stored(self.mechanism, self.users[name].password)


@cache
def _stored(mechanism: str, password: str) -> Any:
    """What a server keeps of a password."""
    from scramp import ScramMechanism

    return ScramMechanism(mechanism).make_auth_info(password, iteration_count=_ITERATIONS)
