"""Which input a complaint in the log belongs to: many targets name the port of the connection beside it.

Knows: ports, the lines of a log. Must not know: sockets, what happens to a suspect.

It is a hint, which saves a search through the whole batch; triage tries the input again before anyone is blamed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion

_BEFORE, _AFTER = 3, 60
"""How many lines before and after the line of a complaint belong to it."""
_LINE_CHARS = 4096
_PORT = re.compile(r":(\d{4,5})\b")


def with_senders(check: Check, sent: Iterable[tuple[int, InputId]]) -> Check:
    """The check with suspects in its complaints of the log; ``sent`` are ports and inputs in the order of sending."""
    if not any(_is_open(seen) for seen in check.suspicions):
        return check
    inputs: dict[str, list[InputId]] = {}
    for port, id in sent:
        inputs.setdefault(str(port), []).insert(0, id)
    lines = [line[:_LINE_CHARS] for line in check.log.splitlines()]
    found = tuple(_with_senders(seen, lines, inputs) if _is_open(seen) else seen for seen in check.suspicions)
    return replace(check, suspicions=found)


def _is_open(seen: Suspicion) -> bool:
    return seen.oracle is Oracle.LOG and not seen.inputs


def _with_senders(seen: Suspicion, lines: list[str], inputs: dict[str, list[InputId]]) -> Suspicion:
    """Of several connections, the one named first after the line; of several inputs on it, the last one first."""
    at = _place(seen, lines)
    beside = [*lines[at : at + _AFTER], *reversed(lines[max(0, at - _BEFORE) : at])]
    ports = (port for line in beside for port in _PORT.findall(line))
    return replace(seen, inputs=tuple(next((inputs[port] for port in ports if port in inputs), ())))


def _place(seen: Suspicion, lines: list[str]) -> int:
    """The number of the first line of a complaint: its detail is the beginning of what was written."""
    detail = seen.detail.splitlines()
    first = detail[:1]
    starts = (number for number, line in enumerate(lines) if [line] == first)
    return next((at for at in starts if lines[at : at + len(detail)] == detail), len(lines))
