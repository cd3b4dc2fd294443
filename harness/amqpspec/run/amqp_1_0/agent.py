"""The scenarios of the reference agent of AMQP 1.0, and the mistakes that it makes on request.

Knows: what each scenario does. Must not know: how a careful client looks at what arrives (``agent_checks``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link, serial
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.reference.fault import fault_table
from amqpspec.reference.faults import AgentFaults
from amqpspec.run.amqp_1_0.agent_checks import Violated
from amqpspec.run.amqp_1_0.agent_session import Session
from amqpspec.run.clients.scenario import Order, ScenarioError, Tell, rounds, tell_delivered
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_1_0.frames import encode_frame
from amqpspec.wire.amqp_1_0.message import encode_message, encode_section
from amqpspec.wire.transport import StreamEnded

NOWHERE = "amq.nowhere"
_BEYOND_THE_LIMIT_OCTETS, _BEYOND_THE_WINDOW = 200_000, 600
_INCOMPLETE = ("begin", "attach", "flow", "transfer", "disposition", "detach")


def run_scenario(order: Order, tell: Tell) -> None:
    """Carry out an order; see ``amqpspec.run.clients.scenario.Agent``."""
    for scenario in rounds(order, _SCENARIOS):
        _once(Session(order, tell), scenario)


def _once(session: Session, scenario: Callable[[Session], None]) -> None:
    try:
        session.connect_to()
        scenario(session)
        session.leave_in_order()
    except Violated as violated:
        session.refuse(violated)
        raise ScenarioError(f"the server broke the specification: {violated}") from violated
    except (StreamEnded, Unmet, OutOfReach) as error:
        raise ScenarioError(str(error)) from error
    finally:
        session.hang_up()


def _connect(session: Session) -> None:
    session.tell("connected", {})
    if session.faulty("frames-that-cannot-be-read"):
        session.send_octets(encode_frame(b"\x00\x53\x11\xc0\x09"))
    if session.faulty("frames-of-type-two"):
        session.send_octets(encode_frame(b"x", frame_type=2))
    if session.faulty("fields-missing"):
        session.send_octets(b"".join(session.exact(name) for name in _INCOMPLETE))
    if session.faulty("empty-frames-on-a-channel"):
        session.send_octets(encode_frame(b"", 1))


def _sender(session: Session, mode: str = "unsettled") -> Link:
    if session.faulty("sends-before-credit"):
        fields = session.attach_fields("sender", session.of["queue"], name="early", handle=9)
        attach = session.frame("attach", session.channel, **fields, initial_delivery_count=0)
        link = session.session(session.channel).every_link[-1]
        session.send_octets(attach + session.transfer_octets(link, b"early"))
    link = session.link("sender", session.of["queue"], name="out", snd_settle_mode=mode)
    if session.faulty("handle-taken-twice"):
        session.send("attach", session.channel, **_again(session, name="twice", handle=link.handle))
    if session.faulty("name-taken-twice"):
        session.send("attach", session.channel, **_again(session, name="out"))
    return link


def _again(session: Session, **fields: Any) -> dict[str, Any]:
    return session.attach_fields("sender", session.of["queue"], snd_settle_mode="unsettled", **fields)


def _send(session: Session) -> None:
    link = _sender(session)
    _odd_deliveries(session, link)
    for number, body in enumerate(session.order.bodies(), start=1):
        _put(session, link, body)
        session.tell("confirmed", {"number": number})
    session.flow(link=link)
    session.flow(session.channel)
    _odd_flows(session, link)
    session.detach(link)
    if session.faulty("flow-behind-detach"):
        session.send("flow", session.channel, handle=link.handle)


def _put(session: Session, link: Link, body: bytes, **fields: Any) -> None:
    """Send a message and wait for its acceptance."""
    if session.faulty("settled-in-mode-unsettled"):
        fields["settled"] = True
    if session.faulty("sections-out-of-order"):
        fields["message"] = encode_message(data=body) + encode_section("header", {"durable": True})
    outgoing = session.outcome(session.transfer(link, body, **fields))
    if outgoing.outcome != "accepted":
        raise ScenarioError(f"expected a message accepted, actual: {outgoing.outcome or 'settled'}")


def _odd_deliveries(session: Session, link: Link) -> None:
    """Mistakes in deliveries besides those of the scenario."""
    if session.faulty("delivery-without-a-name"):
        nameless: dict[str, Any] = {"delivery_id": OMIT, "delivery_tag": OMIT, "message_format": OMIT}
        session.transfer(link, b"x", chunk=100, **nameless)
    if session.faulty("delivery-ids-by-twos"):
        session.transfer(link, b"x")
        session.transfer(link, b"y", delivery_id=2)
    if session.faulty("delivery-tag-too-long"):
        session.transfer(link, b"x", delivery_tag=bytes(33))
    if session.faulty("delivery-tag-twice"):
        session.credit_for(link, 2)
        two = [session.transfer_octets(link, b"x", delivery_tag=b"same") for _ in range(2)]
        session.send_octets(b"".join(two))
    if session.faulty("aborts-with-more"):
        session.transfer(link, b"x", more=True)
        session.transfer(link, aborted=True, more=True)
    if session.faulty("overruns-the-window"):
        session.credit_for(link)
        pieces = [session.transfer_octets(link, message=b"x", more=True) for _ in range(_BEYOND_THE_WINDOW)]
        session.send_octets(b"".join(pieces))


def _odd_flows(session: Session, link: Link) -> None:
    """Mistakes in flows besides those of the scenario."""
    book = session.session(session.channel)
    odd: Mapping[str, dict[str, Any]] = {
        "flow-without-next-incoming-id": {"next_incoming_id": OMIT},
        "wrong-next-incoming-id": {"next_incoming_id": serial((book.next_incoming_id or 0) + 1000)},
        "wrong-next-outgoing-id": {"next_outgoing_id": serial(book.next_outgoing_id + 3)},
        "link-credit-without-handle": {"link_credit": 5},
    }
    for name, fields in odd.items():
        if session.faulty(name):
            session.send("flow", session.channel, **fields)
    if session.faulty("wrong-delivery-count"):
        session.flow(link=link, delivery_count=link.delivery_count + 5)


def _send_settled(session: Session) -> None:
    link = _sender(session, "settled")
    for body in session.order.bodies():
        session.transfer(link, body, settled=not session.faulty("unsettled-in-mode-settled"))
    session.detach(link)


def _receive(session: Session) -> None:
    bodies = session.order.bodies()
    out = _sender(session)
    for body in bodies:
        _put(session, out, body)
    link = session.link("receiver", session.of["queue"], name="in")
    if session.faulty("sends-on-a-receiving-link"):
        session.transfer(link, b"x", wait=False)
    session.credit(link, len(bodies))
    session.until(lambda: len(link.inbox) >= len(bodies), "as many deliveries as messages", link=link)
    for body in bodies:
        _take(session, link, body, "accepted")
    session.detach(link)


def _take(session: Session, link: Link, body: bytes, state: str) -> Delivery:
    """One delivery, checked and settled."""
    delivery = session.delivery(link)
    if not session.faulty("ignores-every-violation") and delivery.body != body:
        raise Violated(Scope.LINK, "amqp:not-allowed", "another message than was sent", link.session, link)
    tell_delivered(session.tell, body)
    if session.faulty("disposes-of-what-never-came"):
        session.disposition(900, channel=session.channel)
    if session.faulty("never-settles"):
        answer = session.frame(
            "disposition", session.channel, first=delivery.id, state="accepted", settled=False
        )
        session.send_octets(answer + session.frame("close"))
    session.disposition(delivery, state=state)
    session.done.add(delivery.id)
    if session.faulty("unsettles"):
        session.disposition(delivery, state="released", settled=False)
    return delivery


def _reject(session: Session) -> None:
    out = _sender(session)
    body = session.order.bodies()[0]
    _put(session, out, body)
    link = session.link("receiver", session.of["queue"], name="in")
    session.credit(link, 1)
    _take(session, link, body, "rejected")
    session.detach(link)


def _idle(session: Session) -> None:
    until_s = session.now() + float(session.of["idle_s"])
    while session.now() < until_s:
        session.read(until_s)


def _large(session: Session) -> None:
    body = session.order.large_body()
    out = _sender(session)
    if session.faulty("another-id-in-mid-delivery"):
        session.transfer(out, b"x", more=True)
        session.transfer(out, b"y", delivery_id=77)
    if session.faulty("another-tag-in-mid-delivery"):
        session.transfer(out, b"x", more=True)
        session.transfer(out, b"y", delivery_tag=b"another")
    chunk = _BEYOND_THE_LIMIT_OCTETS if session.faulty("frames-beyond-the-limit") else None
    _put(session, out, body, chunk=chunk)
    link = session.link("receiver", session.of["queue"], name="in")
    session.credit(link, 1)
    _take(session, link, body, "accepted")
    session.detach(link)


def _refused(session: Session) -> None:
    session.expects_refusal = True
    session.polite = not session.faulty("detach-not-answered")
    link = session.try_attach("sender", NOWHERE, session.channel)
    session.until(lambda: link.detached_by is not None, "a detach of the refused link", link=None)
    session.tell("error", {"scope": "link", "condition": link.detached_by and link.detached_by.condition})


_SCENARIOS: Mapping[str, Callable[[Session], None]] = {
    "connect": _connect,
    "send": _send,
    "send-settled": _send_settled,
    "receive": _receive,
    "reject": _reject,
    "idle": _idle,
    "large": _large,
    "refused": _refused,
    "reconnect": _connect,
}

FAULTS = fault_table("""
frame-before-the-header: an empty frame is sent before the first header [version/header-first]
header-of-another-version: the first header is that of AMQP 1.1.0 [version/header-layout]
no-header-behind-sasl: open follows the SASL layer without a header [sasl/outcome/then-headers]
mechanism-not-offered: sasl-init selects a mechanism that was not offered [sasl/negotiation/choose]
init-twice: sasl-init is sent twice [sasl/negotiation/steps]
sasl-frames-of-type-zero: sasl-init is sent in an AMQP frame [sasl/frame/body]
sasl-frame-too-large: sasl-init has more than 512 octets [sasl/frame/max-size]
sasl-frames-on-a-channel: sasl-init has a channel number [sasl/frame/channel-zero]
hostname-changed: sasl-init and open name different hosts [performatives/open/hostname/same]
begin-before-open: a begin is sent before open [connections/opening/open-first]
opens-twice: open is sent twice [connections/states/legal-frames]
open-on-a-channel: open is sent on channel 1 [connections/opening/channel-zero]
open-without-container: open has no container-id [performatives/open/mandatory]
open-too-large: open has more than 512 octets [connections/opening/limits-before]
max-frame-size-below-minimum: open announces 256 octets [definitions/min-max-frame-size/lower-bound]
frames-that-cannot-be-read: a body ends within its list [framing/performative]
frames-of-type-two: a frame is of type 2 [framing/type]
fields-missing: performatives are sent without mandatory fields
    [performatives/begin/mandatory performatives/attach/mandatory performatives/flow/mandatory
    performatives/transfer/handle performatives/disposition/mandatory performatives/detach/mandatory]
frames-beyond-the-limit: frames are larger than the server takes [performatives/open/max-frame-size/respected]
channel-beyond-limit: a session begins beyond channel-max [performatives/open/channel-max/respected]
empty-frames-on-a-channel: an empty frame is sent on channel 1 [connections/empty-frame/channel-zero]
empty-frame-before-open: an empty frame is sent before open [connections/empty-frame/after-open]
no-empty-frames: nothing is sent while idle [performatives/open/idle-time-out/required]
leaves-without-close: the socket ends without close [performatives/close/written]
talks-behind-its-close: an empty frame follows close [performatives/close/nothing-after]
close-on-a-channel: close is sent on channel 1 [connections/closing/channel-zero]
begins-twice: begin is sent twice on a channel [sessions/begin/unused-channel]
remote-channel-of-its-own: begin names a remote-channel that never began [performatives/begin/remote-channel/unset]
channels-from-seven: the first session is on channel 7 [sessions/begin/lowest-channel]
works-without-a-session: a flow is sent on a channel without begin [sessions/states/unmapped]
works-behind-end: a flow follows end [sessions/states/end-sent]
flow-without-next-incoming-id: a flow leaves out next-incoming-id [performatives/flow/next-incoming-id/set]
flow-before-the-answer: a flow has next-incoming-id before begin was answered
    [performatives/flow/next-incoming-id/unset]
link-credit-without-handle: a flow without handle has link-credit [performatives/flow/link-credit/without-handle]
wrong-delivery-count: a sender's flow has a delivery-count that is too high [performatives/flow/delivery-count/sender]
wrong-next-outgoing-id: a flow has a next-outgoing-id that is too high [sessions/flow/outgoing-id-arithmetic]
wrong-next-incoming-id: a flow counts transfers that never arrived [sessions/flow/next-incoming-id]
handle-taken-twice: a handle is given to a second link [performatives/attach/handle/free]
handles-from-seven: the first link has handle 7 [performatives/attach/handle/lowest]
handle-beyond-limit: a link has a handle beyond handle-max [performatives/begin/handle-max/respected]
no-initial-delivery-count: the attach of a sender has none [performatives/attach/initial-delivery-count/set]
name-taken-twice: a second link has the name of the first [links/names/unique]
flow-behind-detach: a flow names a link that was detached [links/handles/until-detach]
detach-not-answered: a detach that closes a link gets no answer [links/closing/answer]
sends-on-a-receiving-link: a transfer is sent on a link of the receiver [links/establishing/whose-terminus]
sends-before-credit: a transfer follows attach at once [links/flow/no-credit]
overruns-the-window: 600 transfers are sent at once [sessions/flow/remote-incoming-window]
delivery-ids-by-twos: delivery-ids skip one [links/delivery-ids-per-session]
delivery-without-a-name: a first transfer has no id, tag and format
    [performatives/transfer/delivery-id/first performatives/transfer/delivery-tag/first
    performatives/transfer/message-format/first]
delivery-tag-too-long: a delivery-tag has 33 octets [definitions/delivery-tag/length]
delivery-tag-twice: two unsettled deliveries have one tag [transfers/delivery-tag/unique]
another-id-in-mid-delivery: a later transfer has another delivery-id [performatives/transfer/delivery-id/differs]
another-tag-in-mid-delivery: a later transfer has another delivery-tag [performatives/transfer/delivery-tag/differs]
aborts-with-more: a transfer is aborted and announces more [performatives/transfer/more/not-with-aborted]
unsettled-in-mode-settled: transfers of a link of mode settled are not [performatives/transfer/settled/mode-settled]
settled-in-mode-unsettled: transfers of a link of mode unsettled are settled
    [performatives/transfer/settled/mode-unsettled]
sections-out-of-order: the header of a message follows its body [messaging/sections]
disposes-of-what-never-came: a disposition names a delivery that never arrived
    [performatives/disposition/directionality]
unsettles: a settled delivery is reported as unsettled [links/settled-for-ever]
never-settles: a message is accepted and not settled [definitions/rcv-settle-mode/first]
answers-no-end: close, end and detach of the server get no answer
    [performatives/close/written sessions/end/handshake links/closing/answer]
crashes-on-what-it-cannot-read: undecodable octets crash the process
    [violated/framing/size/below-header violated/framing/doff/below-header violated/framing/doff/beyond-size
    violated/framing/performative violated/definitions/condition/decode-error survives/values
    violated/performatives/open/max-frame-size/exceeded violated/version/mismatch/outgoing-closed]
ignores-every-violation: frames are not checked
    [violated/performatives/open/channel-max/exceeded
    violated/performatives/begin/handle-max/exceeded violated/performatives/attach/handle/in-use
    violated/performatives/flow/handle/unattached violated/definitions/condition/unattached-handle
    violated/framing/type violated/performatives/open/first-frame violated/performatives/open/mandatory
    violated/definitions/min-max-frame-size/lower-bound violated/connections/states/legal-frames
    violated/connections/empty-frame/after-open violated/sessions/begin/unused-channel
    violated/performatives/begin/remote-channel/answer violated/sessions/states/unmapped
    violated/performatives/flow/link-credit/without-handle violated/performatives/flow/mandatory
    violated/performatives/attach/mandatory violated/performatives/transfer/handle
    violated/performatives/disposition/mandatory violated/performatives/disposition/directionality
    violated/links/flow/no-credit violated/definitions/condition/not-allowed
    violated/definitions/condition/window-violation violated/links/delivery-ids-per-session
    violated/performatives/transfer/delivery-id/first violated/performatives/transfer/delivery-tag/first
    violated/performatives/transfer/message-format/first violated/definitions/delivery-tag/length
    violated/transfers/delivery-tag/unique violated/performatives/transfer/delivery-id/differs
    violated/performatives/transfer/delivery-tag/differs violated/performatives/transfer/message-format/differs
    violated/sasl/negotiation/steps violated/sasl/frame/body violated/sasl/frame/max-size
    survives/message]
takes-the-end-for-success: the end of the connection is treated as the end of the work
    [violated/connections/closing/close-frame violated/version/mismatch/outgoing-closed]
swallows-every-flood: endless deliveries are accepted, and their end is treated as success [survives/flood]
waits-through-silence: the client waits for a silent server [connections/idle-timeout/close]
any-header: a protocol header is ignored [violated/version/mismatch/outgoing-closed]
any-mechanism: what the server offers is ignored [violated/sasl/mechanisms/list violated/sasl/frame/empty]
any-outcome: a failed login is treated as successful [violated/sasl/outcome/code]
""")
AGENT_FAULTS = AgentFaults(FAULTS)
