"""Class connection: the handshake, its limits, virtual hosts, the end.

Knows: controls before and after open. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived, refusal_of
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import Arrival, Ended, Reaction
from amqpspec.run.amqp_0_10.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import (
    borne,
    does_not_apply,
    equals,
    holds,
    judge_reaction,
    observed_either_way,
    worst,
)
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._wire import queues_there
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import CONTROL, encode_instruction
from amqpspec.wire.amqp_0_10.values import Array

_LARGE = 0xFFFF
Step = Callable[[Peer], object]


def _before_open(peer: Peer, steps: Iterable[Step]) -> Verdict:
    """Each step, on a connection of its own, is refused, whether at once or without a word."""
    verdicts = []
    for step in steps:
        one = peer.another()
        step(one)
        verdicts.append(judge_reaction(peer, one.reaction(barrier=False)))
    return worst(verdicts)


def _proposal(peer: Peer) -> AssemblyArrived:
    peer.greet()
    peer.start_ok()
    return peer.offered()


# --- the order of the handshake


@case("connection.grammar", covers=["connection/grammar"], slow=True)
def handshake_out_of_order(peer: Peer) -> Verdict:
    """Nothing but the control that is due is taken before open."""

    def after_start(name: str, /, **args: Any) -> Step:
        def step(one: Peer) -> None:
            one.greet()
            one.send(name, **args)

        return step

    def after_tune(one: Peer) -> None:
        _proposal(one)
        one.send("connection.open", virtual_host=one.login.vhost)

    def before_open(one: Peer) -> None:
        one.tune(proposed=_proposal(one))
        one.send("session.attach", name=b"early")

    return _before_open(
        peer,
        (
            after_start("connection.tune-ok", channel_max=1),
            after_start("connection.open", virtual_host="/"),
            after_start("session.attach", name=b"early"),
            after_start("execution.sync"),
            after_tune,
            before_open,
        ),
    )


@case("connection.start.protocol-name", covers=["connection/start/protocol-name"])
def other_protocol_name(peer: Peer) -> Verdict:
    """A header of another protocol ends the socket, and no control comes."""
    peer.claim("the end, with no control before it")
    peer.send_header(b"AMQQ\x01\x01\x00\x0a")
    seen: list[Arrival] = [peer.wait(lambda a: True, peer.patience_s)]
    if not isinstance(seen[-1], Ended):
        seen.append(peer.expect_end())
    return judge_reaction(peer, Reaction(tuple(seen), *refusal_of(seen)))


@case("connection.start.server-properties", covers=["connection/start/server-properties/required-fields"])
def server_properties(peer: Peer) -> Verdict:
    """Start says what the server is."""
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
    """The locale en_US is among those on offer."""
    peer.claim("en_US among the locales")
    offered = peer.greet()["locales"]
    return holds(peer, isinstance(offered, Array) and "en_US" in offered.items, f"locales {offered}")


# --- the login


@case("connection.start-ok.mechanism", covers=["connection/start-ok/mechanism/validity"], slow=True)
def mechanism_not_offered(peer: Peer) -> Verdict:
    """A mechanism that was not offered ends the socket with nothing more sent."""

    def step(one: Peer) -> None:
        one.greet()
        one.start_ok(mechanism="NO-SUCH-MECHANISM", response=b"")

    return _before_open(peer, [step])


@case(
    "connection.start-ok.mechanism.each",
    covers=["connection/start-ok/mechanism/offered", "connection/secure"],
)
def mechanisms_on_offer(peer: Peer) -> Verdict:
    """Each mechanism on offer that the harness speaks lets the right password in, challenges and all."""
    offered = [str(name) for name in peer.greet()["mechanisms"].items]
    known = [name for name in offered if name == "PLAIN" or name.startswith("SCRAM-SHA-")]
    peer.claim(f"a login with each of {known}")
    for mechanism in known:
        one = peer.another()
        one.greet()
        one.start_ok(mechanism=mechanism)
        one.offered()
    return holds(peer, bool(known), f"logged in with {known}")


@case("connection.secure.wrong-password", covers=["connection/secure"], slow=True)
def wrong_password(peer: Peer) -> Verdict:
    """Who cannot prove who they are are not let in."""

    def step(response: bytes) -> Step:
        def send(one: Peer) -> None:
            one.greet()
            one.start_ok(mechanism="PLAIN", response=response)

        return send

    user = peer.login.user.encode()
    return _before_open(
        peer, map(step, (b"\0" + user + b"\0not the password", b"\0nobody\0", b"", b"\0\0\0\0"))
    )


@case("connection.start-ok.locale", covers=["connection/start-ok/locale"], slow=True)
def locale_not_offered(peer: Peer) -> Verdict:
    """A locale that was not offered is refused, or the server goes on in its own."""
    peer.greet()
    peer.start_ok(locale="xx_XX")
    return borne(peer, peer.reaction(barrier=False, within_s=peer.patience_s))


@case("connection.start-ok.locale.each", covers=["connection/start-ok/locale"])
def locales_on_offer(peer: Peer) -> Verdict:
    """Each locale on offer is taken."""
    offered = [str(name) for name in peer.greet()["locales"].items]
    peer.claim(f"a login in each of {offered}")
    for locale in offered:
        one = peer.another()
        one.greet()
        one.start_ok(locale=locale)
        one.offered()
    return holds(peer, True, f"logged in with {offered}")


# --- limits


@case(
    "connection.tune.channel-max",
    covers=["connection/tune/channel-max/limit", "connection/tune-ok/channel-max/available-channels"],
)
def highest_channel(peer: Peer) -> Verdict:
    """With a channel-max of three, channels 0 to 2 can be used, and channel 3 cannot."""
    peer.open_connection(channel_max=3)
    for channel in (0, 1, 2):
        peer.open_session(channel)
        peer.barrier(channel)
    peer.send("session.attach", 3, name=peer.name("s").encode())
    return rejects_violation(
        peer,
        3,
        barrier=False,
        within_s=peer.patience_s,
        row="connection/tune-ok/channel-max/available-channels",
    )


@case(
    "connection.tune-ok.channel-max.upper-limit",
    covers=["connection/tune-ok/channel-max/upper-limit"],
    slow=True,
)
def channel_max_above_the_offer(peer: Peer) -> Verdict:
    """A channel-max above the offer ends the socket without a close."""
    offer = _proposal(peer)["channel_max"]
    if offer is None or offer >= _LARGE:
        return does_not_apply(peer, f"no higher channel-max can be said than the offer {offer}")
    peer.send("connection.tune-ok", channel_max=offer + 1, max_frame_size=4096)
    peer.send("connection.open", virtual_host=peer.login.vhost)
    return rejects_violation(peer, barrier=False)


@case("connection.tune.max-frame-size.offered", covers=["connection/tune/max-frame-size/minimum/offered"])
def frame_size_on_offer(peer: Peer) -> Verdict:
    """The server offers frames of at least 4096 octets, or sets no limit."""
    peer.claim("a max-frame-size of at least 4096, or none")
    offer = _proposal(peer)
    return holds(
        peer, (offer["max_frame_size"] or _LARGE) >= 4096, f"max-frame-size {offer['max_frame_size']}"
    )


@case(
    "connection.tune.max-frame-size.lower",
    covers=["connection/tune/max-frame-size/lower", "connection/tune-ok/max-frame-size/max-frame-size/sent"],
)
def smaller_frames(peer: Peer) -> Verdict:
    """Once 4500 octets are agreed on, no frame of the server is larger."""
    peer.open_connection(max_frame_size=4500)
    peer.open_session()
    queue = peer.queue()
    peer.claim("frames of at most 4500 octets")
    peer.publish(queue, bytes(20_000))
    peer.subscribe(queue)
    whole, largest = len(peer.transfer().body) == 20_000, peer.listener.largest_frame_octets
    return holds(peer, whole and largest <= 4500, f"frames of up to {largest} octets")


@case(
    "connection.tune.max-frame-size.accepted",
    covers=[
        "connection/tune/max-frame-size/minimum/accepted",
        "connection/tune-ok/max-frame-size/minimum/accepted",
    ],
)
def large_first_frame(peer: Peer) -> Verdict:
    """Before limits are agreed on, a frame of 4096 octets is taken."""
    peer.greet()
    peer.claim("connection.tune behind a start-ok of 4096 octets")
    peer.max_frame_octets = 4096
    short = len(peer.encoded("connection.start-ok", **_start_ok(peer, "")))
    octets = peer.encoded("connection.start-ok", **_start_ok(peer, "x" * (4096 - short)))
    peer.send_octets(octets)
    peer.expect("connection.tune")
    return holds(peer, len(octets) == 4096, f"{len(octets)} octets were taken")


def _start_ok(peer: Peer, filling: str) -> dict[str, Any]:
    response = f"\0{peer.login.user}\0{peer.login.password}".encode()
    properties = {"filling": filling}
    return {"client_properties": properties, "mechanism": "PLAIN", "response": response, "locale": "en_US"}


@case(
    "connection.tune-ok.max-frame-size.minimum",
    covers=["connection/tune-ok/max-frame-size/minimum/chosen"],
    slow=True,
)
def frames_too_small(peer: Peer) -> Verdict:
    """A max-frame-size below 4096 octets is refused."""

    def step(size: int) -> Step:
        def send(one: Peer) -> None:
            offer = _proposal(one)
            one.send("connection.tune-ok", channel_max=offer["channel_max"] or 1, max_frame_size=size)
            one.send("connection.open", virtual_host=one.login.vhost)

        return send

    return _before_open(peer, map(step, (4095, 12)))


@case(
    "connection.tune-ok.max-frame-size.upper-limit",
    covers=["connection/tune-ok/max-frame-size/upper-limit"],
    slow=True,
)
def frames_above_the_offer(peer: Peer) -> Verdict:
    """A max-frame-size above the offer ends the socket without a close."""
    offer = _proposal(peer)
    if (offer["max_frame_size"] or _LARGE) >= _LARGE:
        return does_not_apply(peer, "the offer is as large as a frame can be")
    peer.send(
        "connection.tune-ok",
        channel_max=offer["channel_max"] or 1,
        max_frame_size=offer["max_frame_size"] + 1,
    )
    peer.send("connection.open", virtual_host=peer.login.vhost)
    return rejects_violation(peer, barrier=False)


@case(
    "connection.tune-ok.max-frame-size.refused",
    covers=["connection/tune-ok/max-frame-size/max-frame-size/refused"],
)
def frame_beyond_the_agreed_size(peer: Peer) -> Verdict:
    """A frame of one octet more than agreed on closes the connection; one of just that size does not."""
    peer.open_connection(max_frame_size=5000)
    peer.open_session()
    name = b"x" * (5000 - 12 - 7)
    peer.send_octets(
        encode_frame(encode_instruction("session.detached", {"name": name, "code": 0}), type=CONTROL)
    )
    peer.barrier()
    peer.send_octets(encode_frame(bytes(5001 - 12), type=CONTROL))
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)


@case(
    "connection.tune.heartbeat-max",
    covers=[
        "connection/tune/heartbeat-max/permitted-range",
        "connection/tune/heartbeat-max/no-heartbeat-min",
    ],
)
def heartbeats_on_offer(peer: Peer) -> Verdict:
    """Heartbeat-max is not below heartbeat-min, and is not set without it."""
    peer.claim("heartbeat-min up to heartbeat-max, or neither")
    offer = _proposal(peer)
    least, most = offer["heartbeat_min"], offer["heartbeat_max"]
    sound = most is None or (least is not None and most >= least)
    return holds(peer, sound, f"heartbeat-min {least}, heartbeat-max {most}")


@case(
    "connection.tune-ok.heartbeat.permitted-range",
    covers=["connection/tune-ok/heartbeat/permitted-range", "connection/tune-ok/heartbeat/no-heartbeat-min"],
    slow=True,
)
def heartbeat_out_of_range(peer: Peer) -> Verdict:
    """A heartbeat above heartbeat-max is refused, or taken all the same."""
    offer = _proposal(peer)
    most = offer["heartbeat_max"]
    if offer["heartbeat_min"] is not None and (most is None or most >= _LARGE):
        return does_not_apply(peer, f"no higher heartbeat can be said than the offer {most}")
    peer.tune(proposed=offer, heartbeat=(most or 0) + 1)
    peer.send("connection.open", virtual_host=peer.login.vhost)
    return borne(peer, _until_open(peer))


def _until_open(peer: Peer) -> Reaction:
    arrival = peer.arrival("connection.open-ok")
    return Reaction((arrival,), *refusal_of((arrival,)))


@case(
    "connection.tune-ok.heartbeat", covers=["connection/tune-ok/heartbeat", "connection/tune/heartbeat-min"]
)
def no_heartbeats(peer: Peer) -> Verdict:
    """A client that sets no heartbeat gets none, and work goes on."""
    peer.open_session()
    peer.claim("no heartbeat")
    peer.arrival("connection.heartbeat", channel=None, within_s=3.0)
    peer.barrier()
    beats = peer.pending("connection.heartbeat", channel=None)
    return holds(peer, not beats, f"{len(beats)} heartbeats within 3 s")


@case("connection.heartbeat.traffic", covers=["connection/heartbeat/traffic"])
def heartbeats_of_the_client(peer: Peer) -> Verdict:
    """A client may send heartbeats at any time, even where none were agreed on."""
    peer.open_session()
    peer.claim("commands are executed behind heartbeats")
    for _ in range(2):
        peer.send("connection.heartbeat")
        peer.barrier()
    return holds(peer, True, "commands were executed behind heartbeats")


@case("connection.heartbeat.missed", covers=["connection/heartbeat/missed"], slow=True)
def silent_client(peer: Peer) -> Verdict:
    """A client that is silent for long may be dropped; whether it is, is recorded."""
    offer = _proposal(peer)
    least, most = offer["heartbeat_min"], offer["heartbeat_max"]
    if least is None or not least <= 1 <= (most or 0):
        return does_not_apply(peer, f"a heartbeat of one second is not on offer: {least} to {most}")
    peer.tune(proposed=offer, heartbeat=1)
    peer.call_control("connection.open", virtual_host=peer.login.vhost)
    peer.claim("a silent client is dropped after more than two seconds, or kept")
    started_s = peer.now()
    ended = peer.expect_end(6.0)
    if not isinstance(ended, Ended):
        return observed_either_way(peer, "a silent client is kept for six seconds")
    late = peer.now() - started_s >= 2.0
    return observed_either_way(peer, "a silent client is dropped") if late else holds(peer, False, ended)


# --- virtual hosts


@case("connection.close-code.invalid-path", covers=["connection/close-code/invalid-path"], slow=True)
def unknown_virtual_host(peer: Peer) -> Verdict:
    """A virtual host that does not exist is refused with 402."""
    peer.handshake()
    peer.send("connection.open", virtual_host=peer.name("missing"))
    return rejects_violation(peer, barrier=False)


@case("connection.open.insist", covers=["connection/open/insist/behavior/no-redirect"])
def insisting(peer: Peer) -> Verdict:
    """An open that insists is not answered by redirect."""
    peer.handshake()
    peer.claim("open-ok")
    answer = peer.call_control("connection.open", virtual_host=peer.login.vhost, insist=True)
    return holds(peer, answer.name == "connection.open-ok", answer)


@case("connection.open.insist.refused", covers=["connection/open/insist/behavior/close"], slow=True)
def insisting_in_vain(peer: Peer) -> Verdict:
    """An open that insists on what cannot be had closes the connection."""
    peer.handshake()
    peer.send("connection.open", virtual_host=peer.name("missing"), insist=True)
    return rejects_violation(peer, barrier=False)


@case("connection.open-ok.known-hosts", covers=["connection/open-ok/known-hosts"])
def known_hosts(peer: Peer) -> Verdict:
    """Open-ok may list hosts, or none."""
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
    """A user who may not use a virtual host does not get in."""
    vhost = peer.context.vhost("forbidden")
    peer.handshake()
    peer.send("connection.open", virtual_host=vhost)
    return rejects_violation(peer, barrier=False)


@case(
    "connection.open.virtual-host.separation",
    covers=[
        "connection/open/virtual-host/separation/entities",
        "connection/open/virtual-host/separation/access",
    ],
    hooks=["second-vhost"],
    needs=["virtual-hosts"],
)
def separate_virtual_hosts(peer: Peer) -> Verdict:
    """A queue of one virtual host is not there in another one, and cannot be deleted from there."""
    peer.open_session()
    queue = peer.queue(exclusive=False)
    other = peer.another(vhost=peer.context.vhost("second"))
    other.open_session()
    peer.claim("no such queue in the other virtual host, and it stays in its own")
    if queues_there(other, [queue]):
        return holds(peer, False, f"{queue} is there in both")
    other.send("queue.delete", queue=queue, sync=True)
    verdict = judge_reaction(peer, other.reaction(), row="connection/open/virtual-host/separation/access")
    return worst([verdict, equals(peer, queues_there(peer, [queue]), [queue], "queues")])


# --- the end


@case("connection.close-ok", covers=["connection/close-ok"])
def close_is_answered(peer: Peer) -> Verdict:
    """Close is answered by close-ok, and then the socket ends."""
    peer.open_session()
    peer.claim("close-ok, then the end")
    answer = peer.close()
    if not isinstance(answer, AssemblyArrived):
        return holds(peer, False, answer)
    ended = peer.expect_end()
    return holds(peer, isinstance(ended, Ended), ended)


@case("connection.close.reason", covers=["connection/close/reason", "connection/close-code/framing-error"])
def close_says_why(peer: Peer) -> Verdict:
    """A frame smaller than its header closes the connection with 501 and a text."""
    peer.open_session()
    peer.claim("close with framing-error and a text")
    peer.send_octets(encode_frame(b"", type=CONTROL, size=3))
    close = peer.expect("connection.close", channel=None)
    verdict = judge_reaction(
        peer, Reaction((close,), *refusal_of((close,))), row="connection/close-code/framing-error"
    )
    return worst([verdict, holds(peer, bool(close["reply_text"]), close)])


@case("connection.close-code.framing-error", covers=["connection/close-code/framing-error"])
def second_handshake(peer: Peer) -> Verdict:
    """Octets that form no frame header, as a second protocol header, are refused with 501."""
    peer.open_session()
    # As a frame, it would have the size that its third and fourth letters are.
    peer.send_octets(peer.dialect.protocol_header.ljust(int.from_bytes(b"QP", "big"), b"\0"))
    return rejects_violation(peer, barrier=False, within_s=peer.patience_s)
