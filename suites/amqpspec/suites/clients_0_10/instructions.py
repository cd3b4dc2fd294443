"""Complete controls and commands: their fields and the segments after them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked, Rule
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_10._books import assembly_of
from amqpspec.wire.amqp_0_10.instructions import COMMAND, CONTROL, Instruction
from amqpspec.wire.amqp_0_10.problems import Problem
from amqpspec.wire.amqp_0_10.segments import Assembly
from amqpspec.wire.conversation import Conversation

_CLASSES = {c.code for c in TABLES.classes}
Find = Callable[[Assembly], str]
"""What is wrong with an assembly by one rule; empty if nothing is."""


def _rule(find: Find, applies: Callable[[Assembly], bool] = lambda assembly: True) -> Rule:
    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            assembly = assembly_of(said)
            if assembly is not None and applies(assembly):
                wrong = find(assembly)
                yield Looked(said, not wrong, wrong)

    return rule


def _is(kind: int) -> Callable[[Assembly], bool]:
    return lambda assembly: assembly.instruction is not None and assembly.instruction.kind == kind


def _unreadable(assembly: Assembly) -> str:
    instruction = assembly.instruction
    broken = instruction is not None and instruction.row is not None and instruction.error is not None
    return str(instruction.error) if instruction is not None and broken else ""


def _code(assembly: Assembly) -> Instruction | None:
    return (
        assembly.instruction
        if assembly.instruction is not None and assembly.instruction.row is None
        else None
    )


def _unknown_class(assembly: Assembly) -> str:
    found = _code(assembly)
    return f"no class {found.code[0]}" if found and found.code and found.code[0] not in _CLASSES else ""


def _unknown_code(assembly: Assembly) -> str:
    found = _code(assembly)
    return f"no {found.name}" if found and found.code and found.code[0] in _CLASSES else ""


def _wrong_side(assembly: Assembly) -> str:
    row = assembly.instruction.row if assembly.instruction is not None else None
    return f"{row.name} is sent by servers" if row is not None and row.sent_by is Side.SERVER else ""


def _problem(is_meant: Callable[[Problem], bool]) -> Find:
    return lambda assembly: next((str(p) for p in assembly.problems if is_meant(p)), "")


def _disorder(assembly: Assembly) -> str:
    """Segments where their type is not allowed (12.2), or after a command that has none."""
    error = assembly.error
    if error is not None and error.where == "assembly":
        return str(error)
    return _problem(lambda p: p.expected == "no segment after it")(assembly)


def _is_missing(problem: Problem) -> bool:
    """A field that has to be there; the result of a query for what does not exist has none of its fields."""
    return problem.actual == "no packing flag" and not problem.where.startswith("execution.result value ")


_RULES: tuple[tuple[str, str, Rule, str], ...] = (
    ("control.readable", "encoding/control/layout", _rule(_unreadable, _is(CONTROL)),
     "Each control of a client consists of codes, packing flags and the announced fields only."),
    ("command.readable", "encoding/command/layout", _rule(_unreadable, _is(COMMAND)),
     "Each command of a client consists of codes, session header, packing flags and fields only."),
    ("class.known", "encoding/command/unknown-class", _rule(_unknown_class),
     "A client sends no control or command of an undefined class."),
    ("code.known", "encoding/command/unknown-command", _rule(_unknown_code),
     "A client sends no control or command that its class does not define."),
    ("side", "encoding/command/wrong-side", _rule(_wrong_side),
     "A client sends no control or command that only servers send."),
    ("fields", "encoding/struct/required-field", _rule(_problem(_is_missing)),
     "Controls, commands and structs of a client contain their required fields."),
    ("map.keys", "map/distinct-keys", _rule(_problem(lambda p: p.expected == "each key once")),
     "No map contains a key twice."),
    ("ranges", "type/sequence-set/disjoint", _rule(_problem(lambda p: p.expected.startswith("ranges in ascending"))),
     "The ranges of a set are ordered, and neither overlap nor touch."),
    ("header.once", "encoding/header-segment/one-of-each",
     _rule(_problem(lambda p: p.expected == "each struct once at most")), "No header segment contains a struct twice."),
    ("segments", "encoding/segments/unexpected", _rule(_disorder),
     "Header and body segments follow only commands that define them, and in this order."),
)  # fmt: skip


for _name, _row, _checked, _title in _RULES:
    _checked.__doc__ = _title
    globals()[f"case_{_name}"] = conduct(f"client.{_name}", covers=[_row])(_checked)
