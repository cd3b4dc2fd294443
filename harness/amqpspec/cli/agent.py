"""``amqpspec agent``: the reference agent, as ``amqpspec client`` starts it without --command.

Knows: the environment that tells a scenario. Must not know: any dialect.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, cast

import click

from amqpspec.cli.common import stop
from amqpspec.run.results import Exit
from amqpspec.spec.dialects import client_dialects, part_of


@click.command(short_help="Run one scenario as the reference agent.")
@click.option("--dialect", "-d", default="amqp-0-9-1-clients", show_default=True, help="Dialect to speak.")
@click.option("--fault", "faults", multiple=True, help="Make this mistake on purpose; repeatable.")
def agent(dialect: str, faults: tuple[str, ...]) -> None:
    """Run the scenario that AMQPSPEC_URL, AMQPSPEC_SCENARIO and AMQPSPEC_CONTEXT describe.

    Exit codes: 0 done, 1 the server broke the specification or ended the connection, 89 unknown scenario.
    """
    from amqpspec.net.stream import Endpoint
    from amqpspec.peer.context import Login
    from amqpspec.run.clients.agent import CANNOT
    from amqpspec.run.clients.scenario import Agent, Order, ScenarioError, UnknownScenario
    from amqpspec.target.url import UrlError, parse_url

    if dialect not in client_dialects():
        stop(Exit.USAGE, f"--dialect: expected one of {', '.join(client_dialects())}, actual {dialect!r}")
    try:
        url = parse_url(os.environ["AMQPSPEC_URL"])
        scenario, context = os.environ["AMQPSPEC_SCENARIO"], json.loads(os.environ["AMQPSPEC_CONTEXT"])
    except (KeyError, ValueError, UrlError) as error:
        stop(Exit.USAGE, f"expected AMQPSPEC_URL, AMQPSPEC_SCENARIO and AMQPSPEC_CONTEXT, actual: {error}")
    login = Login(url.user or "guest", url.password or "guest", url.vhost or "/")
    order = Order(scenario, Endpoint(url.host, url.port), login, context, faults)
    try:
        cast(Agent, part_of(dialect, "agent"))(order, _tell)
    except UnknownScenario:
        sys.exit(CANNOT)
    except ScenarioError as error:
        _tell("error", {"text": str(error)})
        sys.exit(1)


def _tell(event: str, data: Mapping[str, Any]) -> None:
    print(json.dumps({"event": event, **data}), flush=True)
