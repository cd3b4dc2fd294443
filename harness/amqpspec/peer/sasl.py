"""The client's side of SASL: responses for each mechanism.

Knows: PLAIN, ANONYMOUS, EXTERNAL, SCRAM. Must not know: frames, sockets.

Only SCRAM loads its library, because that takes about as long as loading the rest of an agent.
"""

from __future__ import annotations

from typing import Protocol

from amqpspec.peer.context import Login, Unmet

BARE = "NONE"
"""The mechanism of a login without a security layer."""


class Conversation(Protocol):
    """One attempt to log in."""

    def first(self) -> bytes | None:
        """The initial response."""
        ...

    def answer(self, challenge: bytes) -> bytes:
        """The response to a challenge; raises Unmet for an invalid challenge."""
        ...


class _OneResponse:
    """A mechanism with one response."""

    def __init__(self, response: bytes) -> None:
        self._response = response

    def first(self) -> bytes:
        return self._response

    def answer(self, challenge: bytes) -> bytes:
        return b""


class Scram:
    """SCRAM with any hash, without channel binding;

    ``binding`` and ``more_nonce`` make the last message wrong. ``nonce`` repeats that of the transcript when a
    verdict is derived again; random by default.
    """

    def __init__(
        self, mechanism: str, login: Login, nonce: str = "", *, binding: str = "", more_nonce: str = ""
    ) -> None:
        from scramp import ScramClient

        self._client = ScramClient([mechanism], login.user, login.password, c_nonce=nonce or None)
        self._binding, self._more_nonce = binding, more_nonce
        self._step = 0

    def first(self) -> bytes:
        """The initial response."""
        return str(self._client.get_client_first()).encode()

    def answer(self, challenge: bytes) -> bytes:
        """The response to a challenge; raises Unmet for an invalid challenge."""
        from scramp import ScramException

        self._step += 1
        try:
            text = challenge.decode("utf-8")
            if self._step == 1:
                self._client.set_server_first(text)
                return self._final()
            self._client.set_server_final(text)
        except (ScramException, UnicodeDecodeError, ValueError) as error:
            raise Unmet("a challenge of SCRAM that proves knowledge of the password", str(error)) from error
        return b""

    def _final(self) -> bytes:
        from scramp.core import Gs2Header, Nonce

        client = self._client
        if self._binding:
            client.gs2_header = Gs2Header.from_str(self._binding)
        if self._more_nonce:
            client.nonce += Nonce(self._more_nonce)
        return str(client.get_client_final()).encode()


def conversation(mechanism: str, login: Login, nonce: str = "") -> Conversation:
    """The login with a mechanism; with an unknown one it sends nothing."""
    if mechanism.startswith("SCRAM-") and not mechanism.endswith("-PLUS"):
        return Scram(mechanism, login, nonce)
    if mechanism == "PLAIN":
        return _OneResponse(f"\0{login.user}\0{login.password}".encode())
    return _OneResponse(login.user.encode() if mechanism == "ANONYMOUS" else b"")
