"""The oracle over the target's log: what runtimes write when something broke inside.

Knows: how BEAM, JVM, Go, Python and sanitizers complain. Must not know: why.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import accumulate, islice, takewhile
from pathlib import Path

from amqpspec.fuzz.executor.clock import now_s, pause
from amqpspec.fuzz.executor.pool import utc_us
from amqpspec.fuzz.oracles.frames import LINES, cause_in
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion, steady

MAX_OCTETS = 4 << 20
_EXCERPT_LINES = 12
_LINE_CHARS = 4096
"""How much of a line is examined: it may contain data of a peer of any length."""
_REST_S, _CATCH_UP_S, _LOOK_S = 0.1, 1.5, 0.01
"""A log is at rest if nothing was written for 0.1 s. It is waited for at most 1.5 s, and looked at every 10 ms."""
_HEAPS_AND_STACKS = r"(?:java\.lang\.)?(?:StackOverflowError|OutOfMemoryError)"
_SIGNATURES = (
    ("python", re.compile(r"^Traceback \(most recent call last\)"), ("Traceback (most recent call last)",)),
    (
        "jvm", re.compile(rf"{_HEAPS_AND_STACKS}|[Uu]ncaught exception|Exception in thread \""),
        ("StackOverflowError", "OutOfMemoryError", "ncaught exception", 'Exception in thread "'),
    ),
    (
        "jvm",
        re.compile(r"Unhandled (?:exception|error)|java\.lang\.(?:NullPointer|ClassCast|IllegalState)Exception"),
        ("Unhandled e", "java.lang.NullPointer", "java.lang.ClassCast", "java.lang.IllegalState"),
    ),
    (
        "jvm",
        re.compile(r"java\.lang\.(?:\w*IndexOutOfBounds|NegativeArraySize)|java\.nio\.Buffer(?:Under|Over)flow"),
        ("IndexOutOfBounds", "java.lang.NegativeArraySize", "java.nio.Buffer"),
    ),
    (
        "beam", re.compile(r"\bcrasher:|CRASH REPORT|=CRASH|terminat\w+ with reason:|Error in process <"),
        ("crasher:", "CRASH", " with reason:", "Error in process <"),
    ),
    (
        "beam", re.compile(r"\bcrash report\b|eheap_alloc|no more index entries in atom_tab"),
        ("crash report", "eheap_alloc", "no more index entries in atom_tab"),
    ),
    (
        "go", re.compile(r"^(?:\S+ )*panic: |^goroutine \d+ \[running\]|fatal error: "),
        ("panic: ", " [running]", "fatal error: "),
    ),
    (
        "sanitizer",
        re.compile(r"ERROR: (?:Address|Leak|Memory|Thread|UndefinedBehavior)Sanitizer|runtime error: "),
        ("Sanitizer", "runtime error: "),
    ),
    (
        "native",
        re.compile(r"[Ss]egmentation fault|SIGSEGV|Assertion .* failed|corrupted (?:size|unsorted)"),
        ("egmentation fault", "SIGSEGV", " failed", "corrupted "),
    ),
)  # fmt: skip
"""Runtime, pattern, and words of which each match contains one: looking for words first takes a tenth of the time."""
_PYTHON_TOP = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Warning|Exit|Interrupt)\b.*")
_PREFIX = re.compile(r"^\d{4}-\d\d-\d\d[ T]\S+ (?:\[\w+\] )?(?:<[\d.]+> ?)?")
_CAUSE = "Caused by: "
_ORDINARY = re.compile(r"IllegalStateException: Channel was inactive for ")
"""How a JVM tells that a client kept silent longer than was agreed on: no fault of its own."""
_GOES_ON = {
    "jvm": re.compile(rf"\s+(?:at |\.\.\. |Suppressed: )|{_CAUSE}"),
    "go": re.compile(
        r"\s|$|\[signal |goroutine \d|created by |exit status |runtime stack:|\.\.\.|r\w+\s+0x|[^\s(]+\(.*\)$"
    ),
}
"""Lines that belong to what a runtime has just complained of."""
_AT_WORK, _ASKED = re.compile(r"goroutine \d+ "), "SIGQUIT: quit"
"""How Go names each goroutine, and how the list of them begins that was asked for: that is no complaint."""
_NAMED = re.compile(r"(?:[a-z]\w*\.)+\w+(?:Exception|Error)\b")
_THROWN = re.compile(rf"({_NAMED.pattern})(?::|$)")
_AT = re.compile(r"\s+at (?:[\w.@]+/)?([\w.$]+(?:<init>)?)\(")
_WHERE = re.compile(
    r"(?:in function|in call from|no function clause matching)\s+([a-z]\w*):([a-z_]\w*)"
    r"|\[\{([a-z]\w*_\w*),\s*'?([a-z_]\w*)[^,]{0,40},\s*[\d\[]"
)
_FRAME = re.compile(r"[,\[]\s*\{([a-z]\w*_\w*),\s*'?([a-z_]\w*)'?,\s*\d")
"""A frame of a stack trace that is a term; the first one may belong to a function of the runtime."""
_STRING = re.compile(r'<<"(?:[^"\\]|\\.)*(?:"|$)')
"""What a term quotes, perhaps the trace of an earlier error as a text."""
_RUNTIME = frozenset({"erlang", "gen_server", "gen_server2", "gen", "proc_lib", "lists", "supervisor"})
_WORDS = re.compile(
    r"[{\[\s]*(no function clause matching|no match of right hand side|[a-z_]\w*(?: (?!in function)\w+)*)"
)
_OCTETS = re.compile(r"[\s\d,<>\[\]|]*")
_TELLING_LINES, _MOST_LINES = 60, 16_384
"""How many lines of a report are read for what broke, and among how many: BEAM prints the octets that did not match, a
dozen on a line, before it names the function. A frame has up to 131,072 octets.
"""
_REASON = re.compile(r"exception \w+|reason: |\*\* Reason", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A connection of our own; ``at`` is the size of the log before it.

    A log that names its port has caught up with everything that happened before, even if it is never at rest.
    """

    port: int
    at: int


@dataclass(slots=True)
class LogWatch:
    """Continues where it stopped reading; a log that was truncated or replaced is read from its beginning."""

    path: Path | None
    _at: int = 0

    def skip(self) -> None:
        """Skip what the log holds so far."""
        self._at = self.size

    def news(self, wait: Callable[[float], None] = pause, mark: Mark | None = None) -> str:
        """What was written since, at most the last ``MAX_OCTETS``; a log that is being written is waited for."""
        size = self._caught_up(wait, mark)
        start = self._at if size >= self._at else 0
        self._at = size
        return self._read(start, size).decode("utf-8", "replace")

    def _caught_up(self, wait: Callable[[float], None], mark: Mark | None) -> int:
        """The size after the mark was written, or nothing for a moment, or after a while."""
        until_s = now_s() + _CATCH_UP_S
        while not self._names(mark) and self._since_written_s() < _REST_S and now_s() < until_s:
            wait(_LOOK_S)
        return self.size

    def _names(self, mark: Mark | None) -> bool:
        return (
            mark is not None and re.search(rb":%d\b" % mark.port, self._read(mark.at, self.size)) is not None
        )

    def _read(self, start: int, size: int) -> bytes:
        """The log up to this size, from ``start`` or the last ``MAX_OCTETS``; nothing if it cannot be read."""
        if self.path is None:
            return b""
        start = max(start, size - MAX_OCTETS)
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return file.read(max(0, size - start))
        except OSError:
            return b""

    def _since_written_s(self) -> float:
        try:
            return abs(utc_us() / 1e6 - self.path.stat().st_mtime) if self.path is not None else _REST_S
        except OSError:
            return _REST_S

    @property
    def size(self) -> int:
        """The size of the log in octets; 0 if there is none."""
        try:
            return self.path.stat().st_size if self.path is not None else 0
        except OSError:
            return 0


def complaints(text: str) -> Iterator[Suspicion]:
    """Yield a suspicion for each kind of complaint in a log, in order, each kind once."""
    seen: set[str] = set()
    for one in _each(text):
        if one.top not in seen:
            seen.add(one.top)
            yield one


def last_complaint(text: str) -> Suspicion | None:
    """The last complaint in a log, even if an earlier one is the same; None if there is none."""
    return next(iter(deque(_each(text), maxlen=1)), None)


def _each(text: str) -> Iterator[Suspicion]:
    lines = [line[:_LINE_CHARS] for line in text.splitlines()]
    marks = _marks(lines)
    continued: re.Pattern[str] | None = None
    died = False
    thrown: set[str] = set()
    for number, line in enumerate(lines):
        # The cause of an exception that was already reported is no complaint of its own.
        if continued is not None and continued.match(line):
            continue
        runtime = marks.get(number, "")
        # A process of Go says why it dies first, and then what each goroutine was at.
        if died and runtime == "go" and _AT_WORK.match(line):
            continue
        died = died or (runtime == "go" and not _AT_WORK.match(line)) or line.startswith(_ASKED)
        continued = _GOES_ON.get(runtime)
        if runtime == "jvm" and _is_mention(line, thrown):
            continue
        if runtime and not _ORDINARY.search(line):
            top = steady(_top(runtime, lines, number))
            excerpt = "\n".join(lines[number : number + _EXCERPT_LINES])
            cause = cause_in(runtime, lines[number : number + LINES], top)
            yield Suspicion(Oracle.LOG, f"{runtime}: {top}", excerpt, cause=cause)


def _is_mention(line: str, thrown: set[str]) -> bool:
    """Whether a line only names an exception whose stack was logged before; ``thrown`` has those, and is added to.

    Broker-J's layers below the protocol name in one line what a layer above has logged with its stack.
    """
    if (stack := _THROWN.match(line)) is not None:
        thrown.add(stack[1])
        return False
    return bool(thrown) and not thrown.isdisjoint(_NAMED.findall(line))


def _marks(lines: list[str]) -> dict[int, str]:
    """The numbers of lines that match a signature, each with the runtime of the first one."""
    text, ends = "\n".join(lines), list(accumulate(len(line) + 1 for line in lines))
    found: dict[int, str] = {}
    for runtime, pattern, words in _SIGNATURES:
        for number in {number for word in words for number in _lines_with(word, text, ends)}:
            if number not in found and pattern.search(lines[number]):
                found[number] = runtime
    return found


def _lines_with(word: str, text: str, ends: list[int]) -> Iterator[int]:
    at = text.find(word)
    while at >= 0:
        number = bisect_right(ends, at)
        yield number
        at = text.find(word, ends[number])


def _top(runtime: str, lines: list[str], number: int) -> str:
    """The line that says what broke; it may follow some lines after the one that says that something did."""
    if runtime == "beam":
        return _of_beam(list(islice(_telling(lines, number), _TELLING_LINES)))
    rest = lines[number : number + _TELLING_LINES]
    if runtime == "python":
        return next((line for line in rest[1:] if _PYTHON_TOP.match(line)), rest[0])
    if runtime == "jvm":
        return _of_jvm(rest)
    return _bare(rest[0])


def _telling(lines: list[str], number: int) -> Iterator[str]:
    """The lines of a report, from a number on, that hold more than octets. The next report begins another way."""
    own = _beginning(lines[number])
    for at in range(number, min(len(lines), number + _MOST_LINES)):
        if _beginning(lines[at]) not in ("", own):
            return
        if not _OCTETS.fullmatch(_bare(lines[at])):
            yield lines[at]


def _of_jvm(rest: list[str]) -> str:
    """The class of an exception, and the first function outside the runtime; messages hold values."""
    thrown = _THROWN.match(rest[0].removeprefix(_CAUSE))
    if thrown is None:
        return _bare(rest[0])
    frames = (_AT.match(line) for line in takewhile(_AT.match, rest[1:]))
    places = [frame[1] for frame in frames if frame and not frame[1].startswith(("java.", "jdk.", "sun."))]
    # Where a stack or a heap was at its end is chance.
    return (
        thrown[1] if re.search(_HEAPS_AND_STACKS, thrown[1]) or not places else f"{thrown[1]} in {places[0]}"
    )


def _of_beam(rest: list[str]) -> str:
    """Reason and function, without values that change: a term that did not match, a function's arguments."""
    at = next((n for n, line in enumerate(rest[:12]) if _REASON.search(line)), 0)
    text = _STRING.sub("", " ".join(_bare(line) for line in rest[at:]))
    places = ([part for part in m.groups() if part] for how in (_WHERE, _FRAME) for m in how.finditer(text))
    found = next((place for place in places if place[0] not in _RUNTIME), None)
    where = f" {found[0]}:{found[1]}" if found else ""
    kind, _, reason = text.partition(": ")
    words = _WORDS.match(reason) if at else None
    return f"{kind}: {words[1]}{where}" if words else _bare(rest[at])


def _bare(line: str) -> str:
    """A line without the time and process that loggers put before it."""
    return _PREFIX.sub("", line).strip()


def _beginning(line: str) -> str:
    """The time and process before a line: the same in all lines of a report of BEAM; "" if there are none."""
    found = _PREFIX.match(line)
    return found[0].strip() if found else ""
