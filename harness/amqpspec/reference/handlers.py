"""Registries of handlers: what a broker does about a method, a command or a control, by its name.

Knows: names. Must not know: the effects of handlers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_H = TypeVar("_H")


class Handlers(dict[str, _H]):
    """The handlers of one kind, by the names of what they handle."""

    def register(self, name: str) -> Callable[[_H], _H]:
        """Register the handler of a name."""

        def registered(handler: _H) -> _H:
            self[name] = handler
            return handler

        return registered
