"""AMQP/Fast as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from amqpspec.fuzz.amqp_fast_0_8 import dissect, interop
from amqpspec.fuzz.amqp_fast_0_8 import states as ways
from amqpspec.fuzz.amqp_fast_0_8.answers import decoder
from amqpspec.fuzz.amqp_fast_0_8.canary import CommandCanary
from amqpspec.fuzz.amqp_fast_0_8.case_words import CASE_WORDS
from amqpspec.fuzz.amqp_fast_0_8.client_frames import frames_in
from amqpspec.fuzz.amqp_fast_0_8.grammar import productions
from amqpspec.fuzz.amqp_fast_0_8.judge import judge
from amqpspec.fuzz.amqp_fast_0_8.samples import CHANNEL
from amqpspec.fuzz.amqp_fast_0_8.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_fast_0_8.server_places import server_places
from amqpspec.fuzz.amqp_fast_0_8.traces import traces
from amqpspec.fuzz.amqp_fast_0_8.turns import FACTS, turn_of
from amqpspec.fuzz.clients.part import ServerPlace
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.interop.part import Piece
from amqpspec.fuzz.modular import Answers, ModularDriver
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.states.model import State, Step, Values
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.spec.commands import CommandDialect
from amqpspec.wire.amqp_fast_0_8.describe import describe_frame
from amqpspec.wire.amqp_fast_0_8.frames import CommandReader

_MAX_OCTETS = 1 << 24


class AmqpFastDriver(ModularDriver):
    """AMQP/Fast."""

    absent = MappingProxyType(
        {
            "C01": "no arrays: a table announces its number of octets, and each of its values has octets",
            "C03": "no nesting: values of tables are numbers and strings, and messages contain octets",
        }
    )

    @cached_property
    def tables(self) -> CommandDialect:
        """The tables."""
        found = tables(self.dialect_id)
        assert isinstance(found, CommandDialect)
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
        """Connections, channels, handles and transactions."""
        from amqpspec.fuzz.amqp_fast_0_8.sequences.programs import PROGRAMS

        return PROGRAMS

    # --- grammar, families, judge

    def locations(self, family: str, state: State) -> Iterator[Location]:
        """Where a family bends what AMQP/Fast has."""
        from amqpspec.fuzz.amqp_fast_0_8.families import LOCATIONS

        if family in LOCATIONS:
            yield from LOCATIONS[family](self.dialect_id, state)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by their commands."""
        reader = CommandReader(greets=octets.startswith(self.tables.protocol_header), max_size=_MAX_OCTETS)
        reader.feed(octets)
        return WordedFrames(reader, describe_frame)

    client_families = SERVER_FAMILIES

    def server_places(self) -> Iterable[ServerPlace]:
        """From the challenge to a message."""
        return server_places()

    # --- states

    first_channel = CHANNEL
    handshake = ways.HANDSHAKE

    def farewell(self, channel: int) -> Step:
        """The CLOSE that answers one of a channel."""
        return Step(ways.closing(channel).says)

    # --- what a target says

    sentinel_state = "handle"
    answers_where_asked = True

    def queue_of(self, number: int, values: Values) -> str:
        """Each connection has a topic of its own."""
        return f"amqpspec.fuzz.{number}"

    has_canaries = True

    def canary(self, subject: Subject, values: Values, number: int, *, listens: bool) -> CommandCanary:
        """Temporary queues."""
        return CommandCanary(subject, values, number, listens=listens)

    # --- findings, other tools, self-test

    @property
    def case_words(self) -> CaseWords:
        """The verbs of the peer."""
        return CASE_WORDS

    cut_states = ("open", "channel")

    def pieces(self, octets: bytes) -> Iterator[Piece]:
        """Commands after the handshake, without those on the connection."""
        return interop.pieces(octets)

    def on_channel(self, octets: bytes, channel: int) -> bytes:
        """A command on another channel."""
        return interop.on_channel(self.tables, octets, channel)

    def conditions(self, kind: str) -> Mapping[str, FrameCondition]:
        """A pause of a handle, and common commands."""
        return {
            "rare": FrameCondition(frozenset({"handle.flow"}), "flow_pause", "True"),
            "common": FrameCondition(frozenset({"handle.query", "handle.browse"})),
        }

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_fast_0_8.seams import seams

        return seams()
