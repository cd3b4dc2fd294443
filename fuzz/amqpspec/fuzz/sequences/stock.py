"""What a queue holds, as far as a program can know it: messages by number, their order, whether they are there at all.

Knows: messages as numbers. Must not know: any dialect, who holds a message, how one is sent.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.fuzz.sequences.step import Violation


class Words:
    """Words and numbers that a program has not used yet."""

    def __init__(self) -> None:
        self.messages = self.names = 0

    def name(self, kind: str) -> str:
        """A word that the program has not used."""
        self.names += 1
        return f"{kind}{self.names}"

    def number(self) -> int:
        """The number of a new message."""
        self.messages += 1
        return self.messages


@dataclass(eq=False, slots=True)
class Copy:
    """A message in a queue, in the order of their places.

    ``fresh``: it has never left its place, so that its order is known. ``unsure``: a race leaves open whether it is
    there. ``marked``: it has to be marked as redelivered. ``refused_by`` are those that gave it back for others.
    """

    number: int
    stock: Stock
    place: int = 0
    fresh: bool = True
    unsure: bool = False
    marked: bool = False
    refused_by: set[str] = field(default_factory=set)

    @property
    def body(self) -> bytes:
        """What is sent: the number."""
        return b"m%d" % self.number


@dataclass(eq=False, slots=True)
class Stock:
    """A queue; ``name`` is the program's word for it, ``gone`` are the messages that left it, and how.

    ``known`` are all messages that were ever sent to it.
    """

    name: str
    address: str
    ready: list[Copy] = field(default_factory=list)
    gone: dict[bytes, str] = field(default_factory=dict)
    known: dict[bytes, int] = field(default_factory=dict)

    @property
    def certain(self) -> list[Copy]:
        """The copies that have to be there."""
        return [copy for copy in self.ready if not copy.unsure]

    def put(self, number: int) -> Copy:
        """A message arrives at its end."""
        copy = Copy(number, self, len(self.known) + 1)
        self.ready.append(copy)
        self.known[copy.body] = number
        return copy

    def take(self, body: bytes, held: str = "") -> Copy:
        """Take a message out; ``held`` says who has it, where anyone does. Raises Violation if it cannot be there."""
        copy = next((copy for copy in self.ready if copy.body == body), None)
        if copy is None:
            where = held or self.gone.get(body, "never sent to this queue")
            raise Violation(
                f"delivered: {where}", f"a message that {self.name} holds", f"{body[:40]!r}: {where}"
            )
        self.ready.remove(copy)
        copy.unsure = False
        return copy

    def left(self, body: bytes) -> Copy:
        """A message that may have left just before it was shown; raises Violation if it was never here."""
        if body in self.known:
            return Copy(self.known[body], self, fresh=False)
        raise Violation("shown: never sent to this queue", f"a message of {self.name}", repr(body[:40]))

    def drop(self, copy: Copy, how: str) -> None:
        """A message has left, and does not return."""
        self.gone[copy.body] = how

    def give_back(self, copy: Copy, *, unsure: bool = False, marked: bool = False) -> None:
        """A message returns, at any place."""
        copy.fresh, copy.unsure = False, unsure
        copy.marked = copy.marked or marked
        self.ready.append(copy)

    def unsettle(self, copies: list[Copy]) -> None:
        """A race leaves open whether and in which order these are there."""
        for copy in copies:
            copy.unsure, copy.fresh = True, False


def in_order(last: int, copy: Copy) -> int:
    """The place of the last fresh message of a consumer, after one more; raises Violation if it comes too late."""
    if not copy.fresh:
        return last
    if copy.place < last:
        raise Violation(
            "delivered out of order",
            "messages in the order of the queue",
            f"m{copy.number} after a later one",
        )
    return copy.place
