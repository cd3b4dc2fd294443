"""What families of AMQP/Fast put together: commands with given fields, messages, tables, as octets.

Knows: the codec. Must not know: what is odd about what is put together.
"""

from __future__ import annotations

from typing import Any

from amqpspec.fuzz.amqp_fast_0_8.samples import CHANNEL, HANDLE, NEW_HANDLE, TAG, TOPIC, TOPIC_SERVICE
from amqpspec.fuzz.families.base import next_productions
from amqpspec.fuzz.states.model import State
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_USUAL: dict[str, Any] = {
    "channel_id": CHANNEL, "handle_id": HANDLE, "confirm_tag": TAG, "service_type": TOPIC_SERVICE, "prefetch": 10,
    "dest_name": TOPIC, "reply_code": 200,
}  # fmt: skip
_ALL = {"producer": True, "consumer": True, "browser": True}


def say(name: str, /, **fields: Any) -> bytes:
    """A command on the channel and the handle of a state, unless others are named."""
    known = {field.key for field in DIALECT.commands_by_name[name].fields}
    return command_frame(name, **{**{k: v for k, v in _USUAL.items() if k in known}, **fields})


def open_handle(handle: int = NEW_HANDLE, channel: int = CHANNEL, **fields: Any) -> bytes:
    """A handle with every right."""
    return say("handle.open", handle_id=handle, channel_id=channel, **{**_ALL, **fields})


def send(body: bytes = b"amqpspec", /, *, handle: int = HANDLE, name: str = TOPIC, **head: Any) -> bytes:
    """A whole message to a topic, in one fragment."""
    return fragment(encode_message(body, **head), handle_id=handle, dest_name=name)


def fragment(octets: bytes, **fields: Any) -> bytes:
    """One SEND with a fragment after it."""
    return say("handle.send", fragment=octets, **fields)


def may(state: State, name: str) -> bool:
    """Whether a command may legally come next."""
    return any(p.name.startswith(f"command/{name}") for p in next_productions(DIALECT.id, state))
