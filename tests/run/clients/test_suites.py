"""What ties a suite for clients together, in every dialect that has one: rows, cases, mistakes, hostile servers."""

from __future__ import annotations

import pytest

from amqpspec.reference.faults import all_faults
from amqpspec.run.case import load_suite
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.spec.dialects import client_dialects, entry_of, load_ledger

_DERIVED = ("amqp-1-0-clients", "amqp-0-10-clients")
"""Whose rows have the ids of the ledger for brokers."""
_BEYOND = ("messaging/sections", "survives/")
_PROVOKED = tuple(f"client.{kind}." for kind in ("hostile", "asked", "understands", "endures"))
_every = pytest.mark.parametrize("dialect", client_dialects())


@_every
def test_every_row_has_a_case_and_every_case_a_row(dialect: str) -> None:
    covered = {row for case in load_suite(dialect).values() for row in case.covers}
    assert covered == set(load_ledger(dialect))


@_every
def test_every_mistake_breaks_rows_that_exist_and_every_row_is_broken_by_one(dialect: str) -> None:
    broken = {row for fault in all_faults(dialect).values() for row in fault.breaks}
    assert broken == {id for id, row in load_ledger(dialect).items() if row.binds != "server"}


@pytest.mark.parametrize("dialect", _DERIVED)
def test_rows_are_those_of_the_ledger_that_bind_clients(dialect: str) -> None:
    known = load_ledger(entry_of(dialect).clients_of)
    for row in load_ledger(dialect).values():
        id = row.id.removeprefix("violated/").removeprefix("server/")
        is_of_servers = row.id.startswith("server/") and id not in known
        assert not is_of_servers or row.binds == "server"
        if not is_of_servers and not id.startswith(_BEYOND):
            assert known[id].binds in ("client", "peer", "server"), row.id


@_every
def test_hostile_servers_of_two_dialects_do_not_mix(dialect: str) -> None:
    suites = {id: load_suite(id) for id in client_dialects()}
    ours = provocations_of(dialect)
    assert set(ours) == {id for id in suites[dialect] if id.startswith(_PROVOKED)}
    assert len(ours) > 100 and not provocations_of(entry_of(dialect).clients_of)
