"""What the history of changes says alone, and virtual hosts."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import QUEUE, Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import on_handle, silent


@on_handle("changes.created-for-dynamic", covers=["changes/created-for-dynamic"])
def created_for_a_named_queue(peer: Peer) -> Verdict:
    """If the target sends CREATED for a dynamic queue that the client named, it contains that name."""
    peer.open_handle(2)
    names = [peer.will_clean("queue", peer.name("named")) for _ in range(2)]
    peer.claim("CREATED with the names that the client gave, or none")
    for handle, name in enumerate(names, start=1):
        peer.consume(name, handle, dynamic=True)
    told = [(c["handle_id"], c["dest_name"]) for c in silent(peer, "handle.created", channels=(1,))]
    return holds(peer, told in ([], list(enumerate(names, start=1))), f"CREATED {told}")


@case("changes.no-anonymous-login", covers=["changes/no-anonymous-login"])
def no_anonymous_login(peer: Peer) -> Verdict:
    """The target offers no mechanism NONE."""
    peer.greet()
    peer.respond("NONE", {})
    return rejects_violation(peer, barrier=None)


@case("changes.temporary-queues", covers=["changes/temporary-queues"])
def temporary_queues_go_with_their_connection(peer: Peer) -> Verdict:
    """A queue that the target named survives its channel and is deleted with its connection."""
    peer.open_channel(1)
    peer.open_channel(2)
    names = [peer.queue(1), peer.queue(2)]
    peer.close_channel(1)
    peer.claim("both queues accept messages after a channel ends, and are deleted when the connection ends")
    peer.open_handle(7, 2)
    for name in names:
        peer.store(name, b"kept", 7)
    kept = [peer.left_in(name, 2) for name in names]
    peer.close()
    other = peer.another().open_channel()
    gone = []
    for handle, name in enumerate(names, start=1):
        other.open_handle(handle)
        other.send("handle.consume", handle_id=handle, service_type=QUEUE, prefetch=1, dest_name=name)
        gone.append(other.reaction(1, handle).refusal is not None)
    return equals(peer, (kept, gone), ([[b"kept"]] * 2, [True, True]), "messages, and refusals to read")


@on_handle("virtual-hosts.independent", covers=["virtual-hosts/independent"], hooks=["second-vhost"])
def virtual_hosts_are_independent(peer: Peer) -> Verdict:
    """Queues of the same name in two virtual hosts are separate queues."""
    name = peer.named_queue()
    other = peer.another(vhost=peer.context.vhost("second"))
    other.open_handle()
    peer.claim("each queue contains what was sent in its own virtual host")
    other.will_clean("queue", name)
    other.call("handle.open", handle_id=2, consumer=True)
    other.consume(name, 2, dynamic=True)
    other.close_handle(2)
    peer.store(name, b"here")
    other.store(name, b"there")
    return equals(peer, (peer.left_in(name), other.left_in(name)), ([b"here"], [b"there"]), "messages")


@case("virtual-hosts.after-security", covers=["virtual-hosts/after-security"], hooks=["second-vhost"])
def one_login_for_all_virtual_hosts(peer: Peer) -> Verdict:
    """The same login can open either of two virtual hosts, selected in OPEN."""
    peer.log_in()
    other = peer.another(vhost=peer.context.vhost("second"))
    other.log_in()
    peer.claim("OPEN is confirmed for either virtual host")
    codes = [peer.open()["reply_code"], other.open()["reply_code"]]
    return holds(peer, all(200 <= code < 300 for code in codes), f"codes {codes}")
