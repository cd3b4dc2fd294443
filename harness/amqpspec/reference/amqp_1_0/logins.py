"""Faults in logins of the 1.0 broker, for each mechanism.

Knows: faults in PLAIN and SCRAM. Must not know: frames, the correct login (``amqpspec.reference.sasl`` does).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import User
from amqpspec.reference.sasl import Login, Result


@dataclass(slots=True)
class FaultyLogin(Login):
    """A login that asks at each step whether a fault is on."""

    faulty: Callable[[str], bool] = lambda name: False

    def first(self, mechanism: str, response: bytes | None) -> Result:
        """The client has chosen."""
        if mechanism not in self.offered and self.faulty("unknown-mechanism-lets-in"):
            return self.users["guest"]
        if mechanism == "PLAIN" and response is None and self.faulty("missing-response-lets-in"):
            return self.users["guest"]
        if mechanism == "ANONYMOUS" and self.faulty("anonymous-clients-refused"):
            return None
        result = Login.first(self, mechanism, response)
        if isinstance(result, bytes) and self.faulty("nonce-of-its-own"):
            return result.replace(b"r=", b"r=another-", 1)
        return result

    def second(self, response: bytes) -> Result:
        """The client has answered the challenge."""
        result = Login.second(self, response)
        if self.faulty("server-proof-missing"):
            self.last_words = None
        if self.last_words and self.faulty("server-proof-wrong"):
            self.last_words = b"v=" + b"A" * 27 + b"="
        return result

    def _plain(self, response: bytes) -> User | None:
        if not response and self.faulty("empty-response-lets-in"):
            return self.users["guest"]
        if self.faulty("further-parts-of-plain-read-over"):
            response = b"\0".join(response.split(b"\0")[:3])
        return Login._plain(self, response)

    def _named(self, name: bytes) -> User | None:
        lax = self.faulty("unknown-user-is-guest") if name else self.faulty("nobody-is-guest")
        return Login._named(self, name) or (self.users["guest"] if lax else None)

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

    def _unproven(self, *, of_proof: bool) -> User | None:
        lax = self.faulty("scram-proof-unchecked") if of_proof else self.faulty("scram-binding-unchecked")
        return self.users.get(self._name) if lax else None


FAULTS = fault_table("""
unknown-mechanism-lets-in: a mechanism that is not offered logs the client in [sasl/init/unsupported]
anonymous-clients-refused: ANONYMOUS is offered, but every login with it is refused [sasl/mechanisms/announced]
missing-response-lets-in: PLAIN without an initial response logs the client in [sasl/init/initial-response]
empty-response-lets-in: PLAIN with an empty response logs the client in [sasl/init/initial-response]
further-parts-of-plain-read-over: what follows the password in a response of PLAIN is read over [sasl/plain/malformed]
plain-lets-nobody-in: even the right password is refused [sasl/plain/right]
unknown-user-is-guest: PLAIN with a name that no user has counts as that of guest [sasl/plain/unknown-user]
nobody-is-guest: PLAIN without a name counts as guest [sasl/plain/unknown-user]
empty-password-lets-in: PLAIN with an empty password logs the client in [sasl/plain/empty-password]
password-of-anybody-lets-in: any user's password is good for every user [sasl/plain/wrong-password]
password-compared-without-case: passwords are compared without case [sasl/plain/wrong-password]
password-compared-by-its-beginning: the beginning of a password is enough [sasl/plain/wrong-password]
longer-password-lets-in: what follows the password is not compared [sasl/plain/wrong-password]
any-password-lets-in: PLAIN with any password logs the client in [sasl/plain/wrong-password]
nonce-of-its-own: the nonce in the challenge does not begin with the client's [sasl/challenge/scram]
server-proof-missing: the broker does not prove that it knows the password [sasl/challenge/scram]
server-proof-wrong: the broker proves its knowledge by a wrong signature [sasl/challenge/scram]
scram-proof-unchecked: the client's proof is not checked [sasl/response/scram-proof]
scram-binding-unchecked: nonce and channel binding of a response are not checked [sasl/response/scram-binding]
""")
