"""Apache ActiveMQ Classic from Maven coordinates.

Knows: its Maven artifacts, and its configuration in XML, which Spring reads.
Must not know: what ActiveMQ does right or wrong.

As configured here it speaks AMQP 1.0 and nothing else. A queue is created when a link asks for it by a user who may
administer it: those are the queues whose names begin with ``NODES``, given up a while after they are empty and unused.
It has no virtual hosts.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar
from xml.sax.saxutils import quoteattr

from amqpspec.net.ports import LOOPBACK
from amqpspec.target.known.base import NODES, USERS, Command, Options, Ports
from amqpspec.target.known.maven import MavenBroker

RELEASE = "6.1.8"
SPRING_RELEASE = "6.1.21"
LOGGER_RELEASE = "2.0.17"
MODULES = (
    *(
        ("org.apache.activemq", f"activemq-{part}", RELEASE)
        for part in ("amqp", "console", "jaas", "kahadb-store", "spring")
    ),
    ("org.springframework", "spring-context", SPRING_RELEASE),
    ("org.slf4j", "slf4j-simple", LOGGER_RELEASE),
)
MEMORY = ("-Xmx512m", "-XX:MaxDirectMemorySize=512m")
MAIN = ("org.apache.activemq.console.Main", "start")
FULL_RIGHTS = "full"
NO_RIGHTS = "none"
UNUSED_MS = 60_000
LISTENER = "?maximumConnections=1000&wireFormat.maxFrameSize=104857600"
"""As in the configuration that the distribution brings."""
BEANS = "http://www.springframework.org/schema/beans"
INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
CORE = "http://activemq.apache.org/schema/core"
SCHEMAS = f"{BEANS} {BEANS}/spring-beans.xsd {CORE} {CORE}/activemq-core.xsd"
"""Names of namespaces and, for Spring, of their schemas; both schemas are in the jars."""
LOG = "-Dorg.slf4j.simpleLogger"


class ActiveMQ(MavenBroker):
    """One ActiveMQ with its KahaDB in the state directory."""

    name = "activemq"
    stored = "home/data"
    default_release = RELEASE
    versioned_jar = "activemq-amqp"
    modules = MODULES
    ready_mark = b"For help or more information please see"
    dialects = ("amqp-1-0",)
    users: ClassVar = USERS
    vhosts: ClassVar = {"default": "/"}

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        home = self.state_dir / "home"
        home.mkdir(parents=True, exist_ok=True)
        configuration = home / "activemq.xml"
        configuration.write_text(_configuration(ports.amqp, home / "data", _users(self.users)))
        times = (f"{LOG}.showDateTime=true", f"{LOG}.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS")
        java = (self.java(), *MEMORY, *times, f"-Dactivemq.home={home}")
        argv = (*java, "-cp", f"{self.jars}/*", *MAIN, f"xbean:{configuration.as_uri()}")
        return (Command(argv, dict(os.environ)),)


def _users(users: Mapping[str, tuple[str, str]]) -> str:
    """Users with their password and group; the group of the limited one has no rights."""
    return "".join(
        f'<authenticationUser username="{user}" password="{word}" '
        f'groups="{NO_RIGHTS if role == "limited" else FULL_RIGHTS}"/>'
        for role, (user, word) in users.items()
    )


def _configuration(port: int, data: Path, users: str) -> str:
    """Where it listens and keeps what it holds, who may do what, and when queues go.

    A client that logs in without a name is the default user.
    """
    listener = quoteattr(f"amqp://{LOOPBACK}:{port}{LISTENER}")
    return (
        f'<beans xmlns="{BEANS}" xmlns:xsi="{INSTANCE}" xsi:schemaLocation="{SCHEMAS}">\n'
        f'<broker xmlns="{CORE}" brokerName="amqpspec" useJmx="false"\n'
        f' dataDirectory={quoteattr(str(data))} schedulePeriodForDestinationPurge="10000">\n'
        f"<destinationPolicy><policyMap><policyEntries>{_unused()}</policyEntries></policyMap></destinationPolicy>\n"
        f"<persistenceAdapter><kahaDB directory={quoteattr(str(data / 'kahadb'))}/></persistenceAdapter>\n"
        '<plugins><simpleAuthenticationPlugin anonymousAccessAllowed="true" anonymousUser="guest"'
        f' anonymousGroup="{FULL_RIGHTS}"><users>{users}</users></simpleAuthenticationPlugin>\n'
        f"<authorizationPlugin><map>{_rights()}</map></authorizationPlugin></plugins>\n"
        f"<systemUsage><systemUsage>{_limits()}</systemUsage></systemUsage>\n"
        f'<transportConnectors><transportConnector name="amqp" uri={listener}/></transportConnectors>\n'
        "</broker></beans>\n"
    )


def _unused() -> str:
    """Queues that are empty and unused are given up."""
    return f'<policyEntry queue=">" gcInactiveDestinations="true" inactiveTimeoutBeforeGC="{UNUSED_MS}"/>'


def _rights() -> str:
    """Who may read, write and create; each connection of whichever user reads the broker's own notes on itself."""
    everybody = f"{FULL_RIGHTS},{NO_RIGHTS}"
    return (
        "<authorizationMap><authorizationEntries>"
        f'<authorizationEntry queue="{NODES}>" {_to(FULL_RIGHTS)}/>'
        f'<authorizationEntry topic="ActiveMQ.Advisory.>" {_to(everybody)}/>'
        "</authorizationEntries><tempDestinationAuthorizationEntry>"
        f"<tempDestinationAuthorizationEntry {_to(FULL_RIGHTS)}/>"
        "</tempDestinationAuthorizationEntry></authorizationMap>"
    )


def _to(groups: str) -> str:
    return f'read="{groups}" write="{groups}" admin="{groups}"'


def _limits() -> str:
    """How much it may hold in memory and on the disk."""
    limits = (("memoryUsage", "128 mb"), ("storeUsage", "1 gb"), ("tempUsage", "256 mb"))
    return "".join(f'<{name}><{name} limit="{limit}"/></{name}>' for name, limit in limits)
