"""A known broker whose release Maven copies into its state directory.

Knows: where the jars are, which jar names the version, and the installation. Must not know: any one broker.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

from amqpspec.target.known.base import KnownBroker
from amqpspec.target.known.install import copy_maven_jars, java_command, pom_of


class MavenBroker(KnownBroker):
    """A broker from Maven coordinates, run by Java.

    ``versioned_jar`` is the artifact whose jar is named by the version; ``modules`` are what Maven copies, each by its
    group, name and version.
    """

    java_minimum: ClassVar[int] = 17
    default_release: ClassVar[str]
    versioned_jar: ClassVar[str]
    modules: ClassVar[tuple[tuple[str, str, str], ...]] = ()

    @property
    def jars(self) -> Path:
        """Where the release and its dependencies are kept."""
        return self.state_dir / "jars"

    @property
    def wanted(self) -> str:
        """The release to install."""
        return self.release or self.default_release

    def version(self) -> str | None:
        """The version in the name of the jar, if it is installed."""
        names = [path.name for path in self.jars.glob(f"{self.versioned_jar}-[0-9]*.jar")]
        found = re.search(rf"{re.escape(self.versioned_jar)}-(.+)\.jar", max(names, default=""))
        return found[1] if found else None

    def install(self) -> None:
        """Has Maven copy the release into the state directory."""
        if self.version() != self.wanted:
            self.java()
            self._copy()

    def java(self) -> str:
        """The Java to run it with; BrokerError if there is none that is new enough."""
        return java_command(self.java_minimum)

    def _copy(self) -> None:
        copy_maven_jars(pom_of(self.name, self.modules), self.jars)
