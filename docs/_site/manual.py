"""The man page of all commands, from the help texts: ``python docs/_site/manual.py > docs/man/amqpspec.1``.

Knows: click, the macros of man(7). Must not know: what the commands do.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.metadata import version

import click

from amqpspec.cli.main import _VERBS, cli

_HEAD = rf""".\" docs/_site/manual.py generates this page from the help texts, as click {version("click")} renders them.
.TH AMQPSPEC 1 "" "amqpspec" "User Commands"
.ad l
.SH NAME
amqpspec \- conformance test suite and fuzzer for the AMQP family
.SH SYNOPSIS
.B amqpspec
.I COMMAND
.RI [ OPTIONS ]
.RI [ ARGUMENTS ]"""
_COMPLETION = r""".SH SHELL COMPLETION
Add the line for your shell to its start-up file, and open a new shell:
.TP
.I ~/.bashrc
eval \(dq$(_AMQPSPEC_COMPLETE=bash_source amqpspec)\(dq
.TP
.I ~/.zshrc
eval \(dq$(_AMQPSPEC_COMPLETE=zsh_source amqpspec)\(dq
.TP
.I ~/.config/fish/config.fish
_AMQPSPEC_COMPLETE=fish_source amqpspec | source"""
_EXIT = "Exit codes: "
_VERBATIM = "\b\n"
_SPECIAL = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti"}


def page() -> str:
    """The whole page."""
    top = click.Context(cli, info_name="amqpspec", **cli.context_settings)
    paragraphs = _paragraphs(cli)
    lines = [_HEAD, ".SH DESCRIPTION", *_text(part for part in paragraphs if not part.startswith(_EXIT))]
    lines += [".SH OPTIONS", *_options(cli, top), ".SH COMMANDS"]
    for below, context in _below(cli, top):
        lines += _command(below, context)
    return "\n".join([*lines, *_exit_status(paragraphs), _COMPLETION, ""])


def _command(command: click.Command, context: click.Context) -> Iterator[str]:
    """The usage, the help and the options of a command and of its subcommands."""
    usage = " ".join(command.collect_usage_pieces(context))
    short = _VERBS[command.name][2] if command.name in _VERBS and context.parent else ""
    yield from (
        f".SS {_escaped(context.command_path)}",
        f".B {_escaped(context.command_path)}",
        _escaped(usage),
    )
    yield from _text(_paragraphs(command) or [short])
    yield from _options(command, context)
    for below, inner in _below(command, context):
        yield from _command(below, inner)


def _below(command: click.Command, context: click.Context) -> Iterator[tuple[click.Command, click.Context]]:
    """The subcommands that are not hidden, in their order."""
    names = command.list_commands(context) if isinstance(command, click.Group) else ()
    for name in names:
        assert isinstance(command, click.Group)
        below = command.get_command(context, name)
        if below is not None and not below.hidden:
            yield below, click.Context(below, info_name=name, parent=context)


def _paragraphs(command: click.Command) -> list[str]:
    return [part for part in inspect.cleandoc(command.help or "").partition("\f")[0].split("\n\n") if part]


def _text(paragraphs: Iterator[str] | list[str]) -> Iterator[str]:
    for part in paragraphs:
        if part.startswith(_VERBATIM):
            lines = part.removeprefix(_VERBATIM).splitlines()
            yield from (".PP", ".nf", *map(_escaped, lines), ".fi")
        else:
            yield from (".PP", _escaped(" ".join(part.split())))


def _options(command: click.Command, context: click.Context) -> Iterator[str]:
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            names = _escaped(record[0]).replace("|", r"|\:")
            yield from (".TP", f".B {names}", _escaped(" ".join(record[1].split())))


def _exit_status(paragraphs: list[str]) -> Iterator[str]:
    """The codes that the help of the program lists in one sentence, one below the other."""
    (codes,) = [" ".join(part.split()) for part in paragraphs if part.startswith(_EXIT)]
    yield ".SH EXIT STATUS"
    for code, meaning in re.findall(r"(\d) ([^,.]+(?:, [^\d,.][^,.]*)*)", codes.removeprefix(_EXIT)):
        yield from (".TP", f".B {code}", _escaped(meaning))


def _escaped(text: str) -> str:
    """A line in which no character is a request, an escape or a typographic quote."""
    plain = "".join(_SPECIAL.get(character) or _ascii(character) for character in text)
    return f"\\&{plain}" if plain.startswith(".") else plain


def _ascii(character: str) -> str:
    return character if character.isascii() else f"\\[u{ord(character):04X}]"


if __name__ == "__main__":
    print(page(), end="")
