"""Connections: the handshake up to the login (amqp-0-9-1 class connection)."""

from __future__ import annotations

from amqpspec.peer.context import CLIENT_PROPERTIES, Unmet
from amqpspec.peer.events import HeaderArrived, Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._closing import answer_to, until_end
from amqpspec.suites.amqp_0_9_1._login import greeted_with

# Four letters, protocol id, major number, minor number, revision. Major 2 is above 1.0, the highest version that
# exists.
UNKNOWN_PROTOCOL = b"AMQX\x00\x00\x09\x01"
FUTURE_VERSION = b"AMQP\x00\x02\x00\x00"
SERVED_VERSION = (0, 9)
HIGHEST_VERSION_OCTET = 99
SERVER_PROPERTIES = ("host", "product", "version", "platform", "information")


# --- the order of the handshake


@case("connection.grammar.order", covers=["connection/grammar"])
def handshake_in_order(peer: Peer) -> Verdict:
    """The server sends start, tune and open-ok, each after the client's step, and nothing else."""
    peer.connect()
    peer.claim("start, tune and open-ok, one for each step of the client")
    peer.send_header()
    _alone(peer, "connection.start")
    peer.start_ok()
    tune = _alone(peer, "connection.tune")
    peer.tune(proposed=tune.call)
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    _alone(peer, "connection.open-ok")
    return holds(peer, True, "start, tune and open-ok, each alone")


@case("connection.grammar.open-before-start-ok", covers=["connection/grammar"], slow=True)
def open_before_login(peer: Peer) -> Verdict:
    """The server does not open a virtual host before the login."""
    peer.greet()
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    # Here and below: no channel is open that could carry a barrier.
    return rejects_violation(peer, 0, barrier=False)


@case("connection.grammar.tune-ok-before-start-ok", covers=["connection/grammar"], slow=True)
def tune_ok_before_login(peer: Peer) -> Verdict:
    """The server does not accept limits before the login."""
    peer.greet()
    peer.send("connection.tune-ok", channel=0, frame_max=peer.dialect.layout.min_size_octets)
    # tune-ok has no reply. connection.open after it makes a server that took it show so.
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.grammar.open-before-tune-ok", covers=["connection/grammar"], slow=True)
def open_before_tune_ok(peer: Peer) -> Verdict:
    """The server does not open a virtual host before the limits are agreed."""
    peer.greet()
    peer.start_ok()
    peer.expect("connection.tune", channel=0)
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer, 0, barrier=False)


@case("connection.grammar.channel-before-open", covers=["connection/grammar"])
def channel_before_connection_open(peer: Peer) -> Verdict:
    """The server does not open a channel before the connection is open."""
    peer.handshake()
    peer.send("channel.open", channel=1)
    return rejects_violation(peer, 1, barrier=False)


# --- start


@case("connection.start.protocol-name.unknown", covers=["connection/start/protocol-name"])
def unknown_protocol_name(peer: Peer) -> Verdict:
    """The server answers the name of another protocol with a protocol header and closes the socket."""
    return judge_reaction(peer, answer_to(peer, UNKNOWN_PROTOCOL))


@case("connection.start.protocol-name.answer-is-spoken", covers=["connection/start/protocol-name"])
def answered_header_is_spoken(peer: Peer) -> Verdict:
    """The server accepts the protocol header that it sends in answer to an unknown one."""
    peer.send_header(UNKNOWN_PROTOCOL)
    offered = _header_answered(peer)
    again = peer.another()
    again.connect()
    peer.claim("the header that the server answered with is accepted")
    again.send_header(offered.header.octets)
    reaction = again.reaction(0, barrier=False)
    observed = f"{offered.header}, answered by {reaction.describe(peer.dialect)}"
    return holds(peer, reaction.refusal is None, observed, seen=reaction)


@case("connection.start.server-support.future-version", covers=["connection/start/server-support"])
def version_of_the_future(peer: Peer) -> Verdict:
    """The server answers a version higher than all existing ones with the header of a lower version."""
    reaction = answer_to(peer, FUTURE_VERSION)
    # Octets 5 to 7 are the version; the protocol id before them is none of it.
    too_high = [
        a
        for a in reaction.arrivals
        if isinstance(a, HeaderArrived) and a.header.octets[5:] > FUTURE_VERSION[5:]
    ]
    if too_high:
        return holds(peer, False, too_high[0], "the header of a lower version")
    return judge_reaction(peer, reaction)


@case("connection.start.server-support.served-version", covers=["connection/start/server-support"])
def version_not_above_the_header(peer: Peer) -> Verdict:
    """The version in start is not higher than the one in the client's header."""
    start = peer.greet()
    version = (start["version_major"], start["version_minor"])
    return holds(peer, version <= SERVED_VERSION, f"version {version}", f"at most version {SERVED_VERSION}")


@case("connection.start.version.range", covers=["connection/start/version"])
def version_octets_in_range(peer: Peer) -> Verdict:
    """Both version octets of start are at most 99."""
    start = peer.greet()
    version = (start["version_major"], start["version_minor"])
    return holds(peer, max(version) <= HIGHEST_VERSION_OCTET, f"version octets {version}")


@case(
    "connection.start.server-properties.required",
    covers=["connection/start/server-properties/required-fields"],
)
def server_names_itself(peer: Peer) -> Verdict:
    """The server properties contain host, product, version, platform and information."""
    peer.greet()
    missing = [name for name in SERVER_PROPERTIES if not peer.server_properties.get(name)]
    observed = f"without {', '.join(missing)}" if missing else "all of them"
    return holds(peer, not missing, observed, f"properties {', '.join(SERVER_PROPERTIES)}")


@case("connection.start.mechanisms.list", covers=["connection/start/mechanisms"])
def mechanisms_are_a_list(peer: Peer) -> Verdict:
    """The offered mechanisms are SASL names separated by spaces."""
    start = peer.greet()
    names = [name for name in start["mechanisms"].split(b" ") if name]
    fine = bool(names) and all(_is_mechanism(name) for name in names)
    return holds(peer, fine, f"mechanisms {start['mechanisms']!r}")


@case("connection.start.locales.list", covers=["connection/start/locales/list"])
def locales_are_a_list(peer: Peer) -> Verdict:
    """The offered locales are words separated by spaces."""
    locales = peer.greet()["locales"]
    words = [word for word in locales.split(b" ") if word]
    return holds(peer, bool(words) and all(_is_locale(word) for word in words), f"locales {locales!r}")


@case("connection.start.locales.english", covers=["connection/start/locales/required-support"])
def english_is_offered(peer: Peer) -> Verdict:
    """The server offers the locale en_US."""
    locales = peer.greet()["locales"]
    return holds(peer, b"en_US" in locales.split(), f"locales {locales!r}", "en_US among the locales")


# --- start-ok


@case("connection.start-ok.mechanism.amqplain", covers=["connection/start-ok/mechanism/offered"])
def offered_amqplain_works(peer: Peer) -> Verdict:
    """Login with AMQPLAIN succeeds if the server offers it."""
    greeted_with(peer, "AMQPLAIN")
    peer.claim("tune after a login by AMQPLAIN")
    peer.start_ok(mechanism="AMQPLAIN")
    peer.expect("connection.tune", channel=0)
    return holds(peer, True, "connection.tune")


@case(
    "connection.start-ok.mechanism.unoffered",
    covers=["connection/start-ok/mechanism/validity", "connection/start-ok/mechanism/offered"],
    slow=True,
)
def mechanism_not_offered(peer: Peer) -> Verdict:
    """The server closes the socket, without sending another octet, after a mechanism that it did not offer."""
    peer.greet()
    peer.start_ok(mechanism="X-NEVER-OFFERED", response=peer.credentials("PLAIN"))
    return rejects_violation(peer, 0, barrier=False)


@case("connection.start-ok.mechanism.empty", covers=["connection/start-ok/mechanism/validity"], slow=True)
def mechanism_left_empty(peer: Peer) -> Verdict:
    """The server closes the socket, without sending another octet, after a start-ok with an empty mechanism."""
    peer.greet()
    peer.send(
        "connection.start-ok",
        channel=0,
        client_properties=CLIENT_PROPERTIES,
        response=peer.credentials("PLAIN"),
        locale="en_US",
    )
    return rejects_violation(peer, 0, barrier=False)


@case("connection.start-ok.locale.offered", covers=["connection/start-ok/locale"])
def offered_locales_work(peer: Peer) -> Verdict:
    """The client can select every offered locale."""
    locales = peer.greet()["locales"].decode("ascii", "replace").split()
    peer.claim("the login continues in every offered locale")
    for locale in locales:
        another = peer.another()
        another.greet()
        another.start_ok(locale=locale)
        another.expect("connection.tune", channel=0)
    return holds(peer, bool(locales), f"tune for {', '.join(locales) or 'none'}")


@case("connection.start-ok.locale.unoffered", covers=["connection/start-ok/locale"])
def locale_not_offered(peer: Peer) -> Verdict:
    """The server closes the socket after a locale that it did not offer, or ignores it and uses its own."""
    peer.greet()
    peer.start_ok(locale="xx_NONE")
    reaction = peer.reaction(0, barrier=False)
    last = reaction.arrivals[-1]
    # To pick an offered locale is the client's duty. The server has none, so going on is recorded
    # (amqp-0-9-1 connection/start-ok/locale).
    if isinstance(last, MethodArrived) and last.name == "connection.tune":
        return observed_either_way(peer, "the server continues with tune")
    return judge_reaction(peer, reaction)


# --- steps of this module


def _alone(peer: Peer, name: str) -> MethodArrived:
    """A method of the server with nothing after it; raises Unmet."""
    arrival = peer.expect(name, channel=0)
    # The client is silent meanwhile: whatever comes now came unasked.
    extra = peer.read(peer.now() + peer.context.patience.quiet_s)
    if not isinstance(extra, Quiet):
        raise Unmet(f"nothing after {name}", extra.describe(peer.dialect), extra)
    return arrival


def _header_answered(peer: Peer) -> HeaderArrived:
    """The protocol header that the server answers with; raises Unmet."""
    for arrival in until_end(peer):
        if isinstance(arrival, HeaderArrived):
            return arrival
    raise Unmet("a protocol header", "none")


def _is_mechanism(name: bytes) -> bool:
    """Whether octets are a name as SASL has it: capitals, digits, hyphens, underlines, at most twenty."""
    # RFC 4422 §3.1.
    return 0 < len(name) <= 20 and all(chr(c).isupper() or chr(c).isdigit() or chr(c) in "-_" for c in name)


def _is_locale(word: bytes) -> bool:
    """Whether octets are one word, without separators other than those of a locale's name."""
    return bool(word) and all(chr(c).isalnum() or chr(c) in "-_.@" for c in word)
