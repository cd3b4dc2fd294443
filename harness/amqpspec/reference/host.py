"""Event loops in background threads, so that synchronous code can start and stop brokers.

Knows: one thread, one loop. Must not know: what runs on it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import cache
from typing import Any, TypeVar

_T = TypeVar("_T")
PATIENCE_S = 30.0


class ReferenceHost:
    """One background event loop, shared by as many brokers as are put on it."""

    def __init__(self, name: str = "reference-brokers") -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        try:
            self.loop.run_forever()
        finally:
            self.loop.close()

    def call(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine on the loop and wait for its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(PATIENCE_S)

    def close(self) -> None:
        """End the loop and its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE_S)


@cache
def shared_host() -> ReferenceHost:
    """The default host of brokers; it lives as long as the process."""
    return ReferenceHost()
