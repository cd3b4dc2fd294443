"""The protocol header: what a server accepts, and how it says which header it would have wanted."""

from __future__ import annotations

from amqpspec.peer.events import Ended, Garbled, HeaderArrived
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case, declare
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing
from amqpspec.suites.amqp_0_9_1._closing import answer_is_served

# Class 1 and instance 1 as they should be, then version 99-99. The header below is the draft's own
# example of another class.
_HIGHER_VERSION = b"AMQP\x01\x01\x63\x63"
_OTHER_CLASS = b"AMQP\x02\x00\x01\x01"
_GET = b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


@case("port.tcp", covers=["standard-port/tcp"])
def protocol_runs_over_tcp(peer: Peer) -> Verdict:
    """The server answers the protocol header on a TCP connection to its port with connection.start."""
    peer.connect()
    peer.claim("connection.start over TCP")
    start = peer.greet()
    return holds(peer, True, start.name)


@case(
    "header.eight-octets",
    covers=["protocol-header/eight-octets", "grammar/protocol-header", "protocol-header/accepted"],
)
def header_octet_by_octet(peer: Peer) -> Verdict:
    """The server answers the eight octets of the header however they are split, and not before the last one."""
    peer.claim("silence up to the seventh octet of the header, connection.start after the eighth")
    for octet in peer.dialect.protocol_header[:-1]:
        peer.send_octets(bytes((octet,)))
    # Seven octets look the same for every revision: a server that answers now has not read the last one.
    early = peer.arrival("connection.start", channel=0, within_s=peer.context.patience.quiet_s)
    if isinstance(early, MethodArrived | HeaderArrived | Ended | Garbled):
        return holds(peer, False, f"after seven octets: {early.describe(peer.dialect)}", seen=early)
    peer.send_octets(peer.dialect.protocol_header[-1:])
    start = peer.expect("connection.start", channel=0)
    return holds(peer, True, start)


@case("header.other-literal", covers=["grammar/protocol-header"])
def header_with_another_word(peer: Peer) -> Verdict:
    """The server answers a header with one wrong letter in AMQP with a protocol header and closes the socket."""
    peer.send_header(b"AMQQ" + peer.dialect.protocol_header[4:])
    return rejects_violation(peer, 0, barrier=False)


@case("header.other-revision", covers=["protocol-header/eight-octets"])
def header_with_another_revision(peer: Peer) -> Verdict:
    """The server answers a header with another last octet (version) with a protocol header and closes the socket."""
    peer.send_header(peer.dialect.protocol_header[:-1] + b"\xfa")
    return rejects_violation(peer, 0, barrier=False)


@case("header.rejected", covers=["protocol-header/rejected"])
def other_instance_is_rejected(peer: Peer) -> Verdict:
    """The server answers an unknown protocol instance with a protocol header and closes the socket."""
    # Class 1, instance 200; the version after them is a good one.
    peer.send_header(b"AMQP\x01\xc8" + peer.dialect.protocol_header[6:])
    return rejects_violation(peer, 0, barrier=False)


@case("header.rejected.answer-is-served", covers=["protocol-header/rejected"])
def answered_header_is_served(peer: Peer) -> Verdict:
    """The header that answers a rejected one is valid: the server accepts it."""
    return _answer_is_served(peer, b"AMQP\x01\xc8\x09\x01")


@case("header.accepted", covers=["protocol-header/accepted"])
def accepted_header_leads_on(peer: Peer) -> Verdict:
    """After an accepted header, the socket stays open and the client can open a channel."""
    peer.claim("start, then a handshake that leads to an open channel")
    peer.open_channel()
    peer.barrier()
    return holds(peer, peer.ended is None, "an open channel")


@case("header.other-class-answered", covers=["protocol-header/other-class-answered"])
def class_two_is_answered(peer: Peer) -> Verdict:
    """The server answers the header AMQP 2 0 1 1 with a header that it supports and closes the socket."""
    # The example of the draft. What binds is that the header in answer is one that the server serves
    # (amqp-wire-9-1 protocol-header/other-class-answered).
    peer.send_header(_OTHER_CLASS)
    verdict = rejects_violation(peer, 0, barrier=False)
    return worst([verdict, _answer_is_served(peer.another(), _OTHER_CLASS)])


@case("header.http-answered", covers=["protocol-header/http-answered"])
def http_is_answered(peer: Peer) -> Verdict:
    """The server answers an HTTP request with a protocol header and closes the socket, or answers in HTTP."""
    peer.send_octets(_GET)
    reaction = peer.reaction(0, barrier=False)
    if isinstance(reaction.arrivals[0], Garbled):
        return observed_either_way(peer, "another protocol is served on the port")
    return judge_reaction(peer, reaction)


@case("amq_wlp_header_01", covers=["amq_wlp_header_01"])
def the_header_is_accepted(peer: Peer) -> Verdict:
    """The server answers AMQP of class 1 and instance 1 with connection.start."""
    peer.claim("connection.start in answer to the protocol header")
    start = peer.greet()
    version = (start["version_major"], start["version_minor"])
    wanted = tuple(peer.dialect.protocol_header[6:])
    # The draft says 9-1. Where the conversation is one of AMQP 0-8, the header names that version.
    return holds(peer, version in ((9, 1), wanted), f"version {version}", "the version of the header")


declare(globals(), framing.http_on_the_same_port, "amq_wlp_header_02", ["amq_wlp_header_02"])


@case("amq_wlp_header_03", covers=["amq_wlp_header_03"])
def unknown_first_octets(peer: Peer) -> Verdict:
    """The server answers octets that are not a protocol header with a complete one and closes the socket."""
    peer.send_header(b"XMQP" + peer.dialect.protocol_header[4:])
    return rejects_violation(peer, 0, barrier=False)


@case("wlp.header_03.unknown-version", covers=["amq_wlp_header_03"])
def unknown_version(peer: Peer) -> Verdict:
    """The server answers a version that no server supports with a complete header and closes the socket."""
    peer.send_header(_HIGHER_VERSION)
    return rejects_violation(peer, 0, barrier=False)


@case("wlp.header_03.frame-instead", covers=["amq_wlp_header_03"])
def frame_instead_of_header(peer: Peer) -> Verdict:
    """The server answers a frame in place of the protocol header with a complete header and closes the socket."""
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("amq_wlp_header_04", covers=["amq_wlp_header_04", "amq_wlp_header_03"])
def version_can_be_found_out(peer: Peer) -> Verdict:
    """A client that tries its highest version first receives a version that the server supports."""
    return _answer_is_served(peer, _HIGHER_VERSION)


def _answer_is_served(peer: Peer, refused: bytes) -> Verdict:
    """The header in answer to a refused one is served on the next connection."""
    peer.connect()
    peer.claim("a protocol header that the target accepts on the next connection")
    peer.send_header(refused)
    return answer_is_served(peer)
