"""The conduct of servers: a correct one keeps every rule, wherever a conversation breaks off or its octets are cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.record.rows import Outcome
from amqpspec.wire.conversation import Talk
from tests.run.clients import test_servers_0_9_1, test_servers_0_10, test_servers_1_0
from tests.run.clients.recorded import Conduct, broken_off

_CONDUCTS = [module.CONDUCT for module in (test_servers_0_9_1, test_servers_0_10, test_servers_1_0)]
_each = pytest.mark.parametrize("conduct", _CONDUCTS, ids=lambda conduct: conduct.dialect)


@pytest.mark.parametrize(
    ("conduct", "scenario"),
    [
        pytest.param(conduct, scenario, id=f"{conduct.dialect} {scenario}")
        for conduct in _CONDUCTS
        for scenario in conduct.scenarios
    ],
)
def test_the_reference_broker_keeps_every_rule(conduct: Conduct, scenario: str) -> None:
    talk = conduct.conversation(scenario)
    assert conduct.wrong(talk) == {}
    found = conduct.verdicts(talk).values()
    assert {v.outcome for v in found} <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
    assert {v.facts.role for v in found} == {"server"}


@_each
@given(data=st.data())
def test_a_conversation_that_breaks_off_anywhere_is_no_deviation(
    conduct: Conduct, data: st.DataObject
) -> None:
    whole = conduct.conversation(data.draw(st.sampled_from(conduct.scenarios)))
    assert conduct.wrong(broken_off(data, whole)) == {}


@_each
@given(data=st.data())
def test_where_octets_are_cut_does_not_matter(conduct: Conduct, data: st.DataObject) -> None:
    whole = conduct.conversation(data.draw(st.sampled_from(conduct.scenarios)))
    pieces = Talk(1, ended="FIN")
    size = data.draw(st.integers(1, 400))
    for chunk in whole.chunks:
        for at in range(0, len(chunk.octets), size):
            pieces.chunks.append(replace(chunk, octets=chunk.octets[at : at + size]))
    assert conduct.wrong(pieces) == {}
