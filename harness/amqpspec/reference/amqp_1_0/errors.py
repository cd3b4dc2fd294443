"""The form of an error on the wire, and the condition if the ledger names none.

Knows: conditions, the three parts of an error. Must not know: who sends it where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.reference.refusing import RefusedError
from amqpspec.wire.amqp_1_0.values import Value

ANY = "amqp:not-allowed"
_FITTING: Mapping[str, str] = {
    "connections/idle-timeout/close": "amqp:resource-limit-exceeded",
    "connections/idle-timeout/unsupported": "amqp:not-implemented",
    "links/recovering/no-record": "amqp:not-found",
    "performatives/attach/target/none": "amqp:invalid-field",
    "performatives/attach/incomplete-unsettled/receiver": "amqp:illegal-state",
    "not-implemented": "amqp:not-implemented",
}


def fitting(refused: RefusedError) -> str:
    """The condition of a refusal; a suitable one if any is accepted."""
    code = refused.refusal.code if refused.refusal is not None else None
    return code if isinstance(code, str) else _FITTING.get(refused.rule, ANY)


def error_of(
    faulty: Callable[[str], bool], condition: str, text: str, frame: str, info: Any = None
) -> dict[str, Any] | None:
    """An error for a detach, an end or a close; ``info`` is a map of what is more to say."""
    if faulty("errors-without-error"):
        return None
    description = None if _lacks_description(faulty, frame) else text
    if faulty("condition-as-string"):
        return {"condition": Value("string", condition), "description": description}
    more = {} if info is None else {"info": info}
    return {"condition": condition, "description": description, **more}


def _lacks_description(faulty: Callable[[str], bool], frame: str) -> bool:
    if frame == "detach":
        return faulty("detach-without-description")
    return faulty("end-without-description") if frame == "end" else faulty("close-without-description")


FAULTS = fault_table("""
errors-without-error: detach, end and close carry no error [definitions/error/condition links/errors/detach-with-error
    sessions/errors/end connections/closing/close-frame]
condition-as-string: the condition of an error is a string [definitions/error/condition]
close-without-description: the error of a close has no description [performatives/close/error]
end-without-description: the error of an end has no description [performatives/end/error]
detach-without-description: the error of a detach has no description [performatives/detach/error]
""")
