"""Which function handles which method.

Knows: names of methods. Must not know: what any handler does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.contents import Received
    from amqpspec.reference.methods.link import Link
    from amqpspec.reference.methods.session import Session

SessionHandler: TypeAlias = "Callable[[Session, Call], None]"
LinkHandler: TypeAlias = "Callable[[Link, Call], None]"
ContentHandler: TypeAlias = "Callable[[Session, Received], None]"

SESSION_HANDLERS: dict[str, SessionHandler] = {}
LINK_HANDLERS: dict[str, LinkHandler] = {}
CONTENT_HANDLERS: dict[str, ContentHandler] = {}


def handles(name: str) -> Callable[[SessionHandler], SessionHandler]:
    """Register the handler of a method that comes in on a channel."""

    def register(handler: SessionHandler) -> SessionHandler:
        SESSION_HANDLERS[name] = handler
        return handler

    return register


def handles_on_link(name: str) -> Callable[[LinkHandler], LinkHandler]:
    """Register the handler of a method that comes in on channel 0."""

    def register(handler: LinkHandler) -> LinkHandler:
        LINK_HANDLERS[name] = handler
        return handler

    return register


def handles_content(name: str) -> Callable[[ContentHandler], ContentHandler]:
    """Register the handler of a whole content."""

    def register(handler: ContentHandler) -> ContentHandler:
        CONTENT_HANDLERS[name] = handler
        return handler

    return register


def is_quiet(call: Call) -> bool:
    """Whether a call wants no answer; dialects spell that in two ways."""
    return bool(call.args.get("no_wait") or call.args.get("nowait"))
