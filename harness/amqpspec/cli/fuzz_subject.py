"""Derives from a running target what the fuzzer needs: its address, its logins, its process, its restart hook.

Knows: targets, known brokers, mechanisms that a campaign can log in with. Must not know: campaigns, findings.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from amqpspec.cli.common import STATE_DIR
from amqpspec.fuzz.driver import fuzz_driver
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.states.model import Values
from amqpspec.peer.context import Login
from amqpspec.target.config import ConfigError
from amqpspec.target.known import BrokerError, known_broker
from amqpspec.target.live import Live


def subject_of(running: Live, options: dict[str, Any]) -> Subject:
    """A running target for the fuzzer; an embedded reference broker has no separate process."""
    target = running.target
    _check_mechanism(running)
    queue = target.address.replace("{name}", "amqpspec.fuzz.q")
    pid = _Pid(running)
    others = [
        _values(login, running.vhosts.get(role, login.vhost), queue)
        for role, login in running.logins.items()
        if role == "second"
    ]
    return Subject(
        name=target.name, dialect=target.dialect,
        address=Address.of(running.url),
        values=_values(running.login, running.login.vhost, queue), others=tuple(others),
        restart=_restart(running, pid), pid=lambda: pid.number, log=running.log,
        connections=min(options["connections"], max(target.connections, 128)),
        patience=options["patience"], url=_public(running), thorough=options.get("thorough", False),
        replay=_replay(running, options),
    )  # fmt: skip


def _replay(running: Live, options: dict[str, Any]) -> tuple[str, ...]:
    """The options that a replay needs besides the finding: the user's files, and a placeholder for a URL with a
    secret.
    """
    files = (("--targets", options.get("targets_file")), ("--scope", options.get("scope")))
    named = tuple(word for option, path in files if path for word in (option, str(Path(path).resolve())))
    target = running.target
    # A target given by URL has no name in targets.yaml, and its password is not written down.
    is_url = target.url is not None and target.name == f"{target.url.host}:{target.url.port}"
    secret = is_url and not target.broker and not _public(running)
    url = running.url.redacted.replace("://", "://USER:PASSWORD@", 1)
    return (*((url,) if secret else ()), *named)


def _public(running: Live) -> str:
    """The URL of a target without a name in targets.yaml; empty if it contains a secret."""
    if running.target.broker or running.target.url is None or running.secrets:
        return ""
    return running.url.whole


def _check_mechanism(running: Live) -> None:
    """A login with several responses is not part of a way, because a way is the same for all connections."""
    known = fuzz_driver(running.target.dialect).mechanisms
    if running.login.mechanism not in known:
        raise ConfigError(
            f"{running.url.redacted}: expected a login by one of {', '.join(known)}, actual {running.login.mechanism}"
        )


class _Pid:
    """The target's pid; looked up again after a restart."""

    def __init__(self, running: Live) -> None:
        self._running = running
        self.number = running.pid

    def look(self) -> None:
        """Look the pid up again."""
        target = self._running.target
        if target.broker and target.broker != "reference":
            found = known_broker(target.broker, STATE_DIR / target.broker).running()
            self.number = found.pid if found else None
        elif target.pid is not None:
            try:
                self.number = int(target.pid.read_text().split()[0])
            except (OSError, ValueError, IndexError):
                self.number = None


def _restart(running: Live, pid: _Pid) -> Callable[[], None] | None:
    again = running.revive or running.restart
    if again is None:
        return None

    def restart() -> None:
        try:
            again()
        except BrokerError as error:
            raise OSError(str(error)) from error
        pid.look()

    return restart


def _values(login: Login, vhost: str, queue: str) -> Values:
    return Values(
        user=login.user, password=login.password, vhost=vhost, queue=queue, mechanism=login.mechanism
    )
