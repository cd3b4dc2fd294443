"""Loads by their shape: what is taken in bulk, in groups, by a transaction or by a reader that does not read.

Knows: when things are taken, held and given back. Must not know: any dialect, repetitions, what a target keeps.

A dialect says with the verbs of its peer how one thing is taken and given back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Hold, Load
from amqpspec.peer.context import Context
from amqpspec.peer.line import Line

P = TypeVar("P", bound=Line)
Q = TypeVar("Q")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Client(Generic[P]):
    """A connection on which a load can work: how it is opened, how its work is known to be done, how it is closed."""

    make: Callable[[Context], P]
    open: Callable[[P], object]
    round_trip: Callable[[P], object]
    close: Callable[[P], object]

    @contextmanager
    def at_work(self, context: Context, *, closes: bool = True) -> Iterator[P]:
        """An open connection, closed in good order or hung up. Raises Unmet."""
        peer = self.make(context)
        try:
            self.open(peer)
            yield peer
            if closes:
                self.close(peer)
        finally:
            peer.hang_up()


def in_bulk(
    client: Client[P],
    prepare: Callable[[P, int], Sequence[T]],
    take: Callable[[P, T], object],
    give: Callable[[P, T], object],
    finish: Callable[[P, Sequence[T]], object] = lambda peer, things: None,
) -> Load:
    """All things are taken, then all given back, without waiting in between."""

    def load(context: Context, count: int, hold: Hold) -> None:
        with client.at_work(context) as peer:
            things = prepare(peer, count)
            for thing in things:
                take(peer, thing)
            client.round_trip(peer)
            hold(0)
            for thing in things:
                give(peer, thing)
            client.round_trip(peer)
            finish(peer, things)

    return load


def in_groups(
    client: Client[P],
    size: int,
    prepare: Callable[[P], Q],
    take: Callable[[P, Q, int], T],
    give: Callable[[P, T], object],
    share: int = 1,
) -> Load:
    """Things are taken by number, a group at once, and given back; then the next group.

    ``share``: one in so many of the things that are asked for, where each needs several answers.
    """

    def load(context: Context, count: int, hold: Hold) -> None:
        with client.at_work(context) as peer:
            place = prepare(peer)
            for _ in range(max(1, count // size // share)):
                taken = [take(peer, place, number) for number in range(size)]
                hold(0)
                for thing in taken:
                    give(peer, thing)

    return load


@dataclass(frozen=True, slots=True)
class Sending(Generic[P, T]):
    """How messages are sent to a place;

    ``clean`` removes it with that many messages, if it outlives its connection.
    """

    prepare: Callable[[P], T]
    send: Callable[[P, T, bytes], object]
    clean: Callable[[P, T, int], object] = lambda peer, place, count: None

    def burst(self, peer: P, place: T, count: int, body: bytes) -> int:
        """Send this many messages; returns their octets."""
        for _ in range(count):
            self.send(peer, place, body)
        return count * len(body)


def rolled_back(
    client: Client[P], sending: Sending[P, T], body: bytes, undo: Callable[[P], object], most: int = 0
) -> Load:
    """A transaction of many messages that is rolled back, or several of ``most`` messages."""

    def load(context: Context, count: int, hold: Hold) -> None:
        with client.at_work(context) as peer:
            place = sending.prepare(peer)
            for size in _parts(count, most):
                octets = sending.burst(peer, place, size, body)
                client.round_trip(peer)
                hold(octets)
                undo(peer)
            sending.clean(peer, place, 0)

    return load


def cut_off(client: Client[P], sending: Sending[P, T], body: bytes, most: int = 0) -> Load:
    """A transaction of many messages that ends with its connection, or several of ``most`` messages."""

    def load(context: Context, count: int, hold: Hold) -> None:
        for size in _parts(count, most):
            with client.at_work(context, closes=False) as peer:
                octets = sending.burst(peer, sending.prepare(peer), size, body)
                client.round_trip(peer)
                hold(octets)
                end_by_reset(peer.transport)

    return load


def _parts(count: int, most: int) -> list[int]:
    return [most] * max(1, count // most) if most else [count]


def slow_reader(
    client: Client[P], sending: Sending[P, T], body: bytes, read: Callable[[P, T, int], object]
) -> Load:
    """A reader that never reads, its window shut, while the target has messages for it; then it is gone."""

    def load(context: Context, count: int, hold: Hold) -> None:
        with client.at_work(context) as source:
            place = sending.prepare(source)
            sent = max(1, count // 4)
            with client.at_work(context, closes=False) as slow:
                read(slow, place, count)
                octets = sending.burst(source, place, sent, body)
                client.round_trip(source)
                hold(octets)
                end_by_reset(slow.transport)
            sending.clean(source, place, sent)

    return load


def nothing(peer: Line) -> None:
    """Nothing has to be prepared."""
