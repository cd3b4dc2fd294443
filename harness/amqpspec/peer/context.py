"""The context of a case: logins, waiting times, unique names.

Knows: the facts of one case in one run. Must not know: sockets, files, verdicts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from amqpspec.peer.events import Arrival, Reaction
from amqpspec.spec.model import Requirement
from amqpspec.wire.transport import Transport

_T = TypeVar("_T")

CLIENT_PROPERTIES: Mapping[str, Any] = {
    "product": "amqpspec",
    "version": "0.1",
    "platform": "Python",
    "information": "conformance test",
    "copyright": "MIT",
}
"""What a peer says of itself where the dialect has properties of clients."""


@dataclass(frozen=True, slots=True)
class Login:
    """A principal and its virtual host."""

    user: str = "guest"
    password: str = "guest"
    vhost: str = "/"
    mechanism: str = "PLAIN"


@dataclass(frozen=True, slots=True)
class Patience:
    """Waiting times in seconds: for an expected answer, for a quick reaction, for a connection to end."""

    reply_s: float = 5.0
    quiet_s: float = 0.3
    ending_s: float = 12.0

    @classmethod
    def measured(cls, round_trip_s: float, scale: float = 1.0, ending_s: float = 12.0) -> Patience:
        """Waiting times for a target whose round trip was measured; one factor scales all of them."""
        return cls(
            reply_s=max(5.0, 200 * round_trip_s) * scale,
            quiet_s=max(0.3, 20 * round_trip_s) * scale,
            ending_s=ending_s * scale,
        )

    def unhurried(self) -> Patience:
        """The same waiting times, but at least the defaults."""
        usual = Patience()
        return Patience(
            max(self.reply_s, usual.reply_s),
            max(self.quiet_s, usual.quiet_s),
            max(self.ending_s, usual.ending_s),
        )


class Unmet(Exception):
    """A necessary step of the case did not happen: blocked before the claim, a failure after it.

    ``seen`` is the arrival instead, if there was one.
    """

    def __init__(self, expected: str, observed: str, seen: Arrival | Reaction | None = None) -> None:
        super().__init__(f"expected {expected}, observed {observed}")
        self.expected, self.observed, self.seen = expected, observed, seen

    @property
    def code(self) -> int | str | None:
        """The reply code or error condition of the refusal that arrived instead, if there was one."""
        refusal = None if self.seen is None else self.seen.refusal
        return None if refusal is None else refusal.code


class Withheld(Unmet):
    """The target lives, and holds back what had to be sent or what had to follow from it, as it may.

    It gave no credit or no room in its window, turned contents off, or blocks publishers.
    """


def owed(value: _T | None, what: str) -> _T:
    """A value from the target or an earlier step; raises Unmet if it is missing. This is not an assertion."""
    if value is None:
        raise Unmet(what, "none")
    return value


class OutOfReach(Exception):
    """The case does not apply, because of an option or limit that the target may choose.

    The target announces it, its profile documents it, or its answer says so explicitly; ``seen`` is that answer.
    """

    def __init__(self, why: str, seen: Arrival | Reaction | None = None) -> None:
        super().__init__(why)
        self.seen = seen


class MissingHook(Exception):
    """The target's configuration lacks something that the case needs (a restart, a second user)."""


class BudgetSpent(Exception):
    """The case has used up its time."""


@dataclass(slots=True)
class Cleanup:
    """The entities that a case created by name, to be deleted after it: (vhost, kind, name)."""

    entities: list[tuple[str, str, str]] = field(default_factory=list)
    on_making: Callable[[str, str, str], None] = lambda vhost, kind, name: None
    """Called with each of them before it is created."""

    def add(self, vhost: str, kind: str, name: str) -> None:
        """Record an entity."""
        if (vhost, kind, name) not in self.entities:
            self.on_making(vhost, kind, name)
            self.entities.append((vhost, kind, name))


LINKS = "links"
"""The value of ``way`` for queues that links create."""


@dataclass(frozen=True, slots=True)
class Nodes:
    """How a target's queues are created if the protocol cannot declare them; the keys of targets.yaml.

    ``way`` is empty if the target's open decides. ``address`` is the target's form of a node's address, with
    ``{name}`` for its name; ``hostname`` the form of a virtual host if the protocol only has hostnames. ``make_hook``
    and ``delete_hook`` are shell commands.
    """

    way: str = ""
    address: str = "{name}"
    hostname: str = "{name}"
    make_hook: str = ""
    delete_hook: str = ""

    def address_of(self, name: str) -> str:
        """The address of a node by its name."""
        return self.address.replace("{name}", name)

    @property
    def are_made(self) -> bool:
        """Whether amqpspec creates and deletes them; otherwise links create them."""
        return self.way not in ("", LINKS)


@dataclass(frozen=True, slots=True)
class Context:
    """The context of one case;

    ``dialect`` is the id of the dialect with all overlays. ``make_node`` creates a node for a link: a context, the
    virtual host, the address. ``redials`` records connections that were tried again; ``shrinks`` is whether a failing
    history is minimized.
    """

    dialect: str
    requirements: tuple[Requirement, ...]
    dial: Callable[[], Transport]
    login: Login = field(default_factory=Login)
    logins: Mapping[str, Login] = field(default_factory=dict)
    vhosts: Mapping[str, str] = field(default_factory=dict)
    patience: Patience = field(default_factory=Patience)
    tag: str = "amqpspec"
    nodes: Nodes = field(default_factory=Nodes)
    make_node: Callable[[Context, str, str], None] | None = None
    restart_hook: Callable[[], None] | None = None
    cleanup: Cleanup = field(default_factory=Cleanup)
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    redials: list[str] = field(default_factory=list)
    shrinks: bool = True

    def name(self, hint: str = "x") -> str:
        """A name that no other case and no other run uses: letters, digits, hyphens, periods; at most 127 octets.

        Other characters of the tag become hyphens, and reserved names are avoided.
        """
        name = f"{self.tag}.{hint}.{next(self.numbers)}"[-127:]
        legal = "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "-" for c in name)
        return "amq-" + legal[4:] if legal.startswith("amq.") else legal

    def principal(self, role: str) -> Login:
        """The login of a role (``second``, ``limited``); raises MissingHook if the target has none."""
        if role not in self.logins:
            raise MissingHook(f"no user for role {role!r} is configured for this target")
        return self.logins[role]

    def vhost(self, role: str) -> str:
        """The virtual host of a role (``second``, ``forbidden``); raises MissingHook if there is none."""
        if role not in self.vhosts:
            raise MissingHook(f"no virtual host for role {role!r} is configured for this target")
        return self.vhosts[role]

    def restart(self) -> None:
        """Restart the target and return when it serves again; raises MissingHook without a hook."""
        if self.restart_hook is None:
            raise MissingHook("no restart hook is configured for this target")
        self.restart_hook()

    def in_vhost(self, vhost: str) -> Login:
        """The default login, opening another virtual host."""
        return replace(self.login, vhost=vhost)
