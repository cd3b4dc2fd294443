"""RabbitMQ from the Debian package, run without a service manager.

Knows: the environment, configuration and definitions of a RabbitMQ node that keeps to the loopback interface.
Must not know: what RabbitMQ does right or wrong.

The machine's own package is the usual release. Others come from other releases of Debian, each in a separate folder,
and run inside it: see ``folder``.

Options that alter what a client sees stay at RabbitMQ's defaults. Setting one ``tcp_listen_options`` key
drops the whole default list, so the list is repeated with the longer backlog as its only change: the linger
of zero seconds is what makes RabbitMQ end connections with RST.

Before release 4 AMQP 1.0 is a plugin, which is always on; it declares queues for links, and that protocol cannot delete
them: those whose names begin with ``NODES`` are given up a while after they were used last.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any, ClassVar

from amqpspec.net.ports import LOOPBACK
from amqpspec.target.known.base import NODES, USERS, BrokerError, Command, KnownBroker, Options, Ports, Tls
from amqpspec.target.known.folder import PATH, STATE, DebianFolder
from amqpspec.target.known.install import install_package

PACKAGE = "rabbitmq-server"
RELEASES = {"4.0": "trixie", "4.3": "sid"}
"""Which release of Debian carries which one of RabbitMQ."""
NODE = "amqpspec-rabbitmq@localhost"
PLUGINS = ("rabbitmq_amqp1_0",)
UNUSED_MS = 600_000
SCRIPTS = Path("/usr/lib/rabbitmq/lib")
DEFINITIONS = "definitions.json"
TLS_FILES = ("ca", "cert", "key")
BACKLOG = 4096
DISK_FREE_LIMIT = "50MB"
MEMORY_HIGH_WATERMARK = "2GiB"
DATA_LIMIT_OCTETS = 4 * 2**30
NOTHING = "^$"
ANYTHING = ".*"


class RabbitMQ(KnownBroker):
    """One RabbitMQ node with an epmd of its own."""

    name = "rabbitmq"
    stored = "mnesia"
    ready_mark = b"Server startup complete"
    dialects = ("amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0")
    extra_ports = 2
    takes_plugins = True
    takes_tls = True
    takes_release = True
    users: ClassVar = USERS
    vhosts: ClassVar = {"default": "/", "second": "second", "forbidden": "forbidden"}

    def __init__(self, state_dir: Path | None = None, *, release: str = "", **options: Any) -> None:
        if release not in ("", *RELEASES):
            known = f"{' or '.join(RELEASES)}, or none for the machine's own package"
            raise BrokerError(f"{self.name}: expected version {known}; requested {release}")
        super().__init__(state_dir, release=release, **options)

    @property
    def folder(self) -> DebianFolder | None:
        """The folder of a release that is not the machine's package."""
        return DebianFolder(self.state_dir / "root", RELEASES[self.release]) if self.release else None

    def version(self) -> str | None:
        """The version in the name of the newest installed directory."""
        home = self._home()
        return home.name.partition("-")[2] if home else None

    def install(self) -> None:
        """Installs the Debian package; its own service is neither used nor touched."""
        if self.version() is not None:
            return
        if self.folder is None:
            install_package(PACKAGE)
            return
        self.folder.install(PACKAGE)
        found = self.version() or "none"
        if not found.startswith(f"{self.release}."):
            shutil.rmtree(self.folder.path)
            raise BrokerError(
                f"{self.full_name}: expected that version in Debian's {self.folder.release}, found {found}"
            )

    def _home(self) -> Path | None:
        """The newest installed server directory."""
        below = self.folder.path / SCRIPTS.relative_to("/") if self.folder else SCRIPTS
        homes = [path for path in below.glob("rabbitmq_server-*") if (path / "sbin" / PACKAGE).exists()]
        return max(
            homes, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)], default=None
        )

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        epmd_port, distribution_port = ports.extra
        self._write_configuration(ports, options)
        env = self._environment(epmd_port, distribution_port)
        epmd = self._inside((self._epmd(), "-address", LOOPBACK, "-port", str(epmd_port)))
        server = self._inside((self._server(), "-noinput"))
        return (
            Command(epmd, env, ready_port=epmd_port),
            Command(server, env, data_limit_octets=DATA_LIMIT_OCTETS),
        )

    def _inside(self, argv: tuple[str, ...]) -> tuple[str, ...]:
        return self.folder.command(argv, self.state_dir) if self.folder else argv

    @property
    def _here(self) -> Path:
        """The state directory as the broker sees it."""
        return STATE if self.folder else self.state_dir

    def _server(self) -> str:
        home = self._home()
        if home is None:
            raise BrokerError(f"{self.full_name}: expected a server below {SCRIPTS}, found none")
        script = home / "sbin" / PACKAGE
        return f"/{script.relative_to(self.folder.path)}" if self.folder else str(script)

    def _epmd(self) -> str:
        found = "/usr/bin/epmd" if self.folder else shutil.which("epmd")
        if found is None:
            raise BrokerError("rabbitmq: expected epmd (package erlang-base) on PATH, found none")
        return found

    def _write_configuration(self, ports: Ports, options: Options) -> None:
        for directory in ("home", "conf.d", "log", "mnesia"):
            (self.state_dir / directory).mkdir(parents=True, exist_ok=True)
        (self.state_dir / DEFINITIONS).write_text(json.dumps(self._definitions(), indent=2) + "\n")
        lines = _configuration(ports, self._here / DEFINITIONS)
        if options.tls:
            lines += _tls(self._copied(options.tls), ports)
        (self.state_dir / "rabbitmq.conf").write_text("\n".join(lines) + "\n")
        plugins = dict.fromkeys((*(() if self.folder else PLUGINS), *options.plugins))
        (self.state_dir / "enabled_plugins").write_text(f"[{','.join(plugins)}].\n")
        (self.state_dir / "rabbitmq-env.conf").write_text("")

    def _copied(self, tls: Tls) -> Tls:
        """Copies of TLS files where the broker sees them, by its own paths."""
        for name in TLS_FILES:
            copy = self.state_dir / f"{name}.pem"
            copy.write_bytes(Path(getattr(tls, name)).read_bytes())
            copy.chmod(0o600)
        return Tls(*(self._here / f"{name}.pem" for name in TLS_FILES))

    def _environment(self, epmd_port: int, distribution_port: int) -> dict[str, str]:
        here = self._here
        inherited = {k: v for k, v in os.environ.items() if not re.match(r"RABBITMQ_|ERL_|HOME$", k)}
        if self.folder:
            inherited |= {"PATH": PATH, "LC_ALL": "C.UTF-8"}
        return inherited | {
            "HOME": str(here / "home"),
            "ERL_EPMD_ADDRESS": LOOPBACK,
            "ERL_EPMD_PORT": str(epmd_port),
            "ERL_CRASH_DUMP_SECONDS": "0",
            "RABBITMQ_ALLOW_INPUT": "1",
            "RABBITMQ_CONF_ENV_FILE": str(here / "rabbitmq-env.conf"),
            "RABBITMQ_CONFIG_FILE": str(here / "rabbitmq.conf"),
            "RABBITMQ_CONFIG_FILES": str(here / "conf.d"),
            "RABBITMQ_DIST_PORT": str(distribution_port),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(here / "enabled_plugins"),
            "RABBITMQ_LOG_BASE": str(here / "log"),
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_MNESIA_BASE": str(here / "mnesia"),
            "RABBITMQ_NODENAME": NODE,
            "RABBITMQ_PID_FILE": str(here / "rabbitmq.pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def _definitions(self) -> dict[str, Any]:
        default, second, limited = (self.users[role][0] for role in ("default", "second", "limited"))
        open_vhosts = [self.vhosts["default"], self.vhosts["second"]]
        return {
            "users": [_user(*login, administrator=login[0] == default) for login in self.users.values()],
            "vhosts": [{"name": vhost} for vhost in self.vhosts.values()],
            "permissions": [
                *(_permission(user, vhost, ANYTHING) for user in (default, second) for vhost in open_vhosts),
                _permission(limited, self.vhosts["default"], NOTHING),
            ],
            "policies": [_expiry(vhost) for vhost in open_vhosts],
        }


def _configuration(ports: Ports, definitions: Path) -> list[str]:
    return [
        f"listeners.tcp.1 = {LOOPBACK}:{ports.amqp}",
        f"tcp_listen_options.backlog = {BACKLOG}",
        "tcp_listen_options.nodelay = true",
        "tcp_listen_options.linger.on = true",
        "tcp_listen_options.linger.timeout = 0",
        "tcp_listen_options.exit_on_close = false",
        f"disk_free_limit.absolute = {DISK_FREE_LIMIT}",
        f"vm_memory_high_watermark.absolute = {MEMORY_HIGH_WATERMARK}",
        f"load_definitions = {definitions}",
    ]


def _tls(files: Tls, ports: Ports) -> list[str]:
    return [
        f"listeners.ssl.1 = {LOOPBACK}:{ports.tls}",
        f"ssl_options.cacertfile = {files.ca}",
        f"ssl_options.certfile = {files.cert}",
        f"ssl_options.keyfile = {files.key}",
        "ssl_options.verify = verify_none",
        "ssl_options.fail_if_no_peer_cert = false",
    ]


def _user(name: str, password: str, *, administrator: bool) -> dict[str, str]:
    salt = os.urandom(4)
    digest = hashlib.sha256(salt + password.encode()).digest()
    return {
        "name": name,
        "password_hash": base64.b64encode(salt + digest).decode(),
        "hashing_algorithm": "rabbit_password_hashing_sha256",
        "tags": "administrator" if administrator else "",
    }


def _permission(user: str, vhost: str, pattern: str) -> dict[str, str]:
    return {"user": user, "vhost": vhost, "configure": pattern, "write": pattern, "read": pattern}


def _expiry(vhost: str) -> dict[str, Any]:
    return {
        "vhost": vhost,
        "name": "unused",
        "pattern": f"^{re.escape(NODES)}",
        "apply-to": "queues",
        "definition": {"expires": UNUSED_MS},
        "priority": 0,
    }
