"""The login: RESPONSE, PLAIN, errors of the negotiation (connection.response, plain-mechanism)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.run.amqp_fast_0_8.oracles import judge_reaction, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, outlived, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import greeted_with_plain
from amqpspec.wire.amqp_fast_0_8.malformed import counted, table_field
from amqpspec.wire.values import Raw

_RESPONSE, _RESPONSE_OCTETS = 11, 4096
_PAUSE_S = 1.0


def _refuses(peer: Peer, *responses: tuple[str, Any]) -> Verdict:
    """Each RESPONSE, on a separate connection, is refused."""
    return worst(map(_ends, _responding(peer, responses)))


def _responding(peer: Peer, responses: Sequence[tuple[str, Any]]) -> list[Peer]:
    """A connection for each RESPONSE, which is sent; all pauses before an end run at once."""
    lines = [peer.another() for _ in responses]
    for line, (mechanism, fields) in zip(lines, responses, strict=True):
        greeted_with_plain(line)
        line.respond(mechanism, fields)
    return lines


def _ends(peer: Peer) -> Verdict:
    """What was sent last ends the socket, and a RESPONSE that is right does not lead on from there.

    Without that RESPONSE, a target that passes over what is wrong would seem to refuse it when its time for logins is
    over.
    """
    peer.respond()
    verdict = rejects_violation(peer, barrier=None)
    tuned = bool(peer.stashed(lambda a: a.kind == "connection.tune"))
    return worst([verdict, holds(peer, not tuned, "TUNE" if tuned else "no TUNE")])


@case("response.mechanism", covers=["connection/response/mechanism"])
def a_mechanism_that_was_not_offered(peer: Peer) -> Verdict:
    """A mechanism that CHALLENGE does not list, or an empty one, is refused even with valid credentials."""
    given = peer.credentials()
    return _refuses(peer, ("X-NOT-OFFERED", given), ("", given), ("PLAIN PLAIN", given))


@case("response.rejected", covers=["connection/response/rejected"])
def a_login_that_is_wrong(peer: Peer) -> Verdict:
    """A wrong or empty password, an unknown user, and a login in the wrong case are refused."""
    user, password = peer.login.user, peer.login.password
    capitals = [
        {"LOGIN": user.swapcase(), "PASSWORD": password},
        {"LOGIN": user, "PASSWORD": password.swapcase()},
    ]
    return _refuses(
        peer,
        *(("PLAIN", fields) for fields in capitals if fields != peer.credentials()),
        ("PLAIN", {"LOGIN": user, "PASSWORD": password + "x"}),
        ("PLAIN", {"LOGIN": peer.name("nobody"), "PASSWORD": password}),
        ("PLAIN", {"LOGIN": user, "PASSWORD": ""}),
    )


@case("response.incomplete", covers=["connection/response/rejected", "connection/response/more"])
def a_login_that_lacks_something(peer: Peer) -> Verdict:
    """A RESPONSE without a password, or without fields, is refused or answered by another CHALLENGE."""
    return _lacks(peer, {"LOGIN": peer.login.user}, {})


def _lacks(peer: Peer, *responses: Any) -> Verdict:
    return worst(map(_ends_or_asks, _responding(peer, [("PLAIN", fields) for fields in responses])))


def _ends_or_asks(peer: Peer) -> Verdict:
    """What was sent last ends the socket, or is answered by another CHALLENGE, which is recorded."""
    asked = peer.arrival("connection.challenge", within_s=peer.context.patience.quiet_s)
    if asked.kind == "connection.challenge":
        return observed_either_way(peer, "asks for more")
    verdict = _ends(peer)
    late = peer.stashed(lambda a: a.kind == "connection.challenge")
    return observed_either_way(peer, "asks for more") if late else verdict


@case("response.accepted", covers=["connection/response/accepted", "connection/summary/server/response"])
def a_login_that_is_right(peer: Peer) -> Verdict:
    """A valid RESPONSE leads to TUNE, whatever the order of its fields."""
    verdicts = []
    for names in (("LOGIN", "PASSWORD"), ("PASSWORD", "LOGIN")):
        line = peer.another()
        greeted_with_plain(line)
        line.claim("TUNE")
        given = line.credentials()
        line.respond("PLAIN", [(name, given[name]) for name in names])
        verdicts.append(equals(line, line.take_tune().name, "connection.tune", "answer"))
    return worst(verdicts)


def _response_of(peer: Peer, octets: int) -> bytes:
    """A RESPONSE whose frame has this many octets after its size, by a field that no one asked for."""
    short = peer.octets(
        "connection.response", mechanism="PLAIN", responses={**peer.credentials(), "PAD": b""}
    )
    padding = b"p" * (octets - (len(short) - 2))
    return peer.octets(
        "connection.response", mechanism="PLAIN", responses={**peer.credentials(), "PAD": padding}
    )


@case("response.size", covers=["connection/response/size"])
def a_response_that_is_too_large(peer: Peer) -> Verdict:
    """A RESPONSE frame well above 4096 octets is refused; one just below is read."""
    small = peer.another()
    greeted_with_plain(small)
    small.send_octets(_response_of(small, _RESPONSE_OCTETS - 2))
    small.take_tune()
    # A server may block new connections of a client with many failed logins: one is open already.
    other = peer.another().open_connection()
    greeted_with_plain(peer)
    peer.send_octets(_response_of(peer, _RESPONSE_OCTETS + 3))
    return outlived(peer, _ends(peer), other.ping)


@case("plain.case", covers=["plain/case"])
def names_in_small_letters(peer: Peer) -> Verdict:
    """LOGIN and PASSWORD in lower or mixed case are not accepted as a login."""
    user, password = peer.login.user, peer.login.password
    return _lacks(peer, {"login": user, "password": password}, {"LOGIN": user, "Password": password})


@case("plain.uppercase", covers=["plain/uppercase"])
def names_that_the_target_sends(peer: Peer) -> Verdict:
    """Names in the tables of CHALLENGE and TUNE are in upper case."""
    challenge = peer.greet()
    peer.respond()
    tune = peer.take_tune()
    peer.claim("names in upper case")
    names = [*challenge["challenges"].names(), *tune["options"].names(), *tune["dictionary"].names()]
    return equals(peer, names, [name.upper() for name in names], "names")


@case("response.unknown", covers=["connection/summary/server/response-unknown"])
def a_response_that_cannot_be_read(peer: Peer) -> Verdict:
    """A RESPONSE whose fields do not fit into its frame is refused."""
    lines = [peer.another() for _ in range(2)]
    sound = peer.octets("connection.response", mechanism="PLAIN", responses=peer.credentials())[3:-1]
    for line, fields in zip(lines, (sound[:-1], sound[:3]), strict=True):
        greeted_with_plain(line)
        line.send_frame(_RESPONSE, fields)
    return worst(map(_ends, lines))


@case("login.errors.kinds", covers=["connection/errors/kinds"])
def kinds_of_errors_in_the_negotiation(peer: Peer) -> Verdict:
    """Commands of other levels before OPEN, an oversized frame, and a wrong login are refused."""
    lines = [peer.another() for _ in range(4)]
    for line in lines:
        greeted_with_plain(line)
    lines[0].send("channel.open")
    lines[1].send("connection.open", virtual_path=peer.login.vhost)
    lines[2].send("connection.open", options={"PAD": b"p" * _RESPONSE_OCTETS})
    lines[3].respond("PLAIN", {"LOGIN": peer.login.user, "PASSWORD": peer.login.password * 2})
    return outlived(peer, worst(map(_ends, lines)))


@case("login.errors.broken-syntax", covers=["connection/errors/kinds", "syntax/command-end"])
def broken_syntax_in_the_negotiation(peer: Peer) -> Verdict:
    """A wrong end octet, a table that ends within a field, and an unknown code are refused before OPEN."""
    lines = [peer.another() for _ in range(3)]
    for line in lines:
        greeted_with_plain(line)
    lines[0].send("connection.response", mechanism="PLAIN", responses=peer.credentials(), end=0)
    lines[1].respond("PLAIN", Raw(counted("table", table_field(b"LOGIN", "S", b"\0\xff"))))
    lines[2].send_frame(17, b"\0")
    return worst(map(_ends, lines))


@case("login.errors.pause", covers=["connection/errors/pause"], slow=True)
def a_pause_before_the_end(peer: Peer) -> Verdict:
    """After a wrong login, the target pauses for more than a second and then closes the socket."""
    greeted_with_plain(peer)
    peer.respond("PLAIN", {"LOGIN": peer.login.user, "PASSWORD": peer.login.password + "x"})
    started_s = peer.now()
    peer.claim("the socket closes after a pause of more than a second")
    reaction = peer.reaction(barrier=None)
    passed_s = peer.now() - started_s
    verdict = judge_reaction(peer, reaction)
    how = "after a pause" if passed_s >= _PAUSE_S else "with hardly a pause"
    return worst([verdict, holds(peer, passed_s >= _PAUSE_S, f"the end, {how}", seen=reaction)])


@case("login.errors.pause.deaf", covers=["connection/errors/pause"], slow=True)
def nothing_is_heard_in_the_pause(peer: Peer) -> Verdict:
    """After a wrong login, a valid one is not answered: each connection has one attempt."""
    greeted_with_plain(peer)
    peer.respond("PLAIN", {"LOGIN": peer.login.user, "PASSWORD": peer.login.password + "x"})
    return _ends(peer)
