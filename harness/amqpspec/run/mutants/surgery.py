"""A mutant put into code that is already loaded, by exchanging the code object of one function.

Knows: where functions hide in classes. Must not know: how a mutant was made. There is no way back: do it in a separate
process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import import_module
from itertools import islice
from types import FunctionType
from typing import Any

from amqpspec.run.mutants.operators import FIRST, FOLDED
from amqpspec.run.mutants.places import Mutant, code_of


class InoperableError(ValueError):
    """The function cannot be exchanged: its free variables would be others, or it is no plain function."""


def put_in(mutant: Mutant) -> None:
    """Make a mutant take effect in this process; raises InoperableError, LookupError."""
    module = import_module(mutant.module)
    function = _function(module, mutant.function)
    code = code_of(mutant, module)
    if code.co_freevars != function.__code__.co_freevars:
        raise InoperableError(f"{mutant.id}: expected free variables {function.__code__.co_freevars}")
    function.__globals__.update({FIRST: _first, FOLDED: _folded})
    function.__code__ = code


def can_be_put_in(mutant: Mutant) -> bool:
    """Whether ``put_in`` would succeed."""
    module = import_module(mutant.module)
    try:
        return code_of(mutant, module).co_freevars == _function(module, mutant.function).__code__.co_freevars
    except (InoperableError, LookupError, SyntaxError, ValueError):
        return False


def _function(owner: Any, name: str) -> FunctionType:
    *classes, last = name.split(".")
    for part in classes:
        owner = vars(owner)[part]
    found = vars(owner).get(last)
    for wrapped in _unwrapped(found):
        if isinstance(wrapped, FunctionType) and wrapped.__name__ == last:
            return wrapped
    raise InoperableError(f"{name}: expected a function, actual {type(found).__name__}")


def _unwrapped(found: Any) -> Iterator[Any]:
    yield found
    if isinstance(found, property):
        yield found.fget
    elif isinstance(found, cached_property):
        yield found.func
    else:
        yield getattr(found, "__func__", None)
        yield getattr(found, "__wrapped__", None)


def _first(values: Iterable[Any]) -> Iterator[Any]:
    """The first of some values only: the second of its kind is forgotten."""
    return islice(values, 1)


def _folded(value: Any) -> Any:
    """A text without case, anything else as it is."""
    return value.lower() if isinstance(value, str | bytes) else value
