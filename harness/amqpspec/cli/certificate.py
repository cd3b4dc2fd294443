"""``certificate``: issue one for a run, check it against the evidence, derive every verdict again.

Knows: run folders, exit codes. Must not know: the contents of a certificate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amqpspec.cli.common import TARGETS, one_line_errors, stop
from amqpspec.run.exits import Exit
from amqpspec.spec.dialects import certified_dialects, client_dialects

if TYPE_CHECKING:
    from amqpspec.run.derive import Derivation

_PATH = click.Path(path_type=Path)
_NAME = "certificate.json"


class _Certificate(click.Group):
    """A group with ``issue`` as the default command: ``certificate RUN`` is ``certificate issue RUN``."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        """Insert the command name if it is missing."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["issue", *args]
        return super().parse_args(context, args)


@click.group(cls=_Certificate, short_help="Certify a run: counts, deviations, the hash of its evidence.")
def certificate() -> None:
    """Issue or check the certificate of a finished run (``certificate RUN``, ``certificate verify FILE``)."""


@certificate.command(short_help="Write the certificate of a run.")
@click.argument("run", type=_PATH)
@click.option("--out", "-o", type=_PATH, help=f"The file (default: {_NAME} in the run's folder).")
@click.option("--sign", "key", type=_PATH, help="Sign it with the Ed25519 private key in this file.")
def issue(run: Path, out: Path | None, key: Path | None) -> None:
    """Write the certificate of RUN, a finished run's folder."""
    from amqpspec.reports.certificate.issue import certificate as made
    from amqpspec.reports.certificate.issue import short, write_certificate
    from amqpspec.reports.certificate.signature import signed
    from amqpspec.reports.checksums import load_intact
    from amqpspec.reports.text import one_line

    with one_line_errors():
        loaded = load_intact(run)
        dialect = loaded.meta.target.dialect
        if dialect not in (*certified_dialects(), *client_dialects()):
            known = ", ".join((*certified_dialects(), *client_dialects()))
            stop(
                Exit.USAGE, f"{run}: expected a run of {known}, actual: {dialect}, which is not certified yet"
            )
        document, path = made(loaded), out or loaded.folder / _NAME
        document = signed(document, key) if key else document
        write_certificate(path, document)
    for line in short(document):
        click.echo(one_line(line))
    click.echo(path)


@certificate.command(short_help="Check a certificate against its evidence.")
@click.argument("file", type=_PATH)
@click.option("--run", "folder", type=_PATH, help="The run's folder (default: where the certificate is).")
@click.option("--key", type=_PATH, help="Require a signature by this public key.")
@click.option("--replay", is_flag=True, help="Also run every case again, against URL or --target.")
@click.argument("url", required=False)
@click.option("--target", "-t", "name", help="A target from targets.yaml (default: the certificate's).")
@TARGETS
def verify(
    file: Path,
    folder: Path | None,
    key: Path | None,
    replay: bool,
    url: str | None,
    name: str | None,
    targets_file: Path | None,
) -> None:
    """Check FILE against the run's folder; one line for each mismatch, and exit code 1.

    Every case runs again with its recorded octets in place of the target and must give the recorded verdict.
    """
    from amqpspec.reports.certificate.signature import signature_complaints
    from amqpspec.reports.certificate.verify import complaints, read_certificate
    from amqpspec.reports.text import one_line
    from amqpspec.run.derive import derivations

    with one_line_errors():
        document = read_certificate(file)
        found = [*signature_complaints(document, key), *complaints(document, folder or file.parent)]
        derived = list(derivations(folder or file.parent))
        found += [f"{one.case}: {one.why}" for one in derived if not (one.follows or one.underivable)]
        if replay:
            found += _again(document, url, name, targets_file)
    for line in found:
        click.echo(one_line(line))
    for one in derived:
        if one.underivable:
            click.echo(one_line(f"not derived again: {one.case}: {one.why}"))
    click.echo(_conclusion(document, derived, found, replay=replay))
    raise click.exceptions.Exit(Exit.DEVIATIONS if found else Exit.CONFORMING)


def _conclusion(
    document: Mapping[str, Any], derived: Sequence[Derivation], found: Sequence[str], *, replay: bool
) -> str:
    """The number of checked items, the signer, and the result."""
    from amqpspec.reports.certificate.signature import fingerprint

    follow, rest = sum(one.follows for one in derived), sum(one.underivable for one in derived)
    what = (
        f"{len(document['verdicts'])} verdicts, {follow} derived again from their octets, {rest} not;"
        f" {len(document['evidence']['files'])} files"
    )
    by = fingerprint(document)
    signed = f"signed by {by}" if by else "not signed"
    return f"{what}; {signed}: {f'{len(found)} do not fit' if found else 'all fit'}{', run again' if replay else ''}"


def _again(
    document: Mapping[str, Any], url: str | None, name: str | None, targets_file: Path | None
) -> Iterator[str]:
    """Verdicts of a new run of the same cases that differ from those of the certificate."""
    from dataclasses import replace

    from amqpspec.cli.certify import RunRequest, certify
    from amqpspec.target.find import find_target

    if document["dialect"] in client_dialects():
        stop(
            Exit.USAGE,
            f"--replay: expected a run of a broker, actual: {document['dialect']}; run the client again",
        )
    target = find_target(url or name or document["target"]["name"], targets_file)
    if target.dialect != document["dialect"]:
        target = replace(target, dialect=document["dialect"])
    with tempfile.TemporaryDirectory(prefix="amqpspec-") as scratch:
        request = RunRequest(
            target, tuple(document["verdicts"]), Path(scratch) / "again", no_baseline=True, quiet=True
        )
        cases = certify(request)["cases"]
    now = {case["id"]: (case["verdict"], case["observed"] or case["reason"]) for case in cases}
    for case, expected in document["verdicts"].items():
        actual, seen = now.get(case, ("nothing", "the case did not run"))
        if actual != expected:
            yield f"{case}: expected {expected}, actual {actual} ({seen})"
