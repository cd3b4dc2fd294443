"""Qpid's JMS client of 0-8 to 0-10: brought by Maven, run as ``tests/witnesses/Jms.java``.

It takes Maven, a JDK and a copy of Maven Central; without them, its tests are skipped in seconds.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from amqpspec.target.known import BrokerError
from amqpspec.target.known.install import copy_maven_jars
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
JARS = ROOT / ".witnesses" / "jms"
SAID = ["text é red 300000", "committed", "done"]
_ARTIFACTS = (
    ("org.apache.qpid", "qpid-client", "6.4.0"),
    ("org.apache.geronimo.specs", "geronimo-jms_1.1_spec", "1.1.1"),
    ("org.slf4j", "slf4j-nop", "1.7.30"),
)


def client_jars() -> Path:
    """The folder with the client; skips if it is not available."""
    if shutil.which("javac") is None or shutil.which("mvn") is None:
        pytest.skip("qpid's client needs a JDK and Maven, which are not installed")
    if not any(JARS.glob("qpid-client-*.jar")):
        JARS.parent.mkdir(exist_ok=True)
        try:
            copy_maven_jars(_pom(), JARS)
        except BrokerError as error:
            pytest.skip(f"qpid's client cannot be had: {error}")
    return JARS


def converse(version: str, host: str, port: int, vhost: str = "") -> tuple[list[str], str]:
    """What the program prints, and what it complains of, in one version of AMQP; TimeoutExpired after a minute."""
    url = f"amqp://guest:guest@amqpspec/{vhost}?brokerlist='tcp://{host}:{port}'"
    name = f"amqpspec.jms.{version}"
    options = [f"-Dqpid.amqp.version={version}", "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8"]
    program = ["-cp", f"{client_jars()}/*", str(ROOT / "tests/witnesses/Jms.java")]
    command = ["java", "-Xmx256m", *options, *program, url, f"BURL:direct://amq.direct//{name}"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PATIENCE_S)
    return done.stdout.splitlines(), done.stderr


def _pom() -> str:
    wanted = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version></dependency>"
        for group, name, version in _ARTIFACTS
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion><groupId>amqpspec</groupId><artifactId>jms</artifactId>"
        f"<version>1</version><dependencies>{wanted}</dependencies></project>\n"
    )
