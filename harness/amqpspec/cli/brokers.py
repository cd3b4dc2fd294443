"""``brokers`` and ``reference``: known real brokers, and the embedded one on a separate port.

Knows: provisioning and serving. Must not know: cases, verdicts. A broker that was not started here is never touched.
"""

from __future__ import annotations

import json
import os
import signal
import ssl
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import click

from amqpspec.cli.common import LENIENT, MAX_MESSAGE, PRODUCT, STATE_DIR, one_line_errors, stop
from amqpspec.run.exits import Exit

if TYPE_CHECKING:
    from amqpspec.reference.server import ReferenceBroker
    from amqpspec.target.known import KnownBroker


@click.group(short_help="Known real brokers.")
def brokers() -> None:
    """Install, start, stop and list known real brokers; all of them listen on loopback only."""


@brokers.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_brokers(as_json: bool) -> None:
    """List known brokers with their installed version and their URL if they run."""
    from amqpspec.target.known import KNOWN, known_broker

    rows = []
    with one_line_errors():
        for name in (*KNOWN, *_others()):
            broker = known_broker(name, STATE_DIR / name)
            running = broker.running()
            rows.append({"name": name, "version": broker.version(), "url": running.url if running else None})
    if as_json:
        click.echo(json.dumps(rows, indent=1))
        return
    table = [(str(row["name"]), str(row["version"] or "not installed")) for row in rows]
    names, versions = (max(map(len, column)) for column in zip(*table, strict=True))
    for (known, version), row in zip(table, rows, strict=True):
        state = f"running at {row['url']}" if row["url"] else "not running"
        click.echo(f"{known:{names}}  {version:{versions}}  {state}")


def _others() -> list[str]:
    """Installed releases other than the usual ones."""
    from amqpspec.target.known import INSTALLED, is_known

    names = (path.parent.name for part in INSTALLED for path in STATE_DIR.glob(f"*@*/{part}"))
    return sorted(name for name in names if is_known(name))


def _known(name: str, release: str | None = None, memory_limit_mib: int | None = None) -> KnownBroker:
    """The broker with that name; an unknown name is a usage error."""
    from amqpspec.target.known import KNOWN, is_known, known_broker

    full = f"{name}@{release}" if release else name
    if name.partition("@")[0] not in KNOWN:
        stop(Exit.USAGE, f"no broker {name!r}, expected one of {sorted(KNOWN)}")
    if not is_known(full):
        stop(Exit.USAGE, f"no broker {full!r}, expected a version like 7.0.4 after the name")
    return known_broker(full, STATE_DIR / full, memory_limit_mib=memory_limit_mib)


_memory_limit = click.option(
    "--memory-limit", "memory_limit_mib", type=click.IntRange(64), metavar="MIB",
    help="Limit of the data memory of its process (default: the broker's usual limit).",
)  # fmt: skip
_release = click.option(
    "--version", "release", metavar="VERSION", help="Another release, as in NAME@VERSION."
)


@brokers.command()
@click.argument("name")
@_release
def install(name: str, release: str | None) -> None:
    """Install a broker from Debian's packages, Maven Central or PyPI."""
    with one_line_errors():
        broker = _known(name, release)
        broker.install()
        click.echo(f"{broker.name} {broker.version()} installed")


@brokers.command()
@click.argument("name")
@_release
@_memory_limit
@click.option("--port", type=click.IntRange(1, 65535), help="Port (default: a free one).")
@click.option("--empty", is_flag=True, help="Delete the stored data of earlier runs first.")
def start(
    name: str, release: str | None, port: int | None, memory_limit_mib: int | None, empty: bool
) -> None:
    """Start a broker on loopback and print its URL."""
    with one_line_errors():
        running = _known(name, release, memory_limit_mib).start(port, empty=empty)
        limit = f", at most {running.memory_limit_mib} MiB" if running.memory_limit_mib else ""
        click.echo(
            f"{running.name} {running.version} at {running.url} (pid {running.pid}, log {running.log}{limit})"
        )


@brokers.command("stop")
@click.argument("name")
@_release
def stop_broker(name: str, release: str | None) -> None:
    """Stop a broker that was started here."""
    with one_line_errors():
        broker = _known(name, release)
        was_running = broker.running() is not None
        broker.stop()
    click.echo(f"{broker.full_name} {'stopped' if was_running else 'was not running'}")


@brokers.command(short_help="Restart a broker on the same port and data.")
@click.argument("name")
@_release
@_memory_limit
def restart(name: str, release: str | None, memory_limit_mib: int | None) -> None:
    """Restart a broker that was started here, on the same port and data, under the same limit or another one."""
    with one_line_errors():
        click.echo(_known(name, release, memory_limit_mib).restart().url)


@click.command(short_help="Serve the reference broker.")
@click.argument("dialect", default="amqp-0-9-1")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=0, type=click.IntRange(0, 65535), help="Port (default: a free one).")
@click.option("--fault", "faults", multiple=True, help="Enable a named fault; repeatable.")
@click.option(
    "--late",
    "late_s",
    default=0.0,
    type=click.FloatRange(0, 10),
    help="Send deliveries, requeues, returns and confirms N seconds late.",
)
@click.option("--list-faults", is_flag=True, help="List the faults and the requirements that they violate.")
@click.option(
    "--tls-cert", type=click.Path(path_type=Path, exists=True), help="Serve TLS with this certificate."
)
@click.option(
    "--tls-key",
    type=click.Path(path_type=Path, exists=True),
    help="Its private key (default: in the same file).",
)
@PRODUCT
@MAX_MESSAGE
@LENIENT
def reference(
    dialect: str,
    host: str,
    port: int,
    faults: tuple[str, ...],
    late_s: float,
    list_faults: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
    product: str,
    max_message_mib: int,
    lenient: bool,
) -> None:
    """Serve the reference broker until SIGTERM or SIGINT; prints its URL."""
    from amqpspec.reference.core import PRODUCT as SERVED_AS
    from amqpspec.reference.faults import all_faults
    from amqpspec.reference.server import ReferenceBroker
    from amqpspec.spec.dialects import dialect_ids

    if dialect not in dialect_ids():
        stop(Exit.USAGE, f"no dialect {dialect!r}, expected one of {sorted(dialect_ids())}")
    if list_faults:
        for fault in all_faults(dialect).values():
            click.echo(f"{fault.name}: {fault.says} [{', '.join(fault.breaks)}]")
        return
    unknown = [fault for fault in faults if fault not in all_faults(dialect)]
    if unknown:
        stop(Exit.USAGE, f"no fault {unknown[0]!r}; try: amqpspec reference --list-faults")
    if tls_key is not None and tls_cert is None:
        stop(Exit.USAGE, "--tls-key: expected --tls-cert with it")
    done = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: done.set())
    tls = _tls(tls_cert, tls_key)
    broker = ReferenceBroker(
        dialect,
        faults=faults,
        host=host,
        port=port,
        tls=tls,
        late_s=late_s,
        product=product or SERVED_AS,
        forgave=_tell_forgiven if lenient else None,
        refused=_tell_refused,
        max_message_octets=max_message_mib << 20,
    )
    begin(broker)
    try:
        click.echo(broker.url)
        done.wait()
    finally:
        broker.stop()


def begin(broker: ReferenceBroker) -> None:
    """Start a broker at the address that the user chose; an address that is not available is a usage error."""
    try:
        broker.start()
    except OSError as error:
        why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or error
        stop(Exit.USAGE, f"cannot listen on {broker.host}, port {broker.port or 'any'}: {why}")


def _tell_forgiven(remote: tuple[str, int], deviation: str) -> None:
    click.echo(f"forgiven: {deviation}, {remote[0]} port {remote[1]}", err=True)


def _tell_refused(remote: tuple[str, int], reason: str) -> None:
    click.echo(f"refused: {reason}, {remote[0]} port {remote[1]}", err=True)


def _tls(certificate: Path | None, key: Path | None) -> ssl.SSLContext | None:
    if certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        files = certificate if key is None else f"{certificate} and {key}"
        stop(Exit.USAGE, f"{files}: expected a certificate and its key as PEM: {error.strerror or error}")
    return context
