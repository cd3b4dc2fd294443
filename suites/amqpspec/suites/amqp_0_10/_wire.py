"""Frames as cases cut them by hand, and violations that are tried one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import Reaction
from amqpspec.run.oracles import judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    encode_frame,
    track_of,
)
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL, encode_instruction

Act = Callable[[Peer], object]
WHOLE = FIRST_SEGMENT | LAST_SEGMENT


def cut_up(kind: int, pieces: Sequence[bytes], channel: int = 0, place: int = WHOLE) -> bytes:
    """One segment with these pieces as its frames."""
    frames = []
    for at, piece in enumerate(pieces):
        flags = place | (FIRST_FRAME if at == 0 else 0) | (LAST_FRAME if at == len(pieces) - 1 else 0)
        frames.append(
            encode_frame(piece, type=kind, flags=flags, channel=channel, track=track_of(min(kind, 1)))
        )
    return b"".join(frames)


def in_pieces(kind: int, octets: bytes, channel: int = 0) -> bytes:
    """One segment of one octet in each frame, with an empty frame before, between and after them."""
    singles = [octets[at : at + 1] for at in range(len(octets))]
    middle = len(singles) // 2
    return cut_up(kind, [b"", *singles[:middle], b"", *singles[middle:], b""], channel)


def declaring(peer: Peer, hint: str = "q", *, sync: bool = True) -> tuple[str, bytes]:
    """The name of a queue for the case, and the command segment that declares it."""
    name = peer.will_clean("queue", peer.name(hint))
    return name, encode_instruction("queue.declare", {"queue": name, "exclusive": True}, sync=sync)


def send_command(peer: Peer, octets: bytes, channel: int = 0) -> int | None:
    """Send the octets of a command segment in one frame; returns the id."""
    number = peer.number(channel)
    peer.send_octets(encode_frame(octets, type=COMMAND, channel=channel))
    return number


def send_control(peer: Peer, octets: bytes, channel: int = 0) -> None:
    """Send the octets of a control segment in one frame."""
    peer.send_octets(encode_frame(octets, type=CONTROL, channel=channel))


def queues_there(peer: Peer, names: Iterable[str], channel: int = 0) -> list[str]:
    """Those of the queues that exist."""
    asked = {name: peer.call("queue.query", channel, queue=name).fields.get("queue") for name in names}
    return [name for name, found in asked.items() if found == name]


def reaction_to(peer: Peer, act: Act, *, channel: int = 0, barrier: bool = True) -> Reaction:
    """What the target does about something that is done in a session on a separate connection."""
    one = peer.another()
    one.open_session()
    act(one)
    return one.reaction(channel, barrier=barrier, within_s=peer.patience_s)


def each_judged(
    peer: Peer,
    acts: Iterable[Act],
    judge: Callable[[Peer, Reaction], Verdict] = judge_reaction,
    *,
    channel: int = 0,
    barrier: bool = True,
) -> Verdict:
    """Each act in a session on a separate connection, with its effect on a channel; the worst verdict counts."""
    return worst([judge(peer, reaction_to(peer, act, channel=channel, barrier=barrier)) for act in acts])


def octets_of(octets: bytes) -> Act:
    """An act that sends octets."""
    return lambda peer: peer.send_octets(octets)


def command_of(octets: bytes) -> Act:
    """An act that sends a command segment."""
    return lambda peer: send_command(peer, octets)


def control_of(octets: bytes) -> Act:
    """An act that sends a control segment."""
    return lambda peer: send_control(peer, octets)
