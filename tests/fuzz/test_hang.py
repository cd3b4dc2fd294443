"""Hangs: a target that never rests is distinguished from a slow one, and a JVM says where it is."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.hang import TOP, ThreadWatch
from amqpspec.fuzz.oracles.threads import Stack, endless_stack, stack_in_all, threads_in

ENDLESS = "while True: pass"
A_WHILE = "import time\nwhile time.thread_time() < 0.4: pass\ntime.sleep(600)"
AT_REST = "import time; time.sleep(600)"

OUTER = ("org.broker.Handler.read", "org.broker.Sasl.process")
DUMP = """\
2026-01-01 00:00:00
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"main" #1 prio=5 os_prio=0 cpu={main}ms elapsed=41.12s tid=0x00007f52e8019000 nid=0x2d9a waiting on condition
   java.lang.Thread.State: WAITING (parking)
\tat java.lang.Thread.sleep(java.base@17.0.15/Native Method)
\tat org.broker.Main.main(Main.java:79)

"Thread-0 (net)" #38 daemon prio=5 os_prio=0 cpu={net}ms elapsed=39.22s tid=0x00007f52e8a7bfc0 nid=0x2dc6 runnable
   java.lang.Thread.State: RUNNABLE
\tat org.broker.{inner}(Sasl.java:688)
\tat org.broker.Sasl.process(Sasl.java:659)
\tat org.broker.Handler.read(Handler.java:333)

"C2 CompilerThread0" #9 daemon prio=9 os_prio=0 cpu={compiler}ms elapsed=41.07s tid=0x00007f52e8190000 nid=0x2daa

JNI global refs: 24, weak refs: 0
"""


def dump(*, main: float = 5, net: float = 10, compiler: float = 900, inner: str = "Sasl.more") -> str:
    return DUMP.format(main=main, net=net, compiler=compiler, inner=inner)


@contextmanager
def watched(program: str) -> Iterator[ThreadWatch]:
    program = f"print('started', flush=True)\n{program}"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # while an interpreter is loaded from a disk, it is at rest
        subject = Subject("p", "amqp-0-9-1", Address("127.0.0.1", 1), pid=lambda: process.pid)
        try:
            yield ThreadWatch(subject, time.sleep)
        finally:
            process.kill()


def test_a_loop_without_end_is_a_hang() -> None:
    with watched(ENDLESS) as watch:
        found = watch.works_on("1.0 s of processor time", 0.5)
    assert found is not None and found.top == TOP and "1.0 s of processor time" in found.detail
    assert found.cause == "", "a target that cannot be restarted is not asked"


@pytest.mark.parametrize("program", [A_WHILE, AT_REST])
def test_who_comes_to_rest_does_not_hang(program: str) -> None:
    with watched(program) as watch:
        assert watch.works_on("", 2.0) is None


def test_silence_is_explained_by_a_loop_only() -> None:
    with watched(ENDLESS) as watch:
        found = watch.explains("nothing in 10 s")
        assert found is not None and found.top == TOP
    with watched(AT_REST) as watch:
        assert watch.explains("nothing in 10 s") is None


def test_the_busiest_thread_is_in_the_same_function_both_times() -> None:
    first, second = threads_in(dump()), threads_in(dump(main=6, net=510, compiler=2000))
    assert stack_in_all([first, second]) == (*OUTER, "org.broker.Sasl.more")
    assert set(first) == {"main", "Thread-0 (net)", "C2 CompilerThread0"}


def test_what_differs_below_the_loop_is_left_out() -> None:
    inner = ["Sasl.more", "Sasl.more", "Buffer.get", "Sasl.more"]
    dumps = [threads_in(dump(net=10 + 500 * number, inner=name)) for number, name in enumerate(inner)]
    assert stack_in_all(dumps) == OUTER


def test_a_thread_that_used_no_time_is_not_endless() -> None:
    assert stack_in_all([threads_in(dump()), threads_in(dump())]) == ()
    assert stack_in_all([{}]) == ()


def test_nobody_but_a_jvm_is_sent_a_signal() -> None:
    with subprocess.Popen([sys.executable, "-c", AT_REST]) as process:
        assert endless_stack(process.pid, lambda: dump(), time.sleep) == ()
        assert process.poll() is None
        process.kill()
    assert endless_stack(None, lambda: dump(), time.sleep) == ()


@pytest.mark.parametrize(
    ("first", "then"), [((*OUTER, "org.broker.Sasl.more"), OUTER), (OUTER, (*OUTER, "org.broker.Sasl.more"))]
)
def test_a_loop_keeps_its_name_however_deep_it_is_seen(
    first: Stack, then: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = iter([first, then, ("org.broker.Handler.read", "org.broker.Other.loop")])
    monkeypatch.setattr(ThreadWatch, "_stack", lambda self: next(seen))
    with watched(ENDLESS) as watch:
        causes = [found.cause for _ in range(3) if (found := watch.explains("")) is not None]
    assert causes == [f"endless in {first[-1]}"] * 2 + ["endless in org.broker.Other.loop"]
