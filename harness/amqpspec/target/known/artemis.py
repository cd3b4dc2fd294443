"""Apache ActiveMQ Artemis from Maven coordinates.

Knows: its Maven artifacts, its configuration in XML, and its login modules.
Must not know: what Artemis does right or wrong.

It speaks AMQP 1.0 and, as configured here, nothing else. AMQP 1.0 has no means to declare a queue: those whose names
begin with ``NODES`` are created when a link asks for them, and given up a while after they are empty and unused; no
other name is. It has no virtual hosts.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import ClassVar
from xml.sax.saxutils import escape

from amqpspec.net.ports import LOOPBACK
from amqpspec.target.known.base import NODES, USERS, Command, Options, Ports
from amqpspec.target.known.maven import MavenBroker

RELEASE = "2.42.0"
LOGGER_RELEASE = "2.0.17"
MODULES = (
    ("org.apache.activemq", "artemis-server", RELEASE),
    ("org.apache.activemq", "artemis-amqp-protocol", RELEASE),
    ("org.slf4j", "slf4j-simple", LOGGER_RELEASE),
)
MEMORY = ("-Xmx512m", "-XX:MaxDirectMemorySize=512m")
MAIN = "org.apache.activemq.artemis.core.server.embedded.Main"
LOGINS = "org.apache.activemq.artemis.spi.core.security.jaas"
DOMAIN = "amqpspec"
FULL_RIGHTS = "full"
UNUSED_MS = 60_000
PERMISSIONS = (
    "createNonDurableQueue", "deleteNonDurableQueue", "createDurableQueue", "deleteDurableQueue",
    "createAddress", "deleteAddress", "consume", "browse", "send",
)  # fmt: skip


class Artemis(MavenBroker):
    """One Artemis with its journal in the state directory."""

    name = "artemis"
    stored = "home/data"
    default_release = RELEASE
    versioned_jar = "artemis-amqp-protocol"
    modules = MODULES
    ready_mark = b"AMQ221001"
    dialects = ("amqp-1-0",)
    users: ClassVar = USERS
    vhosts: ClassVar = {"default": "/"}

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        home = self.state_dir / "home"
        (home / "etc").mkdir(parents=True, exist_ok=True)
        (home / "etc" / "broker.xml").write_text(_configuration(ports.amqp, home / "data"))
        java = (self.java(), *MEMORY, *_properties(self._write_logins()))
        return (Command((*java, "-cp", f"{self.jars}/*", MAIN, str(home)), dict(os.environ)),)

    def _write_logins(self) -> Path:
        """The files of the login modules, apart from ``etc``: properties there are read as configuration."""
        directory = self.state_dir / "logins"
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        full = ",".join(self.users[role][0] for role in ("default", "second"))
        words = "".join(f"{user}={word}\n" for user, word in self.users.values())
        (directory / "users.properties").write_text(words)
        (directory / "roles.properties").write_text(f"{FULL_RIGHTS}={full}\n")
        (directory / "login.config").write_text(_login_modules(self.users["default"][0]))
        return directory / "login.config"


def _properties(logins: Path) -> tuple[str, ...]:
    log = "-Dorg.slf4j.simpleLogger"
    return (
        f"-Djava.security.auth.login.config={logins}",
        f"{log}.showDateTime=true",
        f"{log}.dateTimeFormat=yyyy-MM-dd HH:mm:ss.SSS",
        f"{log}.log.org.apache.activemq.audit=warn",
    )


def _login_modules(guest: str) -> str:
    """Users by password; one who comes without a name is the default user."""
    files = 'org.apache.activemq.jaas.properties.{0}="{1}.properties"'
    anonymous = (
        f'org.apache.activemq.jaas.guest.user="{guest}" org.apache.activemq.jaas.guest.role="{FULL_RIGHTS}"'
    )
    return (
        f"{DOMAIN} {{\n"
        f" {LOGINS}.PropertiesLoginModule sufficient {files.format('user', 'users')} {files.format('role', 'roles')};\n"
        f" {LOGINS}.GuestLoginModule sufficient credentialsInvalidate=true {anonymous};\n"
        "};\n"
    )


def _configuration(port: int, data: Path) -> str:
    """Where it listens and keeps what it holds, who may do what, and which addresses links create.

    Logins are not cached: a refused one without a name, such as a bare AMQP header makes, would be remembered against
    other connections for seconds, and what a case sees would depend on its neighbours.
    """
    acceptor = escape(f"tcp://{LOOPBACK}:{port}?protocols=AMQP;securityDomain={DOMAIN}")
    allowed = "".join(f'<permission type="{name}" roles="{FULL_RIGHTS}"/>' for name in PERMISSIONS)
    places = ("journal", "bindings", "paging", "large-messages")
    directories = "".join(
        f"<{name}-directory>{escape(str(data / name))}</{name}-directory>" for name in places
    )
    return (
        '<configuration xmlns="urn:activemq"><core xmlns="urn:activemq:core">\n'
        f"<name>amqpspec</name><persistence-enabled>true</persistence-enabled>\n{directories}\n"
        "<journal-type>NIO</journal-type><journal-min-files>2</journal-min-files>\n"
        "<max-disk-usage>-1</max-disk-usage><security-enabled>true</security-enabled>\n"
        "<authentication-cache-size>0</authentication-cache-size>\n"
        f'<acceptors><acceptor name="amqp">{acceptor}</acceptor></acceptors>\n'
        f'<security-settings><security-setting match="#">{allowed}</security-setting></security-settings>\n'
        f"<address-settings>\n{_addresses('#', created=False)}{_addresses(NODES + '#', created=True)}"
        "</address-settings>\n</core></configuration>\n"
    )


def _addresses(match: str, *, created: bool) -> str:
    """How addresses of that name come and go; they are queues unless a link says otherwise."""
    flag = str(created).lower()
    return (
        f'<address-setting match="{match}">'
        f"<auto-create-queues>{flag}</auto-create-queues><auto-create-addresses>{flag}</auto-create-addresses>"
        f"<auto-delete-queues-delay>{UNUSED_MS}</auto-delete-queues-delay>"
        f"<auto-delete-addresses-delay>{UNUSED_MS}</auto-delete-addresses-delay>"
        "<default-address-routing-type>ANYCAST</default-address-routing-type>"
        "<default-queue-routing-type>ANYCAST</default-queue-routing-type>"
        "</address-setting>\n"
    )
