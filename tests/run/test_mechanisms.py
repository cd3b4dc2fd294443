"""A server may offer other SASL mechanisms than PLAIN and AMQPLAIN: cases about a login by these do not apply then."""

from __future__ import annotations

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference import sasl
from amqpspec.reference.methods.classes import sasl as methods_sasl
from amqpspec.run.case import load_suite
from amqpspec.run.memory import Conditions, judged_in_memory


def outcome(dialect: str, name: str, *faults: str) -> Outcome:
    return judged_in_memory(load_suite(dialect)[name], Conditions(faults)).outcome


@pytest.mark.parametrize(
    ("dialect", "name"),
    [
        ("amqp-0-9-1", "connection.secure.wrong-password"),
        ("amqp-0-9-1", "connection.start-ok.mechanism.amqplain"),
        ("amqp-wire-9-1", "security.negotiation-errors.login"),
        ("amqp-wire-9-1", "table.duplicates.second-password"),
        ("amqp-0-10", "connection.secure.wrong-password"),
        ("amqp-0-10", "connection.tune.max-frame-size.accepted"),
        ("amqp-1-0", "sasl.plain.malformed"),
        ("amqp-1-0", "sasl.negotiation.open-while-challenged"),
    ],
)
def test_other_mechanisms_may_be_offered(dialect: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sasl, methods_sasl):
        monkeypatch.setattr(module, "_ALWAYS", ("ANONYMOUS",))
    assert outcome(dialect, name) is Outcome.NOT_APPLICABLE


@pytest.mark.parametrize(
    "name", ["response.rejected", "response.accepted", "login.errors.pause", "scenarios.preparing"]
)
def test_challenge_may_list_other_mechanisms(name: str) -> None:
    assert outcome("amqp-fast-0-8", name, "plain-not-offered") is Outcome.NOT_APPLICABLE
