"""How rules about a client's commands are declared: each sees the books as they were before a command.

Knows: conversations, the books of a connection. Must not know: single rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from amqpspec.run.amqp_fast_0_8.books import Books
from amqpspec.run.case import declare as declare_case
from amqpspec.run.clients.judging import Looked, Rule, conducts
from amqpspec.spec.model import Side
from amqpspec.suites.clients_fast_0_8 import EVERY
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.conversation import Conversation, Said

Kept = Callable[[CommandFrame, Books], bool]
"""Whether a command is right at this point."""


def walk(talk: Conversation, *names: str) -> Iterator[tuple[Said, CommandFrame, Books]]:
    """The client's commands of these names (none: all), each with what happened before it."""
    books = Books()
    for said in talk.said:
        if not isinstance(said.what, CommandFrame):
            continue
        if said.sender is Side.CLIENT and (not names or said.name in names):
            yield said, said.what, books
        books.follow(said.sender, said.what)


def each(kept: Kept, *names: str) -> Rule:
    """A rule for every command of these names."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said, frame, books in walk(talk, *names):
            yield Looked(said, kept(frame, books))

    return rule


def declare(
    where: dict[str, Any], id: str, rows: str, rule: Rule, title: str, scenarios: tuple[str, ...] = EVERY
) -> None:
    """Make a case of a rule in a module; ``rows`` are ids with spaces between them."""
    declare_case(where, lambda c: conducts(c, rule, *scenarios), f"client.{id}", rows.split(), title=title)
