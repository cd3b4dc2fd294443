"""The real brokers that amqpspec can install, start, restart and stop by name.

Knows: their names.
Must not know: how any of them is provisioned.
"""

from __future__ import annotations

import re
from pathlib import Path

from amqpspec.target.known.activemq import ActiveMQ
from amqpspec.target.known.artemis import Artemis
from amqpspec.target.known.base import BrokerError, KnownBroker, Running, Tls
from amqpspec.target.known.garagemq import GarageMQ
from amqpspec.target.known.qpid_broker_j import QpidBrokerJ
from amqpspec.target.known.qpid_proton import QpidProton
from amqpspec.target.known.rabbitmq import RabbitMQ

__all__ = ["INSTALLED", "KNOWN", "BrokerError", "KnownBroker", "Running", "Tls", "is_known", "known_broker"]

_RELEASE = re.compile(r"\d+(?:\.\w+)*")
INSTALLED = ("jars", "venv", "root")
"""Where, below its state directory, lies what a broker was installed as, if that is not the machine's own package."""
KNOWN: dict[str, type[KnownBroker]] = {
    broker.name: broker for broker in (RabbitMQ, GarageMQ, QpidBrokerJ, Artemis, ActiveMQ, QpidProton)
}


def known_broker(
    name: str,
    state_dir: Path | None = None,
    *,
    plugins: tuple[str, ...] = (),
    tls: Tls | None = None,
    memory_limit_mib: int | None = None,
) -> KnownBroker:
    """The broker of that name, with its state in ``state_dir`` or else in ``.brokers/NAME``.

    ``NAME@VERSION`` is another release than the usual one, where the broker has several.
    """
    if not is_known(name):
        raise BrokerError(f"broker {name!r}: expected one of {', '.join(sorted(KNOWN))}")
    plain, _, release = name.partition("@")
    return KNOWN[plain](
        state_dir, plugins=plugins, tls=tls, release=release, memory_limit_mib=memory_limit_mib
    )


def is_known(name: str) -> bool:
    """Whether a broker of that name is known, with or without ``@VERSION``."""
    plain, at, release = name.partition("@")
    return plain in KNOWN and bool(_RELEASE.fullmatch(release)) is bool(at)
