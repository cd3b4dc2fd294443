"""Sessions: the order of controls and commands on a channel, and which session it has."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.suites.clients_0_10._books import fields, frame_of, is_command, track_of, walk
from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, FIRST_SEGMENT
from amqpspec.wire.conversation import Conversation

_DETACHMENTS = ("session.detach", "session.detached")
_ATTACHMENTS = ("session.attach", "session.attached", *_DETACHMENTS)
_BEGINNING = FIRST_SEGMENT | FIRST_FRAME


@conduct("client.session.attached-first", covers=["session/attachment/attached-first"])
def attaches_before_other_controls(talk: Conversation) -> Iterator[Looked]:
    """The client sends session controls on a channel only after its attach, and not after its detach.

    A control may cross the server's end of the session; that one is not held against the client.
    """
    asked: set[int] = set()
    for said in talk.by_client():
        if said.name == "session.attach":
            asked.add(said.channel)
        elif said.name in _DETACHMENTS:
            asked.discard(said.channel)
        elif said.name.startswith("session.") and said.name not in _ATTACHMENTS:
            yield Looked(said, said.channel in asked, f"no session on channel {said.channel}")


@conduct("client.session.commands", covers=["session/attachment/commands"])
def attaches_before_commands(talk: Conversation) -> Iterator[Looked]:
    """The client sends commands on a channel only after its attach, and not after its detach."""
    asked: set[int] = set()
    for said in talk.by_client():
        if said.name == "session.attach":
            asked.add(said.channel)
        elif said.name in _DETACHMENTS:
            asked.discard(said.channel)
        elif is_command(said):
            yield Looked(said, said.channel in asked, f"no session on channel {said.channel}")


@conduct("client.session.command-point", covers=["session/command-point/before-commands"])
def says_where_commands_begin(talk: Conversation) -> Iterator[Looked]:
    """The client sends command-point before its first command on a newly attached channel."""
    for said, books in walk(talk):
        session = books.sessions.get(said.channel)
        if session is not None and is_command(said):
            yield Looked(said, session.next_id is not None, "no command-point before it")


@conduct("client.session.command-point.zero-offset", covers=["session/command-point/zero-offset/next-frame"])
def begins_a_command_behind_its_point(talk: Conversation) -> Iterator[Looked]:
    """After a command-point with offset zero, the next frame on track 1 begins a command."""
    for said, books in walk(talk):
        session, frame = books.sessions.get(said.channel), frame_of(said)
        if session is not None and frame is not None and session.point == 0 and track_of(said) == 1:
            yield Looked(said, frame.flags & _BEGINNING == _BEGINNING, "no command begins")


@conduct("client.session.one-a-channel", covers=["session/attach/one-session-per-transport"])
def attaches_one_session_to_a_channel(talk: Conversation) -> Iterator[Looked]:
    """The client attaches no second session to a channel that has one."""
    for said, books in walk(talk, "session.attach"):
        session = books.sessions.get(said.channel)
        kept = session is None or session.name == fields(said).get("name")
        yield Looked(said, kept, "another session is attached there")


@conduct("client.session.one-channel", covers=["session/attach/one-transport-per-session"])
def attaches_a_session_to_one_channel(talk: Conversation) -> Iterator[Looked]:
    """The client attaches a session to a second channel only with force."""
    for said, books in walk(talk, "session.attach"):
        args = fields(said)
        elsewhere = [
            channel
            for channel, session in books.sessions.items()
            if channel != said.channel and session.name == args.get("name")
        ]
        yield Looked(said, not elsewhere or bool(args.get("force")), f"attached to channels {elsewhere}")


@conduct("client.session.expected", covers=["session/expected/never-spontaneous"])
def sends_expected_on_request_only(talk: Conversation) -> Iterator[Looked]:
    """A client sends expected only in answer to a flush that requests it."""
    for said, books in walk(talk, "session.expected", "session.attach"):
        yield Looked(
            said, said.name == "session.attach" or said.channel in books.flushed, "no flush requested it"
        )
