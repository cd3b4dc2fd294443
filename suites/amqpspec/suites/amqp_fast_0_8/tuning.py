"""Tuning: what the target proposes, what a client may answer, limits that are in force (connection.tune)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.events import Quiet
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import does_not_apply, equals, holds, observed_either_way, outlived, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import LEAST_FRAME_MAX, silent

_LOGIN_FRAME_OCTETS = 4096
_MANY = 300
"""More channels, handles or messages of a transaction than this are not opened to find a limit."""
_INTERVAL_S = 1
_INTERVALS = 1.8
"""A heartbeat that is due comes within this many intervals, on a machine that is busy as well."""
_LONG_S = 11.0
"""Longer than servers usually give to a login: a clock that runs on after OPEN is noticed."""


@case("changes.tune-any-number", covers=["changes/tune-any-number", "connection/tune/exchange"])
def any_number_of_tunes(peer: Peer) -> Verdict:
    """No TUNE, one, or three lead to an open connection; the last FRAME_MAX applies."""
    for count in (0, 1):
        peer.another().open_connection(**({"FRAME_MAX": LEAST_FRAME_MAX} if count else {}))
    peer.log_in()
    for size in (4096, 2048, LEAST_FRAME_MAX):
        peer.tune(FRAME_MAX=size)
    peer.open()
    peer.claim("fragments of at most 1024 octets")
    return _fragments_kept(peer)


def _fragments_kept(peer: Peer, most_octets: int = LEAST_FRAME_MAX) -> Verdict:
    """A message of 5000 octets comes in fragments that are as large as they may be, and not larger."""
    peer.open_channel()
    peer.open_handle(1)
    name = peer.queue()
    peer.reader(name, 2)
    peer.store(name, b"f" * 5000, 1)
    message = peer.delivery(2)
    sizes = [len(frame.fragment) for frame in message.frames]
    sound = max(sizes) <= most_octets and message.body == b"f" * 5000
    return holds(peer, sound, f"fragments of {sizes} octets, a body of {len(message.body)}")


@case("tune.exchange", covers=["connection/tune/exchange", "scenarios/preparing/tune"])
def one_tune_of_the_target(peer: Peer) -> Verdict:
    """The target sends one TUNE, and the client may send OPEN immediately."""
    peer.log_in()
    peer.claim("one TUNE, and a confirmation of OPEN")
    peer.open()
    return equals(peer, silent(peer, "connection.tune"), [], "further TUNEs")


@case("tune.dictionary", covers=["connection/tune/dictionary"])
def the_dictionary_of_the_target(peer: Peer) -> Verdict:
    """The dictionary in the target's TUNE is empty."""
    peer.claim("an empty dictionary")
    return equals(peer, list(peer.log_in()["dictionary"].names()), [], "names")


def _ask_to_open(peer: Peer) -> None:
    """Send OPEN after what should be refused: a target that continues confirms it."""
    path, name = peer.login.vhost, peer.client_name
    peer.send("connection.open", virtual_path=path, client_name=name, confirm_tag=peer.fresh_tag())


@case(
    "tune.values",
    covers=["connection/tune/values", "connection/tune/refused", "connection/summary/server/tune-invalid"],
)
@case("tuning.frame-max.client-maximum", covers=["tuning/frame-max/client-maximum"])
def a_frame_max_above_the_proposed_one(peer: Peer) -> Verdict:
    """A client's FRAME_MAX of one more than proposed is refused; the proposed one is accepted."""
    equal = peer.another()
    equal.log_in()
    proposed = equal.limit("FRAME_MAX")
    if not proposed:
        return does_not_apply(peer, "the target proposes no FRAME_MAX")
    equal.tune(FRAME_MAX=proposed)
    equal.open()
    peer.log_in()
    peer.tune(FRAME_MAX=proposed + 1)
    _ask_to_open(peer)
    return rejects_violation(peer, barrier=None)


@case("tuning.frame-max.client-minimum", covers=["tuning/frame-max/client-minimum"])
def a_frame_max_below_the_least(peer: Peer) -> Verdict:
    """A client's FRAME_MAX of 1023, zero or below is refused; 1024 is accepted."""
    peer.claim("1024 is accepted, lower values are refused")
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    verdicts = []
    lines = [peer.another() for _ in range(3)]
    for line, size in zip(lines, (LEAST_FRAME_MAX - 1, 0, -1), strict=True):
        line.log_in()
        line.tune(FRAME_MAX=size)
        _ask_to_open(line)
    verdicts += [rejects_violation(line, barrier=None) for line in lines]
    return worst(verdicts)


@case("tune.size", covers=["connection/tune/size"])
def a_tune_that_is_too_large(peer: Peer) -> Verdict:
    """A TUNE frame above 4096 octets is refused, a smaller one is accepted, and the target's own is smaller."""
    # A server may block new connections of a client with many failed logins: one is open already.
    other = peer.another().open_connection()
    peer.log_in()
    within = peer.listener.largest_frame_octets <= _LOGIN_FRAME_OCTETS
    peer.send("connection.tune", dictionary={"A": b"a" * 4000})
    peer.send("connection.tune", dictionary={"A": b"a" * 4100})
    _ask_to_open(peer)
    refused = outlived(peer, rejects_violation(peer, barrier=None), other.ping)
    return worst([refused, holds(peer, within, "the target's frames")])


@case("tuning.server-options", covers=["tuning/server-options"])
def options_of_the_target(peer: Peer) -> Verdict:
    """The options of the specification that the target's TUNE contains are integers."""
    options = peer.log_in()["options"]
    peer.claim("integers for the names of the specification")
    known = {option.name for option in peer.dialect.tune_options}
    wrong = [name for name, typed in options if name in known and typed.tag != "I"]
    if wrong:
        return holds(peer, False, f"options {wrong} of other types")
    return observed_either_way(peer, f"options {sorted(options.names())}")


@case("tuning.frame-max.not-zero", covers=["tuning/frame-max/not-zero"])
@case("tuning.frame-max.minimum", covers=["tuning/frame-max/minimum"])
def frame_max_of_the_target(peer: Peer) -> Verdict:
    """The target's FRAME_MAX, if present, is at least 1024."""
    peer.log_in()
    peer.claim("at least 1024")
    size = peer.limit("FRAME_MAX", LEAST_FRAME_MAX)
    return holds(peer, size >= LEAST_FRAME_MAX, f"FRAME_MAX {size}")


@case("tuning.channel-max", covers=["tuning/channel-max"])
def channels_up_to_the_limit(peer: Peer) -> Verdict:
    """The client can open CHANNEL_MAX channels; one more is refused until another is closed."""
    peer.open_connection()
    most = peer.limit("CHANNEL_MAX")
    if not 0 < most <= _MANY:
        return does_not_apply(peer, f"CHANNEL_MAX {most}")
    peer.claim("the last channel within the limit")
    for channel in range(1, most + 1):
        peer.open_channel(channel)
    peer.close_channel(2)
    peer.open_channel(2)
    peer.send("channel.open", channel_id=most + 1, confirm_tag=1)
    return outlived(peer, rejects_violation(peer, most + 1, barrier="ping"))


@case("tuning.handle-max", covers=["tuning/handle-max"])
def handles_up_to_the_limit(peer: Peer) -> Verdict:
    """The client can open HANDLE_MAX handles, on two channels together, and one more is refused."""
    peer.open_channel(1)
    peer.open_channel(2)
    most = peer.limit("HANDLE_MAX")
    if not 0 < most <= _MANY:
        return does_not_apply(peer, f"HANDLE_MAX {most}")
    peer.claim("the last handle within the limit")
    for handle in range(1, most + 1):
        peer.open_handle(handle, 1 + handle % 2)
    peer.send("handle.open", handle_id=most + 1, channel_id=1, confirm_tag=1)
    return outlived(peer, rejects_violation(peer, 1, most + 1, barrier="ping"))


@case("tuning.txn-limit", covers=["tuning/txn-limit"])
def a_transaction_up_to_the_limit(peer: Peer) -> Verdict:
    """A transaction accepts TXN_LIMIT messages, twice, and refuses one more."""
    peer.open_channel(1, transacted=True)
    most = peer.limit("TXN_LIMIT")
    if not 0 < most <= _MANY:
        return does_not_apply(peer, f"TXN_LIMIT {most}")
    name = peer.queue()
    peer.open_handle(1)
    peer.claim("the last message within the limit, in each of two transactions")
    for _ in range(2):
        peer.publish_all(name, [b"%d" % n for n in range(most)], 1)
        peer.call("channel.commit")
    peer.publish_all(name, [b"%d" % n for n in range(most)], 1)
    peer.publish(name, b"one too many", 1)
    return rejects_violation(peer)


@case("tuning.txn-limit.none", covers=["tuning/txn-limit/none"])
def transactions_without_a_limit(peer: Peer) -> Verdict:
    """A transaction accepts forty messages, or TXN_LIMIT messages if that is fewer."""
    peer.open_channel(1, transacted=True)
    most = min(peer.limit("TXN_LIMIT") or 40, 40)
    name = peer.queue()
    peer.open_handle(1)
    peer.claim("all messages of the transaction, in order")
    bodies = [b"%d" % n for n in range(most)]
    peer.publish_all(name, bodies, 1)
    peer.call("channel.commit")
    peer.open_channel(2)
    return equals(peer, peer.left_in(name, 2), bodies, "messages")


@case("tuning.frame-max.kept", covers=["tuning/frame-max/kept"])
def the_clients_frame_max_is_kept(peer: Peer) -> Verdict:
    """The target sends no fragment above the client's FRAME_MAX (tested with 1024 and 1500 octets)."""
    peer.open_connection(FRAME_MAX=LEAST_FRAME_MAX)
    other = peer.another().open_connection(FRAME_MAX=1500)
    for line in (peer, other):
        line.claim("fragments within the client's FRAME_MAX")
    verdicts = [_fragments_kept(peer), _fragments_kept(other, 1500)]
    largest = max(len(f.fields) + 4 for f in peer.listener.frames if f.name != "connection.tune")
    return worst([*verdicts, holds(peer, largest <= LEAST_FRAME_MAX, f"a frame of {largest} octets")])


# --- heartbeats


def _pinged(peer: Peer, within_s: float) -> bool:
    arrival = peer.arrival("connection.ping", within_s=within_s)
    return isinstance(arrival, CommandArrived) and arrival.name == "connection.ping"


@case("tuning.heartbeat.server-none", covers=["tuning/heartbeat/server-none"], slow=True)
@case("heartbeat.until-first-ping", covers=["heartbeat/until-first-ping"], slow=True)
def a_silent_client_lives(peer: Peer) -> Verdict:
    """A client that has sent no PING, and is silent for less than the requested interval, is not closed.

    If none is requested, the silence is longer than a login may take.
    """
    peer.open_connection()
    interval_s = peer.limit("HEARTBEAT")
    peer.claim("an open connection after the silence, and no PING that requests an answer")
    arrival = peer.read(peer.now() + (min(interval_s, _INTERVALS) * 0.9 if interval_s else _LONG_S))
    if not isinstance(arrival, Quiet | CommandArrived):
        return holds(peer, False, arrival)
    peer.ping()
    peer.open_channel()
    return holds(peer, True, "CHANNEL OPEN confirmed")


@case("tuning.heartbeat.client-none", covers=["tuning/heartbeat/client-none"], slow=True)
def no_heartbeat_for_a_client_that_wants_none(peer: Peer) -> Verdict:
    """A client whose HEARTBEAT is zero or missing receives no PINGs at an interval."""
    lines = [peer.another().open_connection(HEARTBEAT=0), peer.another().open_connection()]
    verdicts = []
    for line in lines:
        line.claim("at most one PING, which requests an answer")
        pings = [line.arrival("connection.ping", within_s=0.75) for _ in range(2)]
        came = [p for p in pings if isinstance(p, CommandArrived)]
        verdicts.append(holds(line, len(came) <= 1 and all(p["respond"] for p in came), f"{len(came)} PINGs"))
    return worst(verdicts)


@case("tuning.heartbeat.hint", covers=["tuning/heartbeat/hint"], slow=True)
def a_heartbeat_is_a_hint(peer: Peer) -> Verdict:
    """A client that requests a heartbeat of a second may receive one, and is still served after waiting for it."""
    peer.open_connection(HEARTBEAT=_INTERVAL_S)
    peer.claim("PINGs, or none, and an answer to one of the client's")
    way = "PINGs" if _pinged(peer, _INTERVALS * _INTERVAL_S) else "no PINGs"
    peer.ping()
    return observed_either_way(peer, way)


@case(
    "tuning.heartbeat.continued",
    covers=["tuning/heartbeat/continued", "connection/ping/interval"],
    slow=True,
)
def a_heartbeat_goes_on(peer: Peer) -> Verdict:
    """A target that has sent one PING continues at the requested interval or more often."""
    peer.open_connection(HEARTBEAT=_INTERVAL_S)
    if not _pinged(peer, 3 * _INTERVAL_S):
        return does_not_apply(peer, "the target sends no heartbeat, which is optional")
    peer.claim("three further PINGs, each within its interval")
    came = [_pinged(peer, _INTERVALS * _INTERVAL_S) for _ in range(3)]
    return equals(peer, came, [True] * 3, "PINGs")
