"""Apache Qpid Proton: the broker of proton_broker.py on python-qpid-proton from a Python registry.

Knows: its package, and how the broker is started with it.
Must not know: what Proton does right or wrong.

It is built from source where the registry has no wheel for the machine, which takes a C compiler. Whether it comes
with Cyrus SASL depends on the machine; without it a server of Proton can offer no PLAIN, so ANONYMOUS it is everywhere.
Queues live in memory: a restart forgets them. There are no virtual hosts, and no second user.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from amqpspec.target.known.base import NODES, Command, KnownBroker, Options, Ports
from amqpspec.target.known.install import install_python_package, python_package_version

PACKAGE = "python-qpid-proton"
RELEASE = "0.40.0"
DATA_LIMIT_OCTETS = 2**30
PROGRAM = Path(__file__).with_name("proton_broker.py")


class QpidProton(KnownBroker):
    """One process of the broker on Proton's engine."""

    name = "qpid-proton"
    ready_mark = b"queues are served"
    dialects = ("amqp-1-0",)
    mechanism = "anonymous"
    users: ClassVar = {"default": ("guest", "guest")}
    vhosts: ClassVar = {"default": "/"}
    start_timeout_s = 20.0

    @property
    def venv(self) -> Path:
        """The virtual environment that Proton is installed in."""
        return self.state_dir / "venv"

    def version(self) -> str | None:
        """The version of the package in the virtual environment."""
        return python_package_version(PACKAGE, self.venv)

    def install(self) -> None:
        """Has pip install the release into the state directory."""
        if self.version() != RELEASE:
            install_python_package(PACKAGE, RELEASE, self.venv)

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        argv = (str(self.venv / "bin" / "python"), "-I", str(PROGRAM), NODES, str(ports.amqp))
        return (Command(argv, dict(os.environ), data_limit_octets=DATA_LIMIT_OCTETS),)
