"""The ways in which known brokers reach a machine: Debian packages, Maven coordinates, Python packages.

Knows: apt-get, dpkg-query, Maven, Java and pip as commands.
Must not know: where registries are; the machine's own configuration says that.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from amqpspec.target.known.base import BrokerError

INSTALL_TIMEOUT_S = 900.0
QUERY_TIMEOUT_S = 30.0
# A registry that is not available is detected in seconds: one more try, and no long wait for an answer.
_APT = ("-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=10", "-o", "Acquire::https::Timeout=10")
_MAVEN = (
    "-Daether.connector.connectTimeout=5000",
    "-Daether.connector.requestTimeout=10000",
    "-Dmaven.wagon.http.retryHandler.count=1",
)
_PIP = ("--retries", "1")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def run(argv: Sequence[str], *, cwd: Path | None = None, timeout_s: float = INSTALL_TIMEOUT_S) -> str:
    """Runs a command to its end; its output. BrokerError when it is missing, fails or takes too long."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run(
            argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except FileNotFoundError:
        raise BrokerError(f"{argv[0]}: expected the command on PATH, found none") from None
    except subprocess.TimeoutExpired:
        raise BrokerError(
            f"{' '.join(argv)}: expected it to end within {timeout_s:g} s, it did not"
        ) from None
    output = done.stdout + done.stderr
    if done.returncode:
        raise BrokerError(f"{' '.join(argv)}: expected exit code 0, got {done.returncode}: {_gist(output)}")
    return output


def _gist(output: str) -> str:
    """The first line that looks like an error, or else the last one."""
    lines = [line.strip() for line in _COLOURS.sub("", output).splitlines() if line.strip()]
    return next(
        (line for line in lines if re.match(r"E:|\[?ERROR", line)), lines[-1] if lines else "no output"
    )


def install_package(package: str) -> None:
    """Installs a Debian package, with fresh package lists if the present ones do not know it."""
    if shutil.which("apt-get") is None:
        raise BrokerError(f"{package}: expected apt-get to install it, found none; install it by other means")
    prefix = [] if os.geteuid() == 0 else ["sudo", "-n"]
    command = [*prefix, "apt-get", "install", "--yes", "--no-install-recommends", *_APT, package]
    try:
        run(command)
    except BrokerError:
        run([*prefix, "apt-get", "update", *_APT])
        run(command)


def package_version(package: str) -> str | None:
    """The version of an installed Debian package, or None."""
    try:
        status = run(
            ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package], timeout_s=QUERY_TIMEOUT_S
        )
    except BrokerError:
        return None
    word, _, version = status.partition(" ")
    return version if word == "installed" else None


def apt_mirror() -> tuple[str, ...]:
    """Where apt-get has Debian's packages from, for additional tools; empty if that is not Debian's own archive."""
    listed = ["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"]
    try:
        lines = run(listed, timeout_s=QUERY_TIMEOUT_S).splitlines()
    except BrokerError:
        return ()
    return tuple(line.split()[1] for line in lines if re.fullmatch(r"Debian \S+", line))[:1]


def java_command(minimum: int) -> str:
    """The Java to run a broker with: ``JAVA_HOME`` first, then PATH; BrokerError when it is too old."""
    home = os.environ.get("JAVA_HOME", "")
    command = str(Path(home) / "bin" / "java") if home else "java"
    announced = run([command, "-version"], timeout_s=QUERY_TIMEOUT_S)
    found = re.search(r'version "(?:1\.)?(\d+)', announced)
    if found is None or int(found[1]) < minimum:
        actual = found[1] if found else announced.strip()
        raise BrokerError(f"{command}: expected Java {minimum} or newer, found {actual}")
    return command


def pom_of(name: str, modules: Sequence[tuple[str, str, str]]) -> str:
    """The pom of something that depends on modules, each by its group, name and version."""
    dependencies = "".join(
        f"<dependency><groupId>{group}</groupId><artifactId>{module}</artifactId><version>{version}</version></dependency>"
        for group, module, version in modules
    )
    return (
        "<project><modelVersion>4.0.0</modelVersion>"
        f"<groupId>amqpspec</groupId><artifactId>{name}</artifactId><version>1</version>"
        f"<dependencies>{dependencies}</dependencies></project>\n"
    )


def copy_maven_jars(pom: str, directory: Path) -> None:
    """Resolves the runtime dependencies of a pom into ``directory``, all or nothing."""
    work = directory.with_name(directory.name + ".partial")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    (work / "pom.xml").write_text(pom)
    goal = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
    scope = ("-DincludeScope=runtime", f"-DoutputDirectory={work}")
    run(["mvn", "-q", "-B", "-ntp", *_MAVEN, goal, *scope], cwd=work)
    shutil.rmtree(directory, ignore_errors=True)
    work.rename(directory)


def install_python_package(package: str, version: str, directory: Path) -> None:
    """Installs a Python package into a virtual environment of its own, all or nothing; it may have to be compiled."""
    shutil.rmtree(directory, ignore_errors=True)
    try:
        run([sys.executable, "-m", "venv", str(directory)])
        pip = [str(directory / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
        run([*pip, "install", *_PIP, "--quiet", f"{package}=={version}"])
    except BrokerError as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise _without_compiler(package) or error from None


def _without_compiler(package: str) -> BrokerError | None:
    """What is missing if it is a compiler."""
    named = os.environ.get("CC", "").split()[:1]
    if any(shutil.which(command) for command in (*named, "cc", "gcc", "clang")):
        return None
    return BrokerError(
        f"{package}: expected a C compiler on PATH to build it, found none; "
        "on Debian: apt-get install gcc libc6-dev python3-dev"
    )


def python_package_version(package: str, directory: Path) -> str | None:
    """The version of a package in a virtual environment, or None."""
    name = package.replace("-", "_")
    found = directory.glob(f"lib/python*/site-packages/{name}-*.dist-info")
    return next((path.name.removesuffix(".dist-info").rpartition("-")[2] for path in found), None)
