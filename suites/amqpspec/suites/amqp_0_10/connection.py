"""Class connection: the handshake, its limits, virtual hosts, the end.

Knows: controls before and after open. Must not know: targets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_0_10.opening import is_one
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import Arrival, Ended, Quiet
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import (
    borne_aloud,
    does_not_apply,
    equals,
    holds,
    judge_arrival,
    judge_reaction,
    observed_either_way,
    worst,
)
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, on_shared_queue
from amqpspec.suites.amqp_0_10._handshakes import (
    Step,
    before_open,
    greeted_with,
    proposal,
    refused_or_asked_again,
)
from amqpspec.suites.amqp_0_10._wire import queues_there
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import CONTROL
from amqpspec.wire.amqp_0_10.values import Array

# --- the order of the handshake


@case("connection.grammar", covers=["connection/grammar"], slow=True)
def handshake_out_of_order(peer: Peer) -> Verdict:
    """Before open, the server accepts only the control that the handshake expects next."""

    def after_start(name: str, /, **args: Any) -> Step:
        def step(one: Peer) -> None:
            one.greet()
            one.send(name, **args)

        return step

    def after_tune(one: Peer) -> None:
        proposal(one)
        one.send("connection.open", virtual_host=one.login.vhost)

    def before_open_is_sent(one: Peer) -> None:
        one.tune(proposed=proposal(one))
        one.send("session.attach", name=b"early")

    return before_open(
        peer,
        (
            after_start("connection.tune-ok", channel_max=1),
            after_start("connection.open", virtual_host="/"),
            after_start("session.attach", name=b"early"),
            after_start("execution.sync"),
            after_tune,
            before_open_is_sent,
        ),
    )


@case("connection.start.protocol-name", covers=["connection/start/protocol-name"])
def other_protocol_name(peer: Peer) -> Verdict:
    """After the header of another protocol, the server closes the socket and sends no control."""
    peer.claim("the socket closes, with no control before")
    peer.send_header(b"AMQQ\x01\x01\x00\x0a")
    seen: list[Arrival] = [peer.wait(lambda a: True, peer.patience_s)]
    if not isinstance(seen[-1], Ended):
        seen.append(peer.expect_end())
    return judge_reaction(peer, peer.reaction_of(seen))


@case("connection.start.server-properties", covers=["connection/start/server-properties/required-fields"])
def server_properties(peer: Peer) -> Verdict:
    """Start contains the properties that identify the server."""
    peer.claim("host, product, version, platform and information")
    peer.greet()
    missing = [
        key
        for key in ("host", "product", "version", "platform", "information")
        if not peer.server_properties.get(key)
    ]
    return equals(peer, missing, [], "missing")


@case("connection.start.locales", covers=["connection/start/locales/required-support"])
def locales(peer: Peer) -> Verdict:
    """The server offers the locale en_US."""
    peer.claim("en_US among the locales")
    offered = peer.greet()["locales"]
    return holds(peer, isinstance(offered, Array) and "en_US" in offered.items, f"locales {offered}")


# --- the login


@case("connection.start-ok.mechanism", covers=["connection/start-ok/mechanism/validity"], slow=True)
def mechanism_not_offered(peer: Peer) -> Verdict:
    """A mechanism that was not offered is rejected: the server closes the socket and sends nothing more."""

    def step(one: Peer) -> None:
        one.greet()
        one.start_ok(mechanism="NO-SUCH-MECHANISM", response=b"")

    return before_open(peer, [step])


@case(
    "connection.start-ok.mechanism.each",
    covers=["connection/start-ok/mechanism/offered", "connection/secure"],
)
def mechanisms_on_offer(peer: Peer) -> Verdict:
    """With each offered mechanism that the harness supports, the right password is accepted."""
    offered = [str(name) for name in peer.greet()["mechanisms"].items]
    known = [name for name in offered if name == "PLAIN" or name.startswith("SCRAM-SHA-")]
    if not known:
        return does_not_apply(peer, f"the harness supports none of the offered mechanisms {offered}")
    peer.claim(f"a login with each of {known}")
    for mechanism in known:
        one = peer.another()
        one.greet()
        one.start_ok(mechanism=mechanism)
        one.offered()
    return holds(peer, True, f"logged in with {known}")


@case("connection.secure.wrong-password", covers=["connection/secure"], slow=True)
def wrong_password(peer: Peer) -> Verdict:
    """A client that cannot prove its identity is rejected or challenged again, and not admitted."""

    def step(response: bytes) -> Step:
        def send(one: Peer) -> None:
            greeted_with(one, "PLAIN")
            one.start_ok(mechanism="PLAIN", response=response)

        return send

    user = b"\0" + peer.login.user.encode()
    wrong = (user + b"\0not the password", b"\0nobody\0", b"\0nobody\0secret", b"", b"\0\0\0\0")
    # The server repeats secure until the client is authenticated (connection.secure): that admits no client.
    return before_open(peer, map(step, wrong), refused_or_asked_again)


@case("connection.start-ok.locale", covers=["connection/start-ok/locale"])
def locale_not_offered(peer: Peer) -> Verdict:
    """A locale that was not offered is rejected, or the server continues in its own locale."""
    peer.greet()
    peer.start_ok(locale="xx_XX")
    answers = ("connection.tune", "connection.secure")
    answer = peer.arrival(*answers)
    if is_one(answer, answers, 0):
        return observed_either_way(peer, answer.describe(peer.dialect))
    return borne_aloud(peer, peer.reaction_of([answer]))


@case("connection.start-ok.locale.each", covers=["connection/start-ok/locale"])
def locales_on_offer(peer: Peer) -> Verdict:
    """The server accepts each locale that it offers."""
    offered = [str(name) for name in peer.greet()["locales"].items]
    peer.claim(f"a login in each of {offered}")
    for locale in offered:
        one = peer.another()
        one.greet()
        one.start_ok(locale=locale)
        one.offered()
    return holds(peer, True, f"logged in with {offered}")


# --- virtual hosts


@case("connection.close-code.invalid-path", covers=["connection/close-code/invalid-path"], slow=True)
def unknown_virtual_host(peer: Peer) -> Verdict:
    """A virtual host that does not exist is refused with 402."""
    peer.handshake()
    peer.send("connection.open", virtual_host=peer.name("missing"))
    return rejects_violation(peer, barrier=False)


@case("connection.open.insist", covers=["connection/open/insist/behavior/no-redirect"])
def insisting(peer: Peer) -> Verdict:
    """The server does not answer an open with insist by redirect."""
    peer.handshake()
    peer.claim("open-ok")
    answer = peer.call_control("connection.open", virtual_host=peer.login.vhost, insist=True)
    return holds(peer, answer.name == "connection.open-ok", answer)


@case("connection.open.insist.refused", covers=["connection/open/insist/behavior/close"], slow=True)
def insisting_in_vain(peer: Peer) -> Verdict:
    """An open with insist for a virtual host that does not exist closes the connection."""
    peer.handshake()
    peer.send("connection.open", virtual_host=peer.name("missing"), insist=True)
    return rejects_violation(peer, barrier=False)


@case("connection.open-ok.known-hosts", covers=["connection/open-ok/known-hosts"])
def known_hosts(peer: Peer) -> Verdict:
    """Open-ok may list known hosts or no hosts."""
    peer.handshake()
    peer.claim("open-ok, with or without hosts")
    hosts = peer.call_control("connection.open", virtual_host=peer.login.vhost)["known_hosts"]
    listed = isinstance(hosts, Array) and bool(hosts.items)
    return observed_either_way(peer, "hosts are listed" if listed else "no host is listed")


@case(
    "connection.open.virtual-host.security",
    covers=["connection/open/virtual-host/security"],
    hooks=["forbidden-vhost"],
    slow=True,
)
def forbidden_virtual_host(peer: Peer) -> Verdict:
    """A user without access to a virtual host cannot open it."""
    vhost = peer.context.vhost("forbidden")
    peer.handshake()
    peer.send("connection.open", virtual_host=vhost)
    return rejects_violation(peer, barrier=False)


@on_shared_queue(
    "connection.open.virtual-host.separation",
    covers=[
        "connection/open/virtual-host/separation/entities",
        "connection/open/virtual-host/separation/access",
    ],
    hooks=["second-vhost"],
    needs=["virtual-hosts"],
)
def separate_virtual_hosts(peer: Peer, queue: str) -> Verdict:
    """A queue of one virtual host does not exist in another one and cannot be deleted from there."""
    other = peer.another(vhost=peer.context.vhost("second"))
    other.open_session()
    peer.claim("the queue does not exist in the other virtual host and remains in its own")
    if queues_there(other, [queue]):
        return holds(peer, False, f"{queue} exists in both")
    other.send("queue.delete", queue=queue, sync=True)
    verdict = judge_reaction(peer, other.reaction(), row="connection/open/virtual-host/separation/access")
    return worst([verdict, equals(peer, queues_there(peer, [queue]), [queue], "queues")])


# --- the end


@in_session("connection.close-ok", covers=["connection/close-ok"])
def close_is_answered(peer: Peer) -> Verdict:
    """The server answers close with close-ok and sends nothing more."""
    peer.claim("close-ok, then nothing or the end of the socket")
    answer = peer.close()
    if not is_one(answer, ("connection.close-ok",), None):
        return holds(peer, False, answer)
    return _nothing_more(peer)


def _nothing_more(peer: Peer) -> Verdict:
    """After close-ok, only the end of the socket may follow; no text requires it."""
    following = peer.read(peer.now() + peer.context.patience.quiet_s)
    return holds(peer, isinstance(following, Quiet | Ended), following)


@case("connection.close.last", covers=["connection/close-ok", "connection/grammar"])
def nothing_behind_close(peer: Peer) -> Verdict:
    """After its close, the server answers no other control, and it does not answer close-ok."""
    peer.polite = False
    peer.handshake()
    peer.send("connection.open", virtual_host=peer.name("missing"))
    peer.expect("connection.close", channel=None)
    peer.claim("no answer after close, nor to close-ok")
    peer.send("connection.open", virtual_host=peer.login.vhost)
    peer.send("session.attach", name=peer.name("s").encode())
    # The grammar of the class ends a connection by one close and one close-ok.
    answer = peer.wait(lambda arrival: True, peer.context.patience.quiet_s)
    if not isinstance(answer, Quiet | Ended):
        return holds(peer, False, answer)
    peer.send("connection.close-ok")
    return _nothing_more(peer)


@in_session(
    "connection.close.reason", covers=["connection/close/reason", "connection/close-code/framing-error"]
)
def close_says_why(peer: Peer) -> Verdict:
    """After a frame smaller than its header, the server closes the connection with 501 and should add a text."""
    peer.claim("close with framing-error, and with a text, which is optional")
    peer.send_octets(encode_frame(b"", type=CONTROL, size=3))
    close = peer.expect("connection.close", channel=None)
    verdict = judge_arrival(peer, close, row="connection/close-code/framing-error")
    said = holds(peer, bool(close["reply_text"]), close)
    # Reply-text is optional (connection.close.reply-text), but close states its reason by code and text.
    return worst([verdict, said if close["reply_text"] else replace(said, outcome=Outcome.NONSTRICT)])


@in_session("connection.close-code.framing-error", covers=["connection/close-code/framing-error"])
def second_handshake(peer: Peer) -> Verdict:
    """Octets that form no frame header, such as a second protocol header, are rejected with 501."""
    # As a frame, it would have the size that its third and fourth letters are.
    peer.send_octets(peer.dialect.protocol_header.ljust(int.from_bytes(b"QP", "big"), b"\0"))
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)
