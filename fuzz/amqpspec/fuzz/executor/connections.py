"""What an event loop holds: a socket with its conversation, and the inputs that are still to come.

Knows: sockets, conversations, inputs, limits of descriptors. Must not know: selectors, the data.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import psutil

from amqpspec.fuzz.executor.conversation import Conversation
from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.executor.reusable import ReusableConnection
from amqpspec.fuzz.executor.tls import Pipe
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput

if TYPE_CHECKING:
    from amqpspec.fuzz.executor.web import WebPipe

MOST_CARRIED, _MOST_KNOWN = 512, 4096
"""How many connections may only wait besides the others: on any target, and on one whose descriptors are known."""


def room_to_wait(pid: int | None) -> int:
    """How many connections may only wait: with half of the descriptors of this process and of the target's."""
    # Only Linux and FreeBSD report the limits of another process.
    if pid is None or not hasattr(psutil, "RLIMIT_NOFILE"):
        return MOST_CARRIED
    try:
        limits = [psutil.Process(one).rlimit(psutil.RLIMIT_NOFILE)[0] for one in (pid, None)]
    except (psutil.Error, OSError):
        return MOST_CARRIED
    return min([_MOST_KNOWN, *(soft // 2 for soft in limits if soft >= 0)])


class Connection:
    """A socket with its conversation. The loop looks at it at ``due_s`` at the latest. ``port`` is our own, 0 before
    the socket connects.
    """

    __slots__ = ("begins", "begun", "conversation", "due_s", "events", "inputs", "on", "pipe", "port")

    def __init__(self, on: socket.socket, conversation: Conversation, pipe: Pipe | WebPipe | None) -> None:
        self.on, self.conversation, self.pipe = on, conversation, pipe
        self.events, self.due_s, self.begun, self.begins = 0, conversation.deadline_s, pipe is None, True
        self.inputs, self.port = 1, 0

    def outcome(self) -> InputResult:
        """The result of a conversation that is done."""
        result = self.conversation.result
        assert result is not None
        return replace(result, port=self.port)

    def is_done(self) -> bool:
        """Whether there is a result."""
        return self.conversation.result is not None


class InputQueue:
    """The inputs that are left. Those put back go first, each on a separate connection."""

    def __init__(self, inputs: Iterable[FuzzInput]) -> None:
        self._rest, self._back = iter(inputs), list[FuzzInput]()
        self._next = next(self._rest, None)

    @property
    def is_empty(self) -> bool:
        """Whether no input is left."""
        return self._next is None and not self._back

    def take(self) -> FuzzInput | None:
        """Return the next input, or None."""
        return self._back.pop() if self._back else self._fresh()

    def take_for(self, reusable: ReusableConnection) -> FuzzInput | None:
        """Return the next input that can be sent on a reusable connection, or None."""
        item = None if self._back else self._fresh()
        if item is None or reusable.fits(item):
            return item
        self.put_back(item)
        return None

    def put_back(self, item: FuzzInput) -> None:
        """Put an input back: its result does not count."""
        self._back.append(item)

    def _fresh(self) -> FuzzInput | None:
        item, self._next = self._next, next(self._rest, None)
        return item
