"""Texts for users avoid the phrases that CONTRIBUTING.md lists."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from amqpspec.cli.main import cli
from amqpspec.reference.faults import all_faults
from amqpspec.run.baseline import read_baseline
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import client_dialects, load_ledger, runnable_dialects

ROOT = Path(__file__).parents[1]
DIALECTS = (*runnable_dialects(), *client_dialects())
EXEMPT = {ROOT / path for path in ("docs/examples/rabbitmq.md",)}
"""It is written by a run, and quotes observations and the reasons in a baseline."""
EXPECTING = {"claim", "Unmet", "OutOfReach", "does_not_apply", "CannotDo"}
"""Calls in cases whose texts become what a verdict expected, or why it judges nothing."""


@cache
def avoided() -> re.Pattern[str]:
    """The phrases in the left column of the table under the heading Words."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n## Words\n")[2]
    rows = re.findall(r"^\| (.+?) \| .+ \|$", section, re.MULTILINE)[1:]
    return pattern([phrase for row in rows for phrase in row.split(", ")])


def pattern(phrases: list[str]) -> re.Pattern[str]:
    words = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
    return re.compile(rf"(?<![\w`/.-])(?:{words})(?![\w`/-])", re.IGNORECASE)


def hits(texts: Iterator[tuple[str, str]]) -> list[tuple[str, str]]:
    """Where a phrase stands: the place, and the text around it."""
    return [
        (place, " ".join(text[max(0, found.start() - 40) : found.end() + 40].split()))
        for place, text in texts
        for found in avoided().finditer(text)
    ]


def documents() -> Iterator[tuple[str, str]]:
    """The text of each document, without code."""
    found = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "changes").glob("*.md")]
    for path in sorted({*found} - EXEMPT):
        text = path.read_text(encoding="utf-8").partition("\n## Words\n")[0]
        yield path.name, re.sub(r"```.*?```|`[^`\n]*`", "``", text, flags=re.DOTALL)


def helps(command: click.Command = cli, name: str = "amqpspec") -> Iterator[tuple[str, str]]:
    """The help text of each command."""
    context = click.Context(command, info_name=name)
    yield name, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found
            yield from helps(found, f"{name} {below}")


def errors() -> Iterator[tuple[str, str]]:
    """Texts of the exceptions that the program raises, and the lines that it prints."""
    for folder in ("harness", "fuzz", "reports"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and prints(node)):
                    place = f"{path.relative_to(ROOT)}:{node.lineno}"
                    yield from ((place, part) for part in strings(node))


def prints(call: ast.Call) -> bool:
    return called(call) in {"echo", "print"}


def called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def strings(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str):
            yield part.value


def titles() -> Iterator[tuple[str, str]]:
    """The title of each case."""
    for dialect in DIALECTS:
        for case in load_suite(dialect).values():
            yield f"{dialect} {case.id}", case.title


def ledgers() -> Iterator[tuple[str, str]]:
    """What each requirement demands, and how the specification is read."""
    for dialect in DIALECTS:
        for row in load_ledger(dialect).values():
            yield f"{dialect} {row.id}", f"{row.paraphrase}. {row.reading} {row.excluded}"


def faults() -> Iterator[tuple[str, str]]:
    """What each fault of a reference broker or agent does."""
    for dialect in DIALECTS:
        yield from ((f"{dialect} {fault.name}", fault.says) for fault in all_faults(dialect).values())


def reasons() -> Iterator[tuple[str, str]]:
    """Why the baselines of known brokers list a deviation."""
    for path in sorted((ROOT / "suites").rglob("baselines/*.yaml")):
        yield from ((f"{path.name} {entry.case}", entry.reason) for entry in read_baseline(path).entries)


def expectations() -> Iterator[tuple[str, str]]:
    """What verdicts expected: claims of cases, prerequisites, and what keeps a case from applying."""
    for path in sorted((ROOT / "suites").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and called(node) in EXPECTING:
                yield f"{path.relative_to(ROOT)}:{node.lineno}", " … ".join(strings(node))


def docstrings() -> Iterator[tuple[str, str]]:
    """Docstrings of modules, classes, functions and attributes."""
    for place, text in modules():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield f"{place}:{node.lineno}", str(node.value.value)


def comments() -> Iterator[tuple[str, str]]:
    """Comments, each line with the next one: a phrase may be broken between them."""
    for place, text in modules():
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        found = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
        for line, words in found.items():
            yield f"{place}:{line}", words + found.get(line + 1, "")[1:]


def modules() -> Iterator[tuple[str, str]]:
    """The text of each Python module whose docstrings and comments are checked, with its path."""
    for folder in ("bench", "docs", "examples", "fuzz", "harness", "reports", "suites", "tests"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")


TEXTS = (
    documents, helps, errors, titles, ledgers, faults, reasons, expectations, docstrings, comments,
)  # fmt: skip


@pytest.mark.parametrize("texts", TEXTS)
def test_texts_for_users_avoid_phrases(texts: object) -> None:
    assert callable(texts)
    assert not hits(texts())


def test_the_check_finds_a_phrase_across_lines_and_spares_code() -> None:
    assert hits(iter([("here", "Java comes\nalong.")])) == [("here", "Java comes along.")]
    assert not hits(iter([("here", "the vhost `nobody`, and a/told/path")]))
