"""Conversations of a reference agent with its reference broker, and what the rules of a suite for clients say of them.

Knows: agent, broker and reading of an entry, by the id of the dialect of clients. Must not know: any dialect.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import cast

from hypothesis import strategies as st

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login
from amqpspec.record.rows import Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import Manners, tapped
from amqpspec.run.case import Case, load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CONTEXT, Client, Encounter
from amqpspec.run.clients.execute import judged
from amqpspec.run.clients.roles import about
from amqpspec.run.clients.scenario import Agent, Order
from amqpspec.run.clients.watching import Seen
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import entry_of, part_of, widest
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Chunk, Reading, Talk
from tests.waiting import PATIENCE_S

UNSEEN = Ran(Application.UNSEEN, None, (), "")
DEVIATIONS = (Outcome.FAIL, Outcome.NONSTRICT, Outcome.OBSERVED)


class Talks:
    """A recorder that keeps the conversations."""

    def __init__(self) -> None:
        self.talks: list[Talk] = []
        self.lost_one = threading.Event()

    def began(self, talk: Talk) -> None:
        """A client has connected."""
        self.talks.append(talk)

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        """Octets have passed."""

    def ended(self, talk: Talk) -> None:
        """One side has ended the connection."""

    def lost(self, talk: Talk) -> None:
        """The connection is over."""
        self.lost_one.set()


def reading(dialect: str) -> Reading:
    """How conversations of a dialect are read."""
    return cast(Reading, part_of(dialect, "reading"))


def served(dialect: str) -> str:
    """The dialect of the server of these clients."""
    return widest(entry_of(dialect).clients_of)


def act(dialect: str, host: str, port: int, scenario: str, *faults: str, place: str = "/") -> None:
    """Run a scenario with a separate queue: that of another one may be about to go."""
    context = {**CONTEXT, "queue": f"amqpspec.{scenario}"}
    order = Order(scenario, Endpoint(host, port), Login(vhost=place), context, faults)
    cast(Agent, part_of(dialect, "agent"))(order, lambda event, data: None)


@cache
def conversation(dialect: str, scenario: str) -> Talk:
    """The first connection of a scenario."""
    kept = Talks()
    with ReferenceBroker(served(dialect), through=tapped(kept, Manners(reading(dialect)))) as broker:
        act(dialect, broker.host, broker.port, scenario)
        assert kept.lost_one.wait(PATIENCE_S)
    return kept.talks[0]


def verdicts(dialect: str, talk: Talk, cases: Iterable[Case]) -> dict[str, Verdict]:
    """The verdict of each case about a connection that was only watched."""
    seen = Seen(Encounter([reading(dialect).conversation(talk)], UNSEEN, "x"))
    return {case.id: judged(case, Client(seen, case.id, case.requirements)) for case in cases}


def broken_off(data: st.DataObject, whole: Talk) -> Talk:
    """The beginning of a conversation, ended in any way."""
    kept = data.draw(st.integers(0, len(whole.chunks) - 1))
    cut = Talk(1, is_cut=data.draw(st.booleans()), is_left=data.draw(st.booleans()))
    cut.ended = data.draw(st.sampled_from(["", "FIN", "RST"]))
    cut.chunks += whole.chunks[:kept]
    last = whole.chunks[kept]
    if part := last.octets[: data.draw(st.integers(0, len(last.octets) - 1))]:
        cut.add(last.sender, last.at_ns, part)
    return cut


@dataclass(frozen=True)
class Conduct:
    """The rules for servers of a dialect, over the scenarios of its reference agent."""

    dialect: str
    scenarios: tuple[str, ...]

    @cached_property
    def rules(self) -> Mapping[str, Case]:
        """The cases about servers."""
        return about(load_suite(self.dialect), Side.SERVER)

    def conversation(self, scenario: str) -> Talk:
        """The first connection of a scenario."""
        return conversation(self.dialect, scenario)

    def verdicts(self, talk: Talk) -> dict[str, Verdict]:
        """The verdict of each rule."""
        return verdicts(self.dialect, talk, self.rules.values())

    def wrong(self, talk: Talk) -> dict[str, str]:
        """What was observed, by the rules that the server deviates from."""
        found = self.verdicts(talk).items()
        return {id: v.observed for id, v in found if v.outcome in (*DEVIATIONS, Outcome.ERROR)}

    def changed(self, scenario: str, after: str, change: Callable[[bytes], bytes], nth: int = 1) -> Talk:
        """A conversation in which one of the server's frames of a name, the first or a later one, is changed."""
        changed, cutter, seen = Talk(1, ended="FIN"), reading(self.dialect).cutter(), 0
        for chunk in self.conversation(scenario).chunks:
            octets = chunk.octets
            if chunk.sender is Side.SERVER:
                octets = b""
                for name, frame in cutter.cut(chunk.octets):
                    seen += name == after
                    octets += change(frame) if name == after and seen == nth else frame
            changed.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
        assert seen >= nth
        return changed

    def found(self, case: str, talk: Talk) -> Verdict:
        """The verdict of a rule that the server breaks, while every other rule has a verdict."""
        verdicts = self.verdicts(talk)
        assert Outcome.ERROR not in {v.outcome for v in verdicts.values()}
        verdict = verdicts[case]
        assert (verdict.outcome in DEVIATIONS, verdict.facts.role) == (True, "server"), verdict.observed
        return verdict


def pausing(begun: Iterable[Chunk], octets: bytes, pauses_s: Iterable[float]) -> Talk:
    """A conversation that continues with the same octets of the server after each pause."""
    talk = Talk(1, ended="FIN")
    talk.chunks += begun
    at_ns = talk.chunks[-1].at_ns
    for pause_s in pauses_s:
        at_ns += round(pause_s * 1e9)
        talk.chunks.append(Chunk(Side.SERVER, at_ns, octets))
    return talk
