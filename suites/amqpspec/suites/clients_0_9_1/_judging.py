"""How the answer of a client of the 0-9 family to a hostile server is read.

Knows: closes of this family. Must not know: which dialect, what a server did.
"""

from __future__ import annotations

from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CannotDo
from amqpspec.run.clients.judging import No, stayed_s
from amqpspec.run.clients.judging import refusal_by as refusal_in
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.conversation import Conversation, Said

LEAVING = ("connection/start/client-support", "violated/mechanism", "violated/table")
"""Rows that want a client to leave at once: start-ok is going on, too."""
_ERRORS = 300
_WORSE = (Application.CRASH, Application.MEMORY)


def refusal_by(conversation: Conversation, ran: Ran, *, leaving: bool = False) -> Refusal | None:
    """How the client refused what the server did; ``leaving``: start-ok is going on, too.

    Raises Undecided, CannotDo.
    """
    if conversation.talk.is_silenced and not _agreed_s(conversation) and ran.application not in _WORSE:
        # Without heartbeats a client may wait for a silent server as long as it wants (0-9-1 tune-ok, heartbeat).
        raise CannotDo("the client agreed on no heartbeats")
    stayed = leaving and _logged_in(conversation)

    def says(said: Said) -> No | None:
        no = _says(said)
        # After start-ok only an error refuses: a close without one may have any other reason.
        return None if stayed and no is not None and not no.is_error else no

    return refusal_in(conversation, ran, says, lambda talk: stayed or _outlived(talk))


def _says(said: Said) -> No | None:
    """A close: below 300 a code is no error (0-9-1 §1.2), and many clients say 200, or 0, whenever they are done."""
    if said.name not in ("connection.close", "channel.close"):
        return None
    scope = Scope.CONNECTION if said.name.startswith("connection") else Scope.CHANNEL
    return No(Refusal(scope, said.what["reply_code"]), said.what["reply_code"] >= _ERRORS)


def _logged_in(conversation: Conversation) -> bool:
    """Whether the client answered the start that it had to leave for."""
    begun_ns = conversation.talk.hostile_ns or 0
    return any(s.at_ns >= begun_ns for s in conversation.by_client("connection.start-ok"))


def _agreed_s(conversation: Conversation) -> int:
    return next((s.what["heartbeat"] for s in conversation.by_client("connection.tune-ok")), 0)


def _outlived(conversation: Conversation) -> bool:
    """Whether a client stayed for more than four intervals with a silent server; two are the limit.

    One more for the interval in which the silence began, and one for a clock that looks once an interval.
    """
    agreed_s = _agreed_s(conversation)
    is_mute = conversation.talk.is_silenced
    return is_mute and agreed_s > 0 and (stayed_s(conversation) or 0) > 4 * agreed_s
