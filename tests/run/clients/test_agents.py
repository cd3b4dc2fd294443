"""The reference agent of every dialect of clients: clean it passes, and its mistakes are found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

import pytest

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login
from amqpspec.run.clients.client import CONTEXT
from amqpspec.run.clients.scenario import Agent, Order, UnknownScenario
from amqpspec.spec.dialects import part_of
from tests.run.clients.command import agent, client, verdicts_of

_PASSED = {
    "amqp-0-9-1": [
        "client.start-ok.*",
        "client.content.*",
        "client.hostile.end-octet.consume-ok",
        "client.hostile.fin.deliver",
    ],
    "amqp-wire-9-1": [
        "client.header.*",
        "client.understands.trace.consume-ok",
        "client.understands.content.child",
        "client.hostile.fin.deliver",
    ],
    "amqp-1-0": [
        "client.sasl.*",
        "client.delivery.tag.*",
        "client.hostile.fin.transfer",
        "client.hostile.size-7.flow",
    ],
    "amqp-0-10": [
        "client.tune-ok.*",
        "client.accept.*",
        "client.asked.flush.*",
        "client.hostile.fin.transfer",
        "client.hostile.size-11.completed",
    ],
    "amqp-fast-0-8": [
        "client.response.*",
        "client.prepare.answered",
        "client.hostile.message.body-*",
        "client.understands.escaped.notify",
        "client.asked.close.999.handle",
        "client.hostile.fin.created",
    ],
}
_PASSED["amqp-0-9-1-clients"] = _PASSED["amqp-0-9-1"]

_FOUND = {
    "amqp-0-9-1": [
        ("locale-not-offered", "client.start-ok.locale", "fail", ""),
        ("ignores-every-violation", "client.hostile.deliver-to-nobody.channel-open-ok", "fail", "silent"),
        ("ignores-every-violation", "client.hostile.deliver-to-nobody.consume-ok", "fail", "reported"),
        ("consumer-tag-twice", "client.consumer-tag.unique", "fail", ""),
        ("crashes-on-what-it-cannot-read", "client.hostile.content.body-alone.consume-ok", "fail", "crash"),
        ("takes-the-end-for-success", "client.hostile.fin.consume-ok", "fail", "silent"),
    ],
    "amqp-wire-9-1": [
        ("header-of-0-9-1", "client.header.layout", "fail", ""),
        ("property-named-badly", "client.tables.names", "fail", ""),
        ("refuses-traces", "client.understands.trace.channel-open-ok", "fail", "reported"),
        ("end-octet-wrong", "client.frames.readable", "fail", ""),
        ("leaves-at-structured-contents", "client.understands.content.child", "fail", "reported"),
        (
            "crashes-on-what-it-cannot-read",
            "client.hostile.content.on-channel-zero.consume-ok",
            "fail",
            "crash",
        ),
    ],
    "amqp-1-0": [
        ("init-twice", "client.sasl.steps", "fail", ""),
        ("delivery-tag-too-long", "client.delivery.tag.length", "fail", ""),
        ("handles-from-seven", "client.attach.handle.lowest", "nonstrict", ""),
        ("ignores-every-violation", "client.hostile.attach-twice", "fail", "silent"),
        ("ignores-every-violation", "client.hostile.dispose-of-all", "observed", "silent"),
        ("crashes-on-what-it-cannot-read", "client.hostile.truncated.begin", "fail", "crash"),
        ("takes-the-end-for-success", "client.hostile.fin.begin", "fail", "silent"),
        ("answers-no-end", "client.hostile.end.plain.disposition", "nonstrict", "reported"),
    ],
    "amqp-0-10": [
        ("tune-ok-twice", "client.handshake.order", "fail", ""),
        ("properties-missing", "client.start-ok.properties", "nonstrict", ""),
        ("map-key-twice", "client.map.keys", "fail", ""),
        ("ignores-every-violation", "client.hostile.command-of-clients.completed", "fail", "silent"),
        ("ignores-every-violation", "client.hostile.completed-half-of-all.completed", "observed", "silent"),
        ("crashes-on-what-it-cannot-read", "client.hostile.truncated.attached", "fail", "crash"),
        ("takes-the-end-for-success", "client.hostile.fin.completed", "fail", "silent"),
        ("answers-no-control", "client.asked.timeout", "fail", "silent"),
        ("answers-no-control", "client.hostile.detach.publish", "nonstrict", "reported"),
        ("tells-nothing-of-refusals", "client.hostile.exception.bare", "fail", "silent"),
        ("drowns-in-numbers", "client.endures.gap", "fail", "crash"),
    ],
    "amqp-fast-0-8": [
        ("field-named-badly", "client.tables.names", "fail", ""),
        ("response-without-login", "client.response.plain", "nonstrict", ""),
        ("messages-mixed", "client.send.unmixed", "fail", ""),
        ("handle-zero", "client.handle.id", "fail", ""),
        ("answers-no-close", "client.asked.close.200.handle", "fail", "reported"),
        ("escape-not-known", "client.understands.escaped.channel", "fail", "reported"),
        ("ignores-every-violation", "client.hostile.never.handle.flow.channel", "fail", "silent"),
        ("crashes-on-what-it-cannot-read", "client.hostile.end-octet.notify", "fail", "crash"),
        ("takes-the-end-for-success", "client.hostile.fin.ready", "fail", "silent"),
    ],
}


@pytest.mark.parametrize("dialect", _PASSED)
def test_the_reference_agent_passes(tmp_path: Path, dialect: str) -> None:
    result = client(dialect, tmp_path, *_PASSED[dialect])
    assert (result.exit_code, set(verdicts_of(result).values())) == (0, {"pass"})


@pytest.mark.parametrize(
    ("dialect", "fault", "case", "verdict", "application"),
    [(dialect, *row) for dialect, rows in _FOUND.items() for row in rows],
)
def test_a_mistake_is_found(
    tmp_path: Path, dialect: str, fault: str, case: str, verdict: str, application: str
) -> None:
    result = client(dialect, tmp_path, "--command", agent(dialect, fault), case)
    assert (result.exit_code, verdicts_of(result)) == (int(verdict == "fail"), {case: verdict})
    row = json.loads(result.stdout)["cases"][0]
    assert row["facts"].get("application", "") == application
    assert (tmp_path / "run" / row["evidence"]).is_file()


@pytest.mark.parametrize(
    ("dialect", "scenario"),
    [
        ("amqp-1-0-clients", "publish"),
        ("amqp-0-10-clients", "send-settled"),
        ("amqp-fast-0-8-clients", "publish"),
    ],
)
def test_a_scenario_that_nobody_knows_is_none(dialect: str, scenario: str) -> None:
    order = Order(scenario, Endpoint("127.0.0.1", 1), Login(), CONTEXT)
    with pytest.raises(UnknownScenario):
        cast(Agent, part_of(dialect, "agent"))(order, lambda name, data: None)
