"""Exchanges: declaring them, actively and passively; names, types, and when a second declare fits.

(amqp-0-9-1 class exchange, method declare.)
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.events import Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._routes import exists, listening, reached

# amqp-0-9-1 exchange/declare/minimum.
_ENOUGH = 16
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.:"

# --- declare


@on_channel("exchange.declare.creates", covers=["exchange/declare", "exchange/declare-ok"])
def declare_creates(peer: Peer) -> Verdict:
    """Declaring a missing exchange creates and confirms it."""
    name = peer.will_clean("exchange", peer.name())
    before = exists(peer, name)
    peer.claim("declare-ok, and an exchange that did not exist before")
    peer.call("exchange.declare", exchange=name, type="direct")
    return equals(peer, (before, exists(peer, name)), (False, True), "exchange there before and after")


@on_channel("exchange.declare.confirms", covers=["exchange/declare", "exchange/declare-ok"])
def declare_confirms(peer: Peer) -> Verdict:
    """Declaring an existing exchange confirms it and leaves it unchanged."""
    exchange = peer.exchange("fanout")
    queue = listening(peer, exchange)
    peer.claim("declare-ok, and the exchange keeps its binding")
    peer.call("exchange.declare", exchange=exchange, type="fanout")
    return equals(peer, reached(peer, [queue], exchange=exchange), [1], "copies after the second declare")


@on_channel("exchange.declare.visible-to-others", covers=["exchange/declare"])
def declared_for_everybody(peer: Peer) -> Verdict:
    """An exchange that one connection declared exists for another connection."""
    exchange = peer.exchange("direct")
    peer.claim("the exchange exists for a second connection")
    other = peer.another().open_channel()
    other.send("exchange.declare", exchange=exchange, type="direct", passive=True)
    arrival = other.arrival("exchange.declare-ok")
    confirmed = isinstance(arrival, MethodArrived) and arrival.name == "exchange.declare-ok"
    return holds(peer, confirmed, arrival)


@on_channel("exchange.declare.sixteen", covers=["exchange/declare/minimum"])
def sixteen_exchanges(peer: Peer) -> Verdict:
    """A virtual host supports sixteen exchanges at the same time."""
    peer.claim(f"{_ENOUGH} exchanges at the same time")
    exchanges = [peer.exchange("direct") for _ in range(_ENOUGH)]
    there = sum(exists(peer, exchange) for exchange in exchanges)
    return equals(peer, there, _ENOUGH, "number of exchanges")


# --- names


@on_channel("exchange.declare.reserved-name", covers=["exchange/declare/exchange/reserved"])
def reserved_name(peer: Peer) -> Verdict:
    """Declaring a new exchange whose name begins with ``amq.`` is refused."""
    name = peer.will_clean("exchange", f"amq.{peer.name()}")
    peer.send("exchange.declare", exchange=name, type="direct")
    return rejects_violation(peer)


@on_channel("exchange.declare.reserved-name-passively", covers=["exchange/declare/exchange/reserved"])
def reserved_name_passively(peer: Peer) -> Verdict:
    """A passive declare of an exchange whose name begins with ``amq.`` is allowed."""
    peer.claim("no exception")
    peer.send("exchange.declare", exchange="amq.direct", type="direct", passive=True)
    return allows(peer)


@on_channel("exchange.declare.reserved-name-existing", covers=["exchange/declare/exchange/reserved"])
def reserved_name_of_an_existing_exchange(peer: Peer) -> Verdict:
    """An existing exchange whose name begins with ``amq.`` can be redeclared with the same properties."""
    peer.claim("no exception")
    peer.send("exchange.declare", exchange="amq.direct", type="direct", durable=True)
    reaction = peer.reaction()
    if reaction.code != peer.dialect.constants_by_name["precondition-failed"].value:
        return holds(
            peer, reaction.refusal is None and not isinstance(reaction.arrivals[-1], Quiet), reaction
        )
    # No text says that the standard exchanges are durable: they may be made again with each start.
    peer.open_channel(2)
    peer.send("exchange.declare", channel=2, exchange="amq.direct", type="direct")
    return allows(peer, 2)


@case("exchange.declare.illegal-name", covers=["exchange/declare/exchange/syntax"])
def illegal_names(peer: Peer) -> Verdict:
    """An exchange name with characters other than letters, digits, hyphen, underscore, period and colon is refused."""
    peer.open_connection()
    return worst(_declared_as(peer, f"{peer.name()}{extra}") for extra in (" ", "/", "*", "#", "ü"))


@on_channel(
    "exchange.declare.empty-name",
    covers=["exchange/declare/exchange/syntax", "exchange/default-access"],
    destructive=True,
)
def empty_name(peer: Peer) -> Verdict:
    """A declare without a name creates no exchange."""
    peer.send("exchange.declare", exchange="", type="fanout")
    # Two rows forbid it; what exchange/default-access takes includes the code of the other one.
    return rejects_violation(peer, row="exchange/default-access")


@on_channel("exchange.declare.legal-name", covers=["exchange/declare/exchange/syntax"])
def legal_names(peer: Peer) -> Verdict:
    """The server accepts every character that an exchange name may contain."""
    # A name has 127 octets at most, and the case's own part may be long: cut from the left, the first
    # name may lose letters, the second one keeps all of them.
    name = peer.will_clean("exchange", f"{_LETTERS}{peer.name()}"[-127:])
    short = peer.will_clean("exchange", f"{peer.name()}.{_LETTERS}"[-127:])
    peer.claim("exchanges of these names")
    peer.call("exchange.declare", exchange=name, type="direct")
    peer.call("exchange.declare", exchange=short, type="direct")
    return equals(peer, [exists(peer, name), exists(peer, short)], [True, True], "exchanges there")


# --- types


@on_channel(
    "exchange.declare.other-type",
    covers=["exchange/declare/type/typed", "exchange/declare/passive/equivalent-check"],
)
def declared_with_another_type(peer: Peer) -> Verdict:
    """An existing exchange cannot be redeclared with another type."""
    exchange = peer.exchange("direct")
    peer.send("exchange.declare", exchange=exchange, type="fanout")
    return rejects_violation(peer)


@on_channel("exchange.declare.type-kept", covers=["exchange/declare/type/typed"])
def type_is_kept(peer: Peer) -> Verdict:
    """An exchange keeps its type when a client tries to redeclare it with another type."""
    exchange = peer.exchange("direct")
    # The attempt may cost its whole connection (530 is a hard error): it is made on another one.
    other = peer.another().open_channel()
    other.send("exchange.declare", exchange=exchange, type="fanout")
    other.reaction()
    queue = listening(peer, exchange, "red")
    peer.claim("a direct exchange as before")
    received = [reached(peer, [queue], key, exchange=exchange) for key in ("red", "blue")]
    return equals(peer, received, [[1], [0]], "copies by key")


@on_channel("exchange.declare.unknown-type", covers=["exchange/declare/type/support"])
def unknown_type(peer: Peer) -> Verdict:
    """Declaring an exchange of a type that the server does not support is refused."""
    name = peer.will_clean("exchange", peer.name())
    peer.send("exchange.declare", exchange=name, type="x-amqpspec-no-such-type")
    return rejects_violation(peer)


# --- passive


@on_channel("exchange.passive.existing", covers=["exchange/declare/passive/exists"])
def passive_declare_of_an_existing_exchange(peer: Peer) -> Verdict:
    """A passive declare of an existing exchange is confirmed and changes nothing."""
    exchange = peer.exchange("direct")
    queue = listening(peer, exchange, "red")
    peer.claim("declare-ok, and the exchange routes as before")
    peer.call("exchange.declare", exchange=exchange, type="direct", passive=True)
    received = [reached(peer, [queue], key, exchange=exchange) for key in ("red", "blue")]
    return equals(peer, received, [[1], [0]], "copies by key")


@case("exchange.passive.other-type", covers=["exchange/declare/passive/ignored-fields"])
def passive_declare_ignores_the_type(peer: Peer) -> Verdict:
    """A passive declare is confirmed whatever type it names, and the exchange keeps its type."""
    return _passively(peer, {"type": "fanout"}, {"type": "x-amqpspec-no-such-type"}, {"type": ""})


@case("exchange.passive.other-properties", covers=["exchange/declare/passive/ignored-fields"])
def passive_declare_ignores_properties(peer: Peer) -> Verdict:
    """A passive declare is confirmed whatever its durable flag and its other properties."""
    return _passively(peer, {"durable": True}, {"auto_delete": True}, {"internal": True})


@case("exchange.passive.other-arguments", covers=["exchange/declare/passive/ignored-fields"])
def passive_declare_ignores_arguments(peer: Peer) -> Verdict:
    """A passive declare is confirmed whatever arguments it contains."""
    return _passively(peer, {"arguments": {"alternate-exchange": "amq.fanout"}})


@on_channel("exchange.passive.no-wait-existing", covers=["exchange/declare/passive/no-wait"])
def passive_declare_without_reply(peer: Peer) -> Verdict:
    """A passive declare with no-wait of an existing exchange has no effect."""
    exchange = peer.exchange("direct")
    queue = peer.queue()
    peer.claim("no reply and no exception")
    peer.send("exchange.declare", exchange=exchange, type="direct", passive=True, no_wait=True)
    peer.barrier(queue=queue)
    return equals(peer, len(peer.pending("exchange.declare-ok")), 0, "number of replies")


@on_channel("exchange.passive.no-wait-missing", covers=["exchange/declare/passive/no-wait"])
def passive_declare_without_reply_of_a_missing_exchange(peer: Peer) -> Verdict:
    """A passive declare with no-wait of a missing exchange is ignored or refused, and creates no exchange."""
    name = peer.will_clean("exchange", peer.name())
    peer.send("exchange.declare", exchange=name, type="direct", passive=True, no_wait=True)
    reaction = peer.reaction()
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    peer.claim("no exchange was created")
    return equals(peer, exists(peer, name), False, "exchange there")


@on_channel("exchange.passive.missing", covers=["exchange/declare/passive/not-found"])
def passive_declare_of_a_missing_exchange(peer: Peer) -> Verdict:
    """A passive declare of a missing exchange is refused."""
    peer.send("exchange.declare", exchange=peer.name(), type="direct", passive=True)
    return rejects_violation(peer)


@on_channel("exchange.passive.missing-not-made", covers=["exchange/declare/passive/not-found"])
def passive_declare_makes_nothing(peer: Peer) -> Verdict:
    """A passive declare does not create the missing exchange."""
    name = peer.will_clean("exchange", peer.name())
    peer.send("exchange.declare", exchange=name, type="direct", passive=True)
    peer.reaction()
    # The refusal has closed the first channel.
    other = peer.another().open_channel()
    other.send("exchange.declare", exchange=name, type="direct", passive=True)
    return rejects_violation(other)


# --- equivalence


@case("exchange.equivalent.other-arguments", covers=["exchange/declare/passive/equivalent-check"])
def equivalence_of_arguments(peer: Peer) -> Verdict:
    """Redeclaring an exchange with other arguments is refused."""
    # alternate-exchange is the one argument of exchanges that brokers in use act upon.
    first, second = ({"arguments": {"alternate-exchange": name}} for name in ("amq.fanout", "amq.direct"))
    return _redeclared(peer, first, second, arguments=True)


@case("exchange.equivalent.missing-arguments", covers=["exchange/declare/passive/equivalent-check"])
def equivalence_of_missing_arguments(peer: Peer) -> Verdict:
    """Redeclaring an exchange without the arguments that it was declared with is refused."""
    return _redeclared(peer, {"arguments": {"alternate-exchange": "amq.fanout"}}, {}, arguments=True)


@on_channel("exchange.equivalent.same", covers=["exchange/declare/passive/equivalent-match"])
def equivalent_declares(peer: Peer) -> Verdict:
    """Redeclaring an exchange with the same type and durability is confirmed, also from another connection."""
    same: dict[str, Any] = {"type": "fanout", "durable": True}
    exchange = peer.exchange(**same)
    peer.claim("declare-ok for what is the same")
    peer.call("exchange.declare", exchange=exchange, **same)
    other = peer.another().open_channel()
    other.send("exchange.declare", exchange=exchange, **same)
    return allows(other)


@on_channel(
    "exchange.equivalent.same-arguments-reordered", covers=["exchange/declare/passive/equivalent-match"]
)
def equivalent_arguments_in_another_order(peer: Peer) -> Verdict:
    """Arguments in a different order are equivalent."""
    # Besides one that brokers in use know, two that mean nothing to any server: these are compared as they are.
    arguments = {"alternate-exchange": "amq.fanout", "x-amqpspec-a": "a", "x-amqpspec-b": 7}
    exchange = peer.exchange("direct", arguments=arguments)
    peer.claim("declare-ok for arguments in another order")
    peer.send(
        "exchange.declare", exchange=exchange, type="direct", arguments=dict(reversed(arguments.items()))
    )
    return allows(peer)


@case("exchange.equivalent.transient-as-durable", covers=["exchange/declare/passive/equivalent-mismatch"])
def transient_declared_as_durable(peer: Peer) -> Verdict:
    """A transient exchange cannot be redeclared as durable."""
    return _redeclared(peer, {"durable": False}, {"durable": True})


@case("exchange.equivalent.durable-as-transient", covers=["exchange/declare/passive/equivalent-mismatch"])
def durable_declared_as_transient(peer: Peer) -> Verdict:
    """A durable exchange cannot be redeclared as transient."""
    return _redeclared(peer, {"durable": True}, {"durable": False})


# --- steps


def _declared_as(peer: Peer, name: str) -> Verdict:
    """Declare an exchange of that name on a separate connection and judge by the first row."""
    other = peer.another().open_channel()
    other.send("exchange.declare", exchange=peer.will_clean("exchange", name), type="direct")
    return rejects_violation(other)


def _passively(peer: Peer, *others: dict[str, Any]) -> Verdict:
    """Ask passively for a direct, transient exchange with other fields; it stays what it was."""
    peer.open_channel()
    exchange = peer.exchange("direct")
    queue = listening(peer, exchange, "red")
    peer.claim(f"declare-ok, whatever the other arguments are: {', '.join(map(str, others))}")
    for fields in others:
        peer.call("exchange.declare", **{"exchange": exchange, "type": "direct", "passive": True, **fields})
    peer.call("exchange.declare", exchange=exchange, type="direct")
    received = [reached(peer, [queue], key, exchange=exchange) for key in ("red", "blue")]
    return equals(peer, received, [[1], [0]], "copies by key afterwards")


def _redeclared(
    peer: Peer, first: dict[str, Any], second: dict[str, Any], *, arguments: bool = False
) -> Verdict:
    """Declare an exchange one way, then another way, and judge by the first row.

    ``arguments`` that mean nothing to the target are equivalent whatever they say.
    """
    peer.open_channel()
    exchange = peer.exchange(**first)
    peer.send("exchange.declare", **{"exchange": exchange, "type": "direct", **second})
    reaction = peer.reaction()
    # Arguments are compared by their meaning (amqp-0-9-1 exchange/declare/passive/equivalent-check): to a
    # server on which this one has no effect, both declarations say the same.
    if arguments and reaction.refusal is None and not _knows_alternates(peer):
        return does_not_apply(peer, "the argument alternate-exchange has no effect")
    return judge_reaction(peer, reaction)


def _knows_alternates(peer: Peer) -> bool:
    """Whether what an exchange cannot route goes to its alternate exchange."""
    alternate = peer.exchange("fanout")
    queue = listening(peer, alternate)
    exchange = peer.exchange("direct", arguments={"alternate-exchange": alternate})
    return reached(peer, [queue], "nowhere", exchange=exchange) == [1]
