"""Errors: which level is closed, and what codes say (error-handling, channel-error-handling, security)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import NOWHERE, on_handle


@on_handle("errors.destination", covers=["errors/destination"])
def an_error_on_a_destination(peer: Peer) -> Verdict:
    """A message for a missing queue closes its handle, and another handle continues to work."""
    peer.open_handle(2)
    name = peer.queue()
    peer.publish(peer.name("nowhere"), b"lost", 2)
    verdict = rejects_violation(peer, 1, 2)
    peer.claim("the other handle continues to work")
    try:
        peer.store(name, b"works", 1)
    except Unmet as unmet:
        return worst([verdict, holds(peer, False, str(unmet), seen=unmet.seen)])
    return worst([verdict, holds(peer, peer.left_in(name) == [b"works"], "the message on the other handle")])


@case(
    "errors.channel",
    covers=["errors/channel", "channel/errors/connection", "channel/confirmation/failed"],
)
def an_error_on_a_channel(peer: Peer) -> Verdict:
    """COMMIT on a channel without transactions closes the channel or connection and is not confirmed."""
    peer.open_channel(1, transacted=True)
    peer.open_channel(2)
    peer.send("channel.commit", channel_id=2, confirm_tag=0x0102)
    refused = rejects_violation(peer, 2, barrier="ping")
    confirmed = peer.stashed(lambda a: a.kind.startswith("channel.reply 2"))
    return worst([refused, holds(peer, not confirmed, "REPLY or none", "no REPLY")])


@case("errors.connection", covers=["errors/connection"])
def an_error_on_the_connection(peer: Peer) -> Verdict:
    """OPEN of a missing virtual host is answered with CONNECTION CLOSE."""
    peer.log_in()
    peer.send(
        "connection.open", virtual_path=peer.name("nowhere"), client_name=peer.client_name, confirm_tag=1
    )
    return rejects_violation(peer, barrier=None)


@case("errors.connection.second-open", covers=["errors/connection"])
def a_second_open(peer: Peer) -> Verdict:
    """A second CONNECTION OPEN is answered with CONNECTION CLOSE."""
    peer.open_channel()
    fields = {"virtual_path": peer.login.vhost, "client_name": peer.client_name}
    peer.send("connection.open", **fields)
    return rejects_violation(peer)


@case("errors.reply-codes", covers=["errors/reply-codes"])
def codes_have_three_digits(peer: Peer) -> Verdict:
    """Errors on each level have a code of three digits, with severity 1 to 5 and area 0 to 4."""
    codes = []
    for name, fields in (
        ("handle.flow", {"handle_id": NOWHERE}),
        ("channel.commit", {"channel_id": NOWHERE}),
        ("channel.reply", {}),
    ):
        line = peer.another().open_channel()
        line.send(name, **fields)
        codes.append(line.reaction(NOWHERE, NOWHERE, barrier="ping").code)
    peer.claim("codes from 300 to 599, with a second digit of 0 to 4")
    told = [code for code in codes if isinstance(code, int)]
    sound = all(300 <= code <= 599 and code // 10 % 10 <= 4 for code in told)
    return holds(peer, bool(told) and sound, f"codes {codes}")


@case("security.closing", covers=["security/closing"])
def invalid_data(peer: Peer) -> Verdict:
    """A frame that does not end in CE closes the channel or connection."""
    peer.open_channel()
    peer.send("channel.open", channel_id=2, end=0xCD)
    return rejects_violation(peer, barrier="ping")
