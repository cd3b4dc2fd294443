"""Version negotiation (amqp-1.0 §2.2): the headers that a target serves, and what it says of others."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.events import HeaderArrived, Quiet
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._headers import (
    answer_to,
    first_header,
    header_in,
    judge_answer,
    names_version,
    protocol_header,
    reported,
)
from amqpspec.wire.amqp_1_0.frames import HEADERS

# A frame of AMQP 0-9-1: type 1, channel 0, size 12, then class 10, method 11 (start-ok), zeros, 0xCE.
_METHOD_FRAME = bytes.fromhex("01 0000 0000000c 000a000b 0000000000000000 ce")
# Noise, a word that differs in one letter, nothing but zeros.
_NOISE = (b"\x8b\x1f\x9c\x00\xfe\xed\xbe\xef", b"AMQX\x00\x01\x00\x00", bytes(8))
_HTTP = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"
_UNKNOWN_ID = 9


@case("version.header-first", covers=["version/header-first", "version/header-layout"])
def header_before_frames(peer: Peer) -> Verdict:
    """The target sends its protocol header first on each layer: the id of the layer and the octets 1, 0, 0."""
    peer.claim("on each layer a protocol header before any frame, then open")
    layers = ("amqp",) if peer.is_bare else ("sasl", "amqp")
    for layer in layers:
        peer.send_header(layer)
        first = peer.read(peer.now() + peer.patience_s)
        if not isinstance(first, HeaderArrived) or first.header.octets != HEADERS[layer]:
            return holds(peer, False, f"first {first.describe(peer.dialect)}", seen=first)
        if layer == "sasl":
            peer.sasl()
    peer.open()
    return holds(peer, True, f"{' and '.join(layers)} headers, then open")


@case("version.supported", covers=["version/supported"])
def supported_version_is_answered_alike(peer: Peer) -> Verdict:
    """The target answers a version that it speaks with the same header, and the connection continues."""
    peer.claim("the header that was sent, then the rest of the handshake")
    peer.send_header(peer.first_header)
    header = peer.expect_header()
    if header.octets != peer.first_header:
        return holds(peer, False, reported(header.octets))
    if not peer.is_bare:
        peer.sasl()
        peer.greet()
    peer.open()
    return holds(peer, True, "the same header, then the handshake up to open")


@case("version.data-matches-header", covers=["version/data-matches-header"])
def other_protocol_behind_the_header(peer: Peer) -> Verdict:
    """The target rejects an AMQP 0-9-1 frame after a 1.0 header."""
    # After a header of 1.0, the same octets announce a frame of 16 MiB with a data offset of zero.
    peer.greet()
    peer.send_octets(_METHOD_FRAME)
    return rejects_violation(peer, barrier=False)


@case("version.mismatch.outgoing-closed", covers=["version/mismatch/outgoing-closed"])
def mismatch_ends_the_stream(peer: Peer) -> Verdict:
    """A target whose header differs from the received one ends its stream."""
    return judge_answer(peer, answer_to(peer, first_header(peer, minor=1)))


@case("version.server-may-wait", covers=["version/server-may-wait"])
def who_speaks_first(peer: Peer) -> Verdict:
    """A target may send its header at once or wait for the client's; the connection works in both cases."""
    peer.connect()
    early = peer.wait(lambda arrival: isinstance(arrival, HeaderArrived), peer.context.patience.quiet_s)
    peer.claim("a header, immediately or as an answer, then the handshake")
    if not isinstance(early, Quiet | HeaderArrived):
        return holds(peer, False, early)
    if isinstance(early, HeaderArrived):
        return observed_either_way(peer, f"{reported(early.header.octets)} at once")
    peer.open_connection()
    return observed_either_way(peer, "waited for the header")


@case("version.unsupported", covers=["version/unsupported"])
def unsupported_versions(peer: Peer) -> Verdict:
    """The target answers a nonexistent version with a header of any version, and ends the connection."""
    versions = ((1, 0, 1), (1, 1, 0), (9, 9, 9))
    others = ((peer.another(), first_header(peer, *version)) for version in versions)
    return worst(judge_answer(other, answer_to(other, octets)) for other, octets in others)


@case("version.highest-not-above", covers=["version/highest-not-above"])
def higher_versions(peer: Peer) -> Verdict:
    """The target answers a version above 1.0.0 with 1.0.0."""
    # amqp-1.0 §2.2 asks for the highest version that is not above the one asked for:
    # there is none above 1.0.0.
    return worst(_answered_by_version(peer, *version) for version in ((1, 1, 0), (2, 0, 0), (255, 0, 0)))


@case("version.highest-otherwise", covers=["version/highest-otherwise"])
def lower_version(peer: Peer) -> Verdict:
    """The target answers a version below all existing ones with a version that it speaks."""
    return _answered_by_version(peer, 0, 0, 1)


@case("version.unparseable", covers=["version/unparseable"])
def octets_that_are_no_header(peer: Peer) -> Verdict:
    """The target answers octets that are not a header with a valid header, and ends the connection."""
    return worst(judge_answer(one, answer_to(one, octets)) for one, octets in _each(peer, _NOISE))


@case("version.single-version", covers=["version/single-version"])
def header_before_the_mismatch(peer: Peer) -> Verdict:
    """A target of one version may send its header before it receives the client's, and end on a mismatch."""
    peer.connect()
    early = peer.wait(lambda arrival: isinstance(arrival, HeaderArrived), peer.context.patience.quiet_s)
    reaction = answer_to(peer, first_header(peer, minor=1))
    when = "before" if isinstance(early, HeaderArrived) else "after"
    way = f"header {when} the mismatch"
    return observed_either_way(peer, way, reaction, f"{way}; {reaction.describe(peer.dialect)}")


@case("version.example.minor", covers=["version/example-minor"])
def example_of_a_minor_version(peer: Peer) -> Verdict:
    """The target answers AMQP 0.1.1.0 with a header of version 1.0.0 and ends the connection."""
    return _answered_by(peer, protocol_header(0, 1, 1, 0))


@case("version.example.http", covers=["version/example-http"])
def example_of_http(peer: Peer) -> Verdict:
    """The target answers an HTTP request with a protocol header and ends the connection."""
    return judge_answer(peer, answer_to(peer, _HTTP))


@case("version.protocol-id.is-no-version", covers=["version/protocol-id-is-no-version"])
def id_is_no_version(peer: Peer) -> Verdict:
    """The target's answer names the requested version, whatever the protocol id."""
    return _answered_by(peer, protocol_header(_UNKNOWN_ID))


@case("version.protocol-id.unacceptable", covers=["version/protocol-id/unacceptable"])
def id_that_is_not_taken(peer: Peer) -> Verdict:
    """The target answers a protocol id that it does not accept with one that it accepts."""
    reaction = answer_to(peer, protocol_header(_UNKNOWN_ID))
    verdict = judge_answer(peer, reaction)
    if verdict.outcome is Outcome.FAIL:
        return verdict
    # What the target names it has to take: a new connection tries that out.
    return worst((_serves(peer.another(), header_in(reaction)), verdict))


@case("version.protocol-id.choice", covers=["version/protocol-id/choice"])
def id_that_is_named(peer: Peer) -> Verdict:
    """The target chooses which of its protocol ids it names in answer to an unknown one."""
    named = header_in(answer_to(peer, protocol_header(_UNKNOWN_ID)))
    return observed_either_way(peer, reported(named))


# --- steps of this module


def _each(peer: Peer, values: tuple[bytes, ...]) -> list[tuple[Peer, bytes]]:
    """A connection for each value, the first being the case's own."""
    return [(peer if number == 0 else peer.another(), value) for number, value in enumerate(values)]


def _serves(peer: Peer, named: bytes) -> Verdict:
    """A header that the target named is answered by itself."""
    peer.claim(f"the {reported(named)}, which the target named, is served")
    peer.send_header(named)
    return equals(peer, peer.expect_header().octets, named, "header")


def _answered_by_version(peer: Peer, major: int, minor: int, revision: int) -> Verdict:
    """On a separate connection, a version of the layer that the target wants first."""
    return _answered_by(peer.another(), first_header(peer, major, minor, revision))


def _answered_by(peer: Peer, octets: bytes) -> Verdict:
    """The header is answered by one of version 1.0.0, then the end.

    Which version a target of several names is a SHOULD: another one is only nonstrict.
    """
    reaction = answer_to(peer, octets)
    verdict = judge_answer(peer, reaction)
    named = header_in(reaction)
    if verdict.outcome is not Outcome.PASS or names_version(named):
        return verdict
    expected = "a header of version 1.0.0, then the end"
    return Verdict(Outcome.NONSTRICT, expected, f"{reported(named)}, then the end")
