"""Causes: the same for the same thing that broke, whatever a trace holds besides; others for others."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.fuzz.grammar import grammar, grammar_hash
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.log import complaints
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.fuzz.triage.causes import cause_id, cause_of, what_matters
from amqpspec.fuzz.triage.triage import Blame, Status

GO = """panic: runtime error: slice bounds out of range [{n}:{m}]
[signal SIGSEGV: segmentation violation code=0x1 addr=0x{n} pc=0x90a71f]

goroutine {n} [running]:
panic({{0x9bb700, 0xc000{n}}})
\truntime/panic.go:884 +0x212
encoding/binary.Read({{0xa, 0x{n}}}, 0x{m})
\tencoding/binary/binary.go:{n} +0x1
github.com/acme/broker/{package}.{function}(0xc0000ead{n}, 0x{m})
\tgithub.com/acme/broker/server/channel.go:{n} +0x21f
created by github.com/acme/broker/server.(*Channel).start
\tgithub.com/acme/broker/server/channel.go:126 +0xa5

goroutine 7 [select]:
github.com/acme/broker/server.(*Other).loop(0x1)
\tserver/other.go:3 +0x1
"""
OVERFLOW = "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow\n\n" + (
    "runtime stack:\nruntime.throw({{0xa}})\n\nruntime/panic.go:1\n\ngoroutine {n} [running]:\n{first}"
)
JVM = """12:00:0{n} WARN [broker] Uncaught exception: java.lang.RuntimeException: at {n}
\tat com.broker.Session.handle(Session.java:{n})
\tat com.broker.Session$3.run(Session.java:{m})
Caused by: java.lang.NullPointerException: Cannot invoke "X.y()" because "<local{n}>" is null
\tat java.base/java.util.Objects.requireNonNull(Objects.java:{n})
\tat com.broker.codec.Reader.lambda${function}${n}(Reader.java:{m})
\tat com.broker.codec.Reader.all(Reader.java:{m})
\t... 12 more
"""
PYTHON = """Traceback (most recent call last):
  File "/usr/lib/python3.11/asyncio/events.py", line {n}, in _run
    self._context.run(self._callback, *self._args)
  File "/srv/broker/{function}.py", line {m}, in handle
    raise struct.error
  File "/usr/lib/python3.11/struct.py", line {m}, in unpack
    x
IndexError: index {n} of {m}
"""
BEAM = """2026-11-24 12:00:{n} [error] <0.{n}.0> ** Generic server <0.{n}.0> terminating
** Reason for termination ==
** {{function_clause,[{{rabbit_reader,{function},[<<{n}>>,{m}],[{{file,"x.erl"}},{{line,{m}}}]}}]}}
=CRASH REPORT==== crasher:
    exception error: no function clause matching rabbit_reader:{function}(<<{n},{m}>>) (src/x.erl, line {n})
"""
SANITIZER = """==1{n}==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x60{n} at pc 0x{m}
READ of size {n} at 0x60{n} thread T0
    #0 0x7f{n} in __interceptor_memcpy (/usr/lib/libasan.so+0x{n})
    #1 0x55{n} in {function} /src/frame.c:{m}:7
    #2 0x55{n} in main /src/main.c:1
"""


def cause(log: str) -> str:
    (found, *_) = complaints(log)
    return found.cause


def filled(log: str, n: int, m: int, function: str) -> str:
    return log.format(n=n, m=m, function=function, package="wire")


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        (GO, "go: runtime error: slice bounds out of range in github.com/acme/broker/wire.one"),
        (JVM, "jvm: java.lang.NullPointerException in com.broker.codec.Reader.one"),
        (PYTHON, "python: IndexError in one.py:handle"),
        (SANITIZER, "sanitizer: AddressSanitizer heap-buffer-overflow in one"),
    ],
)
def test_values_lines_and_addresses_are_not_of_a_cause_and_its_place_is(log: str, expected: str) -> None:
    assert cause(filled(log, 3, 4, "one")) == cause(filled(log, 58, 9, "one")) == expected
    assert cause(filled(log, 3, 4, "two")) == expected.replace("one", "two")


def test_a_clause_of_beam_is_its_function() -> None:
    one, again, other = (cause(filled(BEAM, n, 7, name)) for n, name in ((1, "one"), (22, "one"), (1, "two")))
    assert one == again != other and "rabbit_reader:one" in one and "rabbit_reader:two" in other


def test_closures_of_a_function_are_that_function() -> None:
    plain, closure = (filled(GO, 3, 4, name) for name in ("(*Channel).handle", "(*Channel).handle.func1.2"))
    assert cause(plain) == cause(closure)


def test_where_a_stack_was_at_its_end_is_chance() -> None:
    def frames(*names: str) -> str:
        return "".join(f"github.com/x/broker/wire.{name}(0x1, 0x2)\n\tx/wire/t.go:1 +0x1\n" for name in names)

    one = frames("readTable", "readValue", *["readTable", "readValue"] * 9)
    shifted = frames("readOctet", "readValue", *["readTable", "readValue"] * 9)
    causes = {cause(OVERFLOW.replace("{first}", first).replace("{n}", "9")) for first in (one, shifted)}
    assert causes == {
        "go: stack overflow in github.com/x/broker/wire.readTable and github.com/x/broker/wire.readValue"
    }


@pytest.mark.parametrize(
    "log",
    [
        "panic: boom\n\ngoroutine 1 [running]:\nruntime.main()\n\truntime/proc.go:1\n",
        "java.lang.OutOfMemoryError: Java heap space\n\tat com.broker.A.b(A.java:1)\n",
        "Segmentation fault\n",
        "Traceback (most recent call last):\nKeyError: 1\n",
    ],
)
def test_a_trace_that_names_no_place_tells_no_cause(log: str) -> None:
    assert cause(log) == ""


def test_long_lines_are_read_in_part() -> None:
    assert cause("panic: boom\n\ngoroutine 1 [running]:\n" + "(" * 1_000_000 + "\n") == ""


# --- of findings

CELLS = by_key("amqp-0-9-1")
INPUT = CELLS["amqp-0-9-1/C09/order.twice/channel"].input(0)


def blamed(seen: Suspicion, item: FuzzInput | None = INPUT, **more: Any) -> Blame:
    return Blame(Status.STABLE, seen, item, **more)


def test_a_crash_and_a_line_of_a_log_with_the_same_trace_are_one_cause() -> None:
    crash, line = (
        Suspicion(oracle, top, "", cause="go: nil in a.b")
        for oracle, top in ((Oracle.CRASH, "the target is gone; go: x"), (Oracle.LOG, "go: x"))
    )
    assert cause_of(blamed(crash), "C04", "header") == cause_of(blamed(line), "C09", "channel")


def test_what_a_log_says_beside_a_hang_is_not_its_cause() -> None:
    hangs = [Suspicion(Oracle.HANG, f"no answer; {said}", "", cause=said) for said in ("a", "b")]
    first, second = (cause_of(blamed(hang), "C09", "channel") for hang in hangs)
    assert first == second == "hang: no answer; C09 order.twice"


def test_what_nobody_is_to_blame_for_is_alone() -> None:
    seen = Suspicion(Oracle.MEMORY, "memory grows", "")
    assert cause_of(blamed(seen, None), "C04", "header") != cause_of(blamed(seen, None), "C04", "channel")


def of(name: str) -> FuzzInput:
    octets = octets_of(grammar("amqp-0-9-1")[name].tree)
    return FuzzInput(
        InputId(grammar_hash("amqp-0-9-1"), "random", "x", "channel", 0, 0),
        "amqp-0-9-1",
        "channel",
        (octets,),
        "",
    )


def test_of_a_smallest_input_the_frames_and_the_fields_that_are_needed_matter() -> None:
    seen = Suspicion(Oracle.MEMORY, "memory grows", "")
    assert what_matters(of("method/tx.select")) == "tx.select"
    assert what_matters(of("method/basic.ack")) == "basic.ack payload.args.delivery-tag"
    small = cause_of(blamed(seen, of("method/basic.ack"), asks=3), "random", "channel")
    assert small == "memory: memory grows; basic.ack payload.args.delivery-tag"
    assert cause_of(blamed(seen, of("method/basic.ack"), asks=3), "C08", "consuming") == small


def test_ids_of_causes_are_the_same_in_every_campaign() -> None:
    assert cause_id("go: nil in a.b") == cause_id("go: nil in a.b") != cause_id("go: nil in a.c")
    assert len(cause_id("")) == 12


def test_growth_that_was_not_blamed_before_the_end_is_one_cause() -> None:
    """A hang that was not blamed may have any cause; a heap grows to its size wherever the inputs are."""
    growth, hang = (Suspicion(oracle, "top", "detail") for oracle in (Oracle.MEMORY, Oracle.HANG))
    places = [("C01", "open"), ("C02", "session")]
    assert len({cause_of(Blame(Status.UNBLAMED, growth), *place) for place in places}) == 1
    assert len({cause_of(Blame(Status.LOST, growth), *place) for place in places}) == 2
    assert len({cause_of(Blame(Status.UNBLAMED, hang), *place) for place in places}) == 2
