"""The channel class: open, flow, close.

Knows: when a channel number is taken and when it is free again.
Must not know: anything that happens on an open channel.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session

_LATER_S = 0.05


@handles("channel.open")
def open_(session: Session, call: Call) -> None:
    """A channel is opened."""
    if session.opened:
        session.refuse("channel/open/state", f"channel {session.number} is open")
    elif session.number > session.link.channel_max - session.faulty("channel-max-is-one-less"):
        session.refuse("connection/tune/channel-max", f"channel {session.number}")
    if call.args.get("out_of_band"):
        session.refuse("constant/not-implemented", "there is no out-of-band transport")
    session.opened = True
    session.active = not session.faulty("channel-starts-paused")
    session.link.sessions[session.number] = session
    session.send("channel.open-ok")


@handles("channel.flow")
def flow(session: Session, call: Call) -> None:
    """The client pauses or resumes its deliveries."""
    active = call["active"]
    if not session.faulty("flow-ignored"):
        session.active = active
    if session.faulty("flow-stops-whole-connection"):
        for other in session.link.sessions.values():
            other.active = active
    if not session.faulty("flow-not-confirmed"):
        _confirm_flow(session, active)
    if active and not session.faulty("flow-never-resumes"):
        session.pump()


def _confirm_flow(session: Session, active: bool) -> None:
    busy = any(consumer.queue.ready_count for consumer in session.consumers.values())
    if busy and session.faulty("flow-answered-after-the-contents"):
        asyncio.get_running_loop().call_later(_LATER_S, _confirm_flow, session, active)
        return
    session.send("channel.flow-ok", active=not active if session.faulty("flow-ok-inverted") else active)
    session.link.core.flush()


@handles("channel.flow-ok")
def flow_ok(session: Session, call: Call) -> None:
    """The client has paused or resumed its contents, as it was asked to."""
    if session.flow_asked:
        session.flow_asked.pop(0)
    else:
        session.refuse("constant/command-invalid", "flow-ok without flow")


@handles("channel.close")
def close(session: Session, call: Call) -> None:
    """The client closes the channel; where both do, the broker still waits for its close-ok."""
    crossing = session.closing
    if crossing and session.faulty("crossing-channel-close-ignored"):
        return
    session.closing = True
    session.release()
    if not session.faulty("channel-close-not-confirmed"):
        session.send("channel.close-ok")
    if not crossing and not session.faulty("closed-channel-number-stays-taken"):
        session.link.sessions.pop(session.number, None)


@handles("channel.close-ok")
def close_ok(session: Session, call: Call) -> None:
    """The client has read why the channel was closed: its number is free."""
    if not session.closing:
        session.refuse("constant/command-invalid", "close-ok without close")
    elif not session.faulty("closed-channel-number-stays-taken"):
        session.link.sessions.pop(session.number, None)
