"""AMQP 1.0 as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from amqpspec.fuzz.amqp_1_0 import answers, dissect, interop
from amqpspec.fuzz.amqp_1_0 import states as ways
from amqpspec.fuzz.amqp_1_0 import traces as signs
from amqpspec.fuzz.amqp_1_0.canary import TypedCanary
from amqpspec.fuzz.amqp_1_0.case_words import CASE_WORDS
from amqpspec.fuzz.amqp_1_0.client_frames import frames_in
from amqpspec.fuzz.amqp_1_0.grammar import productions
from amqpspec.fuzz.amqp_1_0.judge import judge
from amqpspec.fuzz.amqp_1_0.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_1_0.server_places import server_places
from amqpspec.fuzz.amqp_1_0.turns import FACTS, turn_of
from amqpspec.fuzz.clients.part import ServerPlace
from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.executor.heard import Decode
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.grammar import Production, tables
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.interop.part import BoofuzzFacts, Piece, put_channel
from amqpspec.fuzz.selftest.frames import ClientFrame, FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.states.model import Exchange, Say, State, Step, Traces, Turn, Values
from amqpspec.fuzz.trees.tree import Node
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.spec.typed import TypedDialect
from amqpspec.wire.amqp_1_0.describe import describe_frame
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, TypedReader

_MAX_OCTETS = 1 << 24


class Amqp10Driver(FuzzDriver):
    """AMQP 1.0."""

    @cached_property
    def tables(self) -> TypedDialect:
        """The tables."""
        found = tables(self.dialect_id)
        assert isinstance(found, TypedDialect)
        return found

    # --- sequences

    @property
    def programs(self) -> Programs:
        """Connections, links and deliveries."""
        from amqpspec.fuzz.amqp_1_0.sequences.programs import PROGRAMS

        return PROGRAMS

    # --- grammar, families, judge

    revision = 3
    null = b"\x40"

    def productions(self) -> Iterable[Production]:
        """Performatives, sections, encodings and frames."""
        return productions(self.tables)

    def locations(self, family: str, state: State) -> Iterator[Location]:
        """Where a family bends what AMQP 1.0 has."""
        from amqpspec.fuzz.amqp_1_0.families import LOCATIONS

        if family in LOCATIONS:
            yield from LOCATIONS[family](self.dialect_id, state)

    def judge(self, state: State, steps: tuple[bytes, ...]) -> str:
        """The one requirement that octets break."""
        return judge(state, steps)

    def frames_of(self, octets: bytes) -> Iterator[Node]:
        """Recorded frames as trees."""
        return dissect.frames(self.tables, octets)

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

    def states(self) -> Iterator[State]:
        """From the security layer to a closed connection."""
        return ways.states_of()

    def octets_of(self, say: Say, values: Values) -> bytes:
        """A performative or a protocol header."""
        return ways.octets_of(say, values)

    def way_for(self, steps: tuple[Step, ...], mechanism: str) -> tuple[Step, ...]:
        """NONE is a way without the security layer."""
        return ways.way_for(steps, mechanism)

    def traces(self, octets: bytes) -> Traces:
        """What frames leave behind."""
        return signs.traces(octets)

    def exchange_on(self, channel: int) -> Exchange:
        """A session is begun and ended."""
        return ways.exchange_on(channel)

    def farewell(self, channel: int) -> Step:
        """The end of a session."""
        return Step((Say("END", "end", channel),))

    def closing(self, channel: int) -> Step:
        """A session's end."""
        return ways.closing(channel)

    def opens_or_ends(self, name: str) -> bool:
        """Sessions and links."""
        return name in ways.OPENS_OR_ENDS

    def can_be_repeated(self, steps: tuple[Step, ...]) -> bool:
        """Steps without links."""
        return ways.can_be_repeated(steps)

    def turn_of(self, production: str) -> Turn | None:
        """What a production needs and gives."""
        return turn_of(production)

    def facts_in(self, state: str) -> str:
        """What holds after a way."""
        return FACTS.get(state, "")

    # --- what a target says

    sentinel_state = "session"
    announced_in = "open"
    attached_by = "attach"
    sign_of_life = EMPTY_FRAME

    def decoder(self) -> Decode:
        """A decoder of frames."""
        return answers.decoder()

    has_canaries = True
    echo = ("consuming", b"amqpspec")

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

    def boofuzz(self) -> BoofuzzFacts:
        """Frames by descriptor."""
        return interop.boofuzz(self.tables)

    def conditions(self, kind: str) -> Mapping[str, FrameCondition]:
        """An attach with a limit of its own, and common performatives."""
        return {
            "rare": FrameCondition(frozenset({"attach"}), "max_message_size", "1048576"),
            "common": FrameCondition(frozenset({"detach", "disposition"})),
        }

    def frames_in(self, octets: bytes) -> Iterator[ClientFrame]:
        """A client's frames by their performatives."""
        return frames_in(octets)

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_1_0.seams import seams

        return seams()
