"""Rules that bind both peers alike, asked of the server: the conversation is judged with its sides exchanged.

Knows: conversations, clients. Must not know: any dialect, single rules.
How the server ended its side is not known, so that nothing counts as missing at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any
from weakref import WeakKeyDictionary

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client, Encounter, Meets
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.hostility import Hostility

SERVER = "server"
_OTHER = {Side.CLIENT: Side.SERVER, Side.SERVER: Side.CLIENT}
Body = Callable[[Client], Verdict]
_known: WeakKeyDictionary[Encounter, Encounter] = WeakKeyDictionary()
"""The mirror of each encounter, made once for all cases: a conversation can be long."""


def asked_of_server(client: Client, body: Body) -> Verdict:
    """What a case about clients says of the server; the verdict's facts name the peer that it is about."""
    verdict = body(replace(client, arena=_Mirror(client.arena)))
    return replace(verdict, facts=replace(verdict.facts, role=SERVER))


def declare_mirrored(where: dict[str, Any], id: str, row: str, title: str, rule: Body) -> None:
    """Make a case about servers of a case about clients."""

    def body(client: Client) -> Verdict:
        return asked_of_server(client, rule)

    body.__doc__, body.__module__ = f"{title}.", where["__name__"]
    where[f"case_{id}"] = case(id, covers=[row])(body)


def clear(talk: Conversation) -> Iterator[Said]:
    """What both sides said, up to the first frame of the client that is malformed.

    What the client asked for from there on is unknown.
    """
    return takewhile(lambda one: one.sender is Side.SERVER or not _is_malformed(one), talk.said)


def mirrored(talk: Conversation) -> Conversation:
    """A conversation as far as it is clear, in which what the server said is the client's, and the other way round."""
    said = [replace(one, sender=_OTHER[one.sender]) for one in clear(talk)]
    return replace(talk, said=said, talk=replace(talk.talk, ended="", ended_ns=None))


def _is_malformed(said: Said) -> bool:
    holders = (said.what, getattr(said.what, "assembly", None))
    return said.name == "garbled" or any(getattr(holder, "problems", ()) for holder in holders)


@dataclass(frozen=True, slots=True)
class _Mirror:
    """What was met of a client, mirrored; see ``amqpspec.run.clients.client.Meets``."""

    arena: Meets
    is_prompted = False

    def clean(self, scenario: str) -> Encounter:
        """A scenario, or what was seen in its place; raises CannotDo."""
        return _mirror_of(self.arena.clean(scenario))

    def meet(self, name: str, scenario: str, hostility: Hostility | None = None) -> Encounter:
        """A hostile server; raises CannotDo."""
        return _mirror_of(self.arena.meet(name, scenario, hostility))


def _mirror_of(met: Encounter) -> Encounter:
    if (known := _known.get(met)) is not None:
        return known
    made = replace(met, conversations=[mirrored(talk) for talk in met.conversations])
    # A case counts each encounter once, and cases run in several threads: all must get the same mirror.
    return _known.setdefault(met, made)
