"""Names of queues and exchanges as a client declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.suites.clients_0_9_1 import EVERY
from amqpspec.wire.conversation import Conversation

_LEGAL = re.compile(r"[A-Za-z0-9\-_.:]*")


@case("client.queue.names", covers=["queue/declare/queue/syntax"])
def declares_queues_by_legal_names(client: Client) -> Verdict:
    """The name of a declared queue is empty or consists of letters, digits and - _ . :"""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for declare in talk.by_client("queue.declare"):
            yield Looked(declare, _LEGAL.fullmatch(declare.what["queue"]) is not None)

    return conducts(client, rule, *EVERY)


@case("client.queue.reserved", covers=["queue/declare/queue/reserved"])
def declares_no_reserved_queue(client: Client) -> Verdict:
    """A client declares a queue whose name begins with amq. only passively, or if the server generated the name."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        made: set[str] = set()
        for said in talk.said:
            if said.name == "queue.declare-ok":
                made.add(said.what["queue"])
            elif said.name == "queue.declare":
                name = said.what["queue"]
                yield Looked(said, not name.startswith("amq.") or said.what["passive"] or name in made)

    return conducts(client, rule, *EVERY)
