"""What rules about a server share: how far a conversation can be judged.

Knows: conversations. Must not know: single rules.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.methods.codec import Call


def readable(talk: Conversation) -> Iterator[Said]:
    """What both sides said, up to the first frame that cannot be decoded: what is not known may have been a request."""
    for said in talk.said:
        if said.name == "garbled":
            return
        yield said


def is_method(said: Said) -> bool:
    """Whether a frame is a method."""
    return isinstance(said.what, Call)
