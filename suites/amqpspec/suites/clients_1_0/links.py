"""Links: their names, handles and roles, their credit, and the answers to detach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from amqpspec.peer.amqp_1_0.books import ahead, number
from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.suites.clients_1_0._books import Books, fields, walk
from amqpspec.suites.clients_1_0._state import Link
from amqpspec.wire.conversation import Conversation, Said

_ENDS = ("end", "close")


@conduct("client.attach.handle.free", covers=["performatives/attach/handle/free"])
def attaches_by_a_free_handle(talk: Conversation) -> Iterator[Looked]:
    """An attach uses a handle that no link of the session has."""
    for said, books in walk(talk, "attach"):
        known = books.link_of(said)
        yield Looked(said, known is None or known.is_detached, "the handle has a link")


@conduct("client.attach.handle.lowest", covers=["performatives/attach/handle/lowest"])
def attaches_by_the_lowest_handle(talk: Conversation) -> Iterator[Looked]:
    """An attach uses no handle above the lowest one that never had a link in the session."""
    for said, books in walk(talk, "attach"):
        session, handle = books.session_of(said), number(fields(said)["handle"], 0)
        if session is not None:
            lowest = next(h for h in range(len(session.links) + 1) if h not in session.links)
            yield Looked(said, handle <= lowest, f"handle {handle}, {lowest} is free")


@conduct("client.attach.handle-max", covers=["performatives/begin/handle-max/respected"])
def keeps_the_handle_max(talk: Conversation) -> Iterator[Looked]:
    """The client attaches no link with a handle above the server's handle-max."""
    for said, books in walk(talk, "attach"):
        session, handle = books.session_of(said), number(fields(said)["handle"], 0)
        if session is not None and session.answer is not None:
            limit = number(session.answer["handle_max"], handle)
            yield Looked(said, handle <= limit, f"handle {handle}, handle-max is {limit}")


@conduct("client.attach.initial-delivery-count", covers=["performatives/attach/initial-delivery-count/set"])
def tells_where_its_count_begins(talk: Conversation) -> Iterator[Looked]:
    """The attach of a sender contains an initial-delivery-count."""
    for said in talk.by_client("attach"):
        if fields(said)["role"] is False:
            yield Looked(said, "initial_delivery_count" in fields(said).given, "none")


@conduct("client.attach.name", covers=["links/names/unique"])
def gives_a_name_once(talk: Conversation) -> Iterator[Looked]:
    """A link name is unique among the attached links of one direction."""
    for said, books in walk(talk, "attach"):
        taken = (fields(said)["name"], fields(said)["role"])
        yield Looked(said, taken not in _names(books), f"the name {taken[0]!r} is taken")


def _names(books: Books) -> set[tuple[object, object]]:
    """Names and roles of the client's links that are attached."""
    links = [link for s in books.sessions.values() if not s.is_ended for link in s.links.values()]
    return {(link.attach["name"], link.attach["role"]) for link in links if not link.is_detached}


@conduct("client.link.handles", covers=["links/handles/until-detach"])
def speaks_of_attached_links(talk: Conversation) -> Iterator[Looked]:
    """A flow, transfer or detach has a handle that the client attached and has not detached."""
    for said, books in walk(talk, "flow", "transfer", "detach"):
        if "handle" in fields(said).given:
            link = books.link_of(said)
            why = f"handle {fields(said)['handle']} has no link"
            yield Looked(said, link is not None and not link.is_detached, why)


@conduct("client.link.direction", covers=["links/establishing/whose-terminus"])
def sends_on_its_sending_links(talk: Conversation) -> Iterator[Looked]:
    """The client sends transfers only on links that it attached as sender."""
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        if link is not None:
            yield Looked(said, link.is_sender, "its sender is the receiver of this link")


@case("client.detach.answer", covers=["links/closing/answer"])
def answers_a_closing_detach(client: Client) -> Verdict:
    """The client answers a closing detach from the server with a closing detach."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        books, closings = Books(), _Closings()
        for said in talk.said:
            if said.sender is Side.CLIENT and said.name in _ENDS and not client.arena.is_prompted:
                return  # It may have crossed the server's detach; a scenario waits for that one first.
            if said.sender is Side.CLIENT:
                yield from closings.answered(books, said)
            elif said.name == "detach":
                closings.ask(books, said)
            books.take(said)
        if client.arena.is_prompted and (talk.talk.is_whole or books.closed is not None):
            yield from (Looked(by, False, "its answer does not close the link") for _, by in closings.crossed)

    return conducts(client, rule, "refused")


@dataclass(slots=True)
class _Closings:
    """The server's closing detaches that wait for the client's, each with its link.

    ``crossed``: the client's detach does not close. It may have crossed the other one: then the client attaches the
    link again, and closes it (§2.6.6).
    """

    asked: list[tuple[Link, Said]] = field(default_factory=list)
    crossed: list[tuple[Link, Said]] = field(default_factory=list)

    def ask(self, books: Books, said: Said) -> None:
        """A detach by the server that closes a link of the client's, and is not an answer itself."""
        session = books.by_server_channel.get(said.channel)
        link = None if session is None else session.by_server_handle.get(number(fields(said)["handle"], -1))
        if link is None or link.is_detached or link.session.is_ended or books.closed is not None:
            return
        if fields(said)["closed"] is True:
            self.asked.append((link, said))

    def answered(self, books: Books, said: Said) -> Iterator[Looked]:
        """What the client answers by a frame; an end of something wider keeps the purpose, as the row says."""
        if said.name == "detach":
            yield from self._detached(books, said)
        elif said.name in _ENDS:
            over = [a for a in self.asked if said.name == "close" or a[0].session is books.session_of(said)]
            self.asked = [a for a in self.asked if a not in over]
            yield from (Looked(by, False, f"answered by {said.name}", is_lesser=True) for _, by in over)

    def _detached(self, books: Books, said: Said) -> Iterator[Looked]:
        link = books.link_of(said)
        about = [a for a in (*self.asked, *self.crossed) if link is not None and link.is_again(a[0])]
        self.asked = [a for a in self.asked if a not in about]
        if fields(said)["closed"] is True:
            self.crossed = [a for a in self.crossed if a not in about]
            yield from (Looked(by, True) for _, by in about)
        else:
            self.crossed += [a for a in about if a not in self.crossed]


@conduct("client.transfer.credit", covers=["links/flow/no-credit"])
def sends_within_its_credit(talk: Conversation) -> Iterator[Looked]:
    """The client sends no more deliveries than the credit in the server's flows allows at most."""
    for said, books in walk(talk, "transfer"):
        link = books.link_of(said)
        if link is not None and link.is_sender and link.partial is None:
            left = 0 if link.credit_to is None else ahead(link.credit_to, link.delivery_count)
            yield Looked(said, left > 0, "no credit is left")


@conduct("client.transfer.window", covers=["sessions/flow/remote-incoming-window"])
def sends_within_the_window(talk: Conversation) -> Iterator[Looked]:
    """No transfer exceeds the server's incoming window."""
    for said, books in walk(talk, "transfer"):
        session = books.session_of(said)
        if session is not None:
            to = session.window_to
            left = 0 if to is None else ahead(to, session.next_outgoing_id)
            yield Looked(said, left > 0, "the window is used up")
