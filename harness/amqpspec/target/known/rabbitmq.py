"""RabbitMQ from the Debian package, run without a service manager.

Knows: the environment, configuration and definitions of a RabbitMQ node that keeps to the loopback interface.
Must not know: what RabbitMQ does right or wrong.

Options that alter what a client sees stay at RabbitMQ's defaults. Setting one ``tcp_listen_options`` key
drops the whole default list, so the list is repeated with the longer backlog as its only change: the linger
of zero seconds is what makes RabbitMQ end connections with RST.

The plugin for AMQP 1.0 is always on; it declares queues for links, and that protocol cannot delete them: those whose
names begin with ``NODES`` are given up a while after they were used last.
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
from amqpspec.target.known.base import BrokerError, Command, KnownBroker, Options, Ports
from amqpspec.target.known.install import install_package

NODE = "amqpspec-rabbitmq@localhost"
PLUGINS = ("rabbitmq_amqp1_0",)
NODES = "amqpspec-1-0."
UNUSED_MS = 600_000
SCRIPTS = Path("/usr/lib/rabbitmq/lib")
BACKLOG = 4096
DISK_FREE_LIMIT = "50MB"
MEMORY_HIGH_WATERMARK = "2GiB"
DATA_LIMIT_OCTETS = 4 * 2**30
NOTHING = "^$"
ANYTHING = ".*"


class RabbitMQ(KnownBroker):
    """One RabbitMQ node with an epmd of its own."""

    name = "rabbitmq"
    ready_mark = b"Server startup complete"
    dialects = ("amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0")
    extra_ports = 2
    takes_plugins = True
    takes_tls = True
    users: ClassVar = {
        "default": ("guest", "guest"),
        "second": ("second", "second"),
        "limited": ("limited", "limited"),
    }
    vhosts: ClassVar = {"default": "/", "second": "second", "forbidden": "forbidden"}

    def version(self) -> str | None:
        """The version in the name of the newest installed directory."""
        home = _home()
        return home.name.partition("-")[2] if home else None

    def install(self) -> None:
        """Installs the Debian package; its own service is neither used nor touched."""
        if self.version() is None:
            install_package("rabbitmq-server")

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        epmd_port, distribution_port = ports.extra
        self._write_configuration(ports, options)
        env = self._environment(epmd_port, distribution_port)
        epmd = (_epmd(), "-address", LOOPBACK, "-port", str(epmd_port))
        server = (str(_installed_home() / "sbin" / "rabbitmq-server"), "-noinput")
        return (
            Command(epmd, env, ready_port=epmd_port),
            Command(server, env, data_limit_octets=DATA_LIMIT_OCTETS),
        )

    def _write_configuration(self, ports: Ports, options: Options) -> None:
        for directory in ("home", "conf.d", "log", "mnesia"):
            (self.state_dir / directory).mkdir(parents=True, exist_ok=True)
        definitions = self.state_dir / "definitions.json"
        definitions.write_text(json.dumps(self._definitions(), indent=2) + "\n")
        (self.state_dir / "rabbitmq.conf").write_text(_configuration(ports, options, definitions))
        plugins = dict.fromkeys((*PLUGINS, *options.plugins))
        (self.state_dir / "enabled_plugins").write_text(f"[{','.join(plugins)}].\n")
        (self.state_dir / "rabbitmq-env.conf").write_text("")

    def _environment(self, epmd_port: int, distribution_port: int) -> dict[str, str]:
        here = self.state_dir
        inherited = {k: v for k, v in os.environ.items() if not re.match(r"RABBITMQ_|ERL_|HOME$", k)}
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


def _configuration(ports: Ports, options: Options, definitions: Path) -> str:
    lines = [
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
    if options.tls:
        lines += [
            f"listeners.ssl.1 = {LOOPBACK}:{ports.tls}",
            f"ssl_options.cacertfile = {options.tls.ca.absolute()}",
            f"ssl_options.certfile = {options.tls.cert.absolute()}",
            f"ssl_options.keyfile = {options.tls.key.absolute()}",
            "ssl_options.verify = verify_none",
            "ssl_options.fail_if_no_peer_cert = false",
        ]
    return "\n".join(lines) + "\n"


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


def _home() -> Path | None:
    """The newest installed server directory."""
    homes = [
        path for path in SCRIPTS.glob("rabbitmq_server-*") if (path / "sbin" / "rabbitmq-server").exists()
    ]
    return max(homes, key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)], default=None)


def _installed_home() -> Path:
    home = _home()
    if home is None:
        raise BrokerError(f"rabbitmq: expected a server below {SCRIPTS}, found none")
    return home


def _epmd() -> str:
    found = shutil.which("epmd")
    if found is None:
        raise BrokerError("rabbitmq: expected epmd (package erlang-base) on PATH, found none")
    return found
