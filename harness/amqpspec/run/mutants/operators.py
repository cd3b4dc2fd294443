"""Mutation operators: for one node of a syntax tree, the ways in which it could be wrong.

Knows: Python's syntax tree. Must not know: brokers, cases, which lines are executed.

The first group holds the classical operators: conditions, comparisons, constants, arithmetic, removed statements,
returned values, swapped arguments. The second holds what brokers get wrong in practice: they forget the second object
of a kind, compare names without case, or apply to all what was meant for one. Prose is left alone: no specification
says what a reply text is.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

Change = tuple[str, ast.AST]
"""What is wrong, in a few words, and the node that takes the old one's place."""

FIRST, FOLDED = "__mutant_first__", "__mutant_folded__"
"""Names of the helpers that mutated code calls; ``surgery`` puts them into its globals."""

_COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_STORING = frozenset({"add", "append", "appendleft"})
_COMMUTATIVE = frozenset({"max", "min", "plus"})


def changes(node: ast.AST) -> Iterator[Change]:
    """Every way in which this node alone could be wrong; nothing for a node that no operator knows."""
    for kinds, operator in _OPERATORS:
        if isinstance(node, kinds):
            yield from operator(node)


def shown(node: ast.AST) -> str:
    """A node as source, in one short line."""
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 60 else f"{text[:59]}…"


# --- classical


def _comparison(node: ast.Compare) -> Iterator[Change]:
    if len(node.ops) != 1:
        return
    for other in _COMPARISONS[type(node.ops[0])]:
        changed = copy.deepcopy(node)
        changed.ops = [other()]
        yield f"{shown(node)} → {shown(changed)}", changed


def _boolean(node: ast.BoolOp) -> Iterator[Change]:
    changed = copy.deepcopy(node)
    changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield f"{shown(node)} → {shown(changed)}", changed
    for operand in node.values:
        rest = [copy.deepcopy(other) for other in node.values if other is not operand]
        less = rest[0] if len(rest) == 1 else ast.BoolOp(copy.deepcopy(node.op), rest)
        yield f"{shown(node)} without {shown(operand)}", less


def _negation(node: ast.UnaryOp) -> Iterator[Change]:
    if isinstance(node.op, ast.Not):
        yield f"{shown(node)} without not", copy.deepcopy(node.operand)


def _condition(node: ast.If | ast.IfExp | ast.While) -> Iterator[Change]:
    for value in (True, False):
        if isinstance(node, ast.While) and value:
            continue  # an endless loop is a trial's time spent, and nothing learned
        changed = copy.deepcopy(node)
        changed.test = ast.Constant(value)
        yield f"if {shown(node.test)} → if {value}", changed


def _constant(node: ast.Constant) -> Iterator[Change]:
    value = node.value
    if isinstance(value, bool):
        yield f"{value} → {not value}", ast.Constant(not value)
    elif isinstance(value, int):
        yield f"{value} → {value + 1}", ast.Constant(value + 1)
        if value > 0:
            yield f"{value} → {value - 1}", ast.Constant(value - 1)
    elif isinstance(value, str | bytes) and value and len(value.split()) == 1:
        yield f"{value!r} → empty", ast.Constant(type(value)())


def _arithmetic(node: ast.BinOp) -> Iterator[Change]:
    if other := _ARITHMETIC.get(type(node.op)):
        changed = copy.deepcopy(node)
        changed.op = other()
        yield f"{shown(node)} → {shown(changed)}", changed
    if isinstance(node.op, ast.Add | ast.Sub):
        yield f"{shown(node)} → {shown(node.left)}", copy.deepcopy(node.left)


def _step(node: ast.AugAssign) -> Iterator[Change]:
    if other := _ARITHMETIC.get(type(node.op)):
        changed = copy.deepcopy(node)
        changed.op = other()
        yield f"{shown(node)} → {shown(changed)}", changed
    yield from _removed(node)


def _removed(node: ast.stmt) -> Iterator[Change]:
    yield f"without: {shown(node)}", ast.Pass()


def _call_removed(node: ast.Expr) -> Iterator[Change]:
    if isinstance(node.value, ast.Call):
        yield from _removed(node)


def _assignment_removed(node: ast.Assign) -> Iterator[Change]:
    # A local name that is never bound fails for a reason of Python's own; a field that keeps its value is a defect.
    if all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
        yield from _removed(node)


def _returned(node: ast.Return) -> Iterator[Change]:
    if node.value is not None and not isinstance(node.value, ast.Constant):
        yield f"return {shown(node.value)} → return None", ast.Return(ast.Constant(None))


def _arguments_swapped(node: ast.Call) -> Iterator[Change]:
    if len(node.args) < 2 or any(isinstance(argument, ast.Starred) for argument in node.args[:2]):
        return
    if ast.unparse(node.func).rpartition(".")[2] in _COMMUTATIVE:
        return
    changed = copy.deepcopy(node)
    changed.args[:2] = [changed.args[1], changed.args[0]]
    if ast.dump(changed) != ast.dump(node):
        yield f"{shown(node)} → {shown(changed)}", changed


# --- what brokers get wrong


def _second_forgotten(node: ast.For) -> Iterator[Change]:
    changed = copy.deepcopy(node)
    changed.iter = _call(FIRST, changed.iter)
    yield f"for {shown(node.target)} in {shown(node.iter)}: the first only", changed


def _second_not_stored(node: ast.Expr) -> Iterator[Change]:
    call = node.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _STORING:
        empty = ast.UnaryOp(ast.Not(), copy.deepcopy(call.func.value))
        yield f"{shown(node)}: where it holds none yet", ast.If(empty, [copy.deepcopy(node)], [])


def _case_ignored(node: ast.Compare) -> Iterator[Change]:
    numbers = any(isinstance(side, ast.Constant) for side in (node.left, *node.comparators))
    if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq) or numbers:
        return
    changed = copy.deepcopy(node)
    changed.left, changed.comparators = _call(FOLDED, changed.left), [_call(FOLDED, changed.comparators[0])]
    yield f"{shown(node)} without case", changed


def _applied_to_all(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Iterator[Change]:
    for place, part in enumerate(node.generators):
        for number, test in enumerate(part.ifs):
            changed = copy.deepcopy(node)
            del changed.generators[place].ifs[number]
            yield f"{shown(node)} without if {shown(test)}", changed


def _call(name: str, argument: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), [argument], [])


Operator = Callable[..., Iterator[Change]]
_OPERATORS: tuple[tuple[tuple[type[ast.AST], ...], Operator], ...] = (
    ((ast.Compare,), _comparison),
    ((ast.BoolOp,), _boolean),
    ((ast.UnaryOp,), _negation),
    ((ast.If, ast.IfExp, ast.While), _condition),
    ((ast.Constant,), _constant),
    ((ast.BinOp,), _arithmetic),
    ((ast.AugAssign,), _step),
    ((ast.Delete, ast.Raise, ast.Break, ast.Continue), _removed),
    ((ast.Expr,), _call_removed),
    ((ast.Assign,), _assignment_removed),
    ((ast.Return,), _returned),
    ((ast.Call,), _arguments_swapped),
    ((ast.For,), _second_forgotten),
    ((ast.Expr,), _second_not_stored),
    ((ast.Compare,), _case_ignored),
    ((ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp), _applied_to_all),
)
