"""The scenarios of the reference agent of AMQP/Fast, and the mistakes that it makes on request.

Knows: what each scenario does. Must not know: how a careful client looks at what arrives (``agent_checks``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived, MessageArrived
from amqpspec.peer.amqp_fast_0_8.peer import QUEUE
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.reference.fault import fault_table
from amqpspec.reference.faults import AgentFaults
from amqpspec.run.amqp_fast_0_8.agent_session import Session
from amqpspec.run.amqp_fast_0_8.agent_slips import SLIP_FAULTS
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell, Violated, rounds, tell_delivered
from amqpspec.wire.amqp_fast_0_8.message import cut, encode_message
from amqpspec.wire.transport import StreamEnded

NOWHERE = "amqpspec.nowhere"
_MAKER, _SECOND = 2, 3
_TOO_MANY = 100
_LINGER_S = 0.3
_WHOLE_SHARE = 2


def run_scenario(order: Order, tell: Tell) -> None:
    """Carry out an order; see ``amqpspec.run.clients.scenario.Agent``."""
    for scenario in rounds(order, _SCENARIOS):
        _once(Session(order, tell), scenario)


def _once(session: Session, scenario: Callable[[Session], None]) -> None:
    try:
        scenario(session)
        session.close_up()
    except Violated as violated:
        session.refuse(violated)
        raise ScenarioError(f"the server broke the specification: {violated}") from violated
    except (StreamEnded, Unmet, OutOfReach) as error:
        session.linger(_LINGER_S)
        raise ScenarioError(str(error)) from error
    finally:
        session.hang_up()


def _connect(session: Session) -> None:
    session.open_up()
    session.tell("connected", {})
    if session.faulty("opens-too-many-channels"):
        for channel in range(2, _TOO_MANY):
            session.send("channel.open", channel_id=channel)
    if session.faulty("command-end-wrong"):
        session.send_octets(session.octets("connection.ping")[:-1] + b"\0")


def _queue(session: Session) -> str:
    """A handle 1 with all rights, and a queue by the name of the order."""
    session.open_handle(1)
    session.slips("handle")
    if session.faulty("opens-too-many-handles"):
        for handle in range(_SECOND, _TOO_MANY):
            session.send("handle.open", handle_id=handle, producer=True)
    name = str(session.of["queue"])
    session.open_handle(_MAKER)
    session.consume(name, _MAKER, prefetch=1, dynamic=True)
    session.close_handle(_MAKER)
    return name


def _fill(session: Session, name: str) -> list[bytes]:
    """Messages in a queue, each confirmed."""
    bodies = session.order.bodies()
    for number, body in enumerate(bodies, start=1):
        _odd_sends(session, name, body)
        session.store(name, body)
        session.tell("confirmed", {"number": number})
    return bodies


def _odd_sends(session: Session, name: str, body: bytes) -> None:
    """Messages as mistakes cut them."""
    message = encode_message(body)
    first, rest = message[: len(message) // _WHOLE_SHARE], message[len(message) // _WHOLE_SHARE :]
    usual = {"service_type": QUEUE, "dest_name": name}
    if session.faulty("body-shorter-than-announced"):
        lie = encode_message(body, body_size=len(body) + 1)
        session.send("handle.send", fragment=lie, **usual)
    if session.faulty("tag-changes-within-a-message"):
        session.send("handle.send", fragment=first, partial=True, confirm_tag=5, **usual)
        session.send("handle.send", fragment=rest, confirm_tag=6, **usual)
    if session.faulty("messages-mixed"):
        session.open_handle(_SECOND)
        session.send("handle.send", fragment=first, partial=True, **usual)
        session.send("handle.send", fragment=message, handle_id=_SECOND, **usual)


def _send(session: Session) -> None:
    session.open_up()
    _fill(session, _queue(session))


def _receive(session: Session) -> None:
    session.open_up()
    name = _queue(session)
    session.consume(name)
    for body in _fill(session, name):
        _take(session, body)


def _take(session: Session, body: bytes, handle: int = 1) -> MessageArrived:
    message = session.delivery(handle)
    if message.body != body and not session.faulty("ignores-every-violation"):
        raise ScenarioError("expected the message that was sent, actual: another one")
    tell_delivered(session.tell, message.body)
    if not session.faulty("never-acknowledges"):
        session.ack(message.number)
    if session.faulty("gives-back-behind-its-ack"):
        session.send("handle.unget", message_nbr=message.number)
    return message


def _transacted(session: Session) -> None:
    session.open_up(transacted=True)
    name = _queue(session)
    _fill(session, name)
    session.call("channel.commit")
    session.tell("committed", {"messages": session.of["messages"]})
    _fill(session, name)
    session.call("channel.rollback")


def _browse(session: Session) -> None:
    session.open_up()
    name = _queue(session)
    bodies = _fill(session, name)
    numbers = _listed(session, name)
    # In one write: no answer to the first one comes before the last.
    session.send_octets(b"".join(_asked_to_show(session, number) for number in numbers))
    shown = session.deliveries(len(numbers))
    if [message.body for message in shown] != bodies and not session.faulty("ignores-every-violation"):
        raise ScenarioError("expected the messages that were sent, actual: other ones")
    if session.faulty("acknowledges-what-it-browsed"):
        session.ack(shown[-1].number)


def _asked_to_show(session: Session, number: int) -> bytes:
    tag = 0 if session.faulty("browses-without-tags") else session.fresh_tag()
    return session.octets("handle.browse", message_nbr=number, confirm_tag=tag)


def _listed(session: Session, name: str) -> list[int]:
    """The numbers of what waits in the queue; for a client that looks at nothing a list that is none is empty."""
    try:
        return session.numbers(name)
    except Unmet:
        if session.faulty("ignores-every-violation"):
            return []
        raise


def _flow(session: Session) -> None:
    session.open_up()
    name = _queue(session)
    session.consume(name)
    session.call("handle.flow", flow_pause=True)
    bodies = _fill(session, name)
    session.call("handle.flow", flow_pause=False)
    for body in bodies:
        _take(session, body)


def _unget(session: Session) -> None:
    session.open_up()
    name = _queue(session)
    session.consume(name)
    body = _fill(session, name)[0]
    session.call("handle.unget", message_nbr=session.delivery().number)
    session.open_handle(_SECOND)
    session.consume(name, _SECOND)
    _take(session, body, _SECOND)


def _large(session: Session) -> None:
    session.open_up()
    name, body = _queue(session), session.order.large_body()
    if session.faulty("fragments-beyond-the-limit"):
        session.send("handle.send", service_type=QUEUE, dest_name=name, fragment=encode_message(body))
    session.store(name, body)
    session.consume(name)
    _take(session, body)


def _restart(session: Session) -> None:
    session.open_up(restartable=True)
    name, body = _queue(session), session.order.large_body()
    held = _prepare(session, body)
    if session.faulty("ready-unanswered"):
        session.call("handle.flow", flow_pause=False)
        return
    tag, last = session.fresh_tag(), b""
    for piece, partial in cut(body[held:], session.frame_max_octets):
        last = piece
        session.send(
            "handle.send", service_type=QUEUE, dest_name=name, recovery=True, partial=partial,
            fragment=last, confirm_tag=tag,
        )  # fmt: skip
    session.confirmation(tag, 1)
    session.consume(name)
    _take(session, body)


def _prepare(session: Session, body: bytes) -> int:
    """Announce a message that can be restarted; how much of its body the server has then."""
    first = encode_message(body)[: session.frame_max_octets]
    # The hash is the protocol's choice; it guards against broken lines, not against people.
    hash = hashlib.sha1(body, usedforsecurity=False).hexdigest()
    if session.faulty("prepares-a-small-message"):
        session.send("handle.prepare", fragment=encode_message(b"small"))
    if session.faulty("prepares-in-batches"):
        session.send_octets(2 * session.octets("handle.prepare", fragment=first[:100], content_hash=hash))
    else:
        session.send("handle.prepare", fragment=first, content_hash=hash)
    return int(session.expect("handle.ready", handle=1)["message_size"])


def _idle(session: Session) -> None:
    session.open_up()
    session.idle(float(session.of["idle_s"]))


def _refused(session: Session) -> None:
    session.open_up()
    session.open_handle(1)
    session.send("handle.send", service_type=QUEUE, dest_name=NOWHERE, fragment=encode_message(b"x"))
    answer = session.arrival("handle.close", handle=1)
    if not isinstance(answer, CommandArrived) or answer.name != "handle.close":
        raise ScenarioError(f"expected HANDLE CLOSE, actual: {answer.describe(session.dialect)}")
    session.tell("error", {"code": answer["reply_code"], "scope": "handle"})
    session.open_handle(_SECOND)


_SCENARIOS: Mapping[str, Callable[[Session], None]] = {
    "connect": _connect,
    "send": _send,
    "receive": _receive,
    "transacted": _transacted,
    "browse": _browse,
    "flow": _flow,
    "unget": _unget,
    "large": _large,
    "restart": _restart,
    "idle": _idle,
    "refused": _refused,
    "reconnect": _connect,
}

FAULTS = fault_table(
    """
greets-by-another-protocol: the greeting is 129 and 1 [initiation/client scenarios/preparing/initiation]
mechanism-not-offered: RESPONSE selects a mechanism that was not offered [connection/response/mechanism]
response-without-login: RESPONSE names the login USER [plain/response]
response-of-many-octets: RESPONSE has more than 4096 octets [connection/response/size]
responds-twice: RESPONSE is sent twice [scenarios/preparing/response]
field-named-badly: a table has a name that begins with a digit [tables/names]
zero-octet-in-a-short-string: a mechanism contains a zero octet [syntax/notes/zero-octet]
frame-max-beyond-offer: TUNE requests frames twice as large as proposed
    [tuning/frame-max/client-maximum connection/tune/values]
frame-max-below-minimum: TUNE requests frames of 512 octets [tuning/frame-max/client-minimum]
tune-option-of-servers: TUNE has a CHANNEL_MAX [tuning/client-options]
tune-of-many-octets: TUNE has more than 4096 octets [connection/tune/size]
opens-too-many-channels: more channels are opened than proposed [tuning/channel-max]
opens-too-many-handles: more handles are opened than proposed [tuning/handle-max]
command-end-wrong: a PING ends in 0x00 [syntax/command-end]
body-shorter-than-announced: the head announces an octet more than follows [messages/head/body-size]
tag-changes-within-a-message: the fragments of a message have different confirm-tags [handle/send/consecutive]
messages-mixed: a message begins before another one on its channel is complete [messages/fragments/not-mixed]
fragments-beyond-the-limit: a fragment is larger than FRAME_MAX [messages/fragments/large]
never-acknowledges: nothing is acknowledged [handle/notify/acknowledged handle/summary/client/notify]
acknowledges-what-it-browsed: a message that was only shown is acknowledged [handle/notify/not-processed]
gives-back-behind-its-ack: UNGET is sent after the ACK of its message [handle/unget/before-ack]
browses-without-tags: BROWSEs are sent in a row without confirm-tags [handle/browse/confirm-tag]
prepares-a-small-message: PREPARE is sent for a message that fits into one fragment
    [restartable/not-for-one-fragment]
prepares-in-batches: a second PREPARE is sent before the READY to the first [handle/prepare/not-batched]
prepare-unanswered: PREPARE is not answered
    [restartable/download handle/ready/client-support handle/summary/client/prepare]
ready-unanswered: nothing is sent after READY [handle/summary/client/ready]
close-code-of-one-digit: CONNECTION CLOSE has the code 7 [errors/reply-codes]
pings-unanswered: a PING that requests an answer gets none [connection/summary/client/ping]
answers-ping-with-a-question: the PING that answers requests an answer [connection/ping/no-loop]
pings-once: after the first PING no other one is sent [tuning/heartbeat/continued]
challenge-answered-once: a second CHALLENGE is not answered [connection/summary/client/challenge]
answers-no-close: a CLOSE of the server is not answered
    [connection/summary/client/close channel/summary/client/close scenarios/errors/client-answers
    handle/summary/client/close]
any-version: the version in CHALLENGE is ignored [initiation/version-refused]
any-mechanism: what the server offers is ignored [violated/connection/challenge/plain]
takes-the-end-for-success: the end of the connection is treated as the end of the work
    [connection/summary/client/physical-close violated/initiation/valid violated/messages/fragments/large]
waits-through-silence: a server that sends nothing is waited for
    [tuning/heartbeat/other-means violated/initiation/valid]
escape-not-known: the escape FFFF in front of a size is not known [frames/escape]
refuses-duplicates: a server that names an option twice makes the client disconnect [tables/duplicates]
refuses-pings: an unrequested PING is refused [tuning/heartbeat/hint]
works-on-behind-a-close: after its answer to CHANNEL CLOSE, a FLOW is sent [scenarios/errors/client-closes]
crashes-on-what-it-cannot-read: undecodable octets crash the process
    [violated/syntax/message-head violated/syntax/command-end violated/frames/size-first violated/frames/size-forms
    violated/syntax/notes/end-counted violated/syntax/connection-commands violated/syntax/channel-commands
    violated/syntax/handle-commands violated/frames/fixed-fields violated/messages/frames/size
    violated/tuning/frame-max/kept violated/tables/types violated/tables/layout]
ignores-every-violation: commands are not checked
    [connection/summary/client/response connection/summary/client/open channel/summary/client/open
    channel/summary/client/ack channel/summary/client/commit channel/summary/client/rollback
    handle/summary/client/open handle/summary/client/send handle/summary/client/consume handle/summary/client/flow
    handle/summary/client/unget handle/summary/client/query handle/summary/client/browse
    connection/summary/client/reply channel/summary/client/reply handle/summary/client/reply
    handle/summary/client/created handle/summary/client/index connection/summary/client/tune
    violated/connection/challenge/size violated/connection/tune/size violated/connection/tune/dictionary
    violated/tuning/frame-max/not-zero violated/tuning/frame-max/minimum violated/scenarios/preparing/challenge
    violated/connection/tune/exchange violated/syntax/notes/zero-octet violated/tables/names
    violated/scenarios/receiving/consume-first violated/handle/browse/available violated/handle/notify/handle
    violated/handle/ready/answer violated/restartable/not-unasked violated/channel/reply/channel
    violated/channel/close/state violated/handle/close/open violated/messages/head/body-size
    violated/syntax/message-head violated/channel/ack/numbers violated/handle/notify/dest-name
    violated/handle/notify/consecutive violated/handle/notify/delivered violated/handle/notify/recovery
    violated/handle/prepare/not-batched violated/handle/prepare/carries violated/handle/index/list]
"""
)
AGENT_FAULTS = AgentFaults((*FAULTS, *SLIP_FAULTS))
