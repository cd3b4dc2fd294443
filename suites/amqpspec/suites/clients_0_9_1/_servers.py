"""What rules about a server share: how far a conversation can be judged, and how a verdict names the peer that it is
about.

Knows: conversations. Must not know: single rules.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Rule, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.suites.clients_0_9_1 import EVERY
from amqpspec.wire.conversation import Conversation, Said
from amqpspec.wire.methods.codec import Call

SERVER = "server"


def serves(client: Client, rule: Rule) -> Verdict:
    """The server kept a rule at every place where it applies; the row says that it is about the server."""
    verdict = conducts(client, rule, *EVERY)
    return replace(verdict, facts=replace(verdict.facts, role=SERVER))


def readable(talk: Conversation) -> Iterator[Said]:
    """What both sides said, up to the first frame that cannot be decoded: what is not known may have been a request."""
    for said in talk.said:
        if said.name == "garbled":
            return
        yield said


def is_method(said: Said) -> bool:
    """Whether a frame is a method."""
    return isinstance(said.what, Call)
