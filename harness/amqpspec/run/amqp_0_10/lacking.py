"""Optional parts of AMQP 0-10 that a target lacks, determined by its answers to their commands.

Knows: one harmless command of each part. Must not know: cases, targets' names.

A target lacks a part if it answers not-implemented, or if it answers a command of that part exactly as it answers a
command of an undefined class. Any other refusal is one of a target that has the part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.context import Context, Unmet
from amqpspec.peer.events import Reaction
from amqpspec.run.driver import ProbeFailed, why_ended
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Refusal
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import COMMAND, encode_instruction
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.transport import StreamEnded

_XID = Packed("dtx.xid", {"format": 1, "global_id": b"amqpspec", "branch_id": b"none"})
_ASKED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "file": ("file.qos", {}),
    "stream": ("stream.qos", {}),
    "tx": ("tx.select", {}),
    "dtx": ("dtx.select", {}),
    "dtx-heuristics": ("dtx.forget", {"xid": _XID}),
    "message-resume": ("message.resume", {"destination": "none", "resume_id": "none"}),
    "gap": ("session.gap", {"commands": ()}),
}
"""A part that a target may lack, and what asks for it without changing anything."""
_NOT_IMPLEMENTED = next(
    c.value for c in DIALECT.choices("execution.error-code") if c.name == "not-implemented"
)
_NO_CLASS = (11, 1)


def lacking(context: Context) -> dict[str, str]:
    """The parts that the target does not have, with its answer; raises ProbeFailed if it cannot be asked."""
    try:
        unknown = _answer(context, encode_instruction("execution.sync", {}, code=_NO_CLASS))
        return dict(_lacks(context, unknown.refusal))
    except StreamEnded as ended:
        raise ProbeFailed(f"could not ask for optional parts: {why_ended(ended)}") from ended
    except Unmet as unmet:
        raise ProbeFailed(f"could not ask for optional parts: {unmet}") from unmet


def _lacks(context: Context, unknown: Refusal | None) -> Iterator[tuple[str, str]]:
    for part, (name, args) in _ASKED.items():
        answer = _answer(context, name, **args)
        if answer.refusal is None:
            continue
        reason = f"the target answers {name} with {answer.refusal.describe(DIALECT)}"
        if answer.refusal.code == _NOT_IMPLEMENTED:
            yield part, reason
        elif answer.refusal == unknown:
            yield part, f"{reason}, as it does a command of a class that does not exist"


def _answer(context: Context, what: str | bytes, **args: Any) -> Reaction:
    """What the target does about a command by name, or about the octets of one, in a session on its own connection."""
    peer = Peer(context)
    try:
        peer.open_session()
        if isinstance(what, str):
            peer.send(what, **args)
        else:
            peer.number()
            peer.send_octets(encode_frame(what, type=COMMAND))
        return peer.reaction()
    finally:
        peer.hang_up()
