"""Dictionaries: aliases for the names of message headers (dictionaries)."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import topic


def _selected(peer: Peer, *headers: dict[str, str]) -> tuple[list[bytes], list[str]]:
    """The bodies that pass a selector of full names, and the names that their headers have."""
    peer.open_channel()
    peer.open_handle(1)
    name = topic(peer)
    peer.reader(name, 2, service_type=TOPIC, selector={"COLOUR": b"red", "SHAPE": b"round"})
    for number, fields in enumerate(headers):
        peer.store(name, b"%d" % number, 1, service=TOPIC, headers=fields)
    peer.store(name, b"end", 1, service=TOPIC, headers={"COLOUR": "red", "SHAPE": "round"})
    found = []
    while (message := peer.delivery(2)).body != b"end":
        found.append(message)
    names = [name for message in found for name in message.head["headers"].names()]
    return [message.body for message in found], names


@case("dictionaries.any-number", covers=["dictionaries/any-number"])
def several_dictionaries(peer: Peer) -> Verdict:
    """Three TUNEs with dictionaries, one of them with two aliases, lead to an open connection."""
    peer.log_in()
    peer.claim("OPEN is confirmed")
    for dictionary in ({"A": "ALPHA"}, {"B": "BETA", "C": "GAMMA"}, {"A": "ALEPH"}):
        peer.tune(dictionary)
    return equals(peer, peer.open()["reply_code"] // 100, 2, "severity")


@case("dictionaries.merged", covers=["dictionaries/merged"], needs=["dictionaries", "selectors"])
def dictionaries_are_merged(peer: Peer) -> Verdict:
    """Aliases of two TUNEs apply together, for a message that uses both."""
    peer.log_in()
    peer.tune({"C": "COLOUR"})
    peer.tune({"S": "SHAPE"})
    peer.open()
    peer.claim("the message whose short names match the selector")
    bodies, _ = _selected(peer, {"C": "red", "S": "flat"}, {"C": "red", "S": "round"}, {"C": "red"})
    return equals(peer, bodies, [b"1"], "bodies")


@case("dictionaries.short-names", covers=["dictionaries/short-names"], needs=["dictionaries", "selectors"])
def messages_carry_short_names(peer: Peer) -> Verdict:
    """Selectors use full names, while NOTIFY contains the short ones."""
    peer.open_connection({"C": "COLOUR", "S": "SHAPE"})
    peer.claim("the message that fits, with short names")
    seen = _selected(peer, {"C": "blue", "S": "round"}, {"C": "red", "S": "round"})
    return equals(peer, seen, ([b"1"], ["C", "S"]), "bodies and names")


@case("dictionaries.unused", covers=["dictionaries/unused"])
def dictionaries_and_selectors_do_no_harm(peer: Peer) -> Verdict:
    """The target accepts a dictionary and a selector without an error, whether or not they have an effect."""
    peer.claim("a message that fits arrives")
    peer.open_connection({"C": "COLOUR"})
    peer.open_channel()
    peer.open_handle(1)
    name = topic(peer)
    peer.reader(name, 2, service_type=TOPIC, selector={"COLOUR": b"red"})
    peer.store(name, b"red", 1, service=TOPIC, headers={"COLOUR": "red"})
    return holds(peer, peer.delivery(2).body == b"red", "the message")
