"""The exchange class: declare, delete, bind, unbind.

Knows: names, types, what may be declared again, what may be deleted.
Must not know: queues, messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amqpspec.reference.methods.handlers import handles, is_quiet
from amqpspec.reference.methods.naming import RESERVED, is_name
from amqpspec.reference.model import EXCHANGE_TYPES, Binding, Exchange, canonical
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session


@handles("exchange.declare")
def declare(session: Session, call: Call) -> None:
    """Create an exchange, or check one."""
    existing = session.vhost.exchanges.get(call["exchange"])
    if call["passive"] and is_quiet(call):
        _passive_and_quiet(session, call, existing)
        return
    if call["passive"]:
        _check_passive(session, call, existing)
    elif existing is not None:
        _check_again(session, call, existing)
    else:
        _create(session, call)
    if call["passive"] or not session.faulty("exchange-declare-not-confirmed"):
        session.reply(call, "exchange.declare-ok")


def _passive_and_quiet(session: Session, call: Call, existing: Exchange | None) -> None:
    """Nothing at all."""
    if session.faulty("passive-no-wait-creates-exchange") and existing is None:
        _create(session, call)
    if session.faulty("quiet-passive-exchange-declare-answered"):
        session.send("exchange.declare-ok")


def _check_passive(session: Session, call: Call, existing: Exchange | None) -> None:
    name = call["exchange"]
    if session.faulty("reserved-names-always-refused") and name.startswith(RESERVED):
        session.refuse("exchange/declare/exchange/reserved", f"{name!r} is reserved")
    if not name:
        session.refuse("exchange/default-access", "the default exchange cannot be declared")
    elif existing is None:
        session.refuse("exchange/declare/passive/not-found", f"no exchange {name!r}")
    elif session.faulty("passive-exchange-declare-resets"):
        existing.bindings.clear()
    elif session.faulty("passive-exchange-declare-compares") and (
        call["type"] != existing.type or _differs(session, call, existing)
    ):
        session.refuse(
            "exchange/declare/passive/equivalent-mismatch", f"exchange {name!r} is {existing.type}"
        )


def _check_again(session: Session, call: Call, existing: Exchange) -> None:
    if session.faulty("reserved-names-always-refused") and existing.name.startswith(RESERVED):
        session.refuse("exchange/declare/exchange/reserved", f"{existing.name!r} is reserved")
    if session.faulty("exchange-redeclare-refused"):
        session.refuse("exchange/declare/passive/equivalent-mismatch", f"exchange {existing.name!r} is there")
    before = existing.type
    if session.faulty("exchange-redeclare-takes-type"):
        existing.type = call["type"]
    if session.faulty("exchange-redeclare-resets"):
        existing.bindings.clear()
    if not existing.name:
        session.refuse("exchange/default-access", "the default exchange cannot be declared")
    elif call["type"] != before and not _is_overlooked(session, call):
        session.refuse("exchange/declare/type/typed", f"exchange {existing.name!r} is {before}")
    elif _differs(session, call, existing):
        session.refuse(
            "exchange/declare/passive/equivalent-mismatch", f"exchange {existing.name!r} is another"
        )
    if session.faulty("exchange-redeclare-takes-flags"):
        existing.auto_delete = call["auto_delete"]


def _is_overlooked(session: Session, call: Call) -> bool:
    return is_quiet(call) and session.faulty("no-wait-failure-ignored")


def _differs(session: Session, call: Call, existing: Exchange) -> bool:
    if session.faulty("exchange-durable-not-compared"):
        return False
    if session.faulty("exchange-arguments-not-compared"):
        return bool(call["durable"] != existing.durable)
    same = canonical(call["arguments"].plain()) == canonical(existing.arguments)
    if session.faulty("exchange-arguments-compared-in-order"):
        same = list(call["arguments"].plain()) == list(existing.arguments)
    return call["durable"] != existing.durable or not same


def _create(session: Session, call: Call) -> None:
    name, kind = call["exchange"], call["type"]
    if not is_name(name):
        session.refuse("exchange/declare/exchange/syntax", f"{name!r} is no name for an exchange")
    elif name.startswith(RESERVED):
        session.refuse("exchange/declare/exchange/reserved", f"{name!r} is reserved")
    if kind not in EXCHANGE_TYPES or _missing(session, kind):
        session.refuse("exchange/declare/type/support", f"no exchange type {kind!r}")
        kind = "direct"
    _refuse_too_much(session, call)
    if session.faulty("exchange-declare-creates-nothing"):
        return
    session.vhost.declare_exchange(
        name,
        kind,
        durable=call["durable"],
        auto_delete=call["auto_delete"],
        internal=call["internal"],
        arguments=call["arguments"].plain(),
    )


def _refuse_too_much(session: Session, call: Call) -> None:
    """Refusals that no rule asks for."""
    if session.faulty("durable-exchanges-refused") and call["durable"]:
        session.refuse("exchange/declare/type/support", "no durable exchanges")
    if session.faulty("colon-refused-in-names") and ":" in call["exchange"]:
        session.refuse("exchange/declare/exchange/syntax", "no colon in names")
    mine = [x for x in session.vhost.exchanges.values() if not x.predeclared]
    if session.faulty("fifteen-exchanges-at-most") and len(mine) >= 15:
        session.refuse("constant/access-refused", "no more exchanges")


def _missing(session: Session, kind: str) -> bool:
    if session.faulty("fanout-not-implemented"):
        return kind == "fanout"
    return session.faulty("topic-not-implemented") and kind == "topic"


@handles("exchange.delete")
def delete(session: Session, call: Call) -> None:
    """Delete an exchange."""
    name = call["exchange"]
    exchange = session.vhost.exchanges.get(name)
    if not name:
        session.refuse("exchange/default-access", "the default exchange cannot be deleted")
    elif exchange is None:
        session.refuse("exchange/delete/exchange/exists", f"no exchange {name!r}")
    elif exchange.predeclared:
        session.refuse("constant/access-refused", f"exchange {name!r} stays")
    else:
        if call["if_unused"] and (exchange.bindings or session.faulty("exchange-if-unused-always-refused")):
            session.refuse("exchange/delete/if-unused/in-use", f"exchange {name!r} has bindings")
        if not session.faulty("exchange-delete-does-nothing"):
            session.vhost.delete_exchange(exchange)
    session.reply(call, "exchange.delete-ok")


@handles("exchange.bind")
def bind(session: Session, call: Call) -> None:
    """Bind an exchange to an exchange."""
    source = _find(session, call["source"], "exchange/bind/source/exchange-existence")
    destination = _find(session, call["destination"], "exchange/bind/destination/exchange-existence")
    if source is not None and destination is not None:
        if source is destination and session.faulty("exchange-not-bound-to-itself"):
            session.close(406, "cycles are refused")
            return
        binding = Binding(destination, call["routing_key"], call["arguments"].plain())
        if binding.key in source.bindings and session.faulty("duplicate-exchange-binding-refused"):
            session.close(406, "the exchange is bound already")
            return
        session.vhost.bind(source, binding)
    session.reply(call, "exchange.bind-ok")


@handles("exchange.unbind")
def unbind(session: Session, call: Call) -> None:
    """Undo a binding of exchanges; one that is not there is undone already."""
    if session.faulty("exchange-unbind-never-fails") and not _both_there(session, call):
        session.reply(call, "exchange.unbind-ok")
        return
    source = _find(session, call["source"], "exchange/unbind/source/must-exist")
    destination = _find(session, call["destination"], "exchange/unbind/destination/must-exist")
    if source is not None and destination is not None and not session.faulty("exchange-unbind-does-nothing"):
        session.vhost.unbind(source, Binding(destination, call["routing_key"], call["arguments"].plain()))
    session.reply(call, "exchange.unbind-ok")


def _both_there(session: Session, call: Call) -> bool:
    return call["source"] in session.vhost.exchanges and call["destination"] in session.vhost.exchanges


def _find(session: Session, name: str, rule: str) -> Exchange | None:
    exchange = session.vhost.exchanges.get(name)
    if exchange is None or (not name and session.faulty("blank-exchange-not-understood")):
        session.refuse(rule, f"no exchange {name!r}")
    return exchange
