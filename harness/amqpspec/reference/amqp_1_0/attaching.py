"""Attach: handles, names, termini; links that are new, reattached, resumed or stolen.

Knows: the result for both termini, which unsettled deliveries each side reports. Must not know: transfers.
"""

from __future__ import annotations

from typing import Any

from amqpspec.reference.amqp_1_0 import addresses, limits
from amqpspec.reference.amqp_1_0.answering import answer_attach, reject_attach
from amqpspec.reference.amqp_1_0.coordinating import ControlEndpoint, coordinator_of
from amqpspec.reference.amqp_1_0.dispositions import OUTCOMES, apply
from amqpspec.reference.amqp_1_0.endpoints import STOLEN, LinkEndpoint
from amqpspec.reference.amqp_1_0.errors import fitting
from amqpspec.reference.amqp_1_0.nodes import SentDelivery, Terminus, fields_of
from amqpspec.reference.amqp_1_0.receiving import ReceivingEndpoint
from amqpspec.reference.amqp_1_0.relaying import RelayEndpoint
from amqpspec.reference.amqp_1_0.sending import SendingEndpoint
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.model import Scope
from amqpspec.wire.amqp_1_0.performatives import Composed

_FEW = 8


def on_attach(session: Session, attach: Composed) -> None:
    """An attach has arrived: answer it, and detach at once if there is no terminus.

    A link is refused in two steps: an attach whose own terminus is null, which makes the link, and a closing detach
    with the error (1.0 §2.6.3, figure 2.33). What is wrong with handles or names is an error of the session instead.
    """
    own_handle = _check_handle(session, attach)
    if len(session.endpoints) >= _FEW and session.faulty("eight-links-only"):
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
        reject_attach(session, attach, own_handle, fitting(refused), refused.text)


# --- handles and names


def _check_handle(session: Session, attach: Composed) -> int | None:
    given = attach.get("handle", 0)
    handle = given if isinstance(given, int) else 0  # a fault accepts an invalid handle
    if handle > limits.HANDLE_MAX:
        session.refuse("performatives/begin/handle-max/exceeded", f"handle {handle}")
    if handle in session.endpoints or handle in session.failed or handle in session.rejected:
        session.refuse("performatives/attach/handle/in-use", f"handle {handle} has a link")
    if session.faulty("handles-have-to-be-alike"):
        return handle
    return session.free_handle()


def _check_failed(session: Session, attach: Composed) -> None:
    """A failed link may only be resumed, with a map of unsettled deliveries."""
    key = (bool(attach["role"]), attach.get("name", ""))
    if any((endpoint.is_sender, endpoint.name) == key for endpoint in session.failed.values()):
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
        reject_attach(session, attach, own_handle, "amqp:invalid-field", "the name is too long")
        return
    key = (connection.container, we_send, name)
    _steal(session, key)
    resumed = key in session.nodes.termini
    terminus = session.nodes.terminus(key)
    try:
        _fill(session, attach, terminus, we_send)
    except RefusedError:
        if not resumed:
            session.nodes.termini.pop(key, None)
        raise
    endpoint: LinkEndpoint
    if we_send:
        endpoint = _start_sending(session, attach, own_handle, terminus)
    else:
        endpoint = _receiver(attach)(session, attach, own_handle, terminus)
    terminus.endpoint, terminus.session, terminus.connection = endpoint, session, connection
    session.endpoints[endpoint.handle] = endpoint
    answer_attach(session, attach, endpoint, resumed=resumed)


def _steal(session: Session, key: tuple[str, bool, str]) -> None:
    """A link of that name that is attached elsewhere loses its terminus: a name between two containers is one link.

    Both directions are links of their own: the role is part of the key (1.0 §2.6.1).
    """
    if session.faulty("one-name-one-link"):
        other = session.nodes.termini.get((key[0], not key[1], key[2]))
        if other is not None and other.endpoint is not None:
            other.endpoint.fail(STOLEN, f"{key[2]} is attached in the other direction", closed=True)
    if key not in session.nodes.termini:
        return
    endpoint = session.nodes.terminus(key).endpoint
    if endpoint is None or session.faulty("link-alive-twice"):
        return
    endpoint.fail(
        STOLEN, f"{key[2]} is attached elsewhere", closed=not session.faulty("stolen-link-not-closed")
    )


def _fill(session: Session, attach: Composed, terminus: Terminus, we_send: bool) -> None:
    """Give the terminus what the attach says of it.

    The sender decides what the source is, the receiver what the target is (1.0 §2.6.3): the partner's own terminus is
    taken as given, the broker's own is made as asked for, as far as there is such a thing.
    """
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
    """A link is recovered by its name alone: a null terminus means the existing one (1.0 §2.6.3)."""
    lost = terminus.queue is None or terminus.queue.deleted
    if not lost and not session.faulty("null-terminus-not-recovered"):
        return
    terminus.queue = None
    if we_send:
        session.refuse("links/recovering/no-record", "no source, and none known of that name")
    else:
        session.refuse("performatives/attach/target/none", "no target, and none known of that name")


def _make(session: Session, wanted: Any, terminus: Terminus, ours: str) -> None:
    if isinstance(wanted, Composed) and wanted.name == "coordinator" and ours == "target":
        # It ends with its link: control links are not resumed (1.0 §4.2).
        terminus.target, terminus.expiry = coordinator_of(session.faulty), "link-detach"
        return
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
    relays = ours == "target" and fields.get("address") is None and not fields.get("dynamic")
    if session.faulty("links-without-address-refused"):
        relays = False
    terminus.queue = None if relays else addresses.node_of(session, fields, terminus)
    terminus.expiry = str(wanted["expiry_policy"])
    terminus.timeout_s = wanted["timeout"]
    setattr(terminus, ours, addresses.as_created(session, fields))


def _check_fields(session: Session, attach: Composed, we_send: bool) -> None:
    unsettled = attach.get("unsettled")
    if unsettled is not None and None in unsettled:
        session.refuse("performatives/attach/unsettled/null-keys", "a null key in unsettled")
    if not we_send and "initial_delivery_count" not in attach.given:
        session.refuse(
            "performatives/attach/initial-delivery-count/set", "no initial-delivery-count from a sender"
        )


# --- both kinds of endpoint


def _start_sending(
    session: Session, attach: Composed, own_handle: int, terminus: Terminus
) -> SendingEndpoint:
    endpoint = SendingEndpoint(session, attach, own_handle, terminus)
    if session.faulty("initial-delivery-count-of-receiver-taken"):
        endpoint.initial_delivery_count = attach.get("initial_delivery_count", 0)
    if session.faulty("old-credit-kept"):
        endpoint.credit = session.old_credits.get(endpoint.name, 0)
    endpoint.unlimited = not attach.get("max_message_size")
    endpoint.selector = addresses.selector_in(terminus.source)
    _compare(session, attach, endpoint)
    return endpoint


def _compare(session: Session, attach: Composed, endpoint: SendingEndpoint) -> None:
    """Settle what is in doubt: the receiver's unsettled deliveries against those of the source (1.0 §2.6.13).

    What only the source has goes back to its node, as the receiver has forgotten it or never had it. What only the
    receiver has means nothing. What both have is resumed. In an incomplete map, a missing tag has no meaning,
    and no new delivery may begin on such a link: it is detached and resumed until both maps are whole.
    """
    theirs = attach.get("unsettled") or {}
    if attach.get("unsettled") is None and endpoint.terminus.held and session.faulty("map-wanted-again"):
        session.fail("amqp:invalid-field", "no map of what is unsettled")
        return
    incomplete = bool(attach["incomplete_unsettled"]) and not session.faulty(
        "incomplete-map-taken-for-complete"
    )
    lost: list[SentDelivery] = []
    resumed: list[SentDelivery] = []
    for tag, held in tuple(endpoint.terminus.held.items()):
        if tag not in theirs:
            if not incomplete and not session.faulty("what-the-receiver-lacks-stays"):
                lost.append(held)
            continue
        state = theirs[tag]
        has_outcome = isinstance(state, Composed) and state.name in OUTCOMES and not held.outcome
        if has_outcome and not session.faulty("remote-state-not-compared"):
            held.outcome = state.name
            apply(session, held, state)
        resumed.append(held)
    if session.faulty("unknown-tags-resumed"):
        unknown = [tag for tag in theirs if isinstance(tag, bytes) and tag not in endpoint.terminus.held]
        resumed += [addresses.invented_delivery(tag, endpoint.terminus) for tag in unknown]
    endpoint.only_resumes = incomplete or (
        endpoint.terminus.incomplete and session.faulty("incomplete-for-ever")
    )
    endpoint.terminus.incomplete = incomplete
    endpoint.resumed = [] if session.faulty("nothing-resumed") else resumed
    endpoint.lost = lost


def _receiver(attach: Composed) -> type[ReceivingEndpoint]:
    target = attach.get("target")
    if isinstance(target, Composed) and target.name == "coordinator":
        return ControlEndpoint
    anonymous = isinstance(target, Composed) and target.get("address") is None and not target.get("dynamic")
    return RelayEndpoint if anonymous else ReceivingEndpoint


FAULTS = fault_table("""
links-without-address-refused: a link whose target has no address is refused [anonymous/attach]
attach-not-answered: an attach is not answered [links/establishing/answer]
long-names-refused: names of more than 255 octets are refused [links/names/length]
handles-have-to-be-alike: the broker attaches with the partner's handle
    [links/handles/differ definitions/handle/different performatives/attach/handle/lowest]
eight-links-only: the ninth link of a session ends the session [model/many-links]
link-alive-twice: a link can be attached twice at once [sessions/link-on-one-session links/names/unique
    links/names/one-connection links/names/stolen definitions/condition/stolen]
one-name-one-link: sender and receiver cannot have the same name [links/names/one-connection links/names/unique]
stolen-link-not-closed: the link that was stolen is detached, not closed [links/names/stolen]
unknown-filters-refused: a link with a filter that is not understood is refused [links/establishing/adjust]
null-terminus-not-recovered: an attach without a terminus does not receive the state of the terminus
    [links/recovering/full-state]
old-source-kept-on-resume: on resuming, the partner's new terminus is ignored
    [links/establishing/authority links/reattaching/update]
failed-links-not-resumed: a link that failed cannot be resumed, with or without a map
    [links/errors/resume-unsettled links/errors/resume]
old-credit-kept: a link that is attached again keeps its old credit
    [links/errors/destroyed performatives/detach/closed links/flow/initial-state]
reattach-ignored: the terminus in a second attach is ignored [links/reattaching/update]
remote-state-not-compared: outcomes in an unsettled map are not applied
    [performatives/attach/unsettled/compared]
nothing-resumed: nothing is resumed [transfers/resuming/both transfers/resuming/resume-flag
    transfers/resuming/incomplete/reduce performatives/attach/unsettled/resent performatives/attach/unsettled/compared
    performatives/transfer/resume/first performatives/attach/incomplete-unsettled/sender]
map-wanted-again: an attach without a map ends the session if the source has unsettled deliveries
    [links/establishing/answer]
unknown-tags-resumed: a tag that the source does not know is resumed as an empty message
    [transfers/resuming/target-only performatives/transfer/resume/known-only]
what-the-receiver-lacks-stays: a delivery unsettled only at the source stays so
    [transfers/resuming/source-only performatives/attach/unsettled/resent]
incomplete-map-taken-for-complete: deliveries missing in an incomplete map are settled
    [transfers/resuming/incomplete/no-evidence]
incomplete-for-ever: after an incomplete map, the complete one is not believed
    [transfers/resuming/incomplete/retry performatives/attach/incomplete-unsettled/reattach]
initial-delivery-count-of-receiver-taken: a sender starts to count at the receiver's value
    [performatives/attach/initial-delivery-count/ignored links/flow/count-unspecified]
""")
