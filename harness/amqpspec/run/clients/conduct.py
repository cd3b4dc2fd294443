"""Rules of conduct: how one is declared as a case, and those that clients of several dialects share.

Knows: conversations, cases. Must not know: any dialect.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import update_wrapper
from itertools import pairwise

from amqpspec.run.case import Body, case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, Rule, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.wire.conversation import Conversation, Said


def conduct(
    id: str, covers: Iterable[str], scenarios: Iterable[str] = (), *, role: str = "", slow: bool = False
) -> Callable[[Rule], Body]:
    """Declare the rule below as a case: a peer keeps it wherever it applies in these scenarios.

    Without ``scenarios``, these are all of the suite's package, which names them in ``EVERY``. ``role`` names the peer
    that the verdict is about, if that is not the client.
    """

    def declare(rule: Rule) -> Body:
        every = vars(sys.modules[rule.__module__.rpartition(".")[0]])["EVERY"]
        chosen = tuple(scenarios) or every

        def body(client: Client) -> Verdict:
            verdict = conducts(client, rule, *chosen)
            return replace(verdict, facts=replace(verdict.facts, role=role)) if role else verdict

        return case(id, covers, slow=slow)(update_wrapper(body, rule))

    return declare


def pauses(conversation: Conversation, since_ns: int = 0) -> Iterator[tuple[Said, float]]:
    """Each frame of the client since then, and the silence after it in seconds.

    The last silence counts, too, where the conversation is known to its end: a server that receives nothing
    disconnects.
    """
    talk = conversation.talk
    said = [s for s in conversation.by_client() if s.at_ns >= since_ns]
    if not said:
        return
    ended_ns = talk.ended_ns if talk.is_whole else None
    times_ns = [*(s.at_ns for s in said), ended_ns or said[-1].at_ns]
    for before, (earlier_ns, later_ns) in zip(said, pairwise(times_ns), strict=True):
        yield before, (later_ns - earlier_ns) / 1e9


def says_goodbye(opened: str, *closes: str) -> Rule:
    """A client that has opened the connection says one of ``closes`` before it ends the socket."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        said = list(talk.by_client())
        closed = any(s.name in closes for s in said)
        if any(s.name == opened for s in said) and (closed or (talk.talk.is_whole and not talk.talk.is_left)):
            yield Looked(said[-1], closed, f"no {closes[0]} after it")

    return rule
