"""Where something broke, by its trace in a log: the kind of error, and the first function of the target below it.

Knows: how BEAM, JVM, Go, Python and sanitizers write traces. Must not know: where logs come from, findings.

What changes from one time to the next or from one build to the next is left out: values, addresses, line numbers,
numbers of closures and of generated classes. Where a trace names no function of the target, nothing is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile

from amqpspec.fuzz.oracles.suspicion import steady

LINES, _LINE_CHARS = 160, 512
"""How many lines of a trace are read, and how much of each: what a peer sent may be in them."""
_RECURRING, _NAMED = 3, 3
_CAUSED_BY = "Caused by: "
_JVM_TYPE = re.compile(r"((?:[a-z]\w*\.)+[A-Z][\w$]*(?:Exception|Error))\b")
_JVM_FRAME = re.compile(r"\s+at (?:[\w.@]+//?)?([\w.$/]+(?:<init>)?)\(")
_JVM_LINE = re.compile(rf"\s+(?:at |\.\.\. |Suppressed: )|{_CAUSED_BY}")
_JVM_RUNTIME = re.compile(r"(?:java|javax|jdk|sun|com\.sun)\.|.*\.(?:check|require|ensure)[A-Z]\w*$")
_JVM_GENERATED = re.compile(r"lambda\$(\w+)\$\d+|\$\$Lambda[^.]*|\$\d+")
_GO_ERROR = re.compile(r"(?:panic: |panic serving \S+ |fatal error: )(.*)")
_GO_VALUES = re.compile(r"\s*\[.*|\s+with (?:length|capacity).*")
_GO_FRAME = re.compile(r"^([^\s(]\S*)\(.*\)$")
_GO_OWN = re.compile(r"main\.|[^/]+\.[^/]+/")
_GO_GENERATED = re.compile(r"\.func\d+(?:\.\d+)*|\[\.\.\.\]|\.gowrap\d+")
_PYTHON_FRAME = re.compile(r'^\s+File "([^"]+)", line \d+, in (\S+)')
_PYTHON_TYPE = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt))\b")
_PYTHON_RUNTIME = re.compile(r"/lib/python3[^/]*/(?!site-packages|dist-packages)|^<")
_SANITIZER = re.compile(r"ERROR: (\w+Sanitizer): ([\w-]+)")
_NATIVE_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (\S+)")
_NATIVE_RUNTIME = re.compile(r"__|mem(?:cpy|move|set)|str\w*$|(?:malloc|calloc|realloc|free)$")
_BEAM_PLACE = re.compile(r" [a-z]\w*:[a-z_]\w*")


def cause_in(runtime: str, lines: Sequence[str], top: str) -> str:
    """What broke and where, according to the trace that begins with the first line; ``top`` is what is reported
    anyway.
    """
    trace = [line[:_LINE_CHARS] for line in lines[:LINES]]
    found = _READERS[runtime](trace, top) if runtime in _READERS else ""
    return f"{runtime}: {found}" if found else ""


def _in(kind: str, place: str) -> str:
    return f"{kind} in {place}" if kind and place else ""


def _jvm(lines: Sequence[str], top: str) -> str:
    """The last exception of a chain is the cause of the first one."""
    trace = [lines[0], *takewhile(_JVM_LINE.match, lines[1:])]
    begin = max((n for n, line in enumerate(trace) if line.startswith(_CAUSED_BY)), default=0)
    thrown = _JVM_TYPE.search(trace[begin])
    own = jvm_functions(list(takewhile(_JVM_FRAME.match, trace[begin + 1 :])))
    return _in(thrown[1] if thrown else "", _place(thrown[1] if thrown else "", own))


def jvm_functions(lines: Sequence[str]) -> list[str]:
    """The functions of a stack that do not belong to the runtime, the innermost first."""
    frames = [m[1] for m in map(_JVM_FRAME.match, lines) if m]
    return [_JVM_GENERATED.sub(r"\1", name) for name in frames if not _JVM_RUNTIME.match(name)]


def _go(lines: Sequence[str], top: str) -> str:
    said = _GO_ERROR.search(lines[0])
    kind = steady(_GO_VALUES.sub("", said[1])) if said else ""
    # The first goroutine is the one that died.
    begin = next((n + 1 for n, line in enumerate(lines) if line.startswith("goroutine ")), len(lines))
    return _in(kind, _place(kind, go_functions(list(takewhile(str.strip, lines[begin:])))))


def go_functions(lines: Sequence[str]) -> list[str]:
    """The functions of a goroutine's stack that do not belong to the runtime, the innermost first.

    Those that were called while it panicked are left out.
    """
    frames = [found[1] for found in map(_GO_FRAME.match, lines) if found]
    if "panic" in frames:
        frames = frames[len(frames) - frames[::-1].index("panic") :]
    return [_GO_GENERATED.sub("", name) for name in frames if _GO_OWN.match(name)]


def _place(kind: str, own: Sequence[str]) -> str:
    """The first of the functions; for a stack overflow, those that call each other: the place where it ended is
    random.
    """
    if "StackOverflow" not in kind and "stack overflow" not in kind:
        return "" if "OutOfMemory" in kind else next(iter(own), "")
    counted = Counter(own)
    return " and ".join(sorted(name for name in counted if counted[name] >= _RECURRING)[:_NAMED])


def _python(lines: Sequence[str], top: str) -> str:
    """The innermost function that does not belong to Python itself."""
    frames = [m for m in map(_PYTHON_FRAME.match, lines) if m and not _PYTHON_RUNTIME.search(m[1])]
    thrown = next((m[1] for m in map(_PYTHON_TYPE.match, lines[1:]) if m), "")
    return _in(thrown, f"{frames[-1][1].rpartition('/')[2]}:{frames[-1][2]}" if frames else "")


def _native(lines: Sequence[str], top: str) -> str:
    said = _SANITIZER.search(lines[0])
    frames = (m[1] for m in map(_NATIVE_FRAME.match, lines) if m)
    own = next((name for name in frames if not _NATIVE_RUNTIME.match(name)), "")
    return _in(f"{said[1]} {said[2]}" if said else "", own)


def _beam(lines: Sequence[str], top: str) -> str:
    """The report itself names the reason and the function."""
    return top if _BEAM_PLACE.search(top) else ""


_READERS: dict[str, Callable[[Sequence[str], str], str]] = {
    "jvm": _jvm, "go": _go, "python": _python, "sanitizer": _native, "beam": _beam,
}  # fmt: skip
