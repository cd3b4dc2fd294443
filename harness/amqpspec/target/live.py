"""A target that can be spoken to: its address, its principals, and how to restart it.

Knows: the reference brokers, known brokers, shell hooks. Must not know: cases, verdicts.
A broker that was not started by us is never stopped by us.
"""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login, Nodes
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.dialects import widest
from amqpspec.target.config import ConfigError, Target, secret_passwords
from amqpspec.target.known import KnownBroker, Running, known_broker
from amqpspec.target.proxies import proxy_of
from amqpspec.target.url import AmqpUrl, parse_url

_HOOK_PATIENCE_S = 120.0
_REVIVAL_S = 0.5
REFERENCE_LOGINS = {"second": ("second", "second"), "limited": ("limited", "limited")}
REFERENCE_VHOSTS = {"second": "second", "forbidden": "forbidden"}


class TargetError(OSError):
    """The target cannot be used as configured; one line says why."""


@dataclass(frozen=True, slots=True)
class Live:
    """A running target; ``revive`` restarts one that no longer answers; if it is None, ``restart`` does."""

    target: Target
    url: AmqpUrl
    login: Login
    logins: Mapping[str, Login] = field(default_factory=dict)
    vhosts: Mapping[str, str] = field(default_factory=dict)
    restart: Callable[[], None] | None = None
    revive: Callable[[], None] | None = None
    log: Path | None = None
    pid: int | None = None

    @property
    def secrets(self) -> tuple[str, ...]:
        """Passwords that must not reach the evidence, of any user."""
        logins = (self.login, *self.logins.values())
        return secret_passwords([*self.target.secrets, *(login.password for login in logins)])

    @property
    def nodes(self) -> Nodes:
        """How queues are created as far as the configuration says."""
        target, hooks = self.target, self.target.hooks
        known = {key: text for key in ("address", "hostname") if (text := getattr(target, key))}
        way = "hooks" if "make-node" in hooks else target.nodes
        return Nodes(
            way, make_hook=hooks.get("make-node", ""), delete_hook=hooks.get("delete-node", ""), **known
        )

    @property
    def endpoint(self) -> Endpoint:
        """Where to connect."""
        return endpoint_of(self.url)


def endpoint_of(url: AmqpUrl) -> Endpoint:
    """Where a URL leads; raises ConfigError for TLS files that cannot be used, a missing extra, and a wrong proxy."""
    if url.path and find_spec("wsproto") is None:
        raise ConfigError(f"{url.redacted}: WebSocket needs wsproto: pip install 'amqpspec[ws]'")
    tls = _tls(url) if url.tls else None
    proxy = proxy_of(url) if url.path and url.tls else None
    return Endpoint(url.host, url.port, tls, url.query.get("server_name_indication", ""), url.path, proxy)


@contextmanager
def live(
    target: Target,
    *,
    faults: Collection[str] = (),
    late_s: float = 0.0,
    state_dir: Path = Path(".brokers"),
) -> Iterator[Live]:
    """The target, running; an embedded reference broker is started, and stopped afterwards.

    ``faults`` and ``late_s`` are for reference brokers; see ``ReferenceBroker``.

    Raises TargetError, and ConfigError for TLS files that cannot be used.
    """
    if target.broker == "reference":
        with ReferenceBroker(widest(target.dialect), faults=faults, late_s=late_s) as broker:
            yield live_reference(target, broker)
    elif faults:
        raise ConfigError(f"faults belong to reference brokers, {target.name} is none")
    elif target.broker:
        yield _known(target, state_dir)
    else:
        with _hooked(target):
            yield _configured(target)


def live_reference(target: Target, broker: ReferenceBroker) -> Live:
    """An embedded reference broker that is running."""
    url = parse_url(broker.url)
    return Live(
        target,
        url,
        _login(url),
        {role: Login(user, password) for role, (user, password) in REFERENCE_LOGINS.items()},
        REFERENCE_VHOSTS,
        broker.restart,
    )


def _known(target: Target, state_dir: Path) -> Live:
    broker = known_broker(target.broker, state_dir / target.broker)
    running = broker.running()
    if running is None:
        hint = f"amqpspec brokers start {target.broker}"
        raise TargetError(
            f"expected a running broker, actual: none that was started from this directory; try: {hint}"
        )
    _check_limit(target, running)
    url = parse_url(running.url)
    logins = {role: Login(user, password) for role, (user, password) in running.users.items()}
    return Live(
        replace(target, url=url),
        url,
        _login(url),
        logins | dict(target.logins),
        {k: v for k, v in running.vhosts.items() if k != "default"} | dict(target.vhosts),
        lambda: _restart(broker),
        lambda: _revive(broker),
        running.log,
        running.pid,
    )


def _check_limit(target: Target, running: Running) -> None:
    """Check that a broker runs under its limit; report one that was started otherwise, and leave it alone."""
    wanted_mib, actual_mib = target.memory_limit_mib, running.memory_limit_mib
    if wanted_mib and (actual_mib is None or actual_mib > wanted_mib):
        hint = f"amqpspec brokers restart {target.broker} --memory-limit {wanted_mib}"
        raise TargetError(
            f"expected {target.name} under a memory limit of {wanted_mib} MiB, actual: "
            f"{f'{actual_mib} MiB' if actual_mib else 'none'}; try: {hint}"
        )


def _restart(broker: KnownBroker) -> None:
    broker.restart()


def _revive(broker: KnownBroker) -> None:
    broker.restart(stop_timeout_s=_REVIVAL_S)


@contextmanager
def _hooked(target: Target) -> Iterator[None]:
    """Run the target's start hook before, and its stop hook after, if it has them."""
    if "start" in target.hooks:
        run_hook("start", target.hooks["start"])
    try:
        yield
    finally:
        if "stop" in target.hooks:
            run_hook("stop", target.hooks["stop"])


def _configured(target: Target) -> Live:
    assert target.url is not None
    hook = target.hooks.get("restart")
    restart = (lambda: run_hook("restart", hook)) if hook else None
    endpoint_of(target.url)
    return Live(
        target,
        target.url,
        _login(target.url),
        target.logins,
        target.vhosts,
        restart,
        None,
        target.log,
        _pid(target.pid),
    )


def run_hook(name: str, command: str, **facts: str) -> None:
    """Run one shell hook of targets.yaml; raises TargetError if it fails or hangs.

    ``facts`` are what it finds in its environment, as ``AMQPSPEC_NAME``.
    """
    told = {f"AMQPSPEC_{key.upper()}": value for key, value in facts.items()}
    try:
        done = subprocess.run(
            command,
            shell=True,
            capture_output=True,
            text=True,
            timeout=_HOOK_PATIENCE_S,
            env={**os.environ, **told},
        )
    except subprocess.TimeoutExpired as error:
        raise TargetError(f"hook {name}: no end within {_HOOK_PATIENCE_S:.0f} s: {command}") from error
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no output"]
        raise TargetError(f"hook {name}: exit code {done.returncode}, expected 0: {command}: {last[0]}")


def _login(url: AmqpUrl) -> Login:
    mechanism = url.query.get("auth_mechanism", "PLAIN").upper()
    return Login(url.user, url.password, url.vhost, mechanism)


def _pid(path: Path | None) -> int | None:
    try:
        return int(path.read_text().split()[0]) if path else None
    except (OSError, ValueError, IndexError):
        return None


def _tls(url: AmqpUrl) -> ssl.SSLContext:
    query = url.query
    files = [f"{key} {query[key]}" for key in ("cacertfile", "certfile", "keyfile") if key in query]
    try:
        context = ssl.create_default_context(cafile=query.get("cacertfile"))
        if query.get("verify") == "verify_none":
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if "certfile" in query:
            context.load_cert_chain(query["certfile"], query.get("keyfile"))
    except (OSError, ssl.SSLError) as error:
        why = error.strerror or error
        raise ConfigError(f"{url.redacted}: {', '.join(files)}: cannot be used: {why}") from error
    return context
