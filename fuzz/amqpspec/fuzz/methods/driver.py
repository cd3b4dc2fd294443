"""The 0-9 family as the fuzzer knows it.

Knows: which module of this package answers which question. Must not know: single dialects; those define what is
specific to them in other modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, partial
from types import MappingProxyType

from amqpspec.fuzz.clients.part import ServerPlace
from amqpspec.fuzz.driver import FuzzDriver
from amqpspec.fuzz.executor.heard import Decode
from amqpspec.fuzz.grammar import Production, tables
from amqpspec.fuzz.inputs.part import WordedFrames
from amqpspec.fuzz.interop.part import BoofuzzFacts, Piece, put_channel
from amqpspec.fuzz.methods import answers, dissect, interop
from amqpspec.fuzz.methods import states as ways
from amqpspec.fuzz.methods import traces as signs
from amqpspec.fuzz.methods.canary import MethodsCanary
from amqpspec.fuzz.methods.case_words import case_words
from amqpspec.fuzz.methods.client_frames import frames_in
from amqpspec.fuzz.methods.families import LOCATIONS
from amqpspec.fuzz.methods.grammar import CHANNEL, productions
from amqpspec.fuzz.methods.judge import judge
from amqpspec.fuzz.methods.server_places import server_places
from amqpspec.fuzz.methods.turns import FACTS, TURNS
from amqpspec.fuzz.selftest.frames import ClientFrame, FrameCondition
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.fuzz.sequences.part import NO_PROGRAMS, Programs
from amqpspec.fuzz.states.model import Say, State, Step, Traces, Values
from amqpspec.fuzz.trees.tree import Node
from amqpspec.fuzz.triage.part import CaseWords
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.describe import describe_frame
from amqpspec.wire.methods.frames import FrameReader

_MAX_OCTETS = 1 << 24


class MethodsDriver(FuzzDriver):
    """A dialect of classes and methods.

    ``rules`` are the rows of its ledger by what is broken; ``lives_on`` is the row for "survives"; ``rare`` is a
    method that no broker refuses where a planted defect strikes.
    """

    rules: Mapping[str, str] = MappingProxyType({})
    lives_on = "constant/internal-error"
    rare = FrameCondition(frozenset({"tx.select"}))
    common = FrameCondition(frozenset({"exchange.declare", "exchange.delete", "queue.bind", "queue.unbind"}))
    absent = MappingProxyType(
        {"C01": "no arrays without a size in octets; each entry of a table has a name and a tag"}
    )

    @cached_property
    def tables(self) -> MethodDialect:
        """The tables of the widest overlay."""
        found = tables(self.dialect_id)
        assert isinstance(found, MethodDialect)
        return found

    @cached_property
    def _codec(self) -> Codec:
        return codec_for(widest(self.dialect_id))

    # --- grammar, families, judge

    families = LOCATIONS

    def productions(self) -> Iterable[Production]:
        """Methods, contents, tables and frames."""
        return productions(self.tables)

    def judge(self, state: State, steps: tuple[bytes, ...]) -> str:
        """The one requirement that octets break."""
        return judge(self.dialect_id, self.rules, state, steps)

    def frames_of(self, octets: bytes) -> Iterator[Node]:
        """Recorded frames as trees."""
        return dissect.frames(self.tables, octets)

    def words_of(self, octets: bytes) -> WordedFrames:
        """Frames by their methods."""
        reader = FrameReader(self.tables.layout, max_payload_octets=_MAX_OCTETS)
        reader.feed(octets)
        return WordedFrames(reader, partial(describe_frame, self._codec))

    def server_places(self) -> Iterable[ServerPlace]:
        """From start to the middle of a content."""
        return server_places(self.dialect_id)

    # --- states

    mechanisms = ("PLAIN", "AMQPLAIN", "ANONYMOUS", "EXTERNAL")
    first_channel = CHANNEL
    handshake = ways.HANDSHAKE
    turns = TURNS
    facts = FACTS
    exchange_on = staticmethod(ways.exchange_on)
    closing = staticmethod(ways.closing)

    def states(self) -> Iterator[State]:
        """From the protocol header to a closed connection."""
        return ways.states_of(self.dialect_id, self.tables)

    @cached_property
    def _render(self) -> ways.Render:
        return ways.renderer(self.dialect_id)

    def octets_of(self, say: Say, values: Values) -> bytes:
        """A method or a part of a content."""
        return self._render(say, values)

    def traces(self, octets: bytes) -> Traces:
        """What frames leave behind."""
        return signs.traces(self.dialect_id, self.tables, octets)

    def farewell(self, channel: int) -> Step:
        """The close-ok for a channel."""
        return Step((Say("CLOSE-OK", "channel.close-ok", channel),))

    def opens_or_ends(self, name: str) -> bool:
        """Methods of class channel."""
        return name.startswith("channel.")

    def can_be_repeated(self, steps: tuple[Step, ...]) -> bool:
        """A channel that was closed leaves nothing behind."""
        return True

    # --- what a target says

    sentinel_state = "channel"
    announced_in = "start"
    answers_where_asked = True
    has_separate_queues = True
    has_canaries = True
    canary = staticmethod(MethodsCanary)

    def decoder(self) -> Decode:
        """A decoder of frames."""
        return answers.decoder(self._codec)

    def settled_silence_s(self, octets: bytes) -> float:
        """The heartbeat interval of a tune-ok."""
        return signs.settled_silence_s(self.dialect_id, octets)

    # --- sequences

    @property
    def programs(self) -> Programs:
        """If there is a fetch and a rejection of several messages, as programs need them."""
        from amqpspec.fuzz.methods.sequences import PROGRAMS

        has_both = {"basic.nack", "confirm.select"} <= set(self.tables.methods)
        return PROGRAMS if has_both else NO_PROGRAMS

    # --- findings, other tools, self-test

    @property
    def case_words(self) -> CaseWords:
        """The verbs of the family's peer."""
        return case_words(self.lives_on)

    cut_states = ("ready", "channel")

    def pieces(self, octets: bytes) -> Iterator[Piece]:
        """Frames after the handshake, without class connection and heartbeats."""
        return interop.pieces(self.tables, octets)

    def on_channel(self, octets: bytes, channel: int) -> bytes:
        """A frame on another channel."""
        return put_channel(self.tables.layout.header, octets, channel)

    def boofuzz(self) -> BoofuzzFacts:
        """Frames by type and ids."""
        return interop.boofuzz(self.tables)

    def frames_in(self, octets: bytes) -> Iterator[ClientFrame]:
        """A client's frames by their methods."""
        return frames_in(self.dialect_id, octets)

    def seams(self) -> BrokerSeams:
        """The inside of the family's reference broker."""
        from amqpspec.fuzz.methods.seams import seams

        return seams(self.dialect_id)
