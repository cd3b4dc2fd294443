"""The connection: OPEN, PING, REPLY, CLOSE, commands that a server never expects (connection.open to its flow)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Ended, Quiet
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import on_handle, silent, topic
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_PAUSE_S = 0.1
_FROM_SERVERS: dict[str, tuple[str, dict[str, Any]]] = {
    "connection/summary/server/challenge": ("connection.challenge", {"version": 1, "mechanisms": "PLAIN"}),
    "connection/summary/server/reply": ("connection.reply", {"confirm_tag": 1}),
    "channel/summary/server/reply": ("channel.reply", {"confirm_tag": 1}),
    "handle/summary/server/created": ("handle.created", {"dest_name": "q"}),
    "handle/summary/server/notify": ("handle.notify", {"fragment": encode_message(b"x")}),
    "handle/summary/server/index": ("handle.index", {"message_list": b"0-3"}),
    "handle/summary/server/reply": ("handle.reply", {"confirm_tag": 1}),
}


@case(
    "open.confirmed",
    covers=["connection/open/confirmed", "connection/reply/open", "connection/summary/server/open"],
)
def open_is_confirmed(peer: Peer) -> Verdict:
    """An OPEN with a confirm-tag is answered with one REPLY."""
    peer.log_in()
    peer.claim("one REPLY")
    peer.open(confirm_tag=0x0102)
    return equals(peer, silent(peer, "connection.reply"), [], "further REPLYs")


@case("confirmation.zero", covers=["connection/confirmation/zero", "connection/summary/server/open"])
def zero_asks_for_silence(peer: Peer) -> Verdict:
    """OPEN on each level, and FLOW, with a zero confirm-tag are not confirmed but take effect."""
    peer.log_in()
    peer.claim("no REPLY")
    peer.send("connection.open", virtual_path=peer.login.vhost, client_name=peer.client_name)
    peer.send("channel.open")
    peer.send("handle.open", producer=True)
    peer.send("handle.flow", flow_pause=False)
    peer.is_open = True
    peer.store(topic(peer), b"x", 1, service=TOPIC)
    found = silent(peer, "connection.reply", "channel.reply", "handle.reply", channels=(1,))
    return equals(peer, [f.describe(peer.dialect) for f in found], [], "REPLYs")


@case("reply.confirm-tag", covers=["connection/reply/confirm-tag", "connection/reply/reply-code"])
def the_tag_and_code_of_a_reply(peer: Peer) -> Verdict:
    """REPLY contains the confirm-tag of its OPEN, at both ends of the range, and a code of success."""
    verdicts = []
    for tag in (1, 0x1234, 0xFFFF):
        line = peer.another()
        line.log_in()
        line.claim("the tag, and a code from 200 to 299")
        line.send(
            "connection.open", virtual_path=line.login.vhost, client_name=line.client_name, confirm_tag=tag
        )
        reply = line.expect("connection.reply")
        sound = reply["confirm_tag"] == tag and 200 <= reply["reply_code"] < 300
        verdicts.append(holds(line, sound, f"tag {reply['confirm_tag']}, code {reply['reply_code']}"))
    return worst(verdicts)


@case("open.client-name", covers=["connection/open/client-name"])
def one_connection_for_a_client_name(peer: Peer) -> Verdict:
    """A further connection with the name of either of two active clients is refused, and they continue to work.

    The two have names that differ in their case alone.
    """
    active = [peer.another() for _ in range(2)]
    active[1].client_name = active[0].client_name.swapcase()
    for holder in active:
        holder.claim("two connections under two names")
        holder.open_connection()
    verdicts = []
    for holder in active:
        other = peer.another()
        other.client_name = holder.client_name
        other.log_in()
        other.send(
            "connection.open", virtual_path=other.login.vhost, client_name=other.client_name, confirm_tag=1
        )
        verdicts.append(rejects_violation(other, barrier="ping"))
        holder.claim("the connection with the name continues to work")
        holder.open_channel()
    return worst(verdicts)


@case("open.client-name.again", covers=["connection/open/client-name"])
def a_client_name_is_free_again(peer: Peer) -> Verdict:
    """After its connection is closed, or its socket has ended, a client name can be used again."""
    codes = []
    for part in (Peer.close, Peer.hang_up):
        first, second = peer.another(), peer.another()
        first.open_connection()
        second.client_name = first.client_name
        part(first)
        peer.claim("OPEN under the same name")
        codes.append(_opens_soon(second) if part is Peer.hang_up else second.open_connection().is_open)
    return equals(peer, codes, [True, True], "open")


def _opens_soon(peer: Peer) -> bool:
    """Whether a name can be used within the patience: no text says how soon the end of a socket is noticed."""
    until_s = peer.now() + peer.patience_s
    while True:
        line = peer.another()
        line.client_name = peer.client_name
        try:
            return line.open_connection().is_open
        except Unmet:
            if peer.now() > until_s:
                raise
            peer.wait(lambda _: False, _PAUSE_S)  # so that the target is not asked all the time


@case("ping.respond", covers=["connection/ping/respond", "connection/ping/no-loop"])
def ping_is_answered(peer: Peer) -> Verdict:
    """A PING with respond set is answered with a PING without it (tested once and twice)."""
    peer.open_connection()
    peer.claim("two PINGs, respond zero")
    for _ in range(2):
        peer.send("connection.ping", respond=True)
    answers = [peer.pinged()["respond"] for _ in range(2)]
    return equals(peer, answers, [False, False], "respond")


@on_handle("ping.silent-partner", covers=["connection/summary/server/ping", "connection/ping/silent-partner"])
def ping_without_a_question(peer: Peer) -> Verdict:
    """A PING with respond zero causes no error, answered or not; one with respond set is answered on each level."""
    peer.claim("an answer to the PING that requests one")
    peer.send("connection.ping", respond=False)
    peer.barrier()
    peer.ping()
    return holds(peer, True, "an answer")


# --- CLOSE


@case(
    "close.any-time",
    covers=["connection/close/any-time", "connection/close/answered", "connection/summary/server/close"],
)
def close_at_any_time(peer: Peer) -> Verdict:
    """CLOSE is answered, and nothing follows it, before OPEN, on an open connection, and within a message."""
    early, plain, amid = peer.another(), peer.another(), peer.another()
    early.log_in()
    plain.open_connection()
    amid.open_handle()
    name = amid.queue()
    message = encode_message(b"in two parts")
    amid.send_octets(amid.fragments(name, message, chunk=len(message) - 3)[0])
    verdicts = []
    for line in (early, plain, amid):
        line.claim("CONNECTION CLOSE with a code of success, then nothing or the end of the socket")
        answer = line.close()
        # The initiating party, here the client, closes the network connection (connection.close).
        following = line.read(line.now() + line.context.patience.quiet_s)
        sound = answer.kind.startswith("connection.close 2") and isinstance(following, Ended | Quiet)
        verdicts.append(holds(line, sound, f"{answer.kind}, then {following.kind}"))
    return worst(verdicts)


def _holding(peer: Peer) -> tuple[Peer, str]:
    """Another peer with a queue, and its name; this one has read its message, and sends to it in a transaction."""
    other = peer.another().open_channel()
    name = other.queue()
    other.open_handle(1)
    other.store(name, b"read")
    peer.open_channel(1)
    peer.reader(name, 1)
    peer.delivery(1)
    peer.open_channel(2, transacted=True)
    peer.open_handle(2, 2)
    peer.store(name, b"rolled back", 2)
    return other, name


@case("close.released", covers=["connection/close/released"])
def close_releases_everything(peer: Peer) -> Verdict:
    """After CLOSE is answered, an unacknowledged message is requeued and a transaction is rolled back."""
    other, name = _holding(peer)
    peer.claim("the message that was read, and nothing else, for another connection")
    peer.close()
    return equals(peer, other.left_in(name), [b"read"], "messages")


@case("close.released.every-channel", covers=["connection/close/released"])
def close_releases_every_channel(peer: Peer) -> Verdict:
    """After CLOSE is answered, unacknowledged messages of five channels are requeued."""
    other = peer.another().open_channel()
    names = [other.queue() for _ in range(5)]
    other.open_handle(1)
    for number, name in enumerate(names, start=1):
        other.store(name, b"read")
        peer.open_channel(number)
        peer.reader(name, number, number)
        peer.delivery(number)
    peer.claim("all messages for another connection")
    peer.close()
    return equals(peer, [other.left_in(name) for name in names], [[b"read"]] * 5, "messages")


@case("close.behind", covers=["connection/close/released"])
def nothing_is_done_behind_close(peer: Peer) -> Verdict:
    """Commands after CLOSE in the same write are not executed: no message is stored."""
    other = peer.another().open_channel()
    name = other.queue()
    peer.open_connection()
    peer.claim("an empty queue")
    octets = [
        peer.octets("connection.close"),
        peer.octets("channel.open", channel_id=1),
        peer.octets("handle.open", handle_id=1, producer=True),
        *peer.fragments(name, encode_message(b"late")),
    ]
    peer.send_octets(b"".join(octets))
    peer.expect_end()
    return equals(peer, other.left_in(name), [], "messages")


@case("close.physical", covers=["connection/summary/server/physical-close"])
def the_end_of_the_socket_releases_everything(peer: Peer) -> Verdict:
    """If the socket ends, an unacknowledged message is redelivered elsewhere, and a transaction is discarded."""
    other, name = _holding(peer)
    other.reader(name, 3)
    other.claim("the message that was read, and none of the transaction")
    peer.hang_up()
    first = other.delivery(3).body
    other.store(name, b"end")
    return equals(peer, [first, other.delivery(3).body], [b"read", b"end"], "messages")


def _in_error(peer: Peer) -> None:
    """Make the target send CONNECTION CLOSE, and leave that unanswered."""
    peer.open_handle()
    peer.polite = False
    peer.send("connection.reply", confirm_tag=1)
    arrival = peer.arrival("connection.close")
    if arrival.kind.partition(" ")[0] != "connection.close":
        raise Unmet("CONNECTION CLOSE", arrival.describe(peer.dialect))


@case("close.reads-on", covers=["connection/close/reads-on", "connection/close/ended"])
def the_target_waits_for_the_other_close(peer: Peer) -> Verdict:
    """After its CLOSE for an error, the target keeps the socket open until the client's CLOSE, then closes it."""
    _in_error(peer)
    peer.claim("an open socket until CLOSE, then its end without another word")
    before = peer.read(peer.now() + peer.context.patience.quiet_s)
    peer.send("connection.close")
    behind = peer.read(peer.now() + peer.context.patience.reply_s)
    return equals(peer, (before.kind, behind.kind), ("nothing", "end"), "before and after CLOSE")


@case("close.repeated", covers=["connection/close/repeated"])
def close_is_repeated(peer: Peer) -> Verdict:
    """After its CLOSE for an error, the target answers other commands only with CLOSE."""
    _in_error(peer)
    peer.claim("CONNECTION CLOSE for each command")
    seen = []
    for name in ("channel.open", "connection.ping"):
        peer.send(name)
        seen.append(peer.read(peer.now() + peer.context.patience.reply_s).kind.partition(" ")[0])
    return equals(peer, seen, ["connection.close"] * 2, "answers")


@case("connection.summary.challenge", covers=["connection/summary/server/challenge"])
@case("connection.summary.reply", covers=["connection/summary/server/reply"])
@case("channel.summary.reply", covers=["channel/summary/server/reply"])
@case("handle.summary.created", covers=["handle/summary/server/created"])
@case("handle.summary.notify", covers=["handle/summary/server/notify"])
@case("handle.summary.index", covers=["handle/summary/server/index"])
@case("handle.summary.reply", covers=["handle/summary/server/reply"])
def commands_of_servers(peer: Peer) -> Verdict:
    """A command that only servers may send closes the connection."""
    name, fields = _FROM_SERVERS[peer.context.requirements[0].id]
    peer.open_handle()
    peer.send(name, **fields)
    return rejects_violation(peer)


@case("connection.summary.tune", covers=["connection/summary/server/tune"])
def a_valid_tune_is_not_answered(peer: Peer) -> Verdict:
    """The target sends no answer to two valid TUNEs, and answers the OPEN after them."""
    peer.log_in()
    peer.claim("nothing but the REPLY to OPEN")
    peer.tune(HEARTBEAT=0)
    peer.tune(FRAME_MAX=1024)
    count = len(peer.listener.frames)
    peer.open()
    names = [f.name for f in list(peer.listener.frames)[count:] if f.name != "connection.ping"]
    return equals(peer, names, ["connection.reply"], "commands")
