"""The attach that answers the partner's: for an existing link, for a missing terminus, and with unsettled
deliveries.

Knows: the fields of attach, how much of an unsettled map fits a frame. Must not know: how a terminus is found.
"""

from __future__ import annotations

from typing import Any, cast

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.endpoints import SETTLED, LinkEndpoint
from amqpspec.reference.amqp_1_0.errors import error_of
from amqpspec.reference.amqp_1_0.receiving import ReceivingEndpoint
from amqpspec.reference.amqp_1_0.sending import SendingEndpoint
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed, encode_composite
from amqpspec.wire.amqp_1_0.values import Map


def answer_attach(session: Session, attach: Composed, endpoint: LinkEndpoint, *, resumed: bool) -> None:
    """Answer an attach whose terminus exists, and begin.

    The unsettled map is sent only for a link that existed before: a new link has no map (1.0 §2.6.13).
    """
    fields = _fields(session, attach, endpoint)
    fields["unsettled"] = _unsettled(session, endpoint) if resumed else None
    if session.faulty("unsettled-map-though-nothing-is") and fields["unsettled"] is None:
        fields["unsettled"] = {}
    _fit(session, endpoint, fields)
    session.send("attach", fields)
    if isinstance(endpoint, SendingEndpoint):
        session.nodes.give_back(endpoint.terminus, endpoint.lost)
        endpoint.begin()
        endpoint.dispatch()
    elif isinstance(endpoint, ReceivingEndpoint):
        _after_receiving(session, attach, endpoint)
        endpoint.begin(attach.get("initial_delivery_count", 0))
        session.send_flow(endpoint)


def _fields(session: Session, attach: Composed, endpoint: LinkEndpoint) -> dict[str, Any]:
    """The fields of the broker's attach, except the unsettled map."""
    terminus, faulty = endpoint.terminus, session.faulty
    role = endpoint.is_sender if faulty("attach-answered-in-the-same-role") else not endpoint.is_sender
    fields: dict[str, Any] = {
        "name": terminus.name + "'" if faulty("attach-under-another-name") else terminus.name,
        "handle": None if faulty("attach-without-handle") else endpoint.own_handle,
        "role": role,
        "snd_settle_mode": _mode_fields(session, endpoint),
        "rcv_settle_mode": 1 - endpoint.rcv_settle_mode
        if faulty("rcv-settle-mode-told-wrong")
        else endpoint.rcv_settle_mode,
        "source": terminus.source,
        "target": terminus.target,
        "max_message_size": session.connection.core.max_message_octets,
    }
    if faulty("terminus-of-partner-not-told"):
        fields["target" if endpoint.is_sender else "source"] = None
    if endpoint.is_sender and not faulty("sender-without-initial-delivery-count"):
        fields["initial_delivery_count"] = endpoint.delivery_count
    return fields


def _mode_fields(session: Session, endpoint: LinkEndpoint) -> int:
    if session.faulty("snd-settle-mode-told-wrong"):
        return SETTLED if endpoint.snd_settle_mode != SETTLED else 0
    return endpoint.snd_settle_mode


def _unsettled(session: Session, endpoint: LinkEndpoint) -> Map | None:
    """The unsettled deliveries of an existing terminus; None if there are none."""
    if session.faulty("unsettled-map-not-told"):
        return None
    if isinstance(endpoint, SendingEndpoint):
        held = endpoint.terminus.held.values()
        states = {one.tag: one.outcome or None for one in held}
    else:
        states = {tag: outcome or None for tag, outcome in endpoint.terminus.incoming.items()}
    if session.faulty("unsettled-map-lacks-one") and states:
        states.popitem()
    if session.faulty("unsettled-map-with-null-key"):
        states[cast(bytes, None)] = "accepted"
    return Map({tag: _state(state) for tag, state in states.items()}) if states else None


def _state(name: str | None) -> Any:
    if name is None:
        return encode_composite("received", section_number=0, section_offset=0)
    return encode_composite(name)


def _fit(session: Session, endpoint: LinkEndpoint, fields: dict[str, Any]) -> None:
    """Shorten the unsettled map to the partner's frame size, and set ``incomplete-unsettled`` (§2.7.3): an attach is
    a single frame and cannot be continued.
    """
    room = session.connection.max_frame_octets - wire.HEAD_OCTETS
    unsettled = fields["unsettled"]
    if session.faulty("attach-fits-no-frame"):
        return
    if (
        unsettled
        and session.faulty("large-map-ends-session")
        and len(wire.performative("attach", fields)) > room
    ):
        session.fail("amqp:frame-size-too-small", "the unsettled map does not fit a frame")
        return
    while unsettled and len(wire.performative("attach", fields)) > room:
        unsettled.popitem()
        if not session.faulty("incomplete-map-told-as-complete"):
            fields["incomplete_unsettled"] = True
        endpoint.only_resumes = True


def reject_attach(session: Session, attach: Composed, own_handle: int, condition: str, text: str) -> None:
    """Attach without a terminus, then detach with the error."""
    we_send = bool(attach["role"])
    fields: dict[str, Any] = {"name": attach.get("name", ""), "handle": own_handle, "role": not we_send}
    theirs, ours = ("target", "source") if we_send else ("source", "target")
    if isinstance(attach.get(theirs), Composed):
        fields[theirs] = attach[theirs]
    if we_send:
        fields["initial_delivery_count"] = 0
    if session.faulty("refused-attach-with-terminus"):
        fields[ours] = attach.get(ours)
    if not session.faulty("refused-attach-not-answered"):
        session.send("attach", fields)
    if session.faulty("refused-attach-not-detached"):
        return
    error = error_of(session.faulty, condition, text, "detach")
    session.send("detach", {"handle": own_handle, "closed": True, "error": error})
    session.rejected.add(attach.get("handle", 0))


def answer_crossing(session: Session, endpoint: LinkEndpoint) -> None:
    """A closing detach has crossed the broker's, which did not close: attach again, and close (1.0 §2.6.6)."""
    key = (endpoint.is_sender, endpoint.name)
    if session.faulty("crossing-detach-ends-session"):
        session.fail("amqp:session:errant-link", "a detach that crosses")
    handle = session.free_handle()
    if handle is None or session.faulty("crossing-detach-not-answered"):
        return
    if not session.faulty("crossing-detach-answered-without-attach"):
        terminus = endpoint.terminus
        fields = {"name": endpoint.name, "handle": handle, "role": not endpoint.is_sender}
        fields |= {"source": terminus.source, "target": terminus.target}
        if endpoint.is_sender:
            fields["initial_delivery_count"] = endpoint.delivery_count
        session.send("attach", fields)
    session.send("detach", {"handle": handle, "closed": not session.faulty("crossing-detach-left-open")})
    session.failed_names.discard(key)
    session.nodes.detached(endpoint, closed=True)


def _after_receiving(session: Session, attach: Composed, endpoint: ReceivingEndpoint) -> None:
    """After the map is sent, deliveries that only this side has are settled: the sender has forgotten them (1.0
    §2.6.13).
    """
    theirs = attach.get("unsettled") or {}
    complete = not attach["incomplete_unsettled"]
    if complete and not session.faulty("what-the-sender-lacks-stays"):
        for tag in [tag for tag in endpoint.terminus.incoming if tag not in theirs]:
            del endpoint.terminus.incoming[tag]
    incomplete = endpoint.terminus.incomplete and session.faulty("incomplete-for-ever")
    endpoint.only_resumes = endpoint.only_resumes or not complete or incomplete
    endpoint.terminus.incomplete = not complete


FAULTS = fault_table("""
crossing-detach-ends-session: a closing detach that crosses one of the broker's ends the session
    [links/closing/crossing links/closing/crossing-answer]
crossing-detach-not-answered: a closing detach that crosses one of the broker's that does not close is not answered
    [links/closing/crossing-answer]
crossing-detach-answered-without-attach: it is answered by a detach without an attach before it
    [links/closing/crossing-answer]
crossing-detach-left-open: it is answered by attach and a detach that does not close [links/closing/crossing-answer]
attach-under-another-name: the broker's attach has another name [links/establishing/answer links/names/length]
attach-answered-in-the-same-role: the broker's attach has the role of the partner [links/establishing/answer]
attach-without-handle: the broker's attach lacks the handle [performatives/attach/mandatory]
terminus-of-partner-not-told: the broker's attach leaves out the partner's terminus
    [links/establishing/whose-terminus links/establishing/authority]
refused-attach-with-terminus: an attach that is refused is answered with a terminus
    [links/establishing/null-terminus links/recovering/no-record]
refused-attach-not-answered: a refused attach is answered only with detach
    [links/establishing/null-terminus links/establishing/refused-detach]
refused-attach-not-detached: an attach that is refused is not followed by detach
    [links/establishing/refused-detach performatives/attach/source/none links/recovering/no-record]
unsettled-map-not-told: attach does not contain the unsettled deliveries [links/establishing/unsettled-state
    transfers/resuming/unsettled-map transfers/resuming/both model/terminus-outlives]
unsettled-map-lacks-one: attach leaves out one of the unsettled deliveries [transfers/resuming/unsettled-map]
unsettled-map-though-nothing-is: attach has an empty map where nothing is unsettled
    [performatives/attach/unsettled/reattaching]
unsettled-map-with-null-key: the broker's unsettled maps have a null key [performatives/attach/unsettled/null-keys]
what-the-sender-lacks-stays: a delivery unsettled only at the target stays so [transfers/resuming/target-only-settled]
attach-fits-no-frame: attach is as long as its unsettled map [performatives/attach/unsettled/prefer-incomplete
    performatives/attach/unsettled/too-large performatives/open/max-frame-size/respected]
incomplete-map-told-as-complete: a truncated unsettled map is announced as complete
    [performatives/attach/unsettled/prefer-incomplete performatives/attach/unsettled/too-large]
large-map-ends-session: an unsettled map that does not fit ends the session
    [performatives/attach/unsettled/prefer-incomplete performatives/attach/unsettled/too-large]
snd-settle-mode-told-wrong: attach contains another sender settle mode than the one in use
    [performatives/attach/snd-settle-mode/respected performatives/transfer/settled/mode-unsettled
    performatives/transfer/settled/mode-settled definitions/snd-settle-mode/unsettled
    definitions/snd-settle-mode/settled]
rcv-settle-mode-told-wrong: attach contains another receiver settle mode than the one in use
    [performatives/attach/rcv-settle-mode/respected definitions/rcv-settle-mode/first]
sender-without-initial-delivery-count: the broker's attach as a sender lacks the initial-delivery-count
    [performatives/attach/initial-delivery-count/set]
""")
