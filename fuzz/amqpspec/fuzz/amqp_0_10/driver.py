"""AMQP 0-10 as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from functools import partial

from amqpspec.fuzz.amqp_0_10 import dissect, interop
from amqpspec.fuzz.amqp_0_10 import states as ways
from amqpspec.fuzz.amqp_0_10.answers import decoder
from amqpspec.fuzz.amqp_0_10.canary import AssemblyCanary
from amqpspec.fuzz.amqp_0_10.case_words import case_words
from amqpspec.fuzz.amqp_0_10.client_frames import frames_in
from amqpspec.fuzz.amqp_0_10.families import LOCATIONS
from amqpspec.fuzz.amqp_0_10.grammar import productions
from amqpspec.fuzz.amqp_0_10.judge import judge
from amqpspec.fuzz.amqp_0_10.samples import CHANNEL
from amqpspec.fuzz.amqp_0_10.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_0_10.server_places import on_channel_of, server_places
from amqpspec.fuzz.amqp_0_10.traces import traces
from amqpspec.fuzz.amqp_0_10.turns import FACTS, turn_of
from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.interop.part import put_channel
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.wire.amqp_0_10.describe import describe_frame
from amqpspec.wire.amqp_0_10.frames import LAYOUT, encode_assembly
from amqpspec.wire.amqp_0_10.reader import FrameReader


class Amqp010Driver(FuzzDriver):
    """AMQP 0-10."""

    # --- grammar, families, judge

    productions = staticmethod(productions)
    families = LOCATIONS
    judge = staticmethod(judge)
    frames_of = staticmethod(dissect.frames)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by what they complete."""
        reader = FrameReader()
        reader.feed(octets)
        return WordedFrames(reader, describe_frame)

    # --- clients

    client_families = SERVER_FAMILIES
    server_places = staticmethod(server_places)
    fitted = staticmethod(on_channel_of)

    # --- states

    mechanisms = ("PLAIN", "ANONYMOUS", "EXTERNAL")
    first_channel = CHANNEL
    handshake = ways.HANDSHAKE
    facts = FACTS
    states = staticmethod(ways.states_of)
    octets_of = staticmethod(ways.octets_of)
    traces = staticmethod(traces)
    exchange_on = staticmethod(ways.exchange_on)
    closing = staticmethod(ways.closing)
    opens_or_ends = staticmethod(ways.opens_or_ends)
    can_be_repeated = staticmethod(ways.can_be_repeated)
    turn_of = staticmethod(turn_of)

    # --- what a target says

    sentinel_state = "session"
    announced_in = "start"
    answers_where_asked = True
    has_separate_queues = True
    sign_of_life = encode_assembly("connection.heartbeat")
    decoder = staticmethod(decoder)
    has_canaries = True
    canary = staticmethod(AssemblyCanary)

    # --- sequences, findings, other tools, self-test

    @property
    def programs(self) -> Programs:
        """Connections, sessions, subscriptions and transfers."""
        from amqpspec.fuzz.amqp_0_10.sequences import PROGRAMS

        return PROGRAMS

    @property
    def case_words(self) -> CaseWords:
        """The verbs of the peer."""
        return case_words()

    cut_states = ("ready", "session")
    pieces = staticmethod(interop.pieces)
    on_channel = staticmethod(partial(put_channel, LAYOUT.header))
    boofuzz = staticmethod(interop.boofuzz)
    frames_in = staticmethod(frames_in)

    rare = FrameCondition(frozenset({"exchange.query"}))
    common = FrameCondition(frozenset({"queue.query", "exchange.bound"}))
    """A run's probe for optional classes sends none of them."""

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_0_10.seams import SEAMS

        return SEAMS
