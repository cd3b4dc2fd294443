"""Who imports whom in the four source roots: by the text of each module, whatever block the import stands in."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

ROOTS = tuple(Path(__file__).parent.parent / root for root in ("harness", "suites", "fuzz", "reports"))

Graph = Mapping[str, frozenset[str]]


@cache
def parsed(text: str) -> ast.Module:
    """A module by its text, parsed once for all who ask."""
    return ast.parse(text)


@cache
def import_graph() -> Graph:
    """Modules with the modules they import, type-checking and function-level imports included."""
    files = {_name(root, path): path for root in ROOTS for path in root.rglob("*.py")}
    return graph_of({name: path.read_text(encoding="utf-8") for name, path in files.items()})


def graph_of(sources: Mapping[str, str]) -> Graph:
    """The graph of modules whose text is given by name; a package has the name of its ``__init__``."""
    known = frozenset(sources)
    return {name: frozenset(_imported(name, text, known)) - {name, ""} for name, text in sources.items()}


def _name(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts)


def _imported(module: str, text: str, known: frozenset[str]) -> Iterator[str]:
    for node in ast.walk(parsed(text)):
        if isinstance(node, ast.Import):
            yield from (_module(alias.name, known) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(module, node)
            for alias in node.names:
                inner = _module(f"{base}.{alias.name}", known)
                yield inner or _module(base, known)


def _base(module: str, node: ast.ImportFrom) -> str:
    """What a relative import is relative to; the package of a module is its name without the last part."""
    above = module.split(".")[: -node.level] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


def _module(name: str, known: frozenset[str]) -> str:
    """The module of a name, a package's being its ``__init__``; empty for one that is not ours."""
    return next((found for found in (name, f"{name}.__init__") if found in known), "")


def reached(graph: Graph, start: str) -> frozenset[str]:
    """Every module that a module imports, and those that they import."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph.get(waiting.pop(), frozenset()) - found:
            found.add(name)
            waiting.append(name)
    return frozenset(found)


def cycles(graph: Graph) -> list[list[str]]:
    """Groups of modules in which each reaches every other one."""
    reach = {name: reached(graph, name) for name in graph}
    groups = {frozenset({name, *(o for o in reach[name] if name in reach.get(o, ()))}) for name in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)
