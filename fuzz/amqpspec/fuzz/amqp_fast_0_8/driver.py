"""AMQP/Fast as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: how any of them does.
"""

from __future__ import annotations

from types import MappingProxyType

from amqpspec.fuzz.amqp_fast_0_8 import dissect, interop
from amqpspec.fuzz.amqp_fast_0_8 import states as ways
from amqpspec.fuzz.amqp_fast_0_8.answers import decoder
from amqpspec.fuzz.amqp_fast_0_8.canary import CommandCanary
from amqpspec.fuzz.amqp_fast_0_8.case_words import CASE_WORDS
from amqpspec.fuzz.amqp_fast_0_8.client_frames import frames_in
from amqpspec.fuzz.amqp_fast_0_8.families import LOCATIONS
from amqpspec.fuzz.amqp_fast_0_8.grammar import productions
from amqpspec.fuzz.amqp_fast_0_8.judge import judge
from amqpspec.fuzz.amqp_fast_0_8.samples import CHANNEL
from amqpspec.fuzz.amqp_fast_0_8.server_places import FAMILIES as SERVER_FAMILIES
from amqpspec.fuzz.amqp_fast_0_8.server_places import server_places
from amqpspec.fuzz.amqp_fast_0_8.traces import traces
from amqpspec.fuzz.amqp_fast_0_8.turns import FACTS, turn_of
from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.selftest.frames import FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import Programs
from amqpspec.fuzz.states.model import Step
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.describe import describe_frame
from amqpspec.wire.amqp_fast_0_8.frames import CommandReader

_MAX_OCTETS = 1 << 24


class AmqpFastDriver(FuzzDriver):
    """AMQP/Fast."""

    # --- grammar, families, judge

    absent = MappingProxyType(
        {
            "C01": "no arrays: a table announces its number of octets, and each of its values has octets",
            "C03": "no nesting: values of tables are numbers and strings, and messages contain octets",
        }
    )
    productions = staticmethod(productions)
    families = LOCATIONS
    judge = staticmethod(judge)
    frames_of = staticmethod(dissect.frames)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by their commands."""
        reader = CommandReader(greets=octets.startswith(DIALECT.protocol_header), max_size=_MAX_OCTETS)
        reader.feed(octets)
        return WordedFrames(reader, describe_frame)

    # --- clients

    client_families = SERVER_FAMILIES
    server_places = staticmethod(server_places)

    # --- states

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

    def farewell(self, channel: int) -> Step:
        """The CLOSE that answers one of a channel."""
        return Step(ways.closing(channel).says)

    # --- what a target says

    sentinel_state = "handle"
    answers_where_asked = True
    has_separate_queues = True
    decoder = staticmethod(decoder)
    has_canaries = True
    canary = staticmethod(CommandCanary)

    # --- sequences, findings, other tools, self-test

    @property
    def programs(self) -> Programs:
        """Connections, channels, handles and transactions."""
        from amqpspec.fuzz.amqp_fast_0_8.sequences import PROGRAMS

        return PROGRAMS

    case_words = CASE_WORDS
    cut_states = ("open", "channel")
    pieces = staticmethod(interop.pieces)
    on_channel = staticmethod(interop.on_channel)
    boofuzz = staticmethod(interop.boofuzz)
    frames_in = staticmethod(frames_in)

    rare = FrameCondition(frozenset({"handle.flow"}), "flow_pause", "True")
    common = FrameCondition(frozenset({"handle.query", "handle.browse"}))

    def seams(self) -> BrokerSeams:
        """The inside of the reference broker."""
        from amqpspec.fuzz.amqp_fast_0_8.seams import SEAMS

        return SEAMS
