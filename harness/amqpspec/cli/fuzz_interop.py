"""``fuzz export-boofuzz``, ``--engine boofuzz``, ``--seeds FILE``: the fuzzer together with other tools.

Knows: URLs, options, exit codes. Must not know: how scripts are made, how sessions run, how captures are read.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from amqpspec.cli.common import one_line_errors, one_of
from amqpspec.fuzz.parts import spoken_dialects
from amqpspec.target.config import ConfigError

if TYPE_CHECKING:
    from amqpspec.fuzz.campaign.order import CampaignOrder
    from amqpspec.fuzz.coverage.coverage import Coverage
    from amqpspec.fuzz.interop.boofuzz_engine import BoofuzzRun
    from amqpspec.fuzz.interop.seeds import Seeds

ENGINES = ("amqpspec", "boofuzz")


@click.command("export-boofuzz", short_help="Write a dialect as one boofuzz script.")
@click.argument("url", required=False)
@click.option(
    "--dialect",
    "-d",
    required=True,
    **one_of(spoken_dialects),
    help="Dialect whose grammar and states the script uses.",
)
@click.option(
    "--out",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file (default: standard output).",
)
def export_boofuzz(url: str | None, dialect: str, out: Path | None) -> None:
    """Write one runnable Python script: every production as a boofuzz Request, the states as its session graph.

    The script needs only boofuzz. URL sets its default target; a password in URL is not written.
    """
    from amqpspec.fuzz.interop.boofuzz_script import ScriptTarget, script
    from amqpspec.target.url import UrlError, parse_url

    with one_line_errors():
        where = ScriptTarget()
        if url is not None:
            try:
                parsed = parse_url(url)
            except UrlError as error:
                raise ConfigError(str(error)) from error
            if parsed.tls or parsed.path:
                raise ConfigError(
                    f"{parsed.redacted}: expected amqp://, because the script speaks nothing else"
                )
            where = ScriptTarget(parsed.host, parsed.port, parsed.vhost)
        text = script(dialect, where)
        if out is None:
            click.echo(text, nl=False)
            return
        out.write_text(text, encoding="utf-8")
        out.chmod(0o755)
        click.echo(f"{out}: {text.count('return Request(')} requests; python {out} --help")


def run_boofuzz(order: CampaignOrder, options: dict[str, Any]) -> BoofuzzRun:
    """Run boofuzz's session in place of a campaign; raises ConfigError for options that only a campaign supports."""
    from amqpspec.fuzz.interop.boofuzz_engine import BoofuzzOrder, BoofuzzRun

    campaigns_only = ("resume", "cells", "families_only", "seeds", "coverage")
    given = [f"--{name.replace('_', '-')}" for name in campaigns_only if options.get(name)]
    given += ["--shard"] if order.shard != (1, 1) else []
    if given:
        raise ConfigError(f"--engine boofuzz: expected no {', '.join(given)}, actual: given")
    if order.subject.address.tls is not None or order.subject.address.path:
        raise ConfigError("--engine boofuzz: expected a target without TLS and WebSocket, actual: not amqp")
    return BoofuzzRun(BoofuzzOrder(order.subject, order.out, order.budget_s)).run()


def seeds_of(dialect: str, options: dict[str, Any]) -> Seeds:
    """The corpus of a campaign: from a capture, from the folder of a resumed campaign, or empty."""
    from amqpspec.fuzz.interop.seeds import Seeds, read_corpus, read_seeds

    if options["seeds"] is None:
        return read_corpus(options["resume"]) if options["resume"] is not None else Seeds(())
    if options["resume"] is not None:
        raise ConfigError("--seeds: expected no --resume, actual: both; a resumed campaign keeps its corpus")
    seeds = read_seeds(options["seeds"], dialect)
    click.echo(f"{options['seeds']}: {seeds.words}", err=True)
    return seeds


def keep_seeds(order: CampaignOrder, seeds: Seeds, options: dict[str, Any]) -> None:
    """Write the corpus to the campaign's folder, for resumed campaigns and replays."""
    from amqpspec.fuzz.interop.seeds import write_corpus

    if options["seeds"] is not None:
        write_corpus(order.out, seeds)


def coverage_of(options: dict[str, Any]) -> Coverage | None:
    """The source of code coverage; raises CoverageError, OutOfScope."""
    from amqpspec.fuzz.coverage.named import channel_named, host_of
    from amqpspec.fuzz.executor.subject import check_scope

    if options["coverage"] is None:
        return None
    channel = channel_named(options["coverage"])
    if host := host_of(channel):
        check_scope(host, options["scope"])
    return channel
