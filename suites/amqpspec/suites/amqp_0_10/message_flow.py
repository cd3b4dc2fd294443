"""Class message: flow modes, credit, flush, stop (amqp-0-10 message.set-flow-mode).

Knows: what credit allows in messages and octets. Must not know: targets.

What credit brings is counted by flush: it is complete when that has gone out.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import CREDIT, UNLIMITED, WINDOW, Peer
from amqpspec.run.oracles import borne_aloud, equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, on_queue
from amqpspec.suites.amqp_0_10._entities import bodies
from amqpspec.suites.amqp_0_10._messages import (
    answer,
    contents,
    count_of,
    deliveries,
    fill,
    flushed,
    has_on_offer_soon,
)

_SIX = tuple(b"%d" % number for number in range(6))
_PLENTY = 1 << 20


def _subscribed(
    peer: Peer, queue: str, mode: int | None = CREDIT, *,
    messages: int | None = None, octets: int | None = UNLIMITED,
) -> str:  # fmt: skip
    """A subscription in a flow mode, with credit."""
    name = peer.subscribe(queue, messages=None, octets=None)
    if mode is not None:
        peer.call("message.set-flow-mode", destination=name, flow_mode=mode)
    peer.flow(name, messages=messages, octets=octets)
    return name


def _complete(peer: Peer, transfers: list[AssemblyArrived]) -> None:
    peer.complete([transfer.id for transfer in transfers if transfer.id is not None])


def _cost(peer: Peer, body: bytes) -> int:
    """The octets that a message of this body costs: what header and body frames carry, as it was seen on the wire."""
    queue = fill(peer, peer.queue(), body)
    name = peer.subscribe(queue, messages=1)
    transfer = peer.transfer()
    answer(peer, "accept", [transfer])
    peer.call("message.cancel", destination=name)
    return sum(len(segment.octets) for segment in transfer.assembly.segments[1:])


# --- credit


@in_session("message.flow-mode.credit", covers=["message/set-flow-mode/credit"])
def credit_in_messages(peer: Peer) -> Verdict:
    """In credit mode, each transfer uses one message of credit, and completion does not restore it."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = _subscribed(peer, queue, messages=2)
    peer.claim("two messages, and no more when they are complete; then one more for one message of credit")
    first = peer.transfers(2)
    _complete(peer, first)
    peer.barrier()
    more = deliveries(peer, name)
    peer.flow(name, messages=1)
    found = (contents([*first, *more]), contents(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, ([b"0", b"1"], [b"2"], 3), "first, then, left")


@in_session("message.flow-mode.credit.octets", covers=["message/set-flow-mode/credit"])
def credit_in_octets(peer: Peer) -> Verdict:
    """Transfers also use credit in octets: with enough for two messages, two of three arrive."""
    body = b"x" * 1000
    cost = _cost(peer, body)
    queue = fill(peer, peer.queue(), body, body, body)
    name = _subscribed(peer, queue, messages=UNLIMITED, octets=2 * cost)
    peer.claim("two messages")
    found = (len(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, (2, 1), "messages, left")


@in_session("message.flow-mode.credit.either", covers=["message/set-flow-mode/credit"])
def either_credit_ends_it(peer: Peer) -> Verdict:
    """If either credit is used up, nothing arrives, however much remains of the other one."""
    queue = fill(peer, peer.queue(), *_SIX)
    names = [_subscribed(peer, queue, messages=3, octets=None), _subscribed(peer, queue, octets=_PLENTY)]
    peer.claim("nothing with credit of one unit only; three messages with both")
    before = [contents(flushed(peer, name)) for name in names]
    peer.flow(names[0], messages=3, octets=_PLENTY)
    found = (before, contents(flushed(peer, names[0])), count_of(peer, queue))
    return equals(peer, found, ([[], []], [b"0", b"1", b"2"], 3), "before, then, left")


@in_session("message.flow-mode.octets.exact", covers=["message/set-flow-mode/byte-accounting"])
def octets_of_header_and_body(peer: Peer) -> Verdict:
    """A message costs the octets of its header and body frames: with one octet less it waits."""
    # Longer than any header, so that who counts bodies alone takes one for the cost of one, whatever names are long.
    body = b"y" * 600
    cost = _cost(peer, body)
    queue = fill(peer, peer.queue(), body, body)
    name = _subscribed(peer, queue, messages=UNLIMITED, octets=cost - 1)
    peer.claim("nothing with one octet too few, a message with the last octet")
    # Flush would take the credit away: a barrier follows the flow, and the count says whether anything went out.
    peer.barrier()
    before = count_of(peer, queue)
    peer.flow(name, octets=1)
    found = (before, len(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, (2, 1, 1), "left before, messages, left")


@in_session("message.flow-mode.whole-assemblies", covers=["message/set-flow-mode/whole-assemblies"])
def whole_messages_only(peer: Peer) -> Verdict:
    """Credit never cuts a message: one that is too large waits, or arrives in complete fragments."""
    body = b"z" * 3000
    queue = fill(peer, peer.queue(), body)
    name = _subscribed(peer, queue, messages=UNLIMITED, octets=1000)
    peer.claim("no more octets than the credit allows, and the whole message with more credit")
    first = flushed(peer, name)
    within = sum(len(one.body) for one in first) <= 1000
    peer.flow(name, messages=UNLIMITED, octets=_PLENTY)
    found = first + flushed(peer, name)
    return equals(peer, (within, b"".join(contents(found)) == body), (True, True), "within credit, whole")


# --- windows


@in_session("message.flow-mode.window", covers=["message/set-flow-mode/window"])
def window_of_messages(peer: Peer) -> Verdict:
    """In window mode, each completed transfer restores one message of credit, in any order."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = _subscribed(peer, queue, WINDOW, messages=2)
    first = peer.transfers(2)
    peer.claim("a third message for the second one, a fourth for the first one, and no more")
    _complete(peer, first[1:])
    third = peer.transfer()
    _complete(peer, first)
    fourth = peer.transfer()
    found = ([third.body, fourth.body], contents(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, ([b"2", b"3"], [], 2), "then, more, left")


@in_session("message.flow-mode.window.octets", covers=["message/set-flow-mode/window"])
def window_of_octets(peer: Peer) -> Verdict:
    """In window mode, a completed transfer restores its octets of credit."""
    body = b"w" * 1000
    cost = _cost(peer, body)
    queue = fill(peer, peer.queue(), body, body, body)
    name = _subscribed(peer, queue, WINDOW, messages=UNLIMITED, octets=cost + cost // 2)
    first = peer.transfer()
    peer.claim("the second message when the first one is complete, and not the third one")
    _complete(peer, [first])
    second = peer.transfer()
    found = (len(second.body), len(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, (1000, 0, 1), "octets, more, left")


@in_session("message.flow-mode.default", covers=["message/set-flow-mode/default-flow-mode"])
def window_without_set_flow_mode(peer: Peer) -> Verdict:
    """Without set-flow-mode, a destination is in window mode."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = _subscribed(peer, queue, None, messages=2)
    first = peer.transfers(2)
    peer.claim("two more messages when two are complete")
    _complete(peer, first)
    found = (contents(peer.transfers(2)), contents(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, ([b"2", b"3"], [], 2), "then, more, left")


@in_session("message.flow-mode.completion-only", covers=["message/set-flow-mode/completion-only"])
def outcomes_give_no_credit(peer: Peer) -> Verdict:
    """In window mode, completion restores credit; accept, reject and release do not."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = _subscribed(peer, queue, WINDOW, messages=3)
    first = peer.transfers(3)
    peer.claim("nothing more after the three outcomes; one message for each completed transfer")
    for outcome, transfer in zip(("accept", "reject", "release"), first, strict=True):
        answer(peer, outcome, [transfer])
    has_on_offer_soon(peer, queue, 4)
    before = contents(deliveries(peer, name))
    _complete(peer, first[:2])
    then = len(peer.transfers(2))
    found = (before, then, len(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, ([], 2, 0, 2), "before, then, more, left")


@in_session("message.flow-mode.completion-only.tx", covers=["message/set-flow-mode/completion-only"])
def transactions_give_no_credit(peer: Peer) -> Verdict:
    """In window mode, commit and rollback restore no credit."""
    queue = fill(peer, peer.queue(), *_SIX)
    peer.call("tx.select")
    name = _subscribed(peer, queue, WINDOW, messages=2)
    first = peer.transfers(2)
    peer.claim("nothing more after commit and rollback")
    for outcome, transfer in zip(("tx.rollback", "tx.commit"), first, strict=True):
        answer(peer, "accept", [transfer])
        peer.call(outcome)
    peer.barrier()
    found = (contents(deliveries(peer, name)), contents(flushed(peer, name)))
    return equals(peer, found, ([], []), "more, flushed")


@in_session("message.flow-mode.switch", covers=["message/set-flow-mode/mode-switching"])
def switch_with_credit(peer: Peer) -> Verdict:
    """A change of the flow mode while credit remains may be refused."""
    name = peer.subscribe(peer.queue(), messages=1, octets=1)
    peer.barrier()
    peer.send("message.set-flow-mode", destination=name, flow_mode=CREDIT)
    return borne_aloud(peer, peer.reaction())


@in_session("message.flow-mode.switch.stopped", covers=["message/set-flow-mode/mode-switching"])
def switch_behind_stop(peer: Peer) -> Verdict:
    """After stop and after flush, the flow mode can be changed."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = peer.subscribe(queue, messages=1)
    first = peer.transfer()
    peer.claim("one message and no more in credit mode, one for each completed message in window mode")
    peer.call("message.stop", destination=name)
    peer.call("message.set-flow-mode", destination=name, flow_mode=CREDIT)
    peer.flow(name, messages=1, octets=UNLIMITED)
    second = peer.transfer()
    _complete(peer, [first, second])
    more = contents(flushed(peer, name))
    peer.call("message.set-flow-mode", destination=name, flow_mode=WINDOW)
    peer.flow(name, messages=1, octets=UNLIMITED)
    third = peer.transfer()
    _complete(peer, [third])
    found = (more, peer.transfer().body, contents(flushed(peer, name)), count_of(peer, queue))
    return equals(peer, found, ([], b"3", [], 2), "in credit mode, in window mode, more, left")


# --- flow


@on_queue("message.flow.adds", covers=["message/flow/adds"])
def credit_adds_up(peer: Peer, queue: str) -> Verdict:
    """Flow adds to the existing credit of its destination only."""
    name, other = _subscribed(peer, queue, messages=1), _subscribed(peer, queue)
    peer.flow(name, messages=2)
    peer.claim("three messages for one destination, none for the other one")
    fill(peer, queue, *_SIX)
    found = [contents(flushed(peer, one)) for one in (name, other)]
    return equals(peer, (found, count_of(peer, queue)), ([[b"0", b"1", b"2"], []], 3), "bodies, left")


@in_session("message.flow.adds.octets", covers=["message/flow/adds"])
def octets_add_up(peer: Peer) -> Verdict:
    """Flow in octets adds to the credit in octets and not to the credit in messages."""
    body = b"v" * 1000
    cost = _cost(peer, body)
    peer.claim("two messages if the credit allows two messages, or octets for two")
    found = []
    for messages, first, more in ((2, cost, 2 * cost), (4, cost, cost)):
        queue = peer.queue()
        name = _subscribed(peer, queue, messages=messages, octets=first)
        peer.flow(name, octets=more)
        fill(peer, queue, *[body] * 4)
        found.append((len(flushed(peer, name)), count_of(peer, queue)))
    return equals(peer, found, [(2, 2)] * 2, "messages, left")


@in_session("message.flow.without-value", covers=["message/flow/value/unset"])
def flow_without_a_value(peer: Peer) -> Verdict:
    """A flow without a value grants unlimited credit."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = _subscribed(peer, queue, octets=None)
    for unit in (0, 1):
        peer.send("message.flow", destination=name, unit=unit)
    peer.claim("all messages, and those published later")
    before = contents(peer.transfers(6))
    fill(peer, queue, *_SIX)
    return equals(peer, (before, contents(flushed(peer, name))), (list(_SIX), list(_SIX)), "bodies")


@in_session("message.flow.infinite", covers=["message/flow/infinite"])
def credit_without_end(peer: Peer) -> Verdict:
    """Credit of 0xFFFFFFFF is unlimited, and further credit does not change it, until stop."""
    queue = fill(peer, peer.queue(), *_SIX)
    name = _subscribed(peer, queue, messages=UNLIMITED)
    peer.flow(name, messages=1, octets=1)
    peer.claim("all messages; none after stop")
    before = contents(peer.transfers(6))
    fill(peer, queue, *_SIX)
    again = contents(peer.transfers(6))
    peer.call("message.stop", destination=name)
    fill(peer, queue, b"late")
    found = (before, again, contents(flushed(peer, name)))
    return equals(peer, found, (list(_SIX), list(_SIX), []), "first, then, after stop")


# --- flush, stop


@in_session("message.flush", covers=["message/flush/exhausts"])
def flush(peer: Peer) -> Verdict:
    """Before flush completes, the server sends what the credit allows; the remaining credit is revoked."""
    queue = fill(peer, peer.queue(), *_SIX)
    few, many = _subscribed(peer, queue, messages=2), _subscribed(peer, queue, octets=None)
    peer.claim("as many as the credit allows; all; then nothing")
    found = [contents(flushed(peer, few))]
    peer.flow(many, messages=UNLIMITED, octets=UNLIMITED)
    found.append(contents(flushed(peer, many)))
    fill(peer, queue, b"late", b"later")
    found += [contents(flushed(peer, name)) for name in (few, many)]
    wanted = [[b"0", b"1"], [b"2", b"3", b"4", b"5"], [], []]
    return equals(peer, (found, count_of(peer, queue)), (wanted, 2), "bodies, left")


@on_queue("message.flush.again", covers=["message/flush/exhausts"])
def flush_takes_both_credits(peer: Peer, queue: str) -> Verdict:
    """Flush revokes both credits: each must be granted again."""
    name = _subscribed(peer, queue, messages=5, octets=_PLENTY)
    peer.call("message.flush", destination=name)
    fill(peer, queue, *_SIX)
    peer.claim("nothing with messages alone, nothing with octets alone; one message with both")
    found = []
    for messages, octets in ((1, None), (None, _PLENTY), (1, _PLENTY)):
        peer.flow(name, messages=messages, octets=octets)
        found.append(contents(flushed(peer, name)))
    return equals(peer, (found, count_of(peer, queue)), ([[], [], [b"0"]], 5), "bodies, left")


@in_session("message.flush.large", covers=["message/flush/exhausts"])
def flush_sends_large_messages(peer: Peer) -> Verdict:
    """Flush completes only after all available messages were sent, however large they are."""
    queue = fill(peer, peer.queue(), *[bytes(600_000)] * 4)
    name = _subscribed(peer, queue, octets=None)
    peer.claim("four messages before flush is complete")
    # In one write: a server that sends in portions has not sent all of them when it reads flush.
    flows = [_numbered(peer, "message.flow", destination=name, unit=unit, value=UNLIMITED) for unit in (0, 1)]
    peer.send_octets(b"".join(flows) + peer.encoded("message.flush", destination=name, sync=True))
    peer.completion(peer.number())
    return equals(peer, [len(one.body) for one in deliveries(peer, name)], [600_000] * 4, "octets")


def _numbered(peer: Peer, name: str, **args: Any) -> bytes:
    """The octets of a command that gets the next id."""
    peer.number()
    return peer.encoded(name, **args)


@on_queue("message.stop", covers=["message/stop/zero"])
def stop(peer: Peer, queue: str) -> Verdict:
    """Stop revokes both credits of its destination, and of no other destination."""
    names = [_subscribed(peer, queue, messages=5, octets=_PLENTY) for _ in "123"]
    for name in names[:2]:
        peer.call("message.stop", destination=name)
    peer.flow(names[0], messages=1)
    peer.flow(names[1], octets=_PLENTY)
    peer.claim("messages only for the destination that was not stopped")
    fill(peer, queue, b"1", b"2")
    found = [contents(flushed(peer, name)) for name in names]
    return equals(peer, found, [[], [], [b"1", b"2"]], "bodies")


@in_session("message.stop.completion", covers=["message/stop/completion"])
def nothing_behind_stop(peer: Peer) -> Verdict:
    """After stop completes, nothing more arrives; new credit resumes delivery."""
    queue = fill(peer, peer.queue(), b"before")
    name = _subscribed(peer, queue, messages=UNLIMITED)
    first = peer.transfer()
    peer.claim("nothing after stop; the messages with new credit")
    peer.call("message.stop", destination=name)
    fill(peer, queue, b"1", b"2")
    between = contents(flushed(peer, name))
    peer.flow(name, messages=UNLIMITED, octets=UNLIMITED)
    found = (first.body, between, contents(flushed(peer, name)), bodies(peer, queue))
    return equals(peer, found, (b"before", [], [b"1", b"2"], []), "before, after, then, left")
