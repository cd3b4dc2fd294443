"""The Spark session: one call, local by default, a cluster or a Connect server by an argument.

Knows: how Spark is started, configured and stopped, and its errors. Must not know: lakes, jobs.

A local session binds to 127.0.0.1 only, has no UI and no Hive, uses UTC, and stays below 2.5 GB: a heap of 1 GB
(``memory``), at most 256 MB off-heap, about 400 MB for the JVM itself, and Python. Collected results are limited to
64 MB, so that a job that collects rows to the driver fails at once, and not only with large data.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.parse import urlsplit

from amqpspec.net.stream import Endpoint, Stream
from amqpspec.reports.pipeline.java import EngineError, find_java, prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
MEMORY = "1g"
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseParallelGC -XX:ReservedCodeCacheSize=240m"
"""A short-lived JVM: with both compilers, compiling would take half of its CPU time.

Every processor waits while garbage is collected, so all of them collect it. With the first compiler alone, Java would
reserve 48 MB for code, and discard and recompile the rest.
"""
LONG_LIVED = (
    "-XX:Tier4InvocationThreshold=50000 -XX:Tier4MinInvocationThreshold=20000 "
    "-XX:Tier4CompileThreshold=100000 -XX:Tier4BackEdgeThreshold=1000000"
)
"""A JVM that makes many tables: the second compiler takes only what runs very often, such as the loop over the rows.

With Java's own thresholds, about ten times lower, it also compiles most of the planner, which costs more than it saves.
"""
QUICK_ROWS = 16_000_000
"""Up to this many rows, a session is short-lived: the second compiler pays only for longer builds."""
_BESIDE_HEAP = "256m"
_EXTRA = "pip install 'amqpspec[pipeline]'"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_END_TIMEOUT_S = 20
_CONNECT_PORT = 15002

ALWAYS: Mapping[str, str] = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "true",
    # Stages of the same shape, for other days or marts, share their code and its compiled form.
    "spark.sql.codegen.useIdInClassName": "false",
    # Otherwise a union of tables with one task each becomes one task: days would wait for each other.
    "spark.sql.unionOutputPartitioning": "false",
    # Only hexadecimal keys are converted to lower case; for other alphabets, Spark would load ICU's tables.
    "spark.sql.icu.caseMappings.enabled": "false",
    "spark.sql.parquet.compression.codec": "zstd",
    # A lake names its files one by one; below this number they are listed without a separate job.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
}
_DRIVER: Mapping[str, str] = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.driver.maxResultSize": "64m",
    # Each query is described for a UI that is off; the simple description takes the least time.
    "spark.sql.ui.explainMode": "simple",
    # Hadoop starts a process for the mode of each file and folder: no files of checksums, none that marks a success.
    "spark.hadoop.fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    # All marts together have more pieces of code than the default of 100, and share some of them.
    "spark.sql.codegen.cache.maxEntries": "4000",
}


def spark(
    master: str = LOCAL,
    remote: str | None = None,
    *,
    memory: str = MEMORY,
    record: bool = True,
    rows: int | None = None,
    settings: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session: local, of a standalone master (``spark://…``), of a Connect server (``remote="sc://…"``), or, with
    ``spark-submit``, the one that it started.

    With ``record``, a first session records an archive that makes later ones start faster. A local session that reads
    few ``rows`` compiles less. Raises EngineError, one line.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise EngineError(f"Spark: expected pyspark, actual: not installed; {_EXTRA}") from error
    given = {**ALWAYS, **(settings or {})}
    if remote:
        return _connected(SparkSession.builder, remote, given)
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return _built(SparkSession.builder, given)
    quick = rows is not None and rows <= QUICK_ROWS
    return _started(SparkSession.builder, master, {**_own(master, memory), **given}, record, quick)


@contextmanager
def session(master: str = LOCAL, remote: str | None = None, **options: Any) -> Iterator[SparkSession]:
    """A session that is stopped at the end; errors of Spark in the block become an EngineError, one line."""
    started = spark(master, remote, **options)
    try:
        with engine_errors():
            yield started
    finally:
        stop(started)


def stop(started: SparkSession) -> None:
    """Stop a session, and the JVM that was started for it."""
    context = getattr(started, "_sc", None)
    started.stop()
    if context is None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    SparkContext._gateway = SparkContext._jvm = None
    if gateway is not None and gateway.proc is not None:
        _end(gateway)


def _end(gateway: Any) -> None:
    """End the JVM: it exits when its standard input is closed. A JVM that records an archive ends later by itself."""
    gateway.shutdown()
    gateway.proc.stdin.close()
    if any("-XX:AOTCacheOutput" in part or "-XX:ArchiveClassesAtExit" in part for part in _command(gateway)):
        gateway.proc.returncode = 0  # no one waits for it
        return
    with suppress(Exception):
        gateway.proc.wait(_END_TIMEOUT_S)


def _command(gateway: Any) -> list[str]:
    return [str(part) for part in gateway.proc.args]


# --- starting


def _own(master: str, memory: str) -> dict[str, str]:
    """The configuration of our own driver; on a cluster, the cluster determines the partitions."""
    own = {**_DRIVER, "spark.driver.memory": memory, "spark.sql.warehouse.dir": _scratch("warehouse")}
    if master.startswith("local"):
        own["spark.sql.shuffle.partitions"] = str(2 * (os.cpu_count() or 2))
    if _is_loopback(master):
        own |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return own


def _is_loopback(master: str) -> bool:
    return master.startswith(("local", *(f"spark://{host}:" for host in _LOOPBACK)))


def _scratch(name: str) -> str:
    return str(Path(tempfile.gettempdir()) / f"amqpspec-{os.getuid()}-{name}")


def _started(
    builder: Any, master: str, settings: Mapping[str, str], record: bool, quick: bool
) -> SparkSession:
    import pyspark

    prepared = prepare(find_java(), f"{pyspark.__version__} {pyspark.__file__}", record=record)
    options = (
        f"-XX:MaxDirectMemorySize={_BESIDE_HEAP}",
        *prepared.options,
        SHORT_LIVED if quick else LONG_LIVED,
    )
    asked = settings.get("spark.driver.extraJavaOptions", "")
    joined = " ".join((*options, asked)).strip()
    full = {**settings, "spark.master": master, "spark.driver.extraJavaOptions": joined}
    environment = {"JAVA_HOME": str(prepared.home)}
    if _is_loopback(master):
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    with _environment(environment), _quiet() as output:
        try:
            return _built(builder, full)
        except Exception as error:
            raise EngineError(f"Spark at {master}: {_reason(error, output)}") from error


def _built(builder: Any, settings: Mapping[str, str]) -> SparkSession:
    named = builder.appName("amqpspec")
    for key, value in settings.items():
        named = named.config(key, value)
    made: SparkSession = named.getOrCreate()
    return made


def _knock(remote: str) -> None:
    """Check that a process listens there: the client itself would retry for ten minutes. Raises EngineError."""
    place = urlsplit(remote)
    try:
        endpoint = Endpoint(place.hostname or "", place.port or _CONNECT_PORT)
        Stream(endpoint).close()
    except (OSError, ValueError) as error:
        raise EngineError(f"Spark Connect at {remote}: {error}") from error


def _connected(builder: Any, remote: str, settings: Mapping[str, str]) -> SparkSession:
    _knock(remote)
    try:
        made = _built(builder.remote(remote), settings)
        made.sql("SELECT 1").collect()
    except ImportError as error:
        raise EngineError(
            f"Spark Connect: expected its client, actual: {_line(error)}; pip install 'pyspark[connect]'"
        ) from error
    except Exception as error:
        raise EngineError(f"Spark Connect at {remote}: {_line(error)}") from error
    return made


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _quiet() -> Iterator[IO[bytes]]:
    """Redirect both descriptors to a file while the JVM starts, because it writes warnings to them."""
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        sys.stderr.flush()
        saved = {number: os.dup(number) for number in (1, 2)}
        try:
            for number in saved:
                os.dup2(output.fileno(), number)
            yield output
        finally:
            for number, copy in saved.items():
                os.dup2(copy, number)
                os.close(copy)


# --- errors


@contextmanager
def engine_errors() -> Iterator[None]:
    """An error of Spark as EngineError: one line with the cause, without Java's stack."""
    try:
        yield
    except Exception as error:
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        raise EngineError(f"Spark: {_cause(error)}") from error


def _reason(error: Exception, output: IO[bytes]) -> str:
    """The last output of Java before it ended, otherwise the text of the error."""
    if "JAVA_GATEWAY_EXITED" not in str(error):
        return _cause(error)
    output.seek(0)
    lines = [line.strip() for line in output.read().decode(errors="replace").splitlines() if line.strip()]
    telling = [line for line in lines if "rror" in line or "xception" in line] or lines[-1:]
    return f"Java did not start: {telling[0] if telling else 'it printed nothing'}"


def _cause(error: Exception) -> str:
    """Spark's message, which names the file, and the innermost cause from Java, on one line."""
    lines = [line.strip() for line in str(error).splitlines()]
    causes = [line.partition(": ")[2] for line in lines if line.startswith("Caused by:")]
    telling = (line for line in lines if line and not line.startswith("An error occurred while calling"))
    head = (
        next(telling, type(error).__name__)
        .removeprefix(": ")
        .removeprefix("org.apache.spark.SparkException: ")
    )
    return " ".join(f"{head} ({causes[-1]})".split())[:500] if causes else head[:500]


def _line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[
        :500
    ]
