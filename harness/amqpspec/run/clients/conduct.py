"""Rules of conduct that clients of several dialects share, named by the frames of each.

Knows: conversations. Must not know: any dialect, verdicts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from amqpspec.run.clients.judging import Looked, Rule
from amqpspec.wire.conversation import Conversation, Said


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
