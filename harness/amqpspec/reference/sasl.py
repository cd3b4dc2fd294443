"""Login: the security mechanisms, each as a conversation that takes octets and gives octets.

Knows: PLAIN, ANONYMOUS, EXTERNAL (the name in a TLS client's certificate), SCRAM with two hashes.
Must not know: frames or phases. A step gives octets (the next challenge), a user (logged in) or None (refused).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import User

Result: TypeAlias = bytes | User | None

_ITERATIONS = 4096
_SCRAM = ("SCRAM-SHA-256", "SCRAM-SHA-1")
_ALWAYS = ("PLAIN", "ANONYMOUS", *_SCRAM)
_CLIENT_FIRST = ("PLAIN", *_SCRAM)


@dataclass(slots=True)
class Login:
    """One attempt to log in; ``last_words`` go with the outcome."""

    users: Mapping[str, User]
    over_tls: bool
    certificate_name: str
    faulty: Callable[[str], bool] = lambda name: False
    last_words: bytes | None = None
    is_challenged: bool = False
    _server: Any = None
    _mechanism: str = ""
    _name: str = ""

    @property
    def offered(self) -> tuple[str, ...]:
        """The mechanisms that this connection may use."""
        return (*_ALWAYS, "EXTERNAL") if self.over_tls else _ALWAYS

    @property
    def is_unknown(self) -> bool:
        """Whether the client chose what is not offered."""
        return self._mechanism not in self.offered

    def first(self, mechanism: str, response: bytes | None) -> Result:
        """The client has chosen; a response that its mechanism begins with is asked for where there is none."""
        self._mechanism = mechanism
        if self.is_unknown:
            return self.users["guest"] if self.faulty("unknown-mechanism-lets-in") else None
        if response is None and mechanism in _CLIENT_FIRST:
            return self._asked()
        return self._begun(response or b"")

    def second(self, response: bytes) -> Result:
        """The client has answered the challenge."""
        self.is_challenged = False
        if self._server is not None:
            return self._scram_second(response)
        return self._begun(response)

    def _asked(self) -> Result:
        if self._mechanism == "PLAIN" and self.faulty("missing-response-lets-in"):
            return self.users["guest"]
        self.is_challenged = True
        return b""

    def _begun(self, response: bytes) -> Result:
        if self._mechanism == "PLAIN":
            return self._plain(response)
        if self._mechanism == "EXTERNAL":
            return self.users.get(self.certificate_name)
        return self.users["guest"] if self._mechanism == "ANONYMOUS" else self._scram_first(response)

    # --- PLAIN

    def _plain(self, response: bytes) -> User | None:
        if not response and self.faulty("empty-response-lets-in"):
            return self.users["guest"]
        parts = response.split(b"\0")
        if len(parts) != 3 and not (len(parts) > 3 and self.faulty("further-parts-of-plain-read-over")):
            return None
        user = self.users.get(parts[1].decode("utf-8", "replace"), self._nobody(parts[1]))
        return user if user is not None and self._is_password(user, parts[2]) else None

    def _nobody(self, name: bytes) -> User | None:
        lax = self.faulty("unknown-user-is-guest") if name else self.faulty("nobody-is-guest")
        return self.users["guest"] if lax else None

    def _is_password(self, user: User, given: bytes) -> bool:
        right = user.password.encode()
        if not given:
            return self.faulty("empty-password-lets-in")
        if self.faulty("plain-lets-nobody-in"):
            return False
        if self.faulty("password-of-anybody-lets-in"):
            return any(given == other.password.encode() for other in self.users.values())
        if self.faulty("password-compared-without-case"):
            return given.lower() == right.lower()
        if self.faulty("password-compared-by-its-beginning"):
            return right.startswith(given)
        if self.faulty("longer-password-lets-in"):
            return given.startswith(right)
        return given == right or self.faulty("any-password-lets-in")

    # --- SCRAM

    def _scram_first(self, response: bytes) -> Result:
        from scramp import ScramException, ScramMechanism

        self._server = ScramMechanism(self._mechanism).make_server(self._stored)
        try:
            self._server.set_client_first(response.decode("utf-8"))
            challenge = bytes(self._server.get_server_first().encode())
        except (ScramException, UnicodeDecodeError, ValueError, KeyError):
            self._server = None
            return None
        self.is_challenged = True
        return challenge.replace(b"r=", b"r=another-", 1) if self.faulty("nonce-of-its-own") else challenge

    def _scram_second(self, response: bytes) -> User | None:
        from scramp import ScramException

        try:
            self._server.set_client_final(response.decode("utf-8"))
        except (UnicodeDecodeError, ValueError):
            return None
        except ScramException as error:
            return self._scram_lax(str(error.server_error).lower())
        self.last_words = self._server.get_server_final().encode()
        if self.faulty("server-proof-missing"):
            self.last_words = None
        if self.faulty("server-proof-wrong"):
            self.last_words = b"v=" + b"A" * 27 + b"="
        return self.users.get(self._name)

    def _scram_lax(self, error: str) -> User | None:
        """Who a faulty broker lets in although the response is wrong."""
        of_proof = "proof" in error
        lax = self.faulty("scram-proof-unchecked") if of_proof else self.faulty("scram-binding-unchecked")
        return self.users.get(self._name) if lax else None

    def _stored(self, name: str) -> Any:
        self._name = name
        return _stored(self._mechanism, self.users[name].password)


@cache
def _stored(mechanism: str, password: str) -> Any:
    """What a server keeps of a password."""
    from scramp import ScramMechanism

    return ScramMechanism(mechanism).make_auth_info(password, iteration_count=_ITERATIONS)


FAULTS = fault_table("""
unknown-mechanism-lets-in: a mechanism that is not offered lets in [sasl/init/unsupported]
missing-response-lets-in: PLAIN without an initial response lets in [sasl/init/initial-response]
empty-response-lets-in: PLAIN with a response of no octets lets in [sasl/init/initial-response]
further-parts-of-plain-read-over: what follows the password in a response of PLAIN is read over [sasl/plain/malformed]
plain-lets-nobody-in: the right password is refused, too [sasl/plain/right]
unknown-user-is-guest: PLAIN with a name that no user has counts as that of guest [sasl/plain/unknown-user]
nobody-is-guest: PLAIN without a name counts as guest [sasl/plain/unknown-user]
empty-password-lets-in: PLAIN with a password of no octets lets in [sasl/plain/empty-password]
password-of-anybody-lets-in: any user's password is good for every user [sasl/plain/wrong-password]
password-compared-without-case: passwords are compared without case [sasl/plain/wrong-password]
password-compared-by-its-beginning: the beginning of a password is enough [sasl/plain/wrong-password]
longer-password-lets-in: what follows the password is not compared [sasl/plain/wrong-password]
any-password-lets-in: PLAIN with any password lets in [sasl/plain/wrong-password]
nonce-of-its-own: the nonce in the challenge does not begin with the client's [sasl/challenge/scram]
server-proof-missing: the broker does not prove that it knows the password [sasl/challenge/scram]
server-proof-wrong: the broker proves its knowledge by a wrong signature [sasl/challenge/scram]
scram-proof-unchecked: the client's proof is not checked [sasl/response/scram-proof]
scram-binding-unchecked: nonce and channel binding of a response are not checked [sasl/response/scram-binding]
""")
