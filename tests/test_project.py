"""What holds for the whole project: cases do not sleep, ids exist, layers stay apart, modules stay small."""

from __future__ import annotations

import ast
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from amqpspec.cli.main import _VERBS, cli
from amqpspec.reference.faults import all_faults
from amqpspec.run.case import load_suite
from amqpspec.run.coverage import coverage_of
from amqpspec.spec.dialects import certified_dialects, client_dialects, load_ledger, runnable_dialects
from tests.imports import parsed

ROOT = Path(__file__).parents[1]
ROOTS = ("harness", "suites", "fuzz", "reports")
WAITING = {"time", "asyncio", "socket", "ssl", "select", "selectors", "threading", "sched", "signal"}
MAX_LINES = 400
DIALECTS = (*runnable_dialects(), *client_dialects())
CASES = [case for dialect in DIALECTS for case in load_suite(dialect).values()]


def modules(*folders: str) -> list[Path]:
    found = {folder: [*(ROOT / folder).rglob("*.py")] for folder in folders}
    assert all(found.values()), f"expected a module in each of {folders}"
    return sorted(path for paths in found.values() for path in paths)


def names(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree_of(path: Path) -> ast.Module:
    return parsed(path.read_text(encoding="utf-8"))


@cache
def imports(path: Path) -> frozenset[str]:
    """Every module that a file imports, by its full name."""
    return frozenset(_imports(tree_of(path)))


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def tops(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in imports(path)}


def called(path: Path) -> set[str]:
    """Every name that a file mentions, attributes included."""
    tree = tree_of(path)
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return attributes | {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


# --- cases


def test_no_case_sleeps() -> None:
    for path in modules("suites"):
        assert not tops(path) & WAITING, path
        assert not [
            name for name in imports(path) if name.startswith(("amqpspec.net", "amqpspec.reference"))
        ], path
        assert not called(path) & {"sleep", "__import__", "import_module"}, path


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_case_says_what_it_covers(dialect: str) -> None:
    ledger, cases = load_ledger(dialect), load_suite(dialect)
    assert cases
    for case in cases.values():
        assert re.fullmatch(r"[a-z][a-z0-9_]*([.-][a-z0-9_]+)*", case.id), case.id
        assert case.covers and all(row in ledger for row in case.covers), case.id
        assert len(set(case.covers)) == len(case.covers), case.id
        assert case.title and (case.body.__doc__ or "").strip(), case.id
        assert not [row for row in case.covers if ledger[row].excluded], case.id


def test_what_a_case_needs_is_an_optional_part_that_the_ledger_names() -> None:
    for dialect in certified_dialects():
        known = {row.feature for row in load_ledger(dialect).values()}
        assert not {need for case in load_suite(dialect).values() for need in case.needs} - known


def test_ids_that_two_ledgers_have_mean_the_same() -> None:
    shared: dict[str, set[str]] = {}
    for dialect in certified_dialects():
        for row in load_ledger(dialect).values():
            shared.setdefault(row.id, set()).add(row.same_as or f"{dialect}: {row.id}")
    assert not {id: names for id, names in shared.items() if len(names) > 1}


def test_ids_are_unique_in_a_dialect() -> None:
    keys = [(case.dialect, case.id) for case in CASES]
    assert len(keys) == len(set(keys))


def test_every_module_of_a_suite_stands_in_its_order() -> None:
    for package in (
        path for path in (ROOT / "suites/amqpspec/suites").iterdir() if (path / "__init__.py").exists()
    ):
        loaded = {
            case.suite
            for case in CASES
            if case.body.__module__.startswith(f"amqpspec.suites.{package.name}.")
        }
        files = {path.stem for path in package.glob("*.py") if not path.name.startswith("_")}
        assert loaded == files != set()


def test_every_testable_row_has_a_case_or_a_reason() -> None:
    for dialect in certified_dialects():
        covered = {row for case in load_suite(dialect).values() for row in case.covers}
        ledger = load_ledger(dialect)
        assert not [
            row.id for row in ledger.values() if row.testable and not row.excluded and row.id not in covered
        ]


# --- layers


@pytest.mark.parametrize("area", ["spec", "wire", "peer"])
def test_what_does_no_io_imports_none(area: str) -> None:
    for path in modules(f"harness/amqpspec/{area}"):
        assert not tops(path) & (WAITING | {"subprocess", "requests", "urllib", "http"}), path


IO = {"socket", "ssl", "selectors", "select", "time", "asyncio"}
IO_ALLOWED = {
    "harness/amqpspec/net/": IO,
    "harness/amqpspec/reference/": IO,
    "fuzz/amqpspec/fuzz/executor/": IO,
    "fuzz/amqpspec/fuzz/selftest/effects.py": {"time", "asyncio"},
    "harness/amqpspec/target/known/": {"time"},
    "harness/amqpspec/target/live.py": {"ssl"},
    "harness/amqpspec/cli/brokers.py": {"ssl"},
}


@pytest.mark.parametrize("root", ROOTS)
def test_sockets_and_clocks_stand_in_their_folders(root: str) -> None:
    for path in modules(root):
        allowed = next((some for place, some in IO_ALLOWED.items() if names(path).startswith(place)), set())
        assert not tops(path) & IO - allowed, path


def test_spec_needs_nothing_but_yaml() -> None:
    for path in modules("harness/amqpspec/spec"):
        foreign = tops(path) - set(sys.stdlib_module_names) - {"amqpspec", "yaml"}
        assert not foreign, path
        assert all(name.startswith("amqpspec.spec") for name in imports(path) if name.startswith("amqpspec"))


@pytest.mark.parametrize("root", ROOTS)
def test_modules_are_small_and_say_what_they_know(root: str) -> None:
    for path in modules(root):
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= MAX_LINES or is_table(parsed(text)), path
        assert ast.get_docstring(parsed(text)), path


def is_table(tree: ast.Module) -> bool:
    """Whether a module is nothing but declarations: no function, no class, no control flow."""
    plain = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Expr)
    return all(isinstance(node, plain) for node in tree.body)


# --- what users read and install


def code_of(path: Path) -> str:
    """The code in a document: blocks and what stands between backticks."""
    text = path.read_text(encoding="utf-8")
    blocks = re.findall(r"```.*?\n(.*?)```", text, re.DOTALL)
    return "\n".join([*blocks, *re.findall(r"`([^`\n]+)`", text)])


def test_commands_in_the_documents_exist() -> None:
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
    found = {
        (path.name, verb) for path in documents for verb in re.findall(r"\bamqpspec ([a-z]+)", code_of(path))
    }
    assert found
    assert not [(name, verb) for name, verb in found if verb not in _VERBS]


def calls(path: Path) -> Iterator[list[str]]:
    """The words of each call of amqpspec in a document's code, after the name, up to what the shell reads."""
    for line in code_of(path).replace("\\\n", " ").splitlines():
        for call in re.findall(r"(?:^|[\s$;&(])amqpspec ([a-z][^|;&>#)`]*)", line):
            yield call.replace('"', " ").replace("'", " ").split()


def options_of(words: list[str]) -> tuple[str, set[str]]:
    """The command that words call, a default verb included, and the options that it takes."""
    command: click.Command = cli
    name, known = "amqpspec", set[str]()
    while isinstance(command, click.Group) and words:
        context = command.make_context(name, words, resilient_parsing=True)
        rest = [*context._protected_args, *context.args]
        found = command.get_command(context, rest[0]) if rest else None
        if found is None:
            break
        name, command, words = f"{name} {rest[0]}", found, rest[1:]
        known |= {f"--{rest[0]}"}  # a verb may be written as an option
        known |= {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    return name, known


def test_options_in_the_documents_exist() -> None:
    documents = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    found = [(path, words) for path in documents for words in calls(path)]
    assert len(found) > 100
    wrong = []
    for path, words in found:
        name, known = options_of(list(words))
        given = {word.partition("=")[0] for word in words if re.fullmatch(r"--[a-z][a-z-]*(=.*)?", word)}
        wrong += [(path.name, name, option) for option in sorted(given - known - {"--help"})]
    assert not wrong


def test_links_of_the_documents_lead_somewhere() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    links = [
        (path, link)
        for path in documents
        for link in re.findall(r"\]\(([^)#:\s=]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
    ]
    assert len(links) > 10
    assert not [(path.name, link) for path, link in links if not (path.parent / link).exists()]


def test_the_readme_counts_right() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    for dialect in certified_dialects():
        suite, faults = load_suite(dialect), len(all_faults(dialect))
        counts = coverage_of(load_ledger(dialect), suite)
        covered = f"{counts.covered} of {counts.testable}"
        if counts.excluded:
            covered += f", {len(counts.excluded)} excluded with reason"
        row = next(line for line in text.splitlines() if line.startswith(f"| `{dialect}` |"))
        assert row.endswith(f"| {len(suite)} | {covered} | {faults} |")
    cases, faults = len(load_suite("amqp-0-9-1")), len(all_faults("amqp-0-9-1"))
    assert f"planned {cases} = run {cases}" in text
    assert f"{cases} cases killed; {faults} of {faults} faults found" in text


def project() -> dict[str, Any]:
    data: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return data


def test_what_hosted_ci_calls_exists() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/ci.yaml").read_text(encoding="utf-8"))
    called = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert {"make test", ".ci/selftests", ".ci/real"} <= {*called}
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for program, _, rest in (command.partition(" ") for command in called):
        assert rest in targets if program == "make" else os.access(ROOT / program, os.X_OK), program
    parts = {line.split()[0] for line in (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines() if line}
    assert {command.split()[0] for command in called if command.startswith(".ci/")} - {
        ".ci/real",
        ".ci/brokers",
    } <= parts


def test_warnings_are_errors_and_skips_have_reasons() -> None:
    options = project()["tool"]["pytest"]["ini_options"]
    assert options["filterwarnings"] == ["error"]
    bare = re.compile(r"pytest\.(mark\.)?skip(\(\)|$)|mark\.skipif\([^)]*\)$", re.MULTILINE)
    for path in modules("tests"):
        if path != Path(__file__):
            assert not [
                m for m in bare.finditer(path.read_text(encoding="utf-8")) if "reason" not in m.group()
            ], path
