"""The transfer performative (amqp-1.0 §2.7.5), continued: settled, rcv-settle-mode, state."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import TERMINAL, Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, owed
from amqpspec.run.amqp_1_0.oracles import borne
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._transfers import (
    LARGE,
    NOTHING_RECEIVED,
    SECOND_MODE,
    SMALLEST_FRAME_OCTETS,
    after_leaving,
    contents,
    cut,
    dispositions,
    in_mode_second,
    octets_of,
    piece,
    pieces,
    put,
    received,
    sender,
)

_UNSETTLED, _SETTLED = 0, 1
_TRUE, _FALSE, _UNSET = {"settled": True}, {"settled": False}, dict[str, bool]()

# --- settled, left out


@case("transfer.settled.unset-first", covers=["performatives/transfer/settled/unset-first"])
def settled_left_out(peer: Peer) -> Verdict:
    """A delivery whose only transfer omits settled is unsettled: the target reports its outcome."""
    link = sender(peer, peer.node())
    peer.claim("a disposition with an outcome")
    sent = peer.outcome(piece(peer, link, octets_of(b"message")))
    return holds(peer, sent.outcome in TERMINAL, f"{sent.outcome or 'no state'}, {_said(sent)}")


@case("transfer.settled.unset-later", covers=["performatives/transfer/settled/unset-later"])
def settled_said_before(peer: Peer) -> Verdict:
    """Settled omitted after a transfer with settled true is true, as for a single settled transfer."""
    return _alike(peer, [_TRUE, _UNSET, _UNSET])


@case("transfer.settled.unset-later.any", covers=["performatives/transfer/settled/unset-later"])
def settled_said_on_any_transfer(peer: Peer) -> Verdict:
    """Settled omitted is true after any transfer with settled true, even if one in between has it false.

    Whether false may be said behind true is not specified: a target that refuses that is recorded.
    """
    other = peer.another()
    link = sender(other, other.node())
    pieces(other, link, cut(octets_of(LARGE), 3), _TRUE, _FALSE, _UNSET)
    # On another connection first: a refusal would cost the one that is judged.
    reaction = other.reaction(link=link)
    if reaction.code is not None:
        return observed_either_way(peer, "", reaction)
    return _alike(peer, [_TRUE, _FALSE, _UNSET])


@case("transfer.settled.unset-never", covers=["performatives/transfer/settled/unset-never"])
def settled_never_said(peer: Peer) -> Verdict:
    """Settled omitted on all transfers is false; settled true only on the last transfer is true."""
    link = sender(peer, peer.node())
    peer.claim("a disposition for a delivery that never set settled")
    peer.outcome(pieces(peer, link, cut(octets_of(LARGE), 3)))
    return _alike(peer, [_UNSET, _UNSET, _TRUE])


# --- settled, as the link's mode has it


@case(
    "transfer.settled.mode-settled",
    covers=["performatives/transfer/settled/mode-settled", "performatives/transfer/settled/mode-unsettled"],
)
def target_sends_settled(peer: Peer) -> Verdict:
    """If the target's attach has mode settled, each of its deliveries has a transfer with settled true."""
    link, deliveries = _as_asked(peer, "settled")
    settled = [delivery.settled for delivery in deliveries]
    # The target may answer with another mode: then it is that one which it has to keep.
    if _mode(link) == _UNSETTLED:
        return _none_settled(peer, deliveries)
    return equals(peer, settled, [True, True], "settled")


@case(
    "transfer.settled.mode-unsettled",
    covers=["performatives/transfer/settled/mode-unsettled", "performatives/transfer/settled/mode-settled"],
)
def target_sends_unsettled(peer: Peer) -> Verdict:
    """If the target's attach has mode unsettled, no transfer has settled true."""
    link, deliveries = _as_asked(peer, "unsettled")
    if _mode(link) == _SETTLED:
        settled = [delivery.settled for delivery in deliveries]
        return equals(peer, settled, [True, True], "settled", "performatives/transfer/settled/mode-settled")
    return _none_settled(peer, deliveries)


@case("transfer.settled.breach.mode-settled", covers=["performatives/transfer/settled/mode-settled"])
def unsettled_on_a_link_of_mode_settled(peer: Peer) -> Verdict:
    """The target rejects or tolerates an unsettled delivery on a link of mode settled."""
    return _breach(peer, "settled", _SETTLED, settled=False)


@case("transfer.settled.breach.mode-unsettled", covers=["performatives/transfer/settled/mode-unsettled"])
def settled_on_a_link_of_mode_unsettled(peer: Peer) -> Verdict:
    """The target rejects or tolerates a settled delivery on a link of mode unsettled."""
    return _breach(peer, "unsettled", _UNSETTLED, settled=True)


@case("transfer.settled.done", covers=["performatives/transfer/settled/done"])
def settled_when_sent(peer: Peer) -> Verdict:
    """In mode settled, the target's deliveries are settled: it does not redeliver them without a disposition."""
    address = peer.node()
    put(peer, address, b"once")
    link = peer.receiver(address, credit=1, snd_settle_mode="settled")
    if _mode(link) != _SETTLED:
        raise OutOfReach("the target's attach does not have mode settled")
    peer.claim("nothing in the node")
    peer.delivery(link)
    return equals(peer, after_leaving(peer, address), [], "messages")


# --- rcv-settle-mode


@case("transfer.rcv-settle-mode.first", covers=["performatives/transfer/rcv-settle-mode/first"])
def mode_first(peer: Peer) -> Verdict:
    """In mode first, the target settles on its own initiative."""
    link = sender(peer, peer.node(), rcv_settle_mode="first")
    peer.claim("a settled disposition of the target")
    sent = piece(peer, link, octets_of(b"message"), rcv_settle_mode="first")
    peer.until(lambda: sent.settled_by_target, "a settled disposition", link=link)
    return holds(peer, True, f"{sent.outcome or 'no state'}, {_said(sent)}")


@case("transfer.rcv-settle-mode.first.beside-second", covers=["performatives/transfer/rcv-settle-mode/first"])
def mode_first_on_a_link_of_mode_second(peer: Peer) -> Verdict:
    """On a link of mode second, the target settles a delivery of mode first by itself, and no other."""
    link = in_mode_second(peer, "sender", peer.node())
    peer.claim("the delivery of mode first settled by the target, the one without a mode not")
    first, other = piece(peer, link, octets_of(b"one"), rcv_settle_mode="first"), peer.transfer(link, b"two")
    peer.until(lambda: first.settled_by_target, "a settled disposition", link=link)
    settled = (first.settled_by_target, peer.outcome(other).settled_by_target)
    return equals(peer, settled, (True, False), "settled by the target")


@case("transfer.rcv-settle-mode.second", covers=["performatives/transfer/rcv-settle-mode/second"])
def mode_second(peer: Peer) -> Verdict:
    """In mode second, the target settles only after its own disposition and the sender's settled one."""
    link = in_mode_second(peer, "sender", peer.node())
    peer.claim("an unsettled disposition; after the sender has settled, the tag is free")
    sent = peer.outcome(piece(peer, link, octets_of(b"one"), rcv_settle_mode="second"))
    # After the round trip no settled disposition can still be in flight in the session.
    peer.barrier()
    if sent.settled_by_target:
        return holds(peer, False, "settled before the sender")
    peer.disposition(sent, role="sender")
    again = peer.outcome(peer.transfer(link, b"two", delivery_tag=sent.tag))
    return holds(peer, again.result == "accepted", f"{again.outcome or 'no state'} under the same tag")


@case("transfer.rcv-settle-mode.default.first", covers=["performatives/transfer/rcv-settle-mode/default"])
def mode_left_out_on_a_link_of_mode_first(peer: Peer) -> Verdict:
    """A transfer that omits the mode uses the mode of the attach: first."""
    link = sender(peer, peer.node(), rcv_settle_mode="first")
    if owed(link.attached, "attach")["rcv_settle_mode"] == SECOND_MODE:
        raise OutOfReach("the target answers rcv-settle-mode first with second", link.attached)
    peer.claim("a settled disposition of the target")
    sent = piece(peer, link, octets_of(b"message"))
    peer.until(lambda: sent.settled_by_target, "a settled disposition", link=link)
    return holds(peer, True, f"{sent.outcome or 'no state'}, {_said(sent)}")


@case("transfer.rcv-settle-mode.default.second", covers=["performatives/transfer/rcv-settle-mode/default"])
def mode_left_out_on_a_link_of_mode_second(peer: Peer) -> Verdict:
    """A transfer that omits the mode uses the mode of the attach: second."""
    link = in_mode_second(peer, "sender", peer.node())
    peer.claim("an unsettled disposition of the target, and no settled one")
    sent = peer.outcome(piece(peer, link, octets_of(b"message")))
    peer.barrier()
    return holds(peer, not sent.settled_by_target, f"{sent.outcome or 'no state'}, {_said(sent)}")


@case("transfer.rcv-settle-mode.illegal", covers=["performatives/transfer/rcv-settle-mode/illegal"])
def mode_second_on_a_link_of_mode_first(peer: Peer) -> Verdict:
    """The target rejects or tolerates an unsettled transfer of mode second on a link of mode first."""
    link = sender(peer, peer.node(), rcv_settle_mode="first")
    sent = piece(peer, link, octets_of(b"message"), rcv_settle_mode="second")
    return borne(peer, peer.reaction(link=link, delivery=sent))


@case("transfer.rcv-settle-mode.illegal.of-target", covers=["performatives/transfer/rcv-settle-mode/illegal"])
def modes_of_the_target(peer: Peer) -> Verdict:
    """The target sends no unsettled transfer of mode second on a link of mode first."""
    address = peer.node()
    put(peer, address, b"1", b"2")
    _, deliveries = received(peer, address, 2, rcv_settle_mode="first")
    modes = [t["rcv_settle_mode"] for d in deliveries if not d.settled for t in d.transfers]
    return holds(peer, SECOND_MODE not in modes, f"modes {modes}", "no transfer of mode second")


@case("transfer.rcv-settle-mode.settled", covers=["performatives/transfer/rcv-settle-mode/settled"])
def mode_of_a_settled_transfer(peer: Peer) -> Verdict:
    """The target ignores the mode of a settled transfer: second is no error on a link of mode first."""
    link = sender(peer, peer.node(), rcv_settle_mode="first")
    peer.claim("the message in the node")
    piece(peer, link, octets_of(b"settled"), settled=True, rcv_settle_mode="second")
    peer.barrier()
    peer.outcome(peer.transfer(link, b"next"))
    return equals(peer, contents(peer, link.address), [b"settled", b"next"], "messages")


# --- state


@case("transfer.state.meaning", covers=["performatives/transfer/state/meaning"])
def state_on_a_transfer(peer: Peer) -> Verdict:
    """A state on a transfer has the same effect as a disposition immediately before it."""
    link = sender(peer, peer.node())
    peer.claim("both deliveries treated alike")
    halves = cut(octets_of(b"told by disposition"), 2)
    # The same state, sent once by a disposition between the halves, once on the second half.
    by_disposition = piece(peer, link, halves[0], more=True, settled=False)
    peer.disposition(by_disposition, role="sender", settled=False, state=NOTHING_RECEIVED)
    peer.outcome(piece(peer, link, halves[1]))
    halves = cut(octets_of(b"told by transfer"), 2)
    piece(peer, link, halves[0], more=True, settled=False)
    by_transfer = peer.outcome(piece(peer, link, halves[1], state=NOTHING_RECEIVED))
    reported = [(one.outcome, one.settled_by_target) for one in (by_disposition, by_transfer)]
    if reported[0] != reported[1]:
        return holds(peer, False, f"outcome and settled {reported[0]} for one, {reported[1]} for the other")
    wanted = [b"told by disposition", b"told by transfer"]
    return equals(peer, contents(peer, link.address), wanted, "messages")


@case("transfer.state.terminal", covers=["performatives/transfer/state/terminal"])
def terminal_state_of_the_target(peer: Peer) -> Verdict:
    """After a terminal state for one of its deliveries, the target sends no other state for it."""
    address = peer.node()
    put(peer, address, b"message")
    link = in_mode_second(peer, "receiver", address, snd_settle_mode="unsettled")
    peer.credit(link, 1)
    delivery = peer.delivery(link)
    peer.claim("no two different terminal states of one delivery")
    peer.disposition(delivery, settled=False)
    peer.until(lambda: delivery.settled_by_target, "a settled disposition", link=link)
    peer.barrier()
    reported = [delivery.state, *(_state(d) for d in dispositions(peer, by_sender=True))]
    terminal = [state for state in reported if state in TERMINAL]
    return holds(peer, len(set(terminal)) <= 1, ", ".join(terminal) or "no terminal state")


# --- steps of this module


def _said(sent: Outgoing) -> str:
    return "settled" if sent.settled_by_target else "unsettled"


def _state(arrival: FrameArrived) -> str:
    return arrival.state


def _mode(link: Link) -> object:
    return owed(link.attached, "attach")["snd_settle_mode"]


def _alike(peer: Peer, *ways: list[dict[str, bool]]) -> Verdict:
    """Deliveries that are settled by one of their transfers are treated like one of a single settled transfer."""
    link = sender(peer, peer.node())
    bodies = [bytes([number]) * 600 for number in range(len(ways))]
    peer.claim("a disposition only if there is one for a single settled transfer, and all messages")
    # The measure: what this target says about a delivery that one settled transfer makes.
    single = piece(peer, link, octets_of(b"single"), settled=True)
    peer.barrier()
    sent = [
        pieces(peer, link, cut(octets_of(body), len(way)), *way)
        for body, way in zip(bodies, ways, strict=True)
    ]
    peer.barrier()
    peer.outcome(piece(peer, link, octets_of(b"last"), settled=False))
    differing = [number for number, one in enumerate(sent) if one.is_decided != single.is_decided]
    if differing:
        return holds(peer, False, f"a disposition: {single.is_decided} for the single one, else for others")
    return equals(peer, contents(peer, link.address), [b"single", *bodies, b"last"], "messages")


def _as_asked(peer: Peer, mode: str) -> tuple[Link, list[Delivery]]:
    """A small and a large message of the target on a link that asked for a mode; raises OutOfReach for mode mixed."""
    peer.open_connection(max_frame_size=SMALLEST_FRAME_OCTETS)
    address = peer.node()
    put(peer, address, b"small", LARGE)
    link, deliveries = received(peer, address, 2, snd_settle_mode=mode)
    if _mode(link) not in (_SETTLED, _UNSETTLED):
        raise OutOfReach("the target's attach has mode mixed")
    return link, deliveries


def _none_settled(peer: Peer, deliveries: list[Delivery]) -> Verdict:
    settled = [delivery.settled for delivery in deliveries]
    row = "performatives/transfer/settled/mode-unsettled"
    return equals(peer, settled, [False, False], "settled", row)


def _breach(peer: Peer, mode: str, number: int, *, settled: bool) -> Verdict:
    link = sender(peer, peer.node(), snd_settle_mode=mode)
    if _mode(link) != number:
        raise OutOfReach(f"the target's attach does not have mode {mode}")
    sent = piece(peer, link, octets_of(b"message"), settled=settled)
    return borne(peer, peer.reaction(link=link, delivery=sent))
