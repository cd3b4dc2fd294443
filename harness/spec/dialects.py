"""The dialects that this build speaks, by id; loaded when first asked for.

Knows: which module declares which dialect.
Must not know: anything about their content.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from harness.spec.model import Dialect, MethodDialect
from harness.spec.requirements import Ledger, read_ledger

_MODULES = {
    "amqp-0-9-1": "harness.spec.amqp_0_9_1",
    "rabbitmq-0-9-1": "harness.spec.rabbitmq_0_9_1",
    "amqp-wire-9-1": "harness.spec.amqp_wire_9_1",
    "amqp-0-8": "harness.spec.amqp_0_8",
    "amqp-1-0": "harness.spec.amqp_1_0",
}
_LEDGERS = {
    "amqp-0-9-1": ("amqp_0_9_1/requirements.yaml", "rabbitmq-0-9-1"),
    "amqp-wire-9-1": ("amqp_wire_9_1/requirements.yaml", "amqp-wire-9-1"),
    "amqp-1-0": ("amqp_1_0/requirements.yaml", "amqp-1-0"),
}


_DEPLOYED = {"amqp-wire-9-1": "amqp-0-8"}
_PARTS = {"amqp-wire-9-1": ("cycle-header",)}


def parts_of(dialect_id: str) -> tuple[str, ...]:
    """Parts of a dialect that the one in which it is deployed does not have, as cases name them in ``needs``."""
    return _PARTS.get(dialect_id, ())


def deployed_as(dialect_id: str) -> str | None:
    """The dialect in which brokers in use answer another one's protocol header, where that is so."""
    return _DEPLOYED.get(dialect_id)


def widest(dialect_id: str) -> str:
    """The overlay in which a dialect is spoken: everything it may meet on the wire."""
    return _LEDGERS[dialect_id][1] if dialect_id in _LEDGERS else dialect_id


def dialect_ids() -> tuple[str, ...]:
    """Every dialect and overlay that can be named."""
    return tuple(_MODULES)


def certified_dialects() -> tuple[str, ...]:
    """The dialects that have a ledger of requirements, hence a suite."""
    return tuple(_LEDGERS)


@cache
def load_dialect(dialect_id: str) -> Dialect:
    """The tables of a dialect; raises KeyError for an unknown id."""
    dialect = import_module(_MODULES[dialect_id]).DIALECT
    assert isinstance(dialect, Dialect)
    return dialect


def load_methods(dialect_id: str) -> MethodDialect:
    """The tables of a dialect of the 0-9 family; raises KeyError for an unknown id, TypeError for another family."""
    dialect = load_dialect(dialect_id)
    if not isinstance(dialect, MethodDialect):
        raise TypeError(f"{dialect_id}: expected a dialect of classes and methods, actual: {dialect.family}")
    return dialect


@cache
def load_ledger(dialect_id: str) -> Ledger:
    """The requirement rows of a dialect, in the order of its specification; raises KeyError, LedgerError.

    Codes are resolved against the widest overlay, so that a row may name an extension's reply code.
    """
    file, overlay = _LEDGERS[dialect_id]
    return read_ledger(Path(__file__).parent / file, load_dialect(overlay))


def ledgers() -> Mapping[str, Ledger]:
    """Every ledger by dialect."""
    return {dialect_id: load_ledger(dialect_id) for dialect_id in _LEDGERS}


def features() -> tuple[str, ...]:
    """Every optional part of a dialect that a target may lack, as the ledgers name them."""
    named = {row.feature for ledger in ledgers().values() for row in ledger.values()}
    return tuple(sorted(named - {""}))
