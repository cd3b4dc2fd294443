"""Structured contents: contents within contents, which a peer may support, and weights that say how many.

A server that does not support them owes 540 to any header with a weight; one that does passes the whole tree on.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.methods.arrivals import Content, MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    fetch,
    header_payload,
    refuses_content,
    send_content,
)

# Deep enough that a reader has to keep count of open contents, shallow enough for any stack.
_DEPTH = 40

Tree = tuple[bytes, tuple[Any, ...]]
"""A body, and the trees of the contents within it."""

# support


@case("structured.order", covers=["structured-content/order"], needs=["structured-content"])
def children_between_header_and_body(peer: Peer) -> Verdict:
    """Child contents between the header and the body of their parent arrive there, in order."""
    return _comes_back(peer, (b"parent", ((b"first", ()), (b"", ()), (b"third", ()))))


@on_channel("structured.order.body-first", covers=["structured-content/order"], needs=["structured-content"])
def child_behind_the_body(peer: Peer) -> Verdict:
    """A child content after the body of its parent is refused."""
    send_content(peer, header_payload(peer, 4, weight=1), b"body")
    peer.send_octets(peer.content_frames(b"child"))
    return refuses_content(peer)


@case(
    "structured.depth",
    covers=["structured-content/order", "structured-content/support", "amq_wlp_content_04"],
    needs=["structured-content"],
)
def contents_within_contents_within_contents(peer: Peer) -> Verdict:
    """Nested contents arrive unchanged, to a depth of forty and with siblings at every level."""
    tree: Tree = (b"innermost", ())
    for level in range(_DEPTH):
        # A sibling after each branch: the way back up has to be right, too.
        tree = (b"level %d" % level, (tree, (b"sibling", ())))
    return _comes_back(peer, tree)


@on_channel("structured.support", covers=["structured-content/support"])
def structured_contents_are_an_option(peer: Peer) -> Verdict:
    """A structured content is delivered complete, or refused with any error."""
    tree: Tree = (b"parent", ((b"child", ()),))
    queue, taken = _published(peer, tree)
    # Any refusal is recorded here. That it should be 540 is amq_wlp_content_04.
    if not isinstance(taken, MethodArrived):
        return observed_either_way(peer, "not supported", taken)
    peer.claim("the same tree")
    got = _tree_of(fetch(peer, queue))
    if got == tree:
        return observed_either_way(peer, "supported")
    return equals(peer, got, tree, "contents")


@case("amq_wlp_content_04", covers=["amq_wlp_content_04"])
def structured_content(peer: Peer) -> Verdict:
    """A structured content is refused as not implemented if it is not delivered as the same tree."""
    return _comes_back_or_refused(peer, (b"parent", ((b"child", ()),)))


@case("wlp.content_04.empty", covers=["amq_wlp_content_04"])
def structured_content_without_octets(peer: Peer) -> Verdict:
    """A structured content of empty contents (headers only) is refused as not implemented unless it is delivered."""
    return _comes_back_or_refused(peer, (b"", ((b"", ()), (b"", ()))))


# mismatch


@on_channel("structured.mismatch", covers=["structured-content/mismatch"])
def weight_with_a_plain_body(peer: Peer) -> Verdict:
    """A header that announces a child, directly followed by the body, is refused."""
    send_content(peer, header_payload(peer, 4, weight=1), b"body")
    return refuses_content(peer)


@on_channel("structured.mismatch.too-few", covers=["structured-content/mismatch"])
def fewer_children_than_announced(peer: Peer) -> Verdict:
    """A header that announces two children, followed by one, is refused."""
    begin_publish(peer, peer.name("nowhere"))
    # The body comes where the second child is due.
    peer.send_octets(peer.content_frames(b"body", children=[peer.content_frames(b"child")], weight=2))
    return refuses_content(peer)


@on_channel("structured.mismatch.method", covers=["structured-content/mismatch"])
def method_where_a_child_is_owed(peer: Peer) -> Verdict:
    """A header that announces a child, followed by a method, is refused."""
    send_content(peer, header_payload(peer, 0, weight=1))
    peer.send("basic.qos", prefetch_count=1)
    return refuses_content(peer)


@on_channel("amq_wlp_content_05", covers=["amq_wlp_content_05"])
def child_that_was_not_announced(peer: Peer) -> Verdict:
    """A nested content after a header with weight zero is refused."""
    begin_publish(peer, peer.name("nowhere"))
    # Weight zero makes it a plain content, whose second header is a mismatch for every peer, with
    # structured contents or without.
    peer.send_octets(peer.content_frames(b"body", children=[peer.content_frames(b"child")], weight=0))
    return refuses_content(peer)


@on_channel("wlp.content_05.too-many", covers=["amq_wlp_content_05"], needs=["structured-content"])
def more_children_than_announced(peer: Peer) -> Verdict:
    """A header that announces one child, followed by two, is refused."""
    begin_publish(peer, peer.name("nowhere"))
    children = [peer.content_frames(b"first"), peer.content_frames(b"second")]
    peer.send_octets(peer.content_frames(b"body", children=children, weight=1))
    return refuses_content(peer)


@on_channel("wlp.content_05.within", covers=["amq_wlp_content_05"], needs=["structured-content"])
def mismatch_of_a_child(peer: Peer) -> Verdict:
    """A child that announces a child of its own, directly followed by its body, is refused."""
    begin_publish(peer, peer.name("nowhere"))
    # The outer weight is right; the child announces one of its own and sends its body instead.
    peer.send_octets(peer.content_frames(b"body", children=[peer.content_frames(b"child", weight=1)]))
    return refuses_content(peer)


# --- steps of this module


def _frames(peer: Peer, tree: Tree) -> bytes:
    """A tree of contents as octets."""
    body, children = tree
    return peer.content_frames(body, children=[_frames(peer, child) for child in children])


def _published(peer: Peer, tree: Tree) -> tuple[str, Any]:
    """Publish a tree; returns the queue, and the answer to a barrier or else the reaction."""
    queue = peer.queue()
    begin_publish(peer, queue)
    peer.send_octets(_frames(peer, tree))
    reaction = peer.reaction()
    last = reaction.arrivals[-1]
    taken = reaction.refusal is None and isinstance(last, MethodArrived)
    return queue, last if taken else reaction


def _tree_of(content: MethodArrived | Content) -> Tree:
    return content.body, tuple(_tree_of(child) for child in content.children)


def _comes_back(peer: Peer, tree: Tree) -> Verdict:
    """A tree of contents arrives as it was sent."""
    peer.open_channel()
    queue = peer.queue()
    peer.claim("the same tree of contents")
    begin_publish(peer, queue)
    peer.send_octets(_frames(peer, tree))
    got = _tree_of(fetch(peer, queue))
    return holds(peer, got == tree, "the same" if got == tree else f"{got!r:.200}")


def _comes_back_or_refused(peer: Peer, tree: Tree) -> Verdict:
    """A tree of contents arrives as it was sent, or is refused as the row says."""
    peer.open_channel()
    queue, taken = _published(peer, tree)
    if not isinstance(taken, MethodArrived):
        return judge_reaction(peer, taken)
    peer.claim("the same tree")
    return equals(peer, _tree_of(fetch(peer, queue)), tree, "contents")
