"""AMQP 0-10 as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from amqpspec.fuzz.amqp_0_10 import dissect, interop
from amqpspec.fuzz.amqp_0_10 import states as ways
from amqpspec.fuzz.amqp_0_10.answers import decoder
from amqpspec.fuzz.amqp_0_10.canary import AssemblyCanary
from amqpspec.fuzz.amqp_0_10.case_words import case_words
from amqpspec.fuzz.amqp_0_10.client_frames import frames_in
from amqpspec.fuzz.amqp_0_10.grammar import productions
from amqpspec.fuzz.amqp_0_10.judge import judge
from amqpspec.fuzz.amqp_0_10.samples import CHANNEL
from amqpspec.fuzz.amqp_0_10.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_0_10.server_places import on_channel_of, server_places
from amqpspec.fuzz.amqp_0_10.traces import traces
from amqpspec.fuzz.amqp_0_10.turns import FACTS, turn_of
from amqpspec.fuzz.clients.part import ServerPlace
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.interop.part import Piece, put_channel
from amqpspec.fuzz.modular import Answers, ModularDriver
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.states.model import State, Values
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.spec.assemblies import AssemblyDialect
from amqpspec.wire.amqp_0_10.describe import describe_frame
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.amqp_0_10.reader import FrameReader


class Amqp010Driver(ModularDriver):
    """AMQP 0-10."""

    @cached_property
    def tables(self) -> AssemblyDialect:
        """The tables."""
        found = tables(self.dialect_id)
        assert isinstance(found, AssemblyDialect)
        return found

    answers = Answers(
        productions=productions,
        frames_of=dissect.frames,
        boofuzz=interop.boofuzz,
        judge=judge,
        states=ways.states_of,
        octets_of=ways.octets_of,
        traces=traces,
        exchange_on=ways.exchange_on,
        closing=ways.closing,
        opens_or_ends=ways.OPENS_OR_ENDS,
        can_be_repeated=ways.can_be_repeated,
        turn_of=turn_of,
        facts=FACTS,
        decoder=decoder,
        frames_in=frames_in,
    )

    # --- sequences

    @property
    def programs(self) -> Programs:
        """Connections, sessions, subscriptions and transfers."""
        from amqpspec.fuzz.amqp_0_10.sequences.programs import PROGRAMS

        return PROGRAMS

    # --- grammar, families, judge

    def locations(self, family: str, state: State) -> Iterator[Location]:
        """Where a family bends what AMQP 0-10 has."""
        from amqpspec.fuzz.amqp_0_10.families import LOCATIONS

        if family in LOCATIONS:
            yield from LOCATIONS[family](self.dialect_id, state)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by what they complete."""
        reader = FrameReader()
        reader.feed(octets)
        return WordedFrames(reader, describe_frame)

    client_families = SERVER_FAMILIES

    def server_places(self) -> Iterable[ServerPlace]:
        """From the protocol header to a delivery."""
        return server_places()

    def fitted(self, frame: bytes, step: bytes) -> bytes:
        """A step on the channel of the server's frame."""
        return on_channel_of(frame, step)

    # --- states

    mechanisms = ("PLAIN", "ANONYMOUS", "EXTERNAL")
    first_channel = CHANNEL
    handshake = ways.HANDSHAKE

    # --- what a target says

    sentinel_state = "session"
    announced_in = "start"
    answers_where_asked = True
    sign_of_life = encode_assembly("connection.heartbeat")

    def queue_of(self, number: int, values: Values) -> str:
        """Each connection declares a separate queue."""
        return f"amqpspec.fuzz.{number}"

    has_canaries = True

    def canary(self, subject: Subject, values: Values, number: int, *, listens: bool) -> AssemblyCanary:
        """Exclusive queues."""
        return AssemblyCanary(subject, values, number, listens=listens)

    # --- findings, other tools, self-test

    @property
    def case_words(self) -> CaseWords:
        """The verbs of the peer."""
        return case_words()

    cut_states = ("ready", "session")

    def pieces(self, octets: bytes) -> Iterator[Piece]:
        """Frames after the handshake."""
        return interop.pieces(self.tables, octets)

    def on_channel(self, octets: bytes, channel: int) -> bytes:
        """A frame on another channel."""
        return put_channel(self.tables.layout.header, octets, channel)

    def conditions(self, kind: str) -> Mapping[str, FrameCondition]:
        """A query of an exchange, and common commands: none that a run's probe for optional classes sends."""
        return {
            "rare": FrameCondition(frozenset({"exchange.query"})),
            "common": FrameCondition(frozenset({"queue.query", "exchange.bound"})),
        }

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_0_10.seams import seams

        return seams()
