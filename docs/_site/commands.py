"""The command reference, from the help texts, and the instructions for shell completion.

Knows: click. Must not know: what the commands do.
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from amqpspec.cli.main import cli

_INTRODUCTION = """\
# Commands

These are the help texts of the commands. `amqpspec COMMAND --help` prints them. The wheel installs them as a
[man page](man/amqpspec.1) too: `man amqpspec`.

## Shell completion

amqpspec completes commands and options in bash, zsh and fish. Add the line for your shell to its start-up file, and
open a new shell:

| shell | file | line |
|---|---|---|
| bash | `~/.bashrc` | `eval "$(_AMQPSPEC_COMPLETE=bash_source amqpspec)"` |
| zsh | `~/.zshrc` | `eval "$(_AMQPSPEC_COMPLETE=zsh_source amqpspec)"` |
| fish | `~/.config/fish/config.fish` | <code>_AMQPSPEC_COMPLETE=fish_source amqpspec &#124; source</code> |
"""
_WIDTH = 100


def pages() -> dict[str, str]:
    """Path in the site and Markdown of the one page."""
    settings = {**cli.context_settings, "max_content_width": _WIDTH, "terminal_width": _WIDTH}
    top = click.Context(cli, info_name="amqpspec", **settings)
    return {"commands.md": "\n".join([_INTRODUCTION, *_help(cli, top), ""])}


def _help(command: click.Command, context: click.Context) -> Iterator[str]:
    """The help of a command and of its subcommands."""
    yield from (f"## `{context.command_path}`", "", "```text", command.get_help(context), "```", "")
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from _help(below, click.Context(below, info_name=name, parent=context))
