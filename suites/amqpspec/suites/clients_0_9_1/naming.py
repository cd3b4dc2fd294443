"""Names of queues and exchanges as a client declares them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Conversation, Said

_ACCESS_REFUSED = 403
_CLOSES = ("channel.close", "connection.close")
_LEGAL = re.compile(r"[A-Za-z0-9\-_.:]*")


@conduct("client.queue.names", covers=["queue/declare/queue/syntax"])
def declares_queues_by_legal_names(talk: Conversation) -> Iterator[Looked]:
    """The name of a declared queue is empty or consists of letters, digits and - _ . :"""
    for declare in talk.by_client("queue.declare"):
        yield Looked(declare, _LEGAL.fullmatch(declare.what["queue"]) is not None)


@conduct("client.queue.reserved", covers=["queue/declare/queue/reserved"])
def declares_no_reserved_queue(talk: Conversation) -> Iterator[Looked]:
    """A client declares a queue whose name begins with amq. only passively, or if the queue exists."""
    made: set[str] = set()
    asked: list[Said] = []
    for said in talk.said:
        if said.name == "queue.declare":
            if _has_to_exist(said) and said.what["queue"] not in made:
                asked.append(said)
            else:
                yield Looked(said, True)
        elif said.name == "queue.declare-ok":
            made.add(said.what["queue"])
        if said.sender is Side.SERVER:
            yield from _answered(asked, said)


def _has_to_exist(declare: Said) -> bool:
    """Whether a declare is legal only if its queue exists (queue.declare, rule "reserved")."""
    return declare.what["queue"].startswith("amq.") and not declare.what["passive"]


def _answered(asked: list[Said], said: Said) -> Iterator[Looked]:
    """The declares of reserved names that the server answers: what it has declared existed, what it refuses did not."""
    about = [d for d in asked if said.channel in (0, d.channel)]
    if said.name == "queue.declare-ok":
        about = [d for d in about if d.what["queue"] == said.what["queue"]]
    elif said.name not in _CLOSES or said.what["reply_code"] != _ACCESS_REFUSED:
        return
    for declare in about:
        asked.remove(declare)
        yield Looked(declare, said.name == "queue.declare-ok", "no such queue exists")
