"""Hostile cases of clients: declared by what a server does and when, judged by what the client did about it.

Knows: cases, hostilities, the readers of reactions. Must not know: any dialect, what a server sends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from amqpspec.run.case import case
from amqpspec.run.clients.agent import Ran
from amqpspec.run.clients.client import Client, Encounter
from amqpspec.run.clients.judging import Done, Reaction, answers_violation, does_its_duty
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import load_dialect
from amqpspec.spec.model import Dialect, Refusal
from amqpspec.wire.conversation import Conversation
from amqpspec.wire.hostility import Act, Deed, Hostility

Reading = Callable[[Conversation, Ran], Refusal | None]
"""How a client refused, None if it continued; raises Undecided, CannotDo."""
Oracle = Callable[[Client, Encounter, Reaction, Dialect], Verdict]
"""From what a client did about a hostile server to a verdict."""
_provocations: dict[str, dict[str, Hostility]] = {}


@dataclass(frozen=True, slots=True)
class Provocation:
    """One hostile case: its id and title, the row that judges it, the scenario, what the server does."""

    id: str
    row: str
    scenario: str
    hostility: Hostility
    title: str


def provocations_of(dialect: str) -> Mapping[str, Hostility]:
    """What a server does in each hostile case of a dialect, by the case's id; there once its suite is loaded."""
    return _provocations.get(dialect, {})


def declare(
    where: dict[str, Any],
    dialect: str,
    served: str,
    provocation: Provocation,
    reading: Reading,
    oracle: Oracle = answers_violation,
) -> None:
    """Make a case of a provocation in a module; ``served`` is the dialect whose codes its verdict names."""
    _provocations.setdefault(dialect, {})[provocation.id] = provocation.hostility

    def body(client: Client) -> Verdict:
        met = client.against(provocation.hostility, provocation.scenario)
        return oracle(client, met, lambda c: reading(c, _ran(met, c)), load_dialect(served))

    _make(where, provocation, body)


def _ran(met: Encounter, hostile: Conversation) -> Ran:
    """The result of the application, and whether the client connected again after it had left this connection."""
    ended_ns = hostile.talk.ended_ns
    begun = (c.talk.chunks[0].at_ns for c in met.conversations if c is not hostile and c.talk.chunks)
    return replace(met.ran, reconnected=ended_ns is not None and any(at_ns >= ended_ns for at_ns in begun))


def declare_duty(where: dict[str, Any], dialect: str, provocation: Provocation, done: Done) -> None:
    """Make a case of what a client has to do about something that a server says, be it legal or not."""
    _provocations.setdefault(dialect, {})[provocation.id] = provocation.hostility

    def body(client: Client) -> Verdict:
        return does_its_duty(client, client.against(provocation.hostility, provocation.scenario), done)

    _make(where, provocation, body)


def _make(where: dict[str, Any], provocation: Provocation, body: Callable[[Client], Verdict]) -> None:
    body.__doc__ = provocation.title
    body.__module__ = where["__name__"]
    where[f"case_{provocation.id}"] = case(provocation.id, covers=[provocation.row])(body)


def instead(octets: Callable[[bytes], bytes]) -> Deed:
    """Other octets in place of a frame."""
    return lambda frame: [octets(frame)]


def followed(octets: Callable[[bytes], bytes]) -> Deed:
    """The frame, and octets after it that are made of it."""
    return lambda frame: [frame + octets(frame)]


def behind(octets: bytes) -> Deed:
    """The frame, and always the same octets after it."""
    return followed(lambda _: octets)


def all_of(octets: Iterable[bytes]) -> Deed:
    """Octets in place of a frame, whatever it is."""
    kept = list(octets)
    return lambda _: kept


def acting(act: Act) -> Deed:
    """Nothing of the frame, but an act."""
    return lambda _: [act]


def nothing_more(closed: bytes) -> Callable[[bytes], bool]:
    """Nothing that the broker writes after a close in its name is sent."""
    return lambda frame: False
