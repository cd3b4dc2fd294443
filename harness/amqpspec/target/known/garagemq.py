"""garagemq from the Debian package.

Knows: its YAML configuration.
Must not know: what garagemq does right or wrong.

It has users but no permissions, and one virtual host: the user role ``limited`` and the virtual host roles
``second`` and ``forbidden`` are absent.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from typing import Any, ClassVar

import yaml

from amqpspec.net.ports import LOOPBACK
from amqpspec.target.known.base import BrokerError, Command, KnownBroker, Options, Ports
from amqpspec.target.known.install import install_package, package_version

PROFILE = "amqp-rabbit"
DATA_LIMIT_OCTETS = 2 * 2**30


class GarageMQ(KnownBroker):
    """One garagemq process with its admin listener kept to the loopback interface."""

    name = "garagemq"
    stored = "db"
    ready_mark = b"Server started"
    dialects = ("amqp-0-9-1",)
    extra_ports = 1
    users: ClassVar = {"default": ("guest", "guest"), "second": ("second", "second")}
    vhosts: ClassVar = {"default": "/"}
    start_timeout_s = 20.0

    def version(self) -> str | None:
        """The version of the package, or ``unknown`` for one installed by other means."""
        if shutil.which("garagemq") is None:
            return None
        return package_version("garagemq") or "unknown"

    def install(self) -> None:
        """Installs the Debian package."""
        if self.version() is None:
            install_package("garagemq")

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        program = shutil.which("garagemq")
        if program is None:
            raise BrokerError("garagemq: expected garagemq on PATH, found none")
        path = self.state_dir / "config.yaml"
        path.write_text(yaml.safe_dump(self._configuration(ports), sort_keys=False))
        env = {name: value for name, value in os.environ.items() if not name.startswith("GMQ_")}
        argv = (program, "--config", str(path))
        return (Command(argv, env, data_limit_octets=DATA_LIMIT_OCTETS, one_cpu=True),)

    def _configuration(self, ports: Ports) -> dict[str, Any]:
        """The package's own configuration with other users, ports and paths, and small frames sent at once."""
        return {
            "proto": PROFILE,
            "users": [{"username": user, "password": _md5(word)} for user, word in self.users.values()],
            "tcp": {
                "ip": LOOPBACK,
                "port": str(ports.amqp),
                "nodelay": True,
                "readBufSize": 196608,
                "writeBufSize": 196608,
            },
            "admin": {"ip": LOOPBACK, "port": str(ports.extra[0])},
            "queue": {"shardSize": 8192, "maxMessagesInRam": 131072},
            "db": {"defaultPath": str(self.state_dir / "db"), "engine": "badger"},
            "vhost": {"defaultPath": self.vhosts["default"]},
            "security": {"passwordCheck": "md5"},
            "connection": {"channelsMax": 4096, "frameMaxSize": 65536},
        }


def _md5(password: str) -> str:
    """What garagemq compares passwords with, of the two hashes that it knows."""
    return hashlib.md5(password.encode(), usedforsecurity=False).hexdigest()
