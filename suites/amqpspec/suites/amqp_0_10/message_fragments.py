"""Class message: fragments, and transfers that are resumed (amqp-0-10 message.fragment-properties, message.resume).

Knows: messages in pieces. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NONE, PRE_ACQUIRED, Peer, entries
from amqpspec.run.amqp_0_10.oracles import rejects
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, in_two_sessions, on_queue
from amqpspec.suites.amqp_0_10._messages import SHARED, contents, count_of, fill, flushed
from amqpspec.wire.amqp_0_10.values import Packed

_FRAGMENT = "message.fragment-properties"
_MINUTE_MS = 60_000


def _fragment(
    peer: Peer,
    body: bytes,
    flags: str,
    key: str | None = None,
    channel: int = 0,
    *,
    exchange: str | None = None,
    delivery: Mapping[str, Any] | None = None,
    message: Mapping[str, Any] | None = None,
    accept_mode: int = NONE,
) -> int | None:
    """Transfer a fragment, first or last by its ``flags``; delivery properties where a routing key is given.

    Gives the id of the command.
    """
    header = [] if key is None else entries(key, delivery, message)
    header.append(Packed(_FRAGMENT, {name: True for name in ("first", "last") if name in flags}))
    return peer.send(
        "message.transfer",
        channel,
        header=header,
        body=body,
        destination=exchange,
        accept_mode=accept_mode,
        acquire_mode=PRE_ACQUIRED,
    )


def _message_in_pieces(peer: Peer, queue: str, pieces: Sequence[bytes], **message: Any) -> None:
    for number, piece in enumerate(pieces):
        flags = ("first " if not number else "") + ("last" if number == len(pieces) - 1 else "")
        if number:
            _fragment(peer, piece, flags)
        else:
            _fragment(peer, piece, flags, queue, message=message or None)


def _whole(transfers: Sequence[AssemblyArrived]) -> list[bytes]:
    """The messages that transfers are, however they are cut into fragments."""
    found, pieces = list[bytes](), list[bytes]()
    for transfer in transfers:
        flags = transfer.struct(_FRAGMENT)
        has_flags = any(isinstance(e, Packed) and e.name == _FRAGMENT for e in transfer.assembly.header or ())
        pieces.append(transfer.body)
        if not has_flags or flags.get("last"):
            found.append(b"".join(pieces))
            pieces = []
    return found


# --- fragments


@on_queue("message.fragments.first-only", covers=["message/fragment-properties/first-only"])
def properties_of_the_first(peer: Peer, queue: str) -> Verdict:
    """A fragmented message arrives once, with the properties of its first fragment."""
    peer.claim("each message with its properties, in its first transfer only")
    _message_in_pieces(peer, queue, (b"one ", b"two ", b"three"), content_type="text/plain")
    _message_in_pieces(peer, queue, (b"four ", b"five"), content_type="text/html")
    peer.barrier()
    found = peer.drain(queue)
    kinds = [transfer.message.get("content_type") for transfer in found if transfer.message]
    told = (_whole(found), kinds)
    wanted = ([b"one two three", b"four five"], ["text/plain", "text/html"])
    return equals(peer, told, wanted, "messages, content types")


@in_session("message.fragments.whole-properties", covers=["message/fragment-properties/first-only"])
def properties_of_a_large_message(peer: Peer) -> Verdict:
    """The properties of a large message arrive once, however the broker splits it."""
    queue, body = peer.queue(), b"large" * 20_000
    peer.publish(queue, body, message={"content_type": "text/plain"})
    peer.publish(queue, b"small fish", message={"content_type": "text/html"})
    peer.barrier()
    peer.claim("both messages, each with its properties once")
    found = peer.drain(queue)
    kinds = [transfer.message.get("content_type") for transfer in found if transfer.message]
    right = _whole(found) == [body, b"small fish"] and kinds == ["text/plain", "text/html"]
    return holds(peer, right, f"{len(found)} transfers, {len(kinds)} of them with properties")


@on_queue("message.fragments.accepted", covers=["message/accept-mode/explicit"])
def fragments_are_accepted(peer: Peer, queue: str) -> Verdict:
    """In explicit mode, the broker accepts the transfers of all fragments, each by its id."""
    peer.claim("an accept for each of the transfers, and the whole message")
    pieces = ((b"one ", "first", queue), (b"two ", "", None), (b"three", "last", None))
    wanted = [_fragment(peer, body, flags, key, accept_mode=EXPLICIT) for body, flags, key in pieces]
    accepted: list[int] = []
    while len(accepted) < len(wanted):
        for lower, upper in peer.expect("message.accept")["transfers"]:
            accepted.extend(range(lower, upper + 1))
    found = (sorted(accepted), _whole(peer.drain(queue)))
    return equals(peer, found, (wanted, [b"one two three"]), "accepted, messages")


@on_queue("message.fragments.one-client", covers=["message/fragment-properties/one-client"])
def one_client(peer: Peer, queue: str) -> Verdict:
    """All fragments of a message go to one of two subscribers."""
    names = [peer.subscribe(queue) for _ in "12"]
    peer.claim("each whole message with one subscriber")
    for number in b"12":
        digit = bytes((number,))
        _message_in_pieces(peer, queue, (digit * 3, digit * 2, digit))
    peer.barrier()
    got: list[bytes] = []
    while sum(map(len, got)) < 12:
        first = peer.transfer()
        mine = [first, *(other for other in flushed(peer, str(first["destination"])))]
        got += _whole(mine)
    return equals(peer, (sorted(got), len(names)), ([b"1" * 6, b"2" * 6], 2), "messages, subscribers")


@in_two_sessions("message.fragments.whole-first", covers=["message/fragment-properties/whole-first"])
def whole_first(peer: Peer) -> Verdict:
    """In pre-acquired mode, no fragment is delivered before the last one arrives; other messages are."""
    queue = peer.queue(**SHARED)
    destination = peer.subscribe(queue)
    peer.claim("the other message first, the whole one after its last fragment")
    _fragment(peer, b"first ", "first", queue)
    peer.barrier()
    peer.publish(queue, b"other", 1)
    peer.barrier(1)
    before = peer.transfer().body
    _fragment(peer, b"last", "last")
    peer.barrier()
    found = _whole([peer.transfer(), *flushed(peer, destination)])
    return equals(peer, (before, found), (b"other", [b"first last"]), "before, after")


# --- resume-id, resume-ttl


def _broken_off(peer: Peer, pieces: Sequence[bytes], **delivery: Any) -> tuple[str, str]:
    """A transfer that breaks off: its session ends before the last fragment; returns its queue and its resume-id."""
    peer.open_session()
    peer.open_session(1)
    queue, name = peer.queue(1, **SHARED), peer.name("resume")
    for number, piece in enumerate(pieces):
        if number:
            _fragment(peer, piece, "")
        else:
            _fragment(peer, piece, "first", queue, delivery={"resume_id": name, **delivery})
    peer.barrier()
    peer.detach()
    return queue, name


def _offset(peer: Peer, resume_id: str, channel: int = 1) -> int:
    result = peer.call("message.resume", channel, destination="", resume_id=resume_id)
    return int(result.fields.get("offset") or 0)


@case("message.resume-id.retained", covers=["message/delivery-properties/resume-id/retained"])
def retained(peer: Peer) -> Verdict:
    """A recipient may keep the received part of a transfer with a resume-id: all of it, or nothing."""
    _, name = _broken_off(peer, (b"12345",))
    peer.claim("an offset of 5 or 0")
    offset = _offset(peer, name)
    return (
        observed_either_way(peer, "kept" if offset == 5 else "not kept")
        if offset in (0, 5)
        else equals(peer, offset, 5, "offset")
    )


@case("message.resume-ttl.guideline", covers=["message/delivery-properties/resume-ttl/guideline"])
def resume_ttl(peer: Peer) -> Verdict:
    """A recipient may drop the received part of a transfer when its resume-ttl expires."""
    _, name = _broken_off(peer, (b"12345",), resume_ttl=0)
    peer.claim("an offset of 5 or 0")
    peer.barrier(1)
    offset = _offset(peer, name)
    return (
        observed_either_way(peer, "kept for longer" if offset == 5 else "dropped")
        if offset in (0, 5)
        else equals(peer, offset, 0, "offset")
    )


@on_queue("message.resume-ttl.alone", covers=["message/delivery-properties/resume-ttl/alone"])
def resume_ttl_without_resume_id(peer: Peer, queue: str) -> Verdict:
    """A resume-ttl without a resume-id has no effect: the message is delivered normally."""
    peer.claim("both messages, in order")
    peer.publish(queue, b"with", delivery={"resume_ttl": 0})
    fill(peer, queue, b"without")
    return equals(peer, contents(peer.drain(queue)), [b"with", b"without"], "bodies")


# --- resume


@case("message.resume", covers=["message/resume/amount"])
def resumed(peer: Peer) -> Verdict:
    """Resume returns the received amount; the rest completes the message, which is delivered once."""
    queue, name = _broken_off(peer, (b"one ", b"two "), resume_ttl=_MINUTE_MS)
    peer.claim("offset 8 or 0, and the message after its remaining part")
    offset = _offset(peer, name)
    if offset:
        _fragment(peer, b"three", "last", channel=1)
    else:
        _fragment(peer, b"one two three", "first last", queue, 1)
    peer.barrier(1)
    found = (offset, _whole(peer.drain(queue, 1)), count_of(peer, queue, 1))
    return equals(peer, found, (8 if offset else 0, [b"one two three"], 0), "offset, messages, left")


@case("message.resume.kept", covers=["message/resume/amount"])
def amounts(peer: Peer) -> Verdict:
    """After two interrupted transfers, each resume returns its own amount."""
    _, first = _broken_off(peer, (b"12345",), resume_ttl=_MINUTE_MS)
    _, second = _broken_off(peer.another(), (b"123",), resume_ttl=_MINUTE_MS)
    peer.claim("offsets 5 and 3")
    return equals(peer, [_offset(peer, name) for name in (first, second)], [5, 3], "offsets")


@in_session("message.resume.unknown", covers=["message/resume/resume-id/unknown-resume-id"])
def unknown_resume_id(peer: Peer) -> Verdict:
    """Resume of an unknown or completed transfer returns offset zero."""
    queue, name = peer.queue(), peer.name("resume")
    peer.publish(queue, b"whole", delivery={"resume_id": name})
    peer.barrier()
    peer.claim("offset zero for both")
    found = [_offset(peer, one, 0) for one in (name, peer.name("never"))]
    return equals(peer, found, [0, 0], "offsets")


@in_session("message.resume.no-destination", covers=["message/resume/destination/destination-not-found"])
def resume_to_nowhere(peer: Peer) -> Verdict:
    """The server rejects a resume to an exchange that does not exist."""
    return rejects(peer, "message.resume", destination=peer.name("missing"), resume_id=peer.name("resume"))
