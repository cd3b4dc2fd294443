"""Every mutant of a module: which node of which function is changed, and how.

Knows: how functions are found in a source, what is not to be touched. Must not know: how a mutant is put to work.

Only bodies of functions are changed: what a module does when it is imported is done before any case begins. Conditions
that ask for a named fault, by its name or by a variable that holds the answer, and functions that only serve one, are
left alone: what they do wrong is named already.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from types import CodeType, ModuleType

from amqpspec.run.mutants.operators import changes, shown

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_ASKS = "faulty"


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one node. ``place`` counts the nodes of the module, ``change`` the changes of that node.

    ``id`` does not depend on line numbers: it names file, function and a hash over what is changed into what.
    """

    id: str
    module: str
    function: str
    line: int
    what: str
    place: int
    change: int

    @property
    def file(self) -> str:
        """The module's file, below the folder of the namespace."""
        return f"{self.module.replace('.', '/')}.py"


@cache
def mutants_of(module: ModuleType) -> tuple[Mutant, ...]:
    """Every mutant of a module whose code can be exchanged while it runs."""
    tree = ast.parse(inspect.getsource(module))
    numbers = {node: number for number, node in enumerate(ast.walk(tree))}
    return tuple(
        mutant
        for name, function in _functions(tree.body)
        for mutant in _mutants(module, name, function, numbers)
    )


def _mutants(
    module: ModuleType, name: str, function: _Function, numbers: dict[ast.AST, int]
) -> Iterator[Mutant]:
    seen: dict[str, int] = {}
    for node in _nodes(function):
        for change, (what, _) in enumerate(changes(node)):
            again = seen[what] = seen.get(what, -1) + 1
            digest = blake2b(f"{what}#{again}".encode(), digest_size=4).hexdigest()
            file = module.__name__.removeprefix("amqpspec.").replace(".", "/")
            line = getattr(node, "lineno", function.lineno)
            yield Mutant(f"{file}:{name}:{digest}", module.__name__, name, line, what, numbers[node], change)


def code_of(mutant: Mutant, module: ModuleType) -> CodeType:
    """The mutated function, compiled; raises LookupError if the source has changed meanwhile."""
    tree = ast.parse(inspect.getsource(module))
    target = list(ast.walk(tree))[mutant.place]
    made = list(changes(target))
    if mutant.change >= len(made) or made[mutant.change][0] != mutant.what:
        raise LookupError(
            f"{mutant.id}: expected {mutant.what!r} at {shown(target)!r}, actual: another source"
        )
    _Exchange(target, made[mutant.change][1]).visit(tree)
    changed = ast.fix_missing_locations(tree)
    return _function_code(compile(changed, str(module.__file__), "exec"), mutant.function.split("."))


class _Exchange(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self._old, self._new = old, ast.copy_location(new, old) if hasattr(old, "lineno") else new

    def visit(self, node: ast.AST) -> ast.AST:
        """The new node in place of the old one."""
        if node is self._old:
            return self._new
        self.generic_visit(node)
        return node


def _function_code(code: CodeType, path: list[str]) -> CodeType:
    for name in path:
        code = next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)
    return code


def _functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, _Function]]:
    """Functions and methods by their qualified name; what stands within a function belongs to it."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, _Function) and _ASKS not in node.name:
            yield f"{prefix}{node.name}", node


def _nodes(function: _Function) -> Iterator[ast.AST]:
    """Every node of a function's body that may be changed, in the order of the source."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    answers = frozenset(_answers(function))
    for statement in body:
        yield from _below(statement, answers)


def _answers(function: _Function) -> Iterator[str]:
    """Variables that hold whether a fault is on, and nothing else."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _is_a_question(node.value):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


def _below(node: ast.AST, answers: frozenset[str]) -> Iterator[ast.AST]:
    if _asks_for_a_fault(node, answers):
        return
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and isinstance(
            node, _Function | ast.AnnAssign
        ):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                yield from _below(child, answers)


def _asks_for_a_fault(node: ast.AST, answers: frozenset[str]) -> bool:
    """Whether a condition asks whether a named fault is on."""
    if isinstance(node, ast.Return) and node.value is not None and _is_a_question(node.value):
        return True
    test = node.test if isinstance(node, ast.If | ast.IfExp) else node
    return isinstance(test, ast.expr) and any(
        _is_a_question(part) or (isinstance(part, ast.Name) and part.id in answers) for part in ast.walk(test)
    )


def _is_a_question(node: ast.AST) -> bool:
    """Whether an expression is the question whether a fault is on, and nothing else."""
    return isinstance(node, ast.Call) and _ASKS in ast.unparse(node.func)
