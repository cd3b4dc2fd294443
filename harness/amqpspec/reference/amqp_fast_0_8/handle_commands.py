"""Commands on handles that carry no message: OPEN, CONSUME, FLOW, UNGET, QUERY, BROWSE, CLOSE.

Knows: their fields, and which rules they can violate. Must not know: how a handle carries them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from amqpspec.reference.amqp_fast_0_8.connection import CODES, Connection
from amqpspec.reference.amqp_fast_0_8.destinations import QUEUE, TOPIC
from amqpspec.reference.amqp_fast_0_8.handles import Handle, Subscription, listed
from amqpspec.reference.amqp_fast_0_8.limits import HANDLE_MAX
from amqpspec.reference.fault import fault_table
from amqpspec.reference.handlers import Handlers
from amqpspec.reference.model import Consumer, Queue

Args = Mapping[str, Any]
"""The fields of a command, and the ``fragment`` after it."""
HandleCommand = Callable[[Connection, Handle, Args], None]
COMMANDS = Handlers[Callable[[Connection, Args], None]]()


def on_handle(name: str, rule: str) -> Callable[[HandleCommand], HandleCommand]:
    """Register a command on an open handle; it violates a rule if the handle that it names is not open."""

    def registered(command: HandleCommand) -> HandleCommand:
        COMMANDS[name] = partial(_on_open_handle, rule, command)
        return command

    return registered


def _on_open_handle(rule: str, command: HandleCommand, connection: Connection, args: Args) -> None:
    handle = connection.handles.get(args["handle_id"])
    if handle is None:
        connection.refuse(rule, f"handle {args['handle_id']} is not open")
    else:
        command(connection, handle, args)


def confirm(connection: Connection, handle: Handle, args: Args, name: str) -> None:
    """Answer a command where its confirm-tag asks for it."""
    tag, id = args["confirm_tag"], handle.id
    if not tag and not connection.faulty("handle-commands-confirmed-unasked"):
        return
    if _stays_silent(connection, name):
        return
    if connection.faulty("handle-reply-with-another-tag"):
        tag = tag % 0xFFFF + 1
    handle.channel.say("handle.reply", handle_id=id, confirm_tag=tag, reply_code=200)


def _stays_silent(connection: Connection, name: str) -> bool:
    """Whether a fault leaves a command unconfirmed."""
    if connection.faulty("handle-commands-not-confirmed"):
        return True
    return {
        "handle-open": connection.faulty("handle-open-not-confirmed"),
        "send": connection.faulty("send-not-confirmed"),
        "consume": connection.faulty("consume-not-confirmed"),
        "flow": connection.faulty("flow-not-confirmed"),
        "unget": connection.faulty("unget-not-confirmed"),
    }[name]


def may(connection: Connection, handle: Handle, right: str) -> None:
    """Refuse work for which no right was asked, or that the user may not do."""
    spoilt = {
        "producer": connection.faulty("producers-refused"),
        "consumer": connection.faulty("consumers-refused"),
        "browser": connection.faulty("browsers-refused"),
    }[right]
    if not handle.rights[right] or spoilt or (connection.user is not None and not connection.user.may_work):
        connection.refuse("handle/open/access", f"handle {handle.id} is not open as {right}")


# --- OPEN and CLOSE


@COMMANDS.register("handle.open")
def _open(connection: Connection, args: Args) -> None:
    id, channel = args["handle_id"], connection.channels.get(args["channel_id"])
    if not id:
        connection.refuse("handle/open/not-zero", "handle 0")
    if channel is None:
        connection.refuse("scenarios/opening/order", f"channel {args['channel_id']} is not open")
        return
    if id in connection.handles:
        connection.refuse("handle/open/handle-id", f"handle {id} is open")
        return
    if len(connection.handles) >= HANDLE_MAX - connection.faulty("handle-max-one-less"):
        connection.refuse("tuning/handle-max", f"more than {HANDLE_MAX} handles")
    if connection.faulty("handles-on-the-first-channel"):
        channel = next(iter(connection.channels.values()))
    handle = connection.handles[id] = Handle(connection, id, channel, args)
    connection.closing_handles.discard(id)
    confirm(connection, handle, args, "handle-open")


@on_handle("handle.close", "handle/close/open")
def _close(connection: Connection, handle: Handle, args: Args) -> None:
    if connection.faulty("client-cannot-close-a-handle"):
        connection.close(503, "not by you")
        return
    connection.handle_closed(handle.id, answer=not connection.faulty("handle-close-not-answered"))


# --- CONSUME


@on_handle("handle.consume", "handle/consume/open")
def _consume(connection: Connection, handle: Handle, args: Args) -> None:
    may(connection, handle, "consumer")
    if args["service_type"] not in (QUEUE, TOPIC):
        connection.refuse("handle/consume/service-type", f"service type {args['service_type']}")
    if not args["prefetch"]:
        connection.refuse("handle/consume/prefetch-range", "prefetch 0")
    early = connection.faulty("reply-before-created")
    if early:
        confirm(connection, handle, args, "consume")
    consumer = _subscribe(connection, handle, args)
    if consumer is None:
        return
    handle.consumers.append(consumer)
    if not early:
        confirm(connection, handle, args, "consume")
    consumer.queue.dispatch()


def _subscribe(connection: Connection, handle: Handle, args: Args) -> Consumer | None:
    taker = Subscription(handle, max(1, args["prefetch"]), args["selector"])
    choosy = bool(args["selector"])
    if args["service_type"] == TOPIC:
        queue = connection.destinations.topic_queue(args["dest_name"])
        consumer = Consumer("", queue, taker, args["no_ack"], False, False, choosy)
        handle.topics.add(consumer)
        connection.destinations.subscribe(args["dest_name"], consumer, args["no_local"])
    else:
        found = _queue(connection, handle, args)
        if found is None:
            return None
        consumer = Consumer("", found, taker, args["no_ack"], False, args["exclusive"], choosy)
    consumer.queue.consumers.append(consumer)
    return consumer


def _queue(connection: Connection, handle: Handle, args: Args) -> Queue | None:
    """The queue to read, created if it is dynamic and does not exist;

    None if there is none, and it was tolerated.
    """
    name, destinations = args["dest_name"], connection.destinations
    queue = destinations.queue(name) if name else None
    if queue is None and not args["dynamic"]:
        connection.refuse("errors/destination", f"no queue {name!r}")
        return None
    if queue is None:
        if connection.faulty("dynamic-not-known") and name:
            connection.refuse("errors/destination", f"no queue {name!r}")
        queue = destinations.make_queue(name, connection)
    if any(c.exclusive for c in queue.consumers) or (args["exclusive"] and queue.consumers):
        connection.refuse("handle/consume/exclusive", f"queue {queue.name!r} has an exclusive reader")
    once = connection.destinations.once_exclusive
    if connection.faulty("exclusive-outlives-its-reader") and queue.name in once:
        connection.refuse("handle/consume/exclusive", f"queue {queue.name!r} had an exclusive reader")
    if args["exclusive"]:
        once.add(queue.name)
    if args["dynamic"]:
        _created(connection, handle, queue.name, bool(name))
    return queue


def _created(connection: Connection, handle: Handle, name: str, named: bool) -> None:
    if connection.faulty("created-not-sent") and not named:
        return
    if named and connection.faulty("created-with-another-name"):
        name += ".0"
    code = {"code": 38} if connection.faulty("created-by-another-code") else {}
    handle.channel.say("handle.created", handle_id=handle.id, dest_name=name, **code)


# --- FLOW, UNGET


@on_handle("handle.flow", "handle/flow/open")
def _flow(connection: Connection, handle: Handle, args: Args) -> None:
    if not connection.faulty("flow-ignored"):
        handle.paused = args["flow_pause"]
    if connection.faulty("flow-never-restarts") and not args["flow_pause"]:
        handle.paused = True
    if connection.faulty("paused-reader-keeps-its-queue") and handle.paused:
        for consumer in handle.consumers:
            consumer.queue.consumers[:] = [consumer]
    confirm(connection, handle, args, "flow")
    for consumer in tuple(handle.consumers):
        consumer.queue.dispatch()


@on_handle("handle.unget", "handle/unget/open")
def _unget(connection: Connection, handle: Handle, args: Args) -> None:
    number = args["message_nbr"]
    if not handle.channel.unget(handle.id, number):
        rule = "handle/unget/before-ack" if _was_delivered(handle, number) else "handle/unget/number"
        connection.refuse(rule, f"no message {number} to give back")
    confirm(connection, handle, args, "unget")


def _was_delivered(handle: Handle, number: int) -> bool:
    return 0 < number < handle.channel.next_in_line


# --- QUERY, BROWSE


@on_handle("handle.query", "handle/query/open")
def _query(connection: Connection, handle: Handle, args: Args) -> None:
    may(connection, handle, "browser")
    queue = connection.destinations.queue(args["dest_name"])
    more, numbers = handle.index(queue, args["message_nbr"])
    if connection.faulty("query-not-answered"):
        return
    handle.channel.say(
        "handle.index",
        handle_id=handle.id,
        message_nbr=more,
        message_list=listed(numbers, connection.faulty),
    )


@on_handle("handle.browse", "handle/browse/open")
def _browse(connection: Connection, handle: Handle, args: Args) -> None:
    may(connection, handle, "browser")
    if connection.faulty("browse-not-answered"):
        return
    if not handle.browse(args["message_nbr"]):
        connection.refuse(
            "handle/browse/gone", f"no message {args['message_nbr']}", CODES["message-not-found"]
        )


FAULTS = fault_table("""
handle-commands-confirmed-unasked: commands on handles are confirmed without a confirm-tag
    [connection/confirmation/zero handle/summary/server/flow handle/reply/asked]
handle-commands-not-confirmed: commands on handles are not confirmed
    [scenarios/confirmations/asked handle/reply/asked connection/confirmation/non-zero]
handle-reply-with-another-tag: HANDLE REPLY has another confirm-tag [handle/reply/confirm-tag]
handle-max-one-less: the last handle that HANDLE_MAX allows is refused [tuning/handle-max]
handles-on-the-first-channel: every handle belongs to the channel that was opened first [handle/open/channel]
client-cannot-close-a-handle: a client that closes a handle is in error [handle/close/any-time]
handle-close-not-answered: HANDLE CLOSE is not answered [handle/close/answered handle/summary/server/close]
reply-before-created: the REPLY to CONSUME is sent before CREATED [scenarios/confirmations/reply-last]
dynamic-not-known: a named queue is not created [handle/consume/dynamic]
created-not-sent: the name of a generated queue is not sent
    [handle/created/unnamed handle/consume/generated]
created-with-another-name: CREATED contains another name than the client gave [changes/created-for-dynamic]
created-by-another-code: CREATED has a code that is not defined [syntax/handle-commands]
exclusive-outlives-its-reader: a queue that was read exclusively cannot be read by others afterwards
    [handle/consume/exclusive]
flow-ignored: FLOW has no effect [handle/flow/pause scenarios/receiving/flow]
flow-never-restarts: a handle that was paused stays so [handle/flow/pause scenarios/receiving/flow]
paused-reader-keeps-its-queue: while one reader of a queue is paused, no other one is served [handle/flow/others]
query-not-answered: QUERY is not answered
    [handle/index/answer handle/summary/server/query scenarios/browsing/index]
browse-not-answered: BROWSE is not answered
    [handle/browse/available handle/summary/server/browse]
producers-refused: a handle that was opened as producer may not send [handle/open/access]
consumers-refused: a handle that was opened as consumer may not consume [handle/open/access]
browsers-refused: a handle that was opened as browser may not browse [handle/open/access]
handle-open-not-confirmed: HANDLE OPEN is not confirmed [handle/open/confirmed]
send-not-confirmed: SEND is not confirmed [handle/summary/server/send]
consume-not-confirmed: CONSUME is not confirmed [handle/summary/server/consume]
flow-not-confirmed: FLOW is not confirmed [handle/summary/server/flow]
unget-not-confirmed: UNGET is not confirmed [handle/summary/server/unget]
""")
