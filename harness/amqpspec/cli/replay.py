"""``replay``: sends a transcript again, or writes it as a capture.

Knows: how to print steps. Must not know: how octets are replayed.
"""

from __future__ import annotations

from pathlib import Path

import click

from amqpspec.cli.common import TARGETS, one_line_errors
from amqpspec.run.exits import Exit


@click.command(short_help="Send a transcript again.")
@click.argument("evidence", type=click.Path(path_type=Path))
@click.argument("url", required=False)
@click.option("--target", "-t", "name", help="A target from targets.yaml (default: reference).")
@TARGETS
@click.option(
    "--pcap", type=click.Path(path_type=Path), help="Write the transcript to this pcapng file; send nothing."
)
def replay(
    evidence: Path, url: str | None, name: str | None, targets_file: Path | None, pcap: Path | None
) -> None:
    """Send the octets of EVIDENCE again and show the answers; exit code 1 if they differ from the record."""
    with one_line_errors():
        if pcap is not None:
            from amqpspec.record.capture import write_capture
            from amqpspec.run.replay import read_transcript

            read_transcript(evidence)
            click.echo(write_capture(evidence, pcap))
            return
        different = _replay(evidence, url, name, targets_file)
    raise click.exceptions.Exit(Exit.DEVIATIONS if different else Exit.CONFORMING)


def _replay(evidence: Path, url: str | None, name: str | None, targets_file: Path | None) -> int:
    from amqpspec.run.replay import replay as send_again
    from amqpspec.target.find import find_target
    from amqpspec.target.live import live

    target = find_target(url or name or "reference", targets_file)
    different = 0
    with live(target) as running:
        for step in send_again(evidence, running):
            different += not step.same
            click.echo(f"{'same     ' if step.same else 'DIFFERENT'} conn {step.conn}: {step.sent}")
            if not step.same:
                click.echo(f"    recorded: {' | '.join(step.recorded) or 'nothing'}")
            click.echo(f"    answered: {' | '.join(step.replayed) or 'nothing'}")
    return different
