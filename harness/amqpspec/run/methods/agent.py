"""The scenarios of the reference agent of the 0-9 family, and the mistakes that it makes on request.

Knows: what each scenario does. Must not know: how a careful client looks at what arrives (``agent_session``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.reference.fault import fault_table
from amqpspec.reference.faults import AgentFaults
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell, Violated, rounds, tell_delivered
from amqpspec.run.methods.agent_session import Session
from amqpspec.wire.transport import StreamEnded


def run_scenario(order: Order, tell: Tell, dialect_id: str = "rabbitmq-0-9-1") -> None:
    """Carry out an order in a dialect of the family; see ``amqpspec.run.clients.scenario.Agent``."""
    for scenario in rounds(order, _SCENARIOS):
        _once(Session(order, tell, dialect_id), scenario)


def _once(session: Session, scenario: Callable[[Session], None]) -> None:
    try:
        session.open()
        scenario(session)
        session.close()
    except Violated as violated:
        session.refuse(violated)
        raise ScenarioError(f"the server broke the specification: {violated}") from violated
    except StreamEnded as ended:
        raise ScenarioError(f"the connection ended: {ended}") from ended
    finally:
        session.peer.hang_up()


def _connect(session: Session) -> None:
    session.tell("connected", {})


def _queue(session: Session) -> str:
    name = "no spaces" if session.faulty("queue-name-with-a-space") else session.context["queue"]
    name = "amq.agent" if session.faulty("queue-name-reserved") else name
    channel = 0 if session.faulty("work-on-channel-zero") else 1
    if session.faulty("method-of-servers"):
        session.say("queue.declare-ok", queue=name)
    if session.faulty("end-octet-wrong"):
        frame = session.peer.method_frame("queue.declare", channel, queue=name)
        session.peer.send_octets(frame[:-1] + b"\0")
    return str(session.call("queue.declare", channel, queue=name, exclusive=True)["queue"])


def _publish(session: Session) -> None:
    queue = _queue(session)
    if session.faulty("zero-octet-in-a-short-string"):
        session.say("queue.declare", queue="a\0b")
    confirms = "confirm.select" in session.peer.dialect.methods
    if confirms:
        session.call("confirm.select")
    for number, body in enumerate(session.order.bodies(), start=1):
        session.published[1] = number
        session.publish(body, queue=queue)
        if confirms:
            _confirmed(session, number)
        else:
            _counted(session, queue, number)
        session.tell("confirmed", {"number": number})


def _counted(session: Session, queue: str, number: int) -> None:
    """If there are no confirms, the queue itself tells what has arrived in it."""
    held = session.call("queue.declare", queue=queue, passive=True)["message_count"]
    if held != number:
        raise ScenarioError(f"expected {number} messages in the queue, actual: {held}")


def _confirmed(session: Session, number: int) -> None:
    while (arrival := session.next()) is not None:
        if arrival.name == "basic.nack":
            raise ScenarioError(f"message {number} was not taken")
        if arrival.name == "basic.ack" and (arrival["delivery_tag"] == number or arrival["multiple"]):
            return
    raise ScenarioError(f"expected a confirm of message {number}, actual: none")


def _publish_transactional(session: Session) -> None:
    queue = _queue(session)
    if not session.faulty("commit-without-select"):
        session.call("tx.select")
    for body in session.order.bodies():
        session.publish(body, queue=queue)
    session.call("tx.commit")
    session.tell("committed", {"messages": session.context["messages"]})


def _filled(session: Session) -> tuple[str, list[bytes]]:
    """A queue, and the messages that were published to it."""
    queue, bodies = _queue(session), session.order.bodies()
    for body in bodies:
        session.publish(body, queue=queue)
    return queue, bodies


def _consume(session: Session) -> None:
    queue, bodies = _filled(session)
    _subscribe(session, queue)
    for arrival in session.take(len(bodies)):
        tell_delivered(session.tell, arrival.body)
        _acknowledge(session, arrival)


def _subscribe(session: Session, queue: str) -> None:
    session.consumers.add((1, "agent"))
    session.call("basic.consume", queue=queue, consumer_tag="agent")
    if session.faulty("consumer-tag-twice"):
        session.say("basic.consume", queue=queue, consumer_tag="agent")


def _acknowledge(session: Session, arrival: MethodArrived) -> None:
    if session.faulty("never-acknowledges"):
        return
    for _ in range(2 if session.faulty("acknowledges-twice") else 1):
        session.say("basic.ack", arrival.channel, delivery_tag=arrival["delivery_tag"])


def _get(session: Session) -> None:
    queue, bodies = _filled(session)
    for number, body in enumerate(bodies):
        got = session.call("basic.get", queue=queue)
        if got.name != "basic.get-ok" or got.body != body:
            raise ScenarioError(f"expected the message that was published, actual: {got.name}")
        tell_delivered(session.tell, got.body)
        if number == 0 or not session.faulty("acknowledges-the-first-only"):
            _acknowledge(session, got)
    empty = session.call("basic.get", queue=queue)
    if empty.name != "basic.get-empty":
        raise ScenarioError("expected an empty queue, actual: another message")


def _idle(session: Session) -> None:
    until_s = session.peer.now() + float(session.context["idle_s"])
    while (left_s := until_s - session.peer.now()) > 0:
        session.next(within_s=left_s)


def _large(session: Session) -> None:
    queue = _queue(session)
    body = session.order.large_body()
    session.publish(body, queue=queue)
    _subscribe(session, queue)
    arrival = session.take(1)[0]
    if arrival.body != body:
        raise ScenarioError("expected the message that was published, actual: another one")
    tell_delivered(session.tell, arrival.body)
    _acknowledge(session, arrival)


def _return(session: Session) -> None:
    frame = session.peer.method_frame("basic.publish", routing_key="amqpspec.nobody", mandatory=True)
    session.peer.send_octets(frame + session.peer.content_frames(b"back"))
    while (arrival := session.next()) is not None:
        if arrival.name == "basic.return":
            session.tell("returned", {"code": arrival["reply_code"]})
            return
    raise ScenarioError("expected a returned message, actual: none")


def _refused(session: Session) -> None:
    if session.faulty("channel-close-not-answered"):
        session.peer.polite = False
    session.say("queue.declare", queue="amqpspec.nowhere", passive=True)
    while (arrival := session.next()) is not None:
        if arrival.name == "channel.close":
            session.tell("error", {"code": arrival["reply_code"], "scope": "channel"})
            session.open_channel(2)
            return
    raise ScenarioError("expected channel.close, actual: nothing")


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
properties-missing: start-ok contains only a product [connection/start-ok/client-properties/required-fields]
mechanism-not-offered: start-ok selects a mechanism that was not offered [connection/start-ok/mechanism/offered]
any-mechanism: what the server offers is ignored [violated/mechanism]
any-version: the version in start and another protocol header are ignored [connection/start/client-support]
locale-not-offered: start-ok selects a locale that was not offered [connection/start-ok/locale]
locale-empty: start-ok names no locale [connection/start-ok/locale]
locale-list: start-ok returns the list of locales [connection/start-ok/locale]
frame-max-counts-payload: body frames carry frame-max octets, and have a header besides
    [connection/tune-ok/frame-max/all-frames]
frame-max-below-minimum: tune-ok selects 1024 octets [connection/tune-ok/frame-max/minimum-chosen]
frame-max-beyond-offer: tune-ok requests frames twice as large as offered [connection/tune-ok/within-offer]
channel-max-beyond-offer: tune-ok requests more channels than offered [connection/tune-ok/within-offer]
tune-ok-twice: tune-ok is sent twice [connection/grammar]
channel-beyond-limit: a channel beyond channel-max is opened [connection/tune/channel-max]
channel-opened-twice: a channel is opened twice [channel/open/state]
works-on-a-closed-channel: a queue is declared after channel.close [channel/grammar]
channel-close-not-answered: channel.close gets no close-ok [channel/close-ok]
talks-behind-its-close: a channel is opened after connection.close [connection/grammar]
close-code-unknown: connection.close has reply code 7 [connection/close/reply-code]
leaves-without-close: the socket ends without connection.close [connection/close-ok]
no-heartbeats: nothing is sent while idle [wire/heartbeat/interval]
heartbeat-on-a-channel: heartbeats are sent on channel 1 [amq_wlp_heartbeat_01]
end-octet-wrong: frames of queue.declare end in 0x00 [wire/frame/end-octet-sent]
frames-beyond-the-limit: body frames are larger than agreed [connection/tune-ok/frame-max/all-frames]
close-on-a-channel: connection.close is sent on channel 1 [wire/frame/channel-zero-for-connection]
work-on-channel-zero: a queue is declared on channel 0 [wire/frame/channel-class-on-zero]
method-of-servers: queue.declare-ok is sent by the client [wire/method/server-only]
body-longer-than-announced: the header announces an octet less than follows [amq_wlp_content_01]
content-of-another-class: the header of a publish is of class tx [amq_wlp_content_02]
content-on-channel-zero: contents are sent on channel 0 [amq_wlp_content_03]
content-with-weight: the header of a publish has weight 1 [amq_wlp_content_04]
acknowledges-twice: each message is acknowledged twice [basic/ack/multiple/exists-once]
never-acknowledges: nothing is acknowledged [basic/get-ok]
acknowledges-the-first-only: of several messages only the first is acknowledged [basic/get-ok]
consumer-tag-twice: a consumer tag in use is given away again [basic/consume/consumer-tag/duplicate]
commit-without-select: tx.commit is sent without tx.select [tx/commit/transacted]
queue-name-with-a-space: a queue is named "no spaces" [queue/declare/queue/syntax]
queue-name-reserved: a queue is named amq.agent [queue/declare/queue/reserved]
crashes-on-what-it-cannot-read: undecodable octets crash the process
    [violated/frame/end-octet violated/frame/type violated/frame/size violated/method/unknown violated/method/arguments
    violated/handshake/method violated/table violated/content/order violated/content/size violated/content/class
    violated/content/channel-zero violated/content/memory]
ignores-every-violation: methods are ignored [violated/channel/open violated/channel/zero violated/consumer/known
    violated/confirm/published violated/reply/asked violated/handshake/once violated/heartbeat/channel]
takes-the-end-for-success: the end of the connection is treated as the end of the work
    [violated/end violated/content/memory]
waits-through-silence: the client waits for a silent server [wire/heartbeat/missed]
""")
AGENT_FAULTS = AgentFaults(FAULTS)
