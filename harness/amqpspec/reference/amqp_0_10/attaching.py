"""Controls that attach sessions to channels and detach them.

Knows: one session for a channel, one channel for a session, timeouts. Must not know: commands.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.reference.amqp_0_10.connection import FRAMING_ERROR, Channel, Connection
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import MAX_TIMEOUT_S, NORMAL, Session, sessions_of
from amqpspec.reference.fault import fault_table
from amqpspec.reference.handlers import Handlers

ATTACHMENTS = Handlers[Callable[[Connection, Channel, Order], None]]()
"""The controls that need no session on their channel."""


@ATTACHMENTS.register("session.attach")
def attach(connection: Connection, channel: Channel, order: Order) -> None:
    """Attach a session to a channel, unless it is attached already."""
    name = channel.name = order["name"]
    others = any(c.session is not None for c in connection.channels.values() if c is not channel)
    if (channel.number == 0 and connection.faulty("channel-zero-refused")) or (
        others and connection.faulty("one-channel-only")
    ):
        connection.close(FRAMING_ERROR, "not on this channel")
        return
    if connection.user is None or connection.vhost is None:
        return  # only with a fault can it arrive before open
    known = sessions_of(connection.core).find(connection.user, name)
    if channel.session is not None and channel.session is not known:
        connection.refuse("session/attach/one-session-per-transport", "another session is attached here")
        channel.session.end(NORMAL)
        channel.session = None
    attached_here = known is not None and known is channel.session
    if attached_here and connection.faulty("attached-again-is-busy"):
        connection.refuse("session/attach/one-transport-per-session", "the session is attached already")
    if known is not None and known.carrier is not None and not attached_here:
        known = _taken_over(connection, known, order)
    if known is None:
        known = Session(connection.core, connection.user, connection.vhost, name)
        sessions_of(connection.core).add(known)
    if not attached_here:
        known.attach(connection, channel.number)
        channel.session, channel.point = known, None
    answered_on = 0 if connection.faulty("responses-on-channel-zero") else channel.number
    answered_name = b"" if connection.faulty("attached-without-a-name") else name
    connection.send(answered_on, "session.attached", name=answered_name)
    if not attached_here:
        known.resume()


def _taken_over(connection: Connection, known: Session, order: Order) -> Session | None:
    """A session that is attached elsewhere is taken over only with force."""
    if not order["force"] or connection.faulty("force-ignored"):
        connection.refuse("session/attach/one-transport-per-session", "the session is attached elsewhere")
    other, number = known.carrier, known.channel
    assert isinstance(other, Connection)
    if connection.faulty("force-leaves-the-other-channel"):
        return known
    known.control("session.detached", name=known.name, code=NORMAL)
    other.channels[number].leave()
    return known


@ATTACHMENTS.register("session.attached")
def attached(connection: Connection, channel: Channel, order: Order) -> None:
    """The broker attaches nothing by itself, so this has no effect."""


@ATTACHMENTS.register("session.detach")
def detach(connection: Connection, channel: Channel, order: Order) -> None:
    """A session leaves its channel."""
    name = channel.name = order["name"]
    session, answers = channel.session, not connection.faulty("detach-not-confirmed")
    if answers and (session is None or session.name != name):
        connection.refuse("session/attachment/discarded", "no such session is attached here")
    elif session is not None and session.name == name:
        _leave(connection, channel, session)
        if answers:
            connection.send(channel.number, "session.detached", name=name, code=NORMAL)


@ATTACHMENTS.register("session.detached")
def detached(connection: Connection, channel: Channel, order: Order) -> None:
    """The client has detached."""
    if channel.session is not None and channel.session.name == order["name"]:
        _leave(connection, channel, channel.session)


def _leave(connection: Connection, channel: Channel, session: Session) -> None:
    channel.leave()
    session.linger()


def request_timeout(session: Session, channel: Channel, order: Order) -> None:
    """How long the session keeps its state after detachment: the requested time, up to a limit."""
    wanted = order["timeout"]
    session.timeout_s = MAX_TIMEOUT_S if wanted is None else min(wanted, MAX_TIMEOUT_S)
    granted = MAX_TIMEOUT_S if session.faulty("timeout-always-the-longest") else session.timeout_s
    if not session.faulty("timeout-not-told"):
        session.control("session.timeout", timeout=granted)


FAULTS = fault_table("""
channel-zero-refused: no session can be attached to channel 0 [transport/channels/zero]
one-channel-only: a second channel closes the connection [transport/channels/several]
responses-on-channel-zero: attached is sent on channel 0 [encoding/response/channel session/attach/answered]
attached-without-a-name: attached does not name its session [session/attach/answered]
attached-again-is-busy: attaching a session again on the same channel is refused [session/attach/idempotence]
force-leaves-the-other-channel: a session moved by force also stays on its old channel [session/attach/force]
force-ignored: attach by force is refused like any other [session/attach/force]
detach-not-confirmed: detach is not answered [session/detach/confirmed]
timeout-always-the-longest: timeout always reports the longest possible timeout
    [session/request-timeout/maximum-granted-timeout/granted]
timeout-not-told: request-timeout is not answered
    [session/request-timeout/maximum-granted-timeout/conveyed session/timeout]
""")
