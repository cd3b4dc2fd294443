"""Class session: each state of a channel and each control that may come in it, as a table.

Knows: states, controls, what a channel without a session owes. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.books import Session
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import allows, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._sessions import fails

_IDS: Mapping[str, Any] = {"commands": ((0, 0),)}
CONTROLS: Mapping[str, Mapping[str, Any]] = {
    "request-timeout": {"timeout": 0},
    "timeout": {"timeout": 0},
    "command-point": {"command_id": 0, "command_offset": 0},
    "expected": {"commands": ()},
    "confirmed": _IDS,
    "completed": _IDS,
    "known-completed": _IDS,
    "flush": {"completed": True},
    "gap": {"commands": ((7, 7),)},
}
"""The controls that need a session, with arguments that are legal if there is one."""


def _never_attached(peer: Peer) -> None:
    """Another channel has a session, this one never had."""
    peer.open_session(1)


def _detached(peer: Peer) -> None:
    """Its session was detached cleanly."""
    peer.open_session()
    peer.detach()


def _failed(peer: Peer) -> None:
    """Its session ended by an exception."""
    peer.open_session()
    fails(peer)
    peer.expect("session.detached", "session.detach")


WITHOUT: Mapping[str, Callable[[Peer], None]] = {
    "never-attached": _never_attached,
    "detached": _detached,
    "failed": _failed,
}
"""States in which a channel has no session."""


def _attached(peer: Peer) -> None:
    """There is a session, and no command-point."""
    peer.open_connection()
    peer.attach()


def _pointed(peer: Peer) -> None:
    """There is a session that has worked."""
    peer.open_session()
    peer.barrier()


WITH: Mapping[str, Callable[[Peer], None]] = {"attached": _attached, "working": _pointed}
"""States in which a channel has a session."""


def _needs(control: str) -> tuple[str, ...]:
    return ("gap",) if control == "gap" else ()


def _refused(state: str, control: str) -> None:
    def body(peer: Peer) -> Verdict:
        WITHOUT[state](peer)
        peer.send(f"session.{control}", **CONTROLS[control])
        return rejects_violation(peer, barrier=False, within_s=peer.patience_s)

    body.__module__ = __name__
    body.__doc__ = (
        f"The target answers {control} on a channel without a session ({state}) with detached, not-attached."
    )
    rows = ["session/attachment/discarded", "session/attachment/attached-first"]
    declared = case(f"session.states.{state}.{control}", covers=rows, needs=_needs(control))(body)
    globals()[f"{state}_{control}".replace("-", "_")] = declared


def _borne(state: str, control: str) -> None:
    def body(peer: Peer) -> Verdict:
        WITH[state](peer)
        peer.claim("no refusal, and the session continues to work")
        following = peer.sessions[0].next_id or 0
        args = {**CONTROLS[control], **({"command_id": following} if control == "command-point" else {})}
        for _ in "12":
            peer.send(f"session.{control}", **args)
        if state == "attached":
            peer.point()
        return allows(peer)

    body.__module__ = __name__
    body.__doc__ = f"The target accepts {control} in a session ({state}), even a second time."
    declared = case(
        f"session.states.{state}.{control}",
        covers=["session-layer/controls/idempotence"],
        needs=_needs(control),
    )(body)
    globals()[f"{state}_{control}".replace("-", "_")] = declared


for _control in CONTROLS:
    for _state in WITHOUT:
        _refused(_state, _control)
    for _state in WITH:
        _borne(_state, _control)


# --- the controls that need no session


def _declare_attaches(state: str) -> None:
    def body(peer: Peer) -> Verdict:
        WITHOUT[state](peer)
        peer.claim("attached with the name that was sent, and the session works")
        session = peer.sessions[0] = Session(peer.name("s").encode(), 0)
        answer = peer.call_attach(session)
        peer.point()
        peer.barrier()
        return equals(peer, answer["name"], session.name, "name")

    body.__module__ = __name__
    body.__doc__ = f"The target answers attach on a channel without a session ({state}) with attached."
    declared = case(f"session.states.{state}.attach", covers=["session/attach/answered"])(body)
    globals()[f"{state}_attach".replace("-", "_")] = declared


def _declare_detaches(state: str) -> None:
    def body(peer: Peer) -> Verdict:
        WITHOUT[state](peer)
        peer.claim("detached with the name that was sent; the channel can be used")
        names = [peer.name("none").encode() for _ in "12"]
        found = []
        for name in names:
            peer.send("session.detach", name=name)
            found.append(peer.expect("session.detached")["name"])
        peer.open_session()
        peer.barrier()
        return equals(peer, found, names, "names")

    body.__module__ = __name__
    body.__doc__ = f"The target answers detach on a channel without a session ({state}) with detached."
    declared = case(f"session.states.{state}.detach", covers=["session/detach/confirmed"])(body)
    globals()[f"{state}_detach".replace("-", "_")] = declared


for _state in WITHOUT:
    _declare_attaches(_state)
    _declare_detaches(_state)
