"""AMQP 1.0 as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from amqpspec.fuzz.amqp_1_0 import dissect, interop
from amqpspec.fuzz.amqp_1_0 import states as ways
from amqpspec.fuzz.amqp_1_0.answers import decoder
from amqpspec.fuzz.amqp_1_0.canary import EchoClient, TypedCanary
from amqpspec.fuzz.amqp_1_0.case_words import CASE_WORDS
from amqpspec.fuzz.amqp_1_0.client_frames import frames_in
from amqpspec.fuzz.amqp_1_0.grammar import productions
from amqpspec.fuzz.amqp_1_0.judge import judge
from amqpspec.fuzz.amqp_1_0.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_1_0.server_places import server_places
from amqpspec.fuzz.amqp_1_0.traces import traces
from amqpspec.fuzz.amqp_1_0.turns import FACTS, turn_of
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
from amqpspec.fuzz.states.model import Say, State, Step, Values
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.spec.typed import TypedDialect
from amqpspec.wire.amqp_1_0.counting import with_next_incoming_id
from amqpspec.wire.amqp_1_0.describe import describe_frame
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, TypedReader

_MAX_OCTETS = 1 << 24


class Amqp10Driver(ModularDriver):
    """AMQP 1.0."""

    @cached_property
    def tables(self) -> TypedDialect:
        """The tables."""
        found = tables(self.dialect_id)
        assert isinstance(found, TypedDialect)
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
        """Connections, links and deliveries."""
        from amqpspec.fuzz.amqp_1_0.sequences.programs import PROGRAMS

        return PROGRAMS

    # --- grammar, families, judge

    revision = 3
    null = b"\x40"

    def locations(self, family: str, state: State) -> Iterator[Location]:
        """Where a family bends what AMQP 1.0 has."""
        from amqpspec.fuzz.amqp_1_0.families import LOCATIONS

        if family in LOCATIONS:
            yield from LOCATIONS[family](self.dialect_id, state)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by their performatives."""
        reader = TypedReader(max_frame_octets=_MAX_OCTETS)
        reader.feed(octets)
        return WordedFrames(reader, describe_frame)

    client_families = SERVER_FAMILIES

    def server_places(self) -> Iterable[ServerPlace]:
        """From the protocol header to a delivery."""
        return server_places()

    # --- states

    mechanisms = ("PLAIN", "ANONYMOUS", "EXTERNAL", "NONE")
    handshake = ways.HANDSHAKE

    def way_for(self, steps: tuple[Step, ...], mechanism: str) -> tuple[Step, ...]:
        """NONE is a way without the security layer."""
        return ways.way_for(steps, mechanism)

    def farewell(self, channel: int) -> Step:
        """The end of a session."""
        return Step((Say("END", "end", channel),))

    # --- what a target says

    sentinel_state = "session"
    announced_in = "open"
    attached_by = "attach"
    sign_of_life = EMPTY_FRAME

    def counted(self, octets: bytes, values: Values) -> bytes:
        """An input whose flows expect the transfer that the target sends first."""
        return with_next_incoming_id(octets, values.next_incoming)

    has_canaries = True
    echo = ("consuming", b"amqpspec")

    def echo_client(self, subject: Subject, values: Values) -> EchoClient:
        """A client that waits for credit and window before it sends."""
        return EchoClient(subject, values)

    def canary(self, subject: Subject, values: Values, number: int, *, listens: bool) -> TypedCanary:
        """Two nodes below the address; both are always received from."""
        return TypedCanary(subject, values, number)

    # --- findings, other tools, self-test

    @property
    def case_words(self) -> CaseWords:
        """The verbs of the peer."""
        return CASE_WORDS

    cut_states = ("open", "session")

    def headers(self) -> frozenset[bytes]:
        """Those of every layer."""
        return frozenset(self.tables.layout.headers.values())

    def pieces(self, octets: bytes) -> Iterator[Piece]:
        """Frames after the last protocol header, without open, SASL and empty frames."""
        return interop.pieces(self.tables, octets)

    def on_channel(self, octets: bytes, channel: int) -> bytes:
        """A frame on another channel."""
        return put_channel(self.tables.layout.header, octets, channel)

    def conditions(self, kind: str) -> Mapping[str, FrameCondition]:
        """An attach with a limit of its own, and common performatives."""
        return {
            "rare": FrameCondition(frozenset({"attach"}), "max_message_size", "1048576"),
            "common": FrameCondition(frozenset({"detach", "disposition"})),
        }

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_1_0.seams import seams

        return seams()
