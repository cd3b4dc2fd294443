"""What a case could see of its world, as data: recorded before the case, and the world of the case when it is derived.

Knows: contexts and their JSON form. Must not know: transcripts, sockets, verdicts.
Secret passwords are starred and keep their length, so that a derived login is as long as the recorded one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, replace
from typing import Any

from amqpspec.peer.context import Context, Login, Nodes, Patience
from amqpspec.spec.model import Requirement
from amqpspec.wire.transport import Transport

_NODES = ("way", "address", "hostname")


def conditions_of(context: Context, secrets: Collection[str]) -> dict[str, Any]:
    """The conditions of a case as JSON data."""
    return {
        "tag": context.tag,
        "nodes": {key: getattr(context.nodes, key) for key in _NODES},
        "patience": asdict(context.patience),
        "login": _said(context.login, secrets),
        "logins": {role: _said(login, secrets) for role, login in context.logins.items()},
        "vhosts": dict(context.vhosts),
        "restart": context.restart_hook is not None,
    }


def context_of(
    said: Mapping[str, Any],
    dialect: str,
    requirements: tuple[Requirement, ...],
    dial: Callable[[], Transport],
    restart: Callable[[], None],
    make_node: Callable[[Context, str, str], None] | None = None,
) -> Context:
    """The context that these conditions describe; raises KeyError, TypeError, ValueError, AttributeError."""
    return Context(
        dialect=dialect,
        requirements=requirements,
        dial=dial,
        login=_login(said["login"]),
        logins={role: _login(login) for role, login in said["logins"].items()},
        vhosts={str(role): str(name) for role, name in said["vhosts"].items()},
        patience=Patience(**{key: float(value) for key, value in said["patience"].items()}),
        tag=str(said["tag"]),
        nodes=Nodes(**{key: str(said["nodes"][key]) for key in _NODES}),
        make_node=make_node,
        restart_hook=restart if said["restart"] else None,
    )


def _said(login: Login, secrets: Collection[str]) -> dict[str, str]:
    stars = "*" * len(login.password.encode())
    return asdict(replace(login, password=stars) if login.password in secrets else login)


def _login(said: Mapping[str, Any]) -> Login:
    return Login(**{key: str(value) for key, value in said.items()})
