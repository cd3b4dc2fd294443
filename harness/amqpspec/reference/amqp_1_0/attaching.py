"""Attach: handles, names, termini; links that are new, taken up again, resumed or taken over.

Knows: what becomes of both termini, which unsettled deliveries each side tells of.
Must not know: transfers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from amqpspec.reference.amqp_1_0 import addresses, limits, wire
from amqpspec.reference.amqp_1_0.dispositions import OUTCOMES, apply
from amqpspec.reference.amqp_1_0.ends import SETTLED, STOLEN, End
from amqpspec.reference.amqp_1_0.errors import error_of, fitting
from amqpspec.reference.amqp_1_0.nodes import Held, Terminus, fields_of
from amqpspec.reference.amqp_1_0.receiving import ReceivingEnd
from amqpspec.reference.amqp_1_0.sending import SendingEnd
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_1_0.performatives import Composed
from amqpspec.wire.amqp_1_0.values import Map

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.session import Session


_FEW = 8


def on_attach(session: Session, attach: Composed) -> None:
    """An attach has come: answer it, and detach at once where there is no terminus."""
    own_handle = _check_handle(session, attach)
    if len(session.ends) >= _FEW and session.faulty("eight-links-only"):
        own_handle = None
    _check_failed(session, attach)
    if own_handle is None:
        session.fail("amqp:resource-limit-exceeded", "no handle is left for the answer")
        return
    if session.faulty("attach-not-answered"):
        return
    try:
        _attach(session, attach, own_handle)
    except RefusedError as refused:
        if refused.refusal is None or refused.refusal.scope is not Scope.LINK:
            raise
        _reject(session, attach, own_handle, fitting(refused), refused.text)


# --- handles and names


def _check_handle(session: Session, attach: Composed) -> int | None:
    given = attach.get("handle", 0)
    handle = given if isinstance(given, int) else 0  # a fault bears what is no handle
    if handle > limits.HANDLE_MAX:
        session.refuse("performatives/begin/handle-max/exceeded", f"handle {handle}")
    if handle in session.ends or handle in session.failed or handle in session.rejected:
        session.refuse("performatives/attach/handle/in-use", f"handle {handle} has a link")
    if session.faulty("handles-have-to-be-alike"):
        return handle
    return session.free_handle()


def _check_failed(session: Session, attach: Composed) -> None:
    """A link that has failed is resumed with a map of what is unsettled, or not at all."""
    key = (bool(attach["role"]), attach.get("name", ""))
    if any((end.is_sender, end.name) == key for end in session.failed.values()):
        session.refuse("links/errors/pipelined-attach", f"attach of {key[1]}, whose link has just failed")
    elif key in session.failed_names:
        if attach.get("unsettled") is None or session.faulty("failed-links-not-resumed"):
            session.refuse(
                "links/errors/resume", f"{key[1]} has failed and is attached without an unsettled map"
            )
        session.failed_names.discard(key)


# --- the terminus


def _attach(session: Session, attach: Composed, own_handle: int) -> None:
    connection = session.connection
    we_send = bool(attach["role"])
    name = attach.get("name", "")
    if len(name.encode("utf-8", "surrogateescape")) > 255 and session.faulty("long-names-refused"):
        _reject(session, attach, own_handle, "amqp:invalid-field", "the name is too long")
        return
    key = (connection.container, we_send, name)
    _steal(session, key)
    resumed = session.nodes.known(key)
    terminus = session.nodes.terminus(key)
    try:
        _fill(session, attach, terminus, we_send)
    except RefusedError:
        if not resumed:
            session.nodes.termini.pop(key, None)
        raise
    end: End
    if we_send:
        end = _start_sending(session, attach, own_handle, terminus)
    else:
        end = _start_receiving(session, attach, own_handle, terminus)
    terminus.end, terminus.session, terminus.connection = end, session, connection
    session.add(end)
    _answer(session, attach, end, resumed=resumed)


def _steal(session: Session, key: tuple[str, bool, str]) -> None:
    """A link of that name that is attached elsewhere loses its terminus."""
    if session.faulty("one-name-one-link"):
        other = session.nodes.termini.get((key[0], not key[1], key[2]))
        if other is not None and other.end is not None:
            other.end.fail(STOLEN, f"{key[2]} is attached in the other direction", closed=True)
    if not session.nodes.known(key):
        return
    end = session.nodes.terminus(key).end
    if end is None or session.faulty("link-alive-twice"):
        return
    end.fail(STOLEN, f"{key[2]} is attached elsewhere", closed=not session.faulty("stolen-link-not-closed"))


def _fill(session: Session, attach: Composed, terminus: Terminus, we_send: bool) -> None:
    """Give the terminus what the attach says of it."""
    ours, theirs = ("source", "target") if we_send else ("target", "source")
    kept = getattr(terminus, theirs) and session.faulty("old-source-kept-on-resume")
    if isinstance(attach.get(theirs), Composed) and not kept:
        setattr(terminus, theirs, fields_of(attach[theirs]))
    if attach.get(ours) is None:
        _recover(session, terminus, we_send)
    elif not (terminus.queue is not None and session.faulty("reattach-ignored")):
        _make(session, attach[ours], terminus, ours)
    _check_fields(session, attach, we_send)


def _recover(session: Session, terminus: Terminus, we_send: bool) -> None:
    gone = terminus.queue is None or terminus.queue.deleted
    if not gone and not session.faulty("null-terminus-not-recovered"):
        return
    terminus.queue = None
    if we_send:
        session.refuse("links/recovering/no-record", "no source, and none known of that name")
    else:
        session.refuse("performatives/attach/target/none", "no target, and none known of that name")


def _make(session: Session, wanted: Any, terminus: Terminus, ours: str) -> None:
    if not (isinstance(wanted, Composed) and wanted.name == ours):
        session.refuse("definitions/condition/not-implemented", f"a {ours} of another kind than {ours}")
        return
    user = session.connection.user
    if user is None or not user.may_work:
        session.refuse("definitions/condition/unauthorized-access", "nothing is permitted to this user")
    fields = fields_of(wanted)
    if (
        session.faulty("unknown-filters-refused")
        and "filter" in fields
        and addresses.selector_in(fields) is None
    ):
        session.refuse("definitions/condition/not-implemented", "a filter that is not understood")
    terminus.queue = addresses.node_of(session, fields, terminus)
    terminus.expiry = str(wanted["expiry_policy"])
    terminus.timeout_s = wanted["timeout"]
    setattr(terminus, ours, addresses.as_made(session, fields))


def _check_fields(session: Session, attach: Composed, we_send: bool) -> None:
    unsettled = attach.get("unsettled")
    if unsettled is not None and None in unsettled:
        session.refuse("performatives/attach/unsettled/null-keys", "a null key in unsettled")
    if not we_send and "initial_delivery_count" not in attach.given:
        session.refuse(
            "performatives/attach/initial-delivery-count/set", "no initial-delivery-count from a sender"
        )


# --- both kinds of endpoint


def _start_sending(session: Session, attach: Composed, own_handle: int, terminus: Terminus) -> SendingEnd:
    end = SendingEnd(session, attach.get("handle", 0), own_handle, terminus)
    end.snd_settle_mode = attach["snd_settle_mode"]
    end.rcv_settle_mode = attach["rcv_settle_mode"]
    if session.faulty("initial-delivery-count-of-receiver-taken"):
        end.initial_delivery_count = attach.get("initial_delivery_count", 0)
    if session.faulty("old-credit-kept"):
        end.credit = session.old_credits.get(end.name, 0)
    end.unlimited = not attach.get("max_message_size")
    end.selector = addresses.selector_in(terminus.source)
    _compare(session, attach, end)
    return end


def _compare(session: Session, attach: Composed, end: SendingEnd) -> None:
    """Settle what is in doubt: the receiver's unsettled deliveries against those of the source."""
    theirs = attach.get("unsettled") or {}
    incomplete = bool(attach["incomplete_unsettled"]) and not session.faulty(
        "incomplete-map-taken-for-complete"
    )
    lost: list[Held] = []
    resumed: list[Held] = []
    for tag, held in tuple(end.terminus.held.items()):
        if tag not in theirs:
            if not incomplete and not session.faulty("what-the-receiver-lacks-stays"):
                lost.append(held)
            continue
        state = theirs[tag]
        told = isinstance(state, Composed) and state.name in OUTCOMES and not held.outcome
        if told and not session.faulty("remote-state-not-compared"):
            held.outcome = state.name
            apply(session, held, state)
        resumed.append(held)
    if session.faulty("unknown-tags-resumed"):
        unknown = [tag for tag in theirs if isinstance(tag, bytes) and tag not in end.terminus.held]
        resumed += [addresses.made_up(tag, end.terminus) for tag in unknown]
    end.no_new = incomplete or (end.terminus.incomplete and session.faulty("incomplete-for-ever"))
    end.terminus.incomplete = incomplete
    end.resume([] if session.faulty("nothing-resumed") else resumed)
    end.lost = lost


def _start_receiving(session: Session, attach: Composed, own_handle: int, terminus: Terminus) -> ReceivingEnd:
    end = ReceivingEnd(session, attach.get("handle", 0), own_handle, terminus)
    end.snd_settle_mode = attach["snd_settle_mode"]
    end.rcv_settle_mode = attach["rcv_settle_mode"]
    return end


def _after_receiving(session: Session, attach: Composed, end: ReceivingEnd) -> None:
    """Once the map is told, what only this side holds is settled."""
    theirs = attach.get("unsettled") or {}
    complete = not attach["incomplete_unsettled"]
    if complete and not session.faulty("what-the-sender-lacks-stays"):
        for tag in [tag for tag in end.terminus.incoming if tag not in theirs]:
            del end.terminus.incoming[tag]
    incomplete = end.terminus.incomplete and session.faulty("incomplete-for-ever")
    end.no_new = end.no_new or not complete or incomplete
    end.terminus.incomplete = not complete


# --- the answer


def _answer(session: Session, attach: Composed, end: End, *, resumed: bool) -> None:
    fields = _told(session, attach, end)
    fields["unsettled"] = _unsettled(session, end) if resumed else None
    if session.faulty("unsettled-map-though-nothing-is") and fields["unsettled"] is None:
        fields["unsettled"] = {}
    _fit(session, end, fields)
    session.send("attach", fields)
    if isinstance(end, SendingEnd):
        session.nodes.give_back(end.terminus, end.lost)
        end.begin()
        end.look()
    elif isinstance(end, ReceivingEnd):
        _after_receiving(session, attach, end)
        end.begin(attach.get("initial_delivery_count", 0))
        session.send_flow(end)


def _told(session: Session, attach: Composed, end: End) -> dict[str, Any]:
    """What the broker's attach says, but for what is unsettled."""
    terminus, faulty = end.terminus, session.faulty
    role = end.is_sender if faulty("attach-answered-in-the-same-role") else not end.is_sender
    fields: dict[str, Any] = {
        "name": terminus.name + "'" if faulty("attach-under-another-name") else terminus.name,
        "handle": None if faulty("attach-without-handle") else end.own_handle,
        "role": role,
        "snd_settle_mode": _mode_told(session, end),
        "rcv_settle_mode": 1 - end.rcv_settle_mode
        if faulty("rcv-settle-mode-told-wrong")
        else end.rcv_settle_mode,
        "source": terminus.source,
        "target": terminus.target,
        "max_message_size": limits.MAX_MESSAGE_OCTETS,
    }
    if faulty("terminus-of-partner-not-told"):
        fields["target" if end.is_sender else "source"] = None
    if end.is_sender and not faulty("sender-without-initial-delivery-count"):
        fields["initial_delivery_count"] = end.delivery_count
    return fields


def _mode_told(session: Session, end: End) -> int:
    if session.faulty("snd-settle-mode-told-wrong"):
        return SETTLED if end.snd_settle_mode != SETTLED else 0
    return end.snd_settle_mode


def _unsettled(session: Session, end: End) -> Map | None:
    """The unsettled deliveries of a terminus that was there before; None where there are none."""
    if session.faulty("unsettled-map-not-told"):
        return None
    if isinstance(end, SendingEnd):
        held = end.terminus.held.values()
        states = {one.tag: one.outcome or None for one in held}
    else:
        states = {tag: outcome or None for tag, outcome in end.terminus.incoming.items()}
    if session.faulty("unsettled-map-lacks-one") and states:
        states.popitem()
    if session.faulty("unsettled-map-with-null-key"):
        states[cast(bytes, None)] = "accepted"
    return Map({tag: _state(state) for tag, state in states.items()}) if states else None


def _state(name: str | None) -> Any:
    from amqpspec.wire.amqp_1_0.performatives import encode_composite

    if name is None:
        return encode_composite("received", section_number=0, section_offset=0)
    return encode_composite(name)


def _fit(session: Session, end: End, fields: dict[str, Any]) -> None:
    """Leave out of the unsettled map what does not fit the partner's frames."""
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
        end.no_new = True


def _reject(session: Session, attach: Composed, own_handle: int, condition: str, text: str) -> None:
    """Attach without a terminus of one's own, then detach with the error."""
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
