"""The exchange class: declare, delete, bind, unbind.

Knows: names, types, what may be declared again, what may be deleted.
Must not know: queues, messages.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.classes.naming import RESERVED, is_name
from amqpspec.reference.methods.handlers import handles
from amqpspec.reference.methods.outgoing import is_quiet
from amqpspec.reference.model import EXCHANGE_TYPES, Binding, Exchange, canonical
from amqpspec.wire.methods.codec import Call


@handles("exchange.declare")
def declare(channel: Channel, call: Call) -> None:
    """Create an exchange, or check one."""
    existing = channel.vhost.exchanges.get(call["exchange"])
    if call["passive"] and is_quiet(call):
        _passive_and_quiet(channel, call, existing)
        return
    if call["passive"]:
        _check_passive(channel, call, existing)
    elif existing is not None:
        _check_again(channel, call, existing)
    else:
        _create(channel, call)
    if call["passive"] or not channel.faulty("exchange-declare-not-confirmed"):
        channel.reply(call, "exchange.declare-ok")


def _passive_and_quiet(channel: Channel, call: Call, existing: Exchange | None) -> None:
    """Nothing at all."""
    if channel.faulty("passive-no-wait-creates-exchange") and existing is None:
        _create(channel, call)
    if channel.faulty("quiet-passive-exchange-declare-answered"):
        channel.send("exchange.declare-ok")


def _check_passive(channel: Channel, call: Call, existing: Exchange | None) -> None:
    name = call["exchange"]
    if channel.faulty("reserved-names-always-refused") and name.startswith(RESERVED):
        channel.refuse("exchange/declare/exchange/reserved", f"{name!r} is reserved")
    if not name:
        channel.refuse("exchange/default-access", "the default exchange cannot be declared")
    elif existing is None:
        channel.refuse("exchange/declare/passive/not-found", f"no exchange {name!r}")
    elif channel.faulty("passive-exchange-declare-resets"):
        existing.bindings.clear()
    elif channel.faulty("passive-exchange-declare-compares") and (
        call["type"] != existing.type or _differs(channel, call, existing)
    ):
        channel.refuse(
            "exchange/declare/passive/equivalent-mismatch", f"exchange {name!r} is {existing.type}"
        )


def _check_again(channel: Channel, call: Call, existing: Exchange) -> None:
    if channel.faulty("reserved-names-always-refused") and existing.name.startswith(RESERVED):
        channel.refuse("exchange/declare/exchange/reserved", f"{existing.name!r} is reserved")
    if channel.faulty("exchange-redeclare-refused"):
        channel.refuse("exchange/declare/passive/equivalent-mismatch", f"exchange {existing.name!r} is there")
    before = existing.type
    if channel.faulty("exchange-redeclare-takes-type"):
        existing.type = call["type"]
    if channel.faulty("exchange-redeclare-resets"):
        existing.bindings.clear()
    if not existing.name:
        channel.refuse("exchange/default-access", "the default exchange cannot be declared")
    elif call["type"] != before and not _is_overlooked(channel, call):
        channel.refuse("exchange/declare/type/typed", f"exchange {existing.name!r} is {before}")
    elif _differs(channel, call, existing):
        channel.refuse(
            "exchange/declare/passive/equivalent-mismatch", f"exchange {existing.name!r} is another"
        )
    if channel.faulty("exchange-redeclare-takes-flags"):
        existing.auto_delete = call["auto_delete"]


def _is_overlooked(channel: Channel, call: Call) -> bool:
    return is_quiet(call) and channel.faulty("no-wait-failure-ignored")


def _differs(channel: Channel, call: Call, existing: Exchange) -> bool:
    if channel.faulty("exchange-durable-not-compared"):
        return False
    if channel.faulty("exchange-arguments-not-compared"):
        return bool(call["durable"] != existing.durable)
    same = canonical(call["arguments"].plain()) == canonical(existing.arguments)
    if channel.faulty("exchange-arguments-compared-in-order"):
        same = list(call["arguments"].plain()) == list(existing.arguments)
    return call["durable"] != existing.durable or not same


def _create(channel: Channel, call: Call) -> None:
    name, kind = call["exchange"], call["type"]
    if not is_name(name):
        channel.refuse("exchange/declare/exchange/syntax", f"{name!r} is no name for an exchange")
    elif name.startswith(RESERVED):
        channel.refuse("exchange/declare/exchange/reserved", f"{name!r} is reserved")
    if kind not in EXCHANGE_TYPES or _missing(channel, kind):
        channel.refuse("exchange/declare/type/support", f"no exchange type {kind!r}")
        kind = "direct"
    _refuse_too_much(channel, call)
    if channel.faulty("exchange-declare-creates-nothing"):
        return
    channel.vhost.declare_exchange(
        name,
        kind,
        durable=call["durable"],
        auto_delete=call["auto_delete"],
        internal=call["internal"],
        arguments=call["arguments"].plain(),
    )


def _refuse_too_much(channel: Channel, call: Call) -> None:
    """Refusals that no rule asks for."""
    if channel.faulty("durable-exchanges-refused") and call["durable"]:
        channel.refuse("exchange/declare/type/support", "no durable exchanges")
    if channel.faulty("colon-refused-in-names") and ":" in call["exchange"]:
        channel.refuse("exchange/declare/exchange/syntax", "no colon in names")
    mine = [x for x in channel.vhost.exchanges.values() if not x.predeclared]
    if channel.faulty("fifteen-exchanges-at-most") and len(mine) >= 15:
        channel.refuse("constant/access-refused", "no more exchanges")


def _missing(channel: Channel, kind: str) -> bool:
    if channel.faulty("fanout-not-implemented"):
        return kind == "fanout"
    optional = channel.faulty("topic-not-implemented") and kind == "topic"
    return optional or (channel.faulty("headers-not-implemented") and kind == "headers")


@handles("exchange.delete")
def delete(channel: Channel, call: Call) -> None:
    """Delete an exchange."""
    name = call["exchange"]
    exchange = channel.vhost.exchanges.get(name)
    if not name:
        channel.refuse("exchange/default-access", "the default exchange cannot be deleted")
    elif exchange is None:
        channel.refuse("exchange/delete/exchange/exists", f"no exchange {name!r}")
    elif exchange.predeclared and not channel.faulty("standard-exchanges-can-be-deleted"):
        if channel.faulty("standard-exchanges-deleted-though-refused"):
            channel.vhost.delete_exchange(exchange)
        channel.refuse("constant/access-refused", f"exchange {name!r} stays")
    else:
        if call["if_unused"] and (exchange.bindings or channel.faulty("exchange-if-unused-always-refused")):
            channel.refuse("exchange/delete/if-unused/in-use", f"exchange {name!r} has bindings")
        if not channel.faulty("exchange-delete-does-nothing"):
            channel.vhost.delete_exchange(exchange)
    channel.reply(call, "exchange.delete-ok")


@handles("exchange.bind")
def bind(channel: Channel, call: Call) -> None:
    """Bind an exchange to an exchange."""
    source = find_exchange(channel, call["source"], "exchange/bind/source/exchange-existence")
    destination = find_exchange(channel, call["destination"], "exchange/bind/destination/exchange-existence")
    if source is not None and destination is not None:
        if source is destination and channel.faulty("exchange-not-bound-to-itself"):
            channel.close(406, "cycles are refused")
            return
        binding = Binding(destination, call["routing_key"], call["arguments"].plain())
        if binding.key in source.bindings and channel.faulty("duplicate-exchange-binding-refused"):
            channel.close(406, "the exchange is bound already")
            return
        channel.vhost.bind(source, binding)
    channel.reply(call, "exchange.bind-ok")


@handles("exchange.unbind")
def unbind(channel: Channel, call: Call) -> None:
    """Undo a binding of exchanges; one that is not there is undone already."""
    if channel.faulty("exchange-unbind-never-fails") and not _both_there(channel, call):
        channel.reply(call, "exchange.unbind-ok")
        return
    source = find_exchange(channel, call["source"], "exchange/unbind/source/must-exist")
    destination = find_exchange(channel, call["destination"], "exchange/unbind/destination/must-exist")
    if source is not None and destination is not None and not channel.faulty("exchange-unbind-does-nothing"):
        channel.vhost.unbind(source, Binding(destination, call["routing_key"], call["arguments"].plain()))
    channel.reply(call, "exchange.unbind-ok")


def _both_there(channel: Channel, call: Call) -> bool:
    return call["source"] in channel.vhost.exchanges and call["destination"] in channel.vhost.exchanges


def find_exchange(channel: Channel, name: str, rule: str) -> Exchange | None:
    """The exchange of a name; a missing one violates a rule."""
    exchange = channel.vhost.exchanges.get(name)
    if exchange is None or (not name and channel.faulty("blank-exchange-not-understood")):
        channel.refuse(rule, f"no exchange {name!r}")
    return exchange


FAULTS = fault_table("""
fanout-not-implemented: there is no type fanout [exchange/required-types]
topic-not-implemented: there is no type topic [exchange/recommended-types]
headers-not-implemented: there is no type headers [exchange/recommended-types]
exchange-declare-creates-nothing: declare is confirmed but creates nothing [exchange/declare]
exchange-declare-not-confirmed: declare gets no declare-ok [exchange/declare-ok exchange/declare]
exchange-redeclare-resets: a second declare drops the bindings [exchange/declare]
fifteen-exchanges-at-most: a sixteenth exchange is refused [exchange/declare/minimum]
reserved-names-always-refused: names that begin with amq. are refused where they may be declared
    [exchange/declare/exchange/reserved]
colon-refused-in-names: a colon in a name is refused [exchange/declare/exchange/syntax]
exchange-redeclare-takes-type: a refused declare changes the type [exchange/declare/type/typed]
passive-exchange-declare-resets: a passive declare drops bindings [exchange/declare/passive/exists]
passive-exchange-declare-compares: a passive declare compares type, durability and arguments
    [exchange/declare/passive/ignored-fields]
quiet-passive-exchange-declare-answered: a quiet passive declare is answered [exchange/declare/passive/no-wait]
passive-no-wait-creates-exchange: a passive declare with no-wait creates an exchange [exchange/declare/passive/no-wait]
exchange-arguments-not-compared: a declare with other arguments is confirmed
    [exchange/declare/passive/equivalent-check]
exchange-arguments-compared-in-order: arguments in another order are other arguments
    [exchange/declare/passive/equivalent-match]
exchange-redeclare-refused: a second declare is refused [exchange/declare/passive/equivalent-match]
exchange-durable-not-compared: a declare with other properties is confirmed
    [exchange/declare/passive/equivalent-mismatch exchange/declare/passive/equivalent-check]
no-wait-failure-ignored: a declare without a reply fails in silence [exchange/no-wait]
durable-exchanges-refused: a durable exchange is refused [exchange/declare/durable/support]
exchange-redeclare-takes-flags: a second declare changes auto-delete [exchange/declare/auto-delete/pre-existence]
exchange-delete-does-nothing: delete is confirmed and deletes nothing [exchange/delete]
exchange-if-unused-always-refused: if-unused refuses every delete [exchange/delete/if-unused/in-use]
standard-exchanges-deleted-though-refused: the deletion of an exchange that has to be there is refused and done
    [exchange/required-instances/amq-type exchange/required-instances/direct]
standard-exchanges-can-be-deleted: the exchanges that have to be there can be deleted
    [exchange/required-instances/amq-type exchange/required-instances/direct]
duplicate-exchange-binding-refused: a second bind is refused [exchange/bind/duplicates]
exchange-not-bound-to-itself: an exchange cannot be bound to itself [exchange/bind/cyclical]
blank-exchange-not-understood: a blank exchange name is refused in bind and unbind
    [exchange/bind/destination/default-exchange exchange/bind/source/default-exchange
    exchange/unbind/destination/default-exchange exchange/unbind/source/default-exchange
    queue/bind/exchange/default-exchange queue/unbind/exchange/default-exchange]
exchange-unbind-does-nothing: unbind of exchanges is confirmed and undoes nothing
    [exchange/unbind/destination/default-exchange exchange/unbind/source/default-exchange exchange/bind/duplicates
    exchange/no-wait]
exchange-unbind-never-fails: unbind of exchanges that do not exist is confirmed
    [exchange/unbind/failure exchange/unbind/destination/must-exist exchange/unbind/source/must-exist]
""")
