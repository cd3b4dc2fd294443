"""Cases: how one is declared and where all of them are found.

Knows: what a case says of itself. Must not know: targets, concurrency, reports.
"""

from __future__ import annotations

import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import load_ledger, part_of
from amqpspec.spec.model import Level, Requirement

Body = Callable[[Any], Verdict]
_STRENGTH = (Level.MUST, Level.SHOULD, Level.STATEMENT, Level.MAY)


@dataclass(frozen=True, slots=True)
class Case:
    """One executable case.

    ``covers`` are requirement ids; ``needs`` optional parts of the protocol without which it is not applicable;
    ``hooks`` what the target's configuration must offer (``restart``, ``second-user`` …), else it is blocked;
    ``restarts`` cases meet at one restart of the target; ``destructive`` ones are followed by a liveness probe and left
    out on shared targets; ``heavy`` ones run while no other case runs; ``slow`` ones wait for seconds by nature, or
    because some targets put off a refusal on purpose, and are begun first; ``budget_s`` bounds the whole case.
    """

    id: str
    title: str
    covers: tuple[str, ...]
    body: Body
    dialect: str
    suite: str
    needs: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()
    restarts: bool = False
    destructive: bool = False
    heavy: bool = False
    slow: bool = False
    budget_s: float = 60.0

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """The rows it covers, the first being the one that its oracle judges by; raises KeyError for an unknown id."""
        ledger = load_ledger(self.dialect)
        return tuple(ledger[row] for row in self.covers)

    @property
    def level(self) -> Level:
        """The strongest level among the rows it covers."""
        return min((r.level for r in self.requirements), key=_STRENGTH.index)

    @property
    def place(self) -> tuple[str, int]:
        """The file of its steps, and the line where they begin; of a case that was made of a row, the row's file."""
        code = inspect.unwrap(self.body).__code__
        if Path(code.co_filename).is_relative_to(Path(__file__).parent):
            return str(sys.modules[self.body.__module__].__file__), 1
        return code.co_filename, code.co_firstlineno

    def row(self, verdict: Outcome, **facts: Any) -> CaseRow:
        """The row of this case with a verdict, and the other fields of the row by name."""
        return CaseRow(
            id=self.id,
            dialect=self.dialect,
            suite=self.suite,
            title=self.title,
            requirements=self.covers,
            level=str(self.level),
            verdict=verdict,
            **facts,
        )


def case(
    id: str,
    covers: Iterable[str],
    *,
    needs: Iterable[str] = (),
    hooks: Iterable[str] = (),
    restarts: bool = False,
    destructive: bool = False,
    heavy: bool = False,
    slow: bool = False,
    budget_s: float = 60.0,
    dialect: str = "",
) -> Callable[[Body], Body]:
    """Declare the function below as a case; its docstring's first line is the title.

    ``dialect`` is for cases that stand outside of a suite's package, which says it in ``DIALECT``.
    """

    def declare(body: Body) -> Body:
        if not body.__doc__:
            raise TypeError(f"case {id}: expected a docstring that states the demand, actual: none")
        package, _, suite = body.__module__.rpartition(".")
        declared = Case(
            id=id,
            title=body.__doc__.strip().splitlines()[0].rstrip("."),
            covers=tuple(covers),
            body=body,
            dialect=dialect or getattr(sys.modules.get(package), "DIALECT", package),
            suite=suite,
            needs=tuple(needs),
            hooks=tuple(hooks) + (("restart",) if restarts else ()),
            restarts=restarts,
            destructive=destructive,
            heavy=heavy,
            slow=slow,
            budget_s=budget_s,
        )
        body.__dict__.setdefault("amqpspec_cases", []).append(declared)
        return body

    return declare


def case_after(
    begin: Callable[[Any], tuple[Any, ...]], id: str, covers: Iterable[str], **terms: Any
) -> Callable[[Callable[..., Verdict]], Body]:
    """Declare, like ``case``, a case that begins with these steps; they return the arguments of its function."""

    def declare(body: Callable[..., Verdict]) -> Body:
        return case(id, covers, **terms)(wraps(body)(lambda peer: body(*begin(peer))))

    return declare


def declare(
    where: dict[str, Any], body: Body, id: str, covers: Iterable[str], *, title: str = "", **terms: Any
) -> None:
    """Declare a case in a module, given by its globals, whose function is that of another case, or was made for it.

    ``title`` defaults to the function's docstring; ``terms`` are those of ``case``.
    """

    def own(subject: Any) -> Verdict:
        return body(subject)

    own.__doc__, own.__module__ = title or body.__doc__, where["__name__"]
    own.__dict__["__wrapped__"] = body
    where[f"case_{id}"] = case(id, covers, **terms)(own)


@cache
def load_suite(dialect: str) -> Mapping[str, Case]:
    """Every case of a dialect by id, modules in the order that the suite's package states; raises on double ids."""
    package = cast(ModuleType, part_of(dialect, "suite"))
    names: Iterable[str] = getattr(package, "ORDER", [m.name for m in pkgutil.iter_modules(package.__path__)])
    cases: dict[str, Case] = {}
    for name in names:
        for declared in cases_of(import_module(f"{package.__name__}.{name}")):
            if declared.id in cases:
                raise TypeError(f"case {declared.id}: expected a unique id, actual: declared twice")
            cases[declared.id] = declared
    return cases


def load_file(path: Path) -> Mapping[str, Case]:
    """The cases of one file outside of the suites, by id; raises what reading and executing it raises."""
    spec = spec_from_file_location(f"amqpspec_case_file.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: expected a Python file")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = {declared.id: declared for declared in cases_of(module)}
    for declared in cases.values():
        assert declared.requirements
    return cases


def cases_of(module: ModuleType) -> list[Case]:
    """The cases that a module declares, in its order."""
    bodies = [value for value in vars(module).values() if getattr(value, "__module__", "") == module.__name__]
    return [declared for body in bodies for declared in getattr(body, "amqpspec_cases", ())]
