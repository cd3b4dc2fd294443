"""AMQP 1.0 as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from functools import partial

from amqpspec.fuzz.amqp_1_0 import dissect, interop
from amqpspec.fuzz.amqp_1_0 import states as ways
from amqpspec.fuzz.amqp_1_0.answers import decoder
from amqpspec.fuzz.amqp_1_0.canary import EchoClient, TypedCanary
from amqpspec.fuzz.amqp_1_0.case_words import CASE_WORDS
from amqpspec.fuzz.amqp_1_0.client_frames import frames_in
from amqpspec.fuzz.amqp_1_0.families import LOCATIONS
from amqpspec.fuzz.amqp_1_0.grammar import productions
from amqpspec.fuzz.amqp_1_0.judge import judge
from amqpspec.fuzz.amqp_1_0.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_1_0.server_places import server_places
from amqpspec.fuzz.amqp_1_0.traces import traces
from amqpspec.fuzz.amqp_1_0.turns import FACTS, turn_of
from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.interop.part import put_channel
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.states.model import Say, Step, Values
from amqpspec.spec.amqp_1_0 import LAYOUT
from amqpspec.wire.amqp_1_0.counting import with_next_incoming_id
from amqpspec.wire.amqp_1_0.describe import describe_frame
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, TypedReader

_MAX_OCTETS = 1 << 24


class Amqp10Driver(FuzzDriver):
    """AMQP 1.0."""

    # --- grammar, families, judge

    revision = 3
    null = b"\x40"
    productions = staticmethod(productions)
    families = LOCATIONS
    judge = staticmethod(judge)
    frames_of = staticmethod(dissect.frames)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by their performatives."""
        reader = TypedReader(max_frame_octets=_MAX_OCTETS)
        reader.feed(octets)
        return WordedFrames(reader, describe_frame)

    # --- clients

    client_families = SERVER_FAMILIES
    server_places = staticmethod(server_places)

    # --- states

    mechanisms = ("PLAIN", "ANONYMOUS", "EXTERNAL", "NONE")
    handshake = ways.HANDSHAKE
    facts = FACTS
    states = staticmethod(ways.states_of)
    octets_of = staticmethod(ways.octets_of)
    way_for = staticmethod(ways.way_for)
    traces = staticmethod(traces)
    exchange_on = staticmethod(ways.exchange_on)
    closing = staticmethod(ways.closing)
    opens_or_ends = staticmethod(ways.opens_or_ends)
    can_be_repeated = staticmethod(ways.can_be_repeated)
    turn_of = staticmethod(turn_of)

    def farewell(self, channel: int) -> Step:
        """The end of a session."""
        return Step((Say("END", "end", channel),))

    # --- what a target says

    sentinel_state = "session"
    announced_in = "open"
    attached_by = "attach"
    sign_of_life = EMPTY_FRAME
    decoder = staticmethod(decoder)

    def counted(self, octets: bytes, values: Values) -> bytes:
        """An input whose flows expect the transfer that the target sends first."""
        return with_next_incoming_id(octets, values.next_incoming)

    has_canaries = True
    echo = ("consuming", b"amqpspec")
    echo_client = staticmethod(EchoClient)

    def canary(self, subject: Subject, values: Values, number: int, *, listens: bool) -> TypedCanary:
        """Two nodes below the address; both are always received from."""
        return TypedCanary(subject, values, number)

    # --- sequences, findings, other tools, self-test

    @property
    def programs(self) -> Programs:
        """Connections, links and deliveries."""
        from amqpspec.fuzz.amqp_1_0.sequences import PROGRAMS

        return PROGRAMS

    case_words = CASE_WORDS
    cut_states = ("open", "session")

    def headers(self) -> frozenset[bytes]:
        """Those of every layer."""
        return frozenset(LAYOUT.headers.values())

    pieces = staticmethod(interop.pieces)
    on_channel = staticmethod(partial(put_channel, LAYOUT.header))
    boofuzz = staticmethod(interop.boofuzz)
    frames_in = staticmethod(frames_in)

    rare = FrameCondition(frozenset({"attach"}), "max_message_size", "1048576")
    common = FrameCondition(frozenset({"detach", "disposition"}))

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_1_0.seams import SEAMS

        return SEAMS
