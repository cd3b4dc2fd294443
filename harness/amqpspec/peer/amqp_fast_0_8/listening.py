"""Converts the octets of a target to arrivals: commands, and messages assembled from their fragments.

Knows: which fragments form a message. Must not know: channels' states, how arrivals are waited for.
"""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived, MessageArrived
from amqpspec.peer.events import Garbled
from amqpspec.peer.listening import FrameListener
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from amqpspec.wire.errors import WireError

MAX_FRAME_OCTETS = 1 << 20
_MAX_FRAGMENTS = 100_000


class Listener(FrameListener[CommandFrame]):
    """Octets in, arrivals out; a message arrives with its last fragment, ``frames`` has every one."""

    def __init__(self) -> None:
        super().__init__(CommandReader(max_size=MAX_FRAME_OCTETS))
        self._fragments: dict[int, list[CommandFrame]] = {}
        self.largest_fragment_octets = 0

    def _frame(self, frame: CommandFrame) -> None:
        if frame.error is not None:
            self._ready.append(Garbled(frame.error))
        elif frame.name == "handle.notify":
            self._notified(frame)
        else:
            self._ready.append(CommandArrived(frame))

    def _notified(self, frame: CommandFrame) -> None:
        fragments = self._fragments.setdefault(frame.args["handle_id"], [])
        fragments.append(frame)
        self.largest_fragment_octets = max(self.largest_fragment_octets, len(frame.fragment))
        if frame.args["partial"] and len(fragments) < _MAX_FRAGMENTS:
            return
        del self._fragments[frame.args["handle_id"]]
        octets = b"".join(f.fragment for f in fragments)
        if frame.args["recovery"]:
            self._ready.append(MessageArrived(tuple(fragments), {}, octets))
            return
        try:
            head, body = decode_opening(octets)
        except WireError as error:
            self._ready.append(Garbled(error))
            return
        self._ready.append(MessageArrived(tuple(fragments), head, body))
