"""Users and what they may do.

Knows: names, passwords, the virtual hosts a user may open, whether a user may do anything there. Must not know:
SASL, how a refusal is sent.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class User:
    """One user; ``may_work`` is False for one who may log in and open a virtual host, and nothing else."""

    name: str
    password: str
    vhosts: frozenset[str]
    may_work: bool = True


DEFAULT_VHOSTS = ("/", "second", "forbidden")
DEFAULT_USERS = (
    User("guest", "guest", frozenset({"/", "second"})),
    User("second", "second", frozenset(DEFAULT_VHOSTS)),
    User("limited", "limited", frozenset({"/"}), may_work=False),
)
