"""Captures of others: the TCP connections of a pcap or pcapng file as conversations, reported to a recorder.

Knows: packets, sequence numbers. Must not know: dialects, who is judged.
A connection counts where its first packets are in the file; what one side sent is put in order, sent again or not. A
gap that is never filled cuts the conversation there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Address, Recorder, Room, Talk
from amqpspec.wire.packets import FIN, RST, SYN, CaptureError, Packet, read_packets
from amqpspec.wire.segments import SEQ_SPAN, InOrder


@dataclass(slots=True)
class Skipped:
    """TCP connections that were left out: the capture lacks their beginning."""

    begun_before: set[frozenset[Address]] = field(default_factory=set)


@dataclass(slots=True)
class _Flow:
    talk: Talk
    halves: dict[Side, InOrder]
    first_seq: int
    ended: set[Side] = field(default_factory=set)

    @property
    def is_cut(self) -> bool:
        """Whether something is missing that will not come."""
        return any(half.has_gap for half in self.halves.values())


def tell_capture(path: Path, recorder: Recorder) -> Skipped:
    """Tell a recorder every TCP connection of a capture; raises CaptureError."""
    teller = _Teller(recorder)
    try:
        for packet in read_packets(path):
            teller.take(packet)
    except OSError as error:
        raise CaptureError(f"{path}: {error.strerror or error}") from error
    finally:
        teller.finish()
    return teller.skipped


class _Teller:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder, self._room = recorder, Room()
        self._flows: dict[tuple[Address, Address], _Flow] = {}
        self._numbers = count(1)
        self.skipped = Skipped()

    def take(self, packet: Packet) -> None:
        """One packet of the capture."""
        if packet.flags & SYN:
            self._begin(packet)
            return
        way = packet.source, packet.target
        sender = Side.CLIENT if way in self._flows else Side.SERVER
        flow = self._flows.get(way if sender is Side.CLIENT else way[::-1])
        if flow is None:
            self.skipped.begun_before.add(frozenset(way))
            return
        self._pass(flow, sender, packet)
        if packet.flags & (FIN | RST):
            self._end(flow, sender, "RST" if packet.flags & RST else "FIN", packet.at_ns)
        if packet.flags & RST or len(flow.ended) == len(flow.halves):
            self._lose(*way)

    def finish(self) -> None:
        """The capture has ended: what is open stays open."""
        for source, target in tuple(self._flows):
            self._lose(source, target)

    def _begin(self, packet: Packet) -> None:
        source, target, first_seq = packet.source, packet.target, (packet.seq + 1) % SEQ_SPAN
        if not packet.is_first:
            if flow := self._flows.get((target, source)):
                flow.halves[Side.SERVER].next_seq = first_seq
            return
        if known := self._flows.get((source, target)):
            if known.first_seq == first_seq:
                return  # sent again
            self._lose(source, target)  # the port has a second life
        talk = Talk(next(self._numbers), local=target, remote=source, room=self._room)
        halves = {Side.CLIENT: InOrder(first_seq), Side.SERVER: InOrder(0)}
        self._flows[source, target] = _Flow(talk, halves, first_seq)
        self._recorder.began(talk)

    def _pass(self, flow: _Flow, sender: Side, packet: Packet) -> None:
        if not packet.octets or flow.talk.is_cut:
            return
        for fresh in flow.halves[sender].take(packet.seq, packet.octets):
            flow.talk.add(sender, packet.at_ns, fresh)
            self._recorder.octets(flow.talk, sender, packet.at_ns, fresh)
        flow.talk.is_cut = flow.talk.is_cut or flow.halves[sender].is_cut

    def _end(self, flow: _Flow, sender: Side, how: str, at_ns: int) -> None:
        flow.ended.add(sender)
        if sender is Side.SERVER:
            flow.talk.is_left = flow.talk.is_left or not flow.talk.ended
        elif not flow.talk.ended:
            flow.talk.ended, flow.talk.ended_ns = how, at_ns
            self._recorder.ended(flow.talk)

    def _lose(self, source: Address, target: Address) -> None:
        flow = self._flows.pop((source, target), None) or self._flows.pop((target, source), None)
        if flow is not None:
            flow.talk.is_cut = flow.talk.is_cut or flow.is_cut
            self._recorder.lost(flow.talk)
