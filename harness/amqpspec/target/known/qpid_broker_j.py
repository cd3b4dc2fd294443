"""Apache Qpid Broker-J from Maven coordinates.

Knows: its Maven artifacts, its initial configuration in the form of each release, and its access rules.
Must not know: what Broker-J does right or wrong.

The broker's own configuration is built again at each start; queues, exchanges and messages live in the stores of the
virtual hosts (JSON and Derby) below the state directory and outlast it. A virtual host reads its first configuration
only once: if the configuration has changed, the stores are deleted and created again.

AMQP 1.0 has no means to declare a queue. Those whose names begin with ``NODES`` are created when a 1.0 link asks for
them; no other name is, so that clients of the older dialects receive not-found as before.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from amqpspec.net.ports import LOOPBACK
from amqpspec.target.known.base import NODES, USERS, BrokerError, Command, Options, Ports
from amqpspec.target.known.install import copy_maven_jars
from amqpspec.target.known.maven import MavenBroker

RELEASE = "10.1.0"
MEMORY = ("-Xmx512m", "-XX:MaxDirectMemorySize=1536m")
DATA_LIMIT_OCTETS = 3 * 2**30
MAIN = "org.apache.qpid.server.Main"
# Not needed here; the Berkeley DB stores moreover want an artifact that Maven Central does not have.
EXCLUDED = (
    "qpid-bdbstore",
    "qpid-broker-plugins-amqp-1-0-protocol-bdb-link-store",
    "qpid-broker-plugins-jdbc-logging-logback",
    "qpid-broker-plugins-jdbc-provider-bone",
    "qpid-broker-plugins-jdbc-provider-hikari",
    "qpid-broker-plugins-management-http",
    "qpid-broker-plugins-websocket",
)
_DERBY = "qpid-broker-plugins-derby-store"
_LOGBACK = "qpid-broker-plugins-logging-logback"
LOG_LEVELS = {"ROOT": "WARN", "org.apache.qpid.*": "INFO", "qpid.message.*": "INFO"}


@dataclass(frozen=True, slots=True)
class Parts:
    """What a release is put together from; by default, from itself.

    ``launcher`` is the release of the small module that reads the command line; ``only`` are the modules that exist
    of the release, if some are missing; ``instead`` are modules with the release that stands in.
    """

    launcher: str = ""
    only: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)


PARTS = {
    "7.0.0": Parts(instead={_LOGBACK: "7.0.3"}),
    "10.0.1": Parts(
        "10.1.0",
        (
            "qpid-broker-core",
            "qpid-broker-plugins-access-control",
            "qpid-broker-plugins-amqp-0-8-protocol",
            "qpid-broker-plugins-memory-store",
        ),
        {_LOGBACK: "10.1.0"},
    ),
}
"""Releases of which a copy of Maven Central may lack modules: how far one gets without them."""


class QpidBrokerJ(MavenBroker):
    """One Broker-J with five dialects on one port."""

    name = "qpid-broker-j"
    stored = "work"
    default_release = RELEASE
    versioned_jar = "qpid-broker-core"
    ready_mark = b"BRK-1004"
    dialects = ("amqp-0-9-1", "amqp-wire-9-1", "amqp-0-10", "amqp-1-0")
    takes_tls = True
    takes_release = True
    users: ClassVar = USERS
    vhosts: ClassVar = {"default": "/", "second": "second", "forbidden": "forbidden"}

    def _copy(self) -> None:
        """Copy the release; ``PARTS`` says which modules of it are not available."""
        try:
            copy_maven_jars(_pom(self.wanted, Parts()), self.jars)
        except BrokerError:
            if self.wanted not in PARTS:
                raise
            copy_maven_jars(_pom(self.wanted, PARTS[self.wanted]), self.jars)

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        work = self._stores()
        rules = self.state_dir / "acl.txt"
        rules.write_text(self._rules())
        config = self.state_dir / "config.json"
        config.write_text(json.dumps(self._configuration(ports, options, rules), indent=2) + "\n")
        java = self.java()
        places = (f"-Dqpid.work_dir={work}", f"-Dderby.stream.error.file={work / 'derby.log'}")
        start = (MAIN, "-st", "Memory", "-icp", str(config), "-prop", f"qpid.work_dir={work}")
        env = {name: value for name, value in os.environ.items() if not name.startswith("QPID_")}
        command = (java, *MEMORY, *places, "-cp", f"{self.jars}/*", *start)
        return (Command(command, env, data_limit_octets=DATA_LIMIT_OCTETS),)

    def _stores(self) -> Path:
        """Where virtual hosts keep what they hold, without those that were begun in another way."""
        work = self.state_dir / "work"
        begun_as = work / "begun-as.json"
        nodes = json.dumps(self._nodes(), indent=2) + "\n"
        if not begun_as.exists() or begun_as.read_text() != nodes:
            shutil.rmtree(work, ignore_errors=True)
            work.mkdir(parents=True)
            begun_as.write_text(nodes)
        return work

    def _rules(self) -> str:
        """First match decides; what nothing matches is denied."""
        default, second, limited = (self.users[role][0] for role in ("default", "second", "limited"))
        return "\n".join(
            [
                f'ACL DENY ALL ACCESS VIRTUALHOST name="{self.vhosts["forbidden"]}"',
                f"ACL ALLOW {default} ALL ALL",
                f"ACL ALLOW {second} ALL ALL",
                f'ACL ALLOW {limited} ACCESS VIRTUALHOST name="default"',
                "ACL DENY ALL ALL ALL",
                "",
            ]
        )

    def _configuration(self, ports: Ports, options: Options, rules: Path) -> dict[str, Any]:
        return {
            "name": "amqpspec",
            "modelVersion": "7.0" if self.wanted.startswith("7.") else "8.0",
            "authenticationproviders": [self._logins()],
            "accesscontrolproviders": [{"name": "rules", "type": "AclFile", "path": str(rules)}],
            "brokerloggers": [_console()],
            "keystores": _key_stores(options),
            "ports": _listeners(ports),
            "virtualhostnodes": self._nodes(),
        }

    def _nodes(self) -> list[dict[str, Any]]:
        store = "DERBY" if any(self.jars.glob(f"{_DERBY}-*.jar")) else "Memory"
        return [
            _node("default", store, default=True),
            _node(self.vhosts["second"], store),
            _node(self.vhosts["forbidden"], "Memory"),
        ]

    def _logins(self) -> dict[str, Any]:
        users = [{"name": user, "type": "managed", "password": word} for user, word in self.users.values()]
        return {"name": "plain", "type": "Plain", "secureOnlyMechanisms": [], "users": users}


def _node(name: str, store: str, *, default: bool = False) -> dict[str, Any]:
    """One virtual host: what it consists of in a JSON file, its messages in ``store``."""
    created = {"createdOnPublish": True, "createdOnConsume": True, "attributes": {"durable": True}}
    queues = {"pattern": f"{re.escape(NODES)}.*", "nodeType": "queue", **created}
    return {
        "name": name,
        "type": "JSON",
        "defaultVirtualHostNode": default,
        "virtualHostInitialConfiguration": json.dumps({"type": store, "nodeAutoCreationPolicies": [queues]}),
    }


def _listeners(ports: Ports) -> list[dict[str, Any]]:
    plain = _listener("AMQP", ports.amqp)
    if ports.tls is None:
        return [plain]
    return [plain, _listener("AMQPS", ports.tls) | {"transports": ["SSL"], "keyStore": "tls"}]


def _listener(name: str, port: int) -> dict[str, Any]:
    """One port; an empty virtual host, a host name and ``/`` all mean the default virtual host."""
    aliases: list[dict[str, Any]] = [{"name": kind, "type": kind} for kind in ("nameAlias", "defaultAlias")]
    aliases.append({"name": "hostnameAlias", "type": "hostnameAlias"})
    slash = {"name": "slash", "type": "patternMatchingAlias", "pattern": "/", "virtualHostNode": "default"}
    return {
        "name": name,
        "port": port,
        "bindingAddress": LOOPBACK,
        "authenticationProvider": "plain",
        "virtualhostaliases": [*aliases, slash],
    }


def _key_stores(options: Options) -> list[dict[str, str]]:
    if options.tls is None:
        return []
    return [
        {
            "name": "tls",
            "type": "NonJavaKeyStore",
            "privateKeyUrl": str(options.tls.key.absolute()),
            "certificateUrl": str(options.tls.cert.absolute()),
        }
    ]


def _console() -> dict[str, Any]:
    rules = [
        {"name": logger, "type": "NameAndLevel", "level": level, "loggerName": logger}
        for logger, level in LOG_LEVELS.items()
    ]
    return {"name": "console", "type": "Console", "brokerloginclusionrules": rules}


def _pom(release: str, parts: Parts) -> str:
    """The modules of a release, those that ``parts`` names instead of or in addition to those in the broker's own
    pom.
    """
    own = ("*",) if parts.only else (*EXCLUDED, *parts.instead)
    modules = [_dependency(name, release) for name in parts.only]
    modules += [_dependency(name, other) for name, other in parts.instead.items()]
    modules.append(_dependency("qpid-broker", parts.launcher or release, own))
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        "<groupId>amqpspec</groupId><artifactId>qpid-broker-j</artifactId><version>1</version>"
        f"<dependencies>{''.join(modules)}</dependencies></project>\n"
    )


def _dependency(name: str, release: str, without: tuple[str, ...] = ()) -> str:
    excluded = "".join(
        f"<exclusion><groupId>org.apache.qpid</groupId><artifactId>{other}</artifactId></exclusion>"
        for other in without
    )
    return (
        f"<dependency><groupId>org.apache.qpid</groupId><artifactId>{name}</artifactId>"
        f"<version>{release}</version><exclusions>{excluded}</exclusions></dependency>"
    )
