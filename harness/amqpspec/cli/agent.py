"""``amqpspec agent``: the reference agent, as ``amqpspec client`` starts it without --command.

Knows: the environment, or the input lines, that specify a scenario. Must not know: any dialect.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

import click

from amqpspec.cli.common import judged_dialect, stop
from amqpspec.run.exits import CANNOT, Exit
from amqpspec.spec.dialects import part_of


@click.command(short_help="Run scenarios as the reference agent.")
@click.option("--dialect", "-d", default="amqp-0-9-1", show_default=True, help="Dialect to speak.")
@click.option("--fault", "faults", multiple=True, help="Make this mistake; repeatable.")
@click.option("--batch", is_flag=True, help="Run a scenario for each line of JSON on standard input.")
def agent(dialect: str, faults: tuple[str, ...], batch: bool) -> None:
    """Run the scenario that AMQPSPEC_URL, AMQPSPEC_SCENARIO and AMQPSPEC_CONTEXT describe.

    Exit codes: 0 done, 1 the server violated the specification or ended the connection, 89 unknown scenario.
    """
    from amqpspec.target.url import UrlError

    dialect = judged_dialect(dialect)
    try:
        if not batch:
            sys.exit(_carry_out(dialect, _orders_of_environment(), faults))
        _tell("ready", {})
        for task in _orders_of_input():
            number = {"order": task["order"]}
            code = _carry_out(dialect, task, faults, number)
            _tell("done", {"exit_code": code, **number})
    except (KeyError, TypeError, ValueError, UrlError) as error:
        what = "a task on each line" if batch else "AMQPSPEC_URL, AMQPSPEC_SCENARIO and AMQPSPEC_CONTEXT"
        stop(Exit.USAGE, f"expected {what}, actual: {error}")


def _orders_of_environment() -> Mapping[str, Any]:
    url, scenario = os.environ["AMQPSPEC_URL"], os.environ["AMQPSPEC_SCENARIO"]
    return {"url": url, "scenario": scenario, "context": json.loads(os.environ["AMQPSPEC_CONTEXT"])}


def _orders_of_input() -> Iterator[Mapping[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def _carry_out(
    dialect: str, task: Mapping[str, Any], faults: Collection[str], number: Mapping[str, Any] | None = None
) -> int:
    """Carry out a task; returns the exit code. Raises KeyError and UrlError for an invalid task."""
    from amqpspec.net.stream import Endpoint
    from amqpspec.peer.context import Login
    from amqpspec.run.clients.scenario import Agent, Order, ScenarioError, UnknownScenario
    from amqpspec.target.url import parse_url

    def tell(event: str, data: Mapping[str, Any]) -> None:
        _tell(event, {**data, **(number or {})})

    url = parse_url(task["url"])
    login = Login(url.user or "guest", url.password or "guest", url.vhost or "/")
    order = Order(task["scenario"], Endpoint(url.host, url.port), login, task["context"], faults)
    try:
        cast(Agent, part_of(dialect, "agent"))(order, tell)
    except UnknownScenario:
        return CANNOT
    except ScenarioError as error:
        tell("error", {"text": str(error)})
        return 1
    return 0


def _tell(event: str, data: Mapping[str, Any]) -> None:
    print(json.dumps({"event": event, **data}), flush=True)
