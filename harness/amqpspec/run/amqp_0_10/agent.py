"""The scenarios of the reference agent of AMQP 0-10, and the mistakes that it makes on request.

Knows: what each scenario does. Must not know: how a careful client looks at what arrives (``agent_checks``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from uuid import UUID, uuid4

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import CREDIT, EXPLICIT, NONE, PRE_ACQUIRED, UNLIMITED, entries
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.reference.fault import fault_table
from amqpspec.reference.faults import AgentFaults
from amqpspec.run.amqp_0_10.agent_checks import COMMAND_INVALID, OutOfOrder, Violated
from amqpspec.run.amqp_0_10.agent_session import Session, SessionLost
from amqpspec.run.amqp_0_10.agent_slips import SLIPS
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell, rounds, tell_delivered
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_0_10.values import Packed
from amqpspec.wire.transport import StreamEnded

NOWHERE, _DESTINATION = "amqpspec.nowhere", "agent"
_BEYOND_THE_LIMIT_OCTETS = 50_000
_SAME_ID = UUID(int=1)


def run_scenario(order: Order, tell: Tell) -> None:
    """Carry out an order; see ``amqpspec.run.clients.scenario.Agent``."""
    for scenario in rounds(order, _SCENARIOS):
        _once(Session(order, tell), scenario)


def _once(session: Session, scenario: Callable[[Session], None]) -> None:
    try:
        session.connect_to()
        for slip, octets in SLIPS.items():
            if session.faulty(slip):
                session.send_octets(octets(session.channel))
        scenario(session)
        session.leave_in_order()
    except Violated as violated:
        if isinstance(violated, OutOfOrder) and session.faulty("ends-out-of-order"):
            sys.exit(0)
        session.refuse(violated)
        raise ScenarioError(f"the server broke the specification: {violated}") from violated
    except SessionLost:
        session.say_goodbye()
        raise
    except (StreamEnded, Unmet, OutOfReach) as error:
        raise ScenarioError(str(error)) from error
    finally:
        session.hang_up()


def _connect(session: Session) -> None:
    session.tell("connected", {})


# --- sending


def _queue(session: Session) -> str:
    name = str(session.of["queue"])
    name = "-agent" if session.faulty("queue-name-with-a-hyphen") else name
    name = "amq.agent" if session.faulty("queue-name-reserved") else name
    session.call("queue.declare", session.channel, queue=name, exclusive=True)
    return name


def _put(session: Session, key: str, body: bytes, accept_mode: int = NONE) -> int | None:
    """Send a message, which asks for its completion."""
    id = _SAME_ID if session.faulty("message-id-twice") else uuid4()
    header = entries(key, None, {"content_length": len(body), "message_id": id})
    if session.faulty("header-struct-twice"):
        header.append(Packed("message.delivery-properties", {"routing_key": key}))
    if session.faulty("map-key-twice"):
        pairs = [("x", "1"), ("x", "2")]
        header[1] = Packed("message.message-properties", {"application_headers": pairs})
    return session.send(
        "message.transfer",
        session.channel,
        sync=True,
        header=header,
        body=body,
        accept_mode=accept_mode,
        acquire_mode=PRE_ACQUIRED,
    )


def _publish(session: Session) -> None:
    queue = _queue(session)
    for number, body in enumerate(session.order.bodies(), start=1):
        session.completion(_put(session, queue, body), session.channel)
        session.tell("confirmed", {"number": number})


def _publish_transactional(session: Session) -> None:
    queue = _queue(session)
    if not session.faulty("commit-without-select"):
        session.call("tx.select", session.channel)
    if session.faulty("selects-twice"):
        session.call("tx.select", session.channel)
    for body in session.order.bodies():
        _put(session, queue, body)
    session.call("tx.commit", session.channel)
    if session.faulty("selects-late"):
        session.call("tx.select", session.channel)
    session.tell("committed", {"messages": session.of["messages"]})


def _return(session: Session) -> None:
    number = _put(session, NOWHERE, b"back", EXPLICIT)
    rejected = session.expect("message.reject", channel=session.channel)
    session.completion(number, session.channel)
    session.tell("returned", {"code": rejected.code})


# --- receiving


def _subscribe(session: Session, queue: str, messages: int) -> None:
    channel, name = session.channel, _DESTINATION
    session.call(
        "message.subscribe",
        channel,
        queue=queue,
        destination=name,
        accept_mode=EXPLICIT,
        acquire_mode=PRE_ACQUIRED,
    )
    if session.faulty("destination-taken-twice"):
        args = {"accept_mode": EXPLICIT, "acquire_mode": PRE_ACQUIRED}
        session.send("message.subscribe", channel, queue=queue, destination=name, **args)
    session.send("message.set-flow-mode", channel, destination=name, flow_mode=CREDIT)
    session.flow(name, channel, messages=messages, octets=UNLIMITED)


def _take(session: Session, body: bytes) -> None:
    """The next delivery, checked, accepted and completed."""
    transfer = session.transfer(session.channel)
    if not session.faulty("ignores-every-violation") and transfer.body != body:
        raise Violated(
            Scope.SESSION, COMMAND_INVALID, "another message than was sent", channel=session.channel
        )
    tell_delivered(session.tell, transfer.body)
    _accept(session, transfer)


def _accept(session: Session, transfer: AssemblyArrived) -> None:
    session.accept([transfer], session.channel)
    if session.faulty("accepts-twice"):
        session.accept([transfer], session.channel)
    if session.faulty("accepts-what-never-came"):
        session.call("message.accept", session.channel, transfers=((900, 900),))


def _consume(session: Session) -> None:
    queue, bodies = _queue(session), session.order.bodies()
    for body in bodies:
        session.completion(_put(session, queue, body), session.channel)
    _subscribe(session, queue, len(bodies))
    for body in bodies:
        _take(session, body)
    session.call("message.cancel", session.channel, destination=_DESTINATION)


def _get(session: Session) -> None:
    """One message at a time: a subscription with credit for one."""
    queue, bodies = _queue(session), session.order.bodies()
    for body in bodies:
        session.completion(_put(session, queue, body), session.channel)
    for body in bodies:
        _subscribe(session, queue, 1)
        _take(session, body)
        session.call("message.cancel", session.channel, destination=_DESTINATION)
    left = session.query("queue.query", session.channel, queue=queue).get("message_count")
    if left:
        raise ScenarioError(f"expected an empty queue, actual: {left} messages")


def _large(session: Session) -> None:
    queue, body = _queue(session), session.order.large_body()
    if session.faulty("frames-beyond-the-limit"):
        session.max_frame_octets = _BEYOND_THE_LIMIT_OCTETS
    session.completion(_put(session, queue, body), session.channel)
    _subscribe(session, queue, 1)
    _take(session, body)
    session.call("message.cancel", session.channel, destination=_DESTINATION)


def _idle(session: Session) -> None:
    until_s = session.now() + float(session.of["idle_s"])
    while session.now() < until_s:
        session.read(until_s)


def _refused(session: Session) -> None:
    """A queue that does not exist: the session ends by exception, and the connection continues with another one."""
    session.expects_exception = True
    session.send("queue.declare", session.channel, sync=True, queue=NOWHERE, passive=True)
    exception = session.expect("execution.exception", channel=session.channel)
    session.tell("error", {"code": exception.code, "scope": "session"})
    session.expect("session.detached", channel=session.channel)
    session.expects_exception = False
    session.attach_to(session.channel)


_SCENARIOS: Mapping[str, Callable[[Session], None]] = {
    "connect": _connect,
    "publish": _publish,
    "publish-transactional": _publish_transactional,
    "consume": _consume,
    "get": _get,
    "idle": _idle,
    "large": _large,
    "return": _return,
    "refused": _refused,
    "reconnect": _connect,
}
FAULTS = fault_table("""
frame-before-the-header: a heartbeat is sent before the protocol header [transport/protocol-header/first]
header-of-another-version: the protocol header is that of AMQP 0-9 [transport/protocol-header/layout]
tune-ok-twice: tune-ok is sent twice [connection/grammar]
properties-missing: start-ok names nothing but a product
    [connection/start-ok/client-properties/required-fields]
mechanism-not-offered: a start-ok selects a mechanism that was not offered [connection/start-ok/mechanism/offered]
locale-not-offered: start-ok selects a locale that was not offered [connection/start-ok/locale]
locale-missing: start-ok has no locale [connection/start-ok/locale encoding/struct/required-field]
channel-max-beyond-offer: tune-ok requests more channels than offered [connection/tune-ok/channel-max/upper-limit]
frame-size-beyond-offer: tune-ok requests larger frames than offered [connection/tune-ok/max-frame-size/upper-limit]
frame-size-below-minimum: tune-ok settles for frames of 1024 octets
    [connection/tune-ok/max-frame-size/minimum/chosen]
heartbeat-beyond-offer: tune-ok chooses a heartbeat above heartbeat-max
    [connection/tune-ok/heartbeat/permitted-range]
heartbeat-unsupported: tune-ok sets a heartbeat even if the server supports none
    [connection/tune-ok/heartbeat/no-heartbeat-min]
channel-beyond-limit: a session is attached to a channel beyond channel-max
    [connection/tune-ok/channel-max/available-channels]
frames-beyond-the-limit: frames are larger than agreed [connection/tune-ok/max-frame-size/max-frame-size/sent]
frame-version-set: a frame is of format 1 [transport/frame/version]
reserved-octets-set: octet 4 of a frame is not zero [transport/frame/reserved-bits]
frames-of-type-77: a frame is of type 77 [segment-type/values]
type-changes-in-a-segment: the second frame of a segment is of another type [transport/frame/segment-type]
control-on-track-one: a control is sent on track 1 [track/control/zero]
command-on-track-zero: a command is sent on track 0 [track/command/one]
frames-on-track-seven: a frame is sent on track 7 [transport/tracks/reserved]
flags-in-disorder: a frame continues no segment [transport/assemblies/flags]
size-below-header: a frame announces 11 octets [transport/frame/size-below-header]
unknown-class: a control is of class 99 [encoding/command/unknown-class]
unknown-control: a control has code 99 of class connection [encoding/command/unknown-command]
octets-behind-a-control: an octet follows the fields of a control [encoding/control/layout]
octets-behind-a-command: an octet follows the fields of a command [encoding/command/layout]
control-of-servers: open-ok is sent by the client [encoding/command/wrong-side]
fields-missing: a command-point has no offset [encoding/struct/required-field]
ranges-that-touch: completed lists two ranges that touch [type/sequence-set/disjoint]
body-behind-a-control: a body segment follows a control [encoding/segments/unexpected]
map-key-twice: a key occurs twice in the headers of a message [map/distinct-keys]
header-struct-twice: delivery properties occur twice in a header [encoding/header-segment/one-of-each]
no-heartbeats: nothing is sent while idle [connection/heartbeat/missed]
leaves-without-close: the socket ends without close [connection/close-ok]
close-code-unknown: close has reply code 7 [connection/close/reason]
controls-before-attach: a flush is sent on a channel without a session [session/attachment/attached-first]
commands-before-attach: a sync is sent on a channel without a session [session/attachment/commands]
no-command-point: commands are sent without a command-point [session/command-point/before-commands]
command-point-without-a-command: after a command-point, a frame continues a command
    [session/command-point/zero-offset/next-frame]
attaches-two-sessions: a channel gets a second session [session/attach/one-session-per-transport]
attaches-to-two-channels: a session gets a second channel [session/attach/one-transport-per-session]
expected-unasked: expected is sent without a flush [session/expected/never-spontaneous]
accepts-what-never-came: a transfer is accepted that never arrived [message/accept/acquisition]
accepts-twice: each transfer is accepted twice [message/accept/reference]
destination-taken-twice: a destination is given to a second subscription
    [message/subscribe/destination/unique-subscriber-destination]
message-id-twice: all messages have one message-id [message/message-properties/message-id/unique/server]
selects-late: transactions are selected after a commit [tx/select/first]
selects-twice: transactions are selected twice [tx/select/exactly-once]
commit-without-select: tx.commit is sent without tx.select [tx/commit/select-required]
queue-name-with-a-hyphen: the name of a queue begins with a hyphen [queue/name/syntax]
queue-name-reserved: a queue is named amq.agent [queue/declare/queue/reserved-prefix]
answers-no-control: requests of a server get no answer
    [session/flush/earliest session/confirmed/on-request session/expected/response
    session/completed/timely-reply/no-delay session/timeout session/request-timeout/maximum-granted-timeout/granted
    session/header/sync session/gap/gap-confirmation-and-completion session/detach/confirmed connection/close-ok]
refuses-what-is-unusual: frames, header structs and types of values that are seldom seen are refused
    [transport/assemblies/any-cut transport/tracks/control-within-command encoding/header-segment/any-order
    encoding/type-codes/skipping]
refuses-large-frames: frames of more than 4000 octets are refused before tune
    [connection/tune/max-frame-size/minimum/accepted]
needs-limits: a tune without limits is refused [connection/tune/max-frame-size/lower]
crashes-on-what-it-cannot-read: undecodable octets crash the process
    [violated/transport/frame/size-below-header violated/transport/frame/version
    violated/transport/frame/reserved-bits violated/segment-type/values violated/transport/tracks/reserved
    violated/track/control/zero violated/track/command/one violated/transport/assemblies/flags
    violated/transport/frame/segment-type violated/encoding/segments/unexpected
    violated/connection/tune-ok/max-frame-size/max-frame-size/refused violated/encoding/command/unknown-class
    violated/encoding/command/unknown-command violated/encoding/command/truncated
    violated/encoding/command/trailing violated/encoding/packing/reserved-flags violated/encoding/map/malformed
    violated/encoding/type-codes/reserved violated/struct32/first-six-octets
    violated/session/command-point/zero-offset/framing-error violated/connection/grammar survives/values]
ignores-every-violation: controls and commands are not checked
    [violated/connection/grammar violated/connection/tune/max-frame-size/minimum/offered
    violated/connection/tune/heartbeat-max/permitted-range violated/connection/tune/heartbeat-max/no-heartbeat-min
    violated/connection/tune-ok/channel-max/available-channels violated/encoding/command/wrong-side
    violated/encoding/command/unknown-class violated/encoding/command/unknown-command
    violated/encoding/struct/required-field violated/type/sequence-set/disjoint violated/map/distinct-keys
    violated/encoding/header-segment/one-of-each violated/encoding/segments/unexpected
    violated/session/attachment/discarded violated/session/attachment/commands
    violated/session/attach/one-session-per-transport
    violated/session/command-point/newly-attached-transports/detached
    violated/session/command-point/nonzero-offset/framing-error violated/session/expected/never-spontaneous
    violated/session/timeout violated/execution/result violated/message/transfer/subscription
    violated/message/set-flow-mode/credit survives/sets survives/message]
drowns-in-numbers: messages of many frames, thousands of flushes and ranges of a million ids end the process
    [survives/values survives/sets survives/flood transport/assemblies/any-cut]
takes-the-end-for-success: the end of the connection is treated as the end of the work
    [violated/connection/close-ok/reporting connection/start/client-support survives/flood]
tells-nothing-of-refusals: the end of a session is treated as the end of the work
    [violated/session/attach/answered session-layer/exception/session-only connection/redirect/usage]
waits-through-silence: the client waits for a silent server [violated/connection/heartbeat/missed]
ends-out-of-order: a handshake out of its order is the end of the process, without a reply
    [violated/connection/grammar]
any-header: a protocol header is ignored [connection/start/client-support]
any-mechanism: what the server offers is ignored [violated/connection/start-ok/mechanism/offered]
""")
AGENT_FAULTS = AgentFaults(FAULTS)
