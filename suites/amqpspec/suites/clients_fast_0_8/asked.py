"""What a server may do at any time, and what a client answers: challenges, pings, closes, unusual but legal octets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amqpspec.run.clients.conduct import pauses
from amqpspec.run.clients.judging import Looked, Rule
from amqpspec.run.clients.provoking import all_of, behind, instead
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.suites.clients_fast_0_8._rules import walk
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.conversation import Conversation, Said

_CODES = (0, 200, 320, 541, 999, 65_535)
_HEARTBEAT_S, _TIMES = 1, 2.5
"""A PING a second; one that is late by more than another one and a half is none (machines are late, too)."""


def _since(talk: Conversation, *names: str) -> Iterator[Said]:
    """What the client sent of these names since the server did what it did."""
    begun_ns = talk.talk.hostile_ns or 0
    return (said for said in talk.by_client(*names) if said.at_ns >= begun_ns)


# --- challenges and pings


def _responds_again(talk: Conversation) -> Iterator[Looked]:
    for challenge in list(talk.by_server("connection.challenge"))[1:]:
        yield Looked(challenge, any(_since(talk, "connection.response")), "no RESPONSE after it")


def _pings_back(talk: Conversation) -> Iterator[Looked]:
    for ping in talk.by_server("connection.ping"):
        if ping.what.args["respond"]:
            yield Looked(ping, any(_since(talk, "connection.ping")), "no PING after it")


def _asks_nothing_back(talk: Conversation) -> Iterator[Looked]:
    asked = any(s.what.args["respond"] for s in talk.by_server("connection.ping"))
    for answer in list(_since(talk, "connection.ping"))[:1] if asked else ():
        yield Looked(answer, not answer.what.args["respond"])


def _goes_on_pinging(talk: Conversation) -> Iterator[Looked]:
    """A client that has sent one PING continues; other commands say as well that it is there."""
    first = next((s for s in talk.by_client("connection.ping")), None)
    closed = any(talk.by_client("connection.close"))
    for said, gap_s in pauses(talk, first.at_ns) if first is not None else ():
        if said.name == "connection.close" and closed:
            return
        yield Looked(said, gap_s <= _TIMES * _HEARTBEAT_S, f"{gap_s:.1f} s of silence after it")


_PING = command_frame("connection.ping", respond=True)
_CHALLENGE = command_frame("connection.challenge", version=1, mechanisms="PLAIN")
of.asked(
    globals(), "challenge-twice", "connection/summary/client/challenge", of.POINTS["tune"],
    lambda frame: [_CHALLENGE + frame], "A client answers a second CHALLENGE with RESPONSE", _responds_again,
)  # fmt: skip
for _point in ("open", "channel", "handle", "notify"):
    of.asked(
        globals(), f"ping.{_point}", "connection/summary/client/ping", of.POINTS[_point], behind(_PING),
        f"A client answers PING after {of.POINTS[_point][0]}", _pings_back,
    )  # fmt: skip
    of.asked(
        globals(), f"ping.no-loop.{_point}", "connection/ping/no-loop", of.POINTS[_point], behind(_PING),
        f"A client's answer to PING after {of.POINTS[_point][0]} does not request another one", _asks_nothing_back,
    )  # fmt: skip


def _with_heartbeat(frame: bytes) -> bytes:
    return of.again(frame, options={**of.read(frame).args["options"].plain(), "HEARTBEAT": _HEARTBEAT_S})


of.asked(
    globals(), "heartbeat", "tuning/heartbeat/continued", ("connection.tune", "idle"), instead(_with_heartbeat),
    "A client that sends PINGs to a server that requests them continues to send them", _goes_on_pinging,
)  # fmt: skip


# --- closes


def _closes_back(name: str) -> Rule:
    """A CLOSE is answered by a CLOSE of the same thing, unless it answers one of the client's."""
    key = f"{name.partition('.')[0]}_id"

    def rule(talk: Conversation) -> Iterator[Looked]:
        begun_ns = talk.talk.hostile_ns or 0
        close = next((s for s in talk.by_server(name) if s.at_ns >= begun_ns), None)
        if close is None:
            return
        id = close.what.args.get(key)
        answers = [s for s in _since(talk, name) if s.what.args.get(key) == id]
        if answers or talk.talk.ended:
            yield Looked(close, bool(answers), "never answered")

    return rule


def _leaves_the_channel(talk: Conversation) -> Iterator[Looked]:
    """After its answer to CHANNEL CLOSE, a client sends nothing for that channel or for handles on it."""
    closed: set[int] = set()
    handles: set[int] = set()
    for said, frame, books in walk(talk):
        on_it = {h for h, book in books.handles.items() if book["channel_id"] in closed}
        channel, handle = frame.args.get("channel_id"), frame.args.get("handle_id")
        if frame.name in ("channel.open", "handle.open"):
            closed.discard(channel or 0)
            handles.discard(handle or 0)
        elif channel in closed or handle in handles | on_it:
            yield Looked(said, frame.name.endswith(".close"), "its channel is closed")
        elif frame.name == "channel.close":
            yield Looked(said, True)
            closed.add(channel or 0)
            handles |= {h for h, book in books.handles.items() if book["channel_id"] == channel}


def _close(name: str, code: int, **ids: Any) -> bytes:
    return command_frame(name, reply_code=code, reply_text="on purpose", **ids)


for _code in _CODES:
    for _point in ("open", "channel", "handle", "notify"):
        of.asked(
            globals(), f"close.{_code}.{_point}", "connection/summary/client/close", of.POINTS[_point],
            all_of([_close("connection.close", _code)]),
            f"A client answers CONNECTION CLOSE with code {_code} instead of {of.POINTS[_point][0]}",
            _closes_back("connection.close"),
        )  # fmt: skip
    for _point, _row in (
        ("handle", "channel/summary/client/close"),
        ("notify", "scenarios/errors/client-answers"),
    ):
        of.asked(
            globals(), f"channel-close.{_code}.{_point}", _row, of.POINTS[_point],
            all_of([_close("channel.close", _code, channel_id=1)]),
            f"A client answers CHANNEL CLOSE with code {_code} instead of {of.POINTS[_point][0]}",
            _closes_back("channel.close"),
        )  # fmt: skip
    of.asked(
        globals(), f"handle-close.{_code}.notify", "handle/summary/client/close", of.POINTS["notify"],
        all_of([_close("handle.close", _code, handle_id=1)]),
        f"A client answers HANDLE CLOSE with code {_code} instead of handle.notify", _closes_back("handle.close"),
    )  # fmt: skip
for _point in ("handle", "notify"):
    of.asked(
        globals(), f"channel-close.last.{_point}", "scenarios/errors/client-closes", of.POINTS[_point],
        all_of([_close("channel.close", 541, channel_id=1)]),
        f"A client sends nothing more on a channel that the server closed instead of {of.POINTS[_point][0]}",
        _leaves_the_channel,
    )  # fmt: skip


# --- odd, but legal

for _point, _at in of.POINTS.items():
    of.allowed(
        globals(), f"escaped.{_point}", "frames/escape", _at, of.changed(escaped=True),
        f"A client reads {_at[0]} with an escaped size",
    )  # fmt: skip
for _point in ("channel", "handle", "notify"):
    of.allowed(
        globals(), f"ping.unasked.{_point}", "tuning/heartbeat/hint", of.POINTS[_point],
        behind(command_frame("connection.ping") * 100),
        f"A client accepts a hundred PINGs after {of.POINTS[_point][0]}",
    )  # fmt: skip


def _twice(frame: bytes) -> bytes:
    fields = list(of.read(frame).args["options"])
    return of.again(frame, options=[*fields, *((n, t) for n, t in fields if n == "FRAME_MAX")])


of.allowed(
    globals(), "tune.duplicates", "tables/duplicates", of.POINTS["tune"], instead(_twice),
    "A client uses the first of two options of the same name",
)  # fmt: skip
