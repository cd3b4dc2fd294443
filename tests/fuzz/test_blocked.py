"""What the threads of a silent target wait for, and that only runtimes that write it are asked."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.subject import Greeting, Subject
from amqpspec.fuzz.oracles import blocked
from amqpspec.fuzz.oracles.blocked import blocked_in, is_go, of_go, of_jvm
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.oracles.hang import SILENT, ThreadWatch
from amqpspec.fuzz.oracles.log import complaints
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import CANARY_LOST, Oracle, Suspicion
from amqpspec.fuzz.triage.causes import cause_of
from amqpspec.fuzz.triage.triage import Blame, Status

OF_GO = """\
SIGQUIT: quit
PC=0x470981 m=0 sigcode=0

goroutine 0 [idle]:
runtime.futex()
\truntime/sys_linux_amd64.s:559 +0x21

goroutine 7 [running]:
example.org/broker/server.(*Stats).collect(0xc000010018)
\texample.org/broker/server/stats.go:9 +0x1d

goroutine 34 [semacquire, 2 minutes]:
sync.runtime_SemacquireMutex(0xc0000b4014?, 0x0?, 0x1?)
\truntime/sema.go:77 +0x25
sync.(*RWMutex).Lock(0xc0000b4010)
\tsync/rwmutex.go:147 +0x5b
example.org/broker/queue.(*Queue).Remove(0xc0000b4000, {0xc000112030, 0x5})
\texample.org/broker/queue/queue.go:71 +0x4e
example.org/broker/queue.(*Queue).Delete.func1({0xc000112030, 0x5})
\texample.org/broker/queue/queue.go:55 +0x30
example.org/broker/server.(*Host).Delete(0xc000092000)
\texample.org/broker/server/host.go:20 +0x11
created by example.org/broker/server.(*Server).accept in goroutine 1
\texample.org/broker/server/server.go:30 +0x5c

goroutine 35 [sync.RWMutex.RLock]:
sync.(*RWMutex).RLock(...)
\tsync/rwmutex.go:61
example.org/broker/server.(*Host).Queue(0xc000092000, {0xc0001120a0, 0x2})
\texample.org/broker/server/host.go:11 +0x4e
example.org/broker/server.(*Channel).declare(0xc0000a0000)
\texample.org/broker/server/channel.go:5 +0x21

goroutine 36 [sync.Mutex.Lock]:
example.org/broker/server.(*Host).Queue(0xc000092000, {0xc0001120a0, 0x2})
\texample.org/broker/server/host.go:11 +0x4e

goroutine 37 [select]:
example.org/broker/server.(*Channel).a(0x1)
\texample.org/broker/server/channel.go:5 +0x21
example.org/broker/server.(*Channel).b(0x1)
\texample.org/broker/server/channel.go:6 +0x21
example.org/broker/server.(*Channel).c(0x1)
\texample.org/broker/server/channel.go:7 +0x21
example.org/broker/server.(*Channel).d(0x1)
\texample.org/broker/server/channel.go:8 +0x21
"""

OF_JVM = """\
JNI global refs: 24, weak refs: 0

Found one Java-level deadlock:
=============================
"net-2":
  waiting to lock monitor 0x00007f1c40003f80 (object 0x0000000716d5b6d8, a org.broker.Session),
  which is held by "net-1"

"net-1":
  waiting for ownable synchronizer 0x0000000716d5b6e8, (a java.util.concurrent.locks.ReentrantLock$NonfairSync),
  which is held by "net-2"

Java stack information for the threads listed above:
===================================================
"net-2":
\tat org.broker.Session.close(Session.java:10)
\t- waiting to lock <0x0000000716d5b6d8> (a org.broker.Session)
\t- locked <0x0000000716d5b6e8> (a org.broker.Link)
\tat org.broker.Connection.end(Connection.java:20)
"net-1":
\tat jdk.internal.misc.Unsafe.park(java.base@17/Native Method)
\tat java.util.concurrent.locks.ReentrantLock.lock(java.base@17/ReentrantLock.java:322)
\tat org.broker.Link.detach(Link.java:15)

Found 1 deadlock.

Heap
 garbage-first heap   total 1048576K, used 21504K
"""

AT_REST = "import time; time.sleep(60)"


def test_the_goroutine_that_was_called_from_farthest_names_a_deadlock() -> None:
    cause, places = of_go(OF_GO)
    assert cause == "blocked in example.org/broker/queue.(*Queue).Remove"
    assert places.splitlines() == [
        "2 waiting in example.org/broker/server.(*Host).Queue",
        "1 waiting in example.org/broker/queue.(*Queue).Remove",
    ]


def test_the_order_of_goroutines_changes_no_name() -> None:
    head, *goroutines = OF_GO.split("\n\n")
    assert of_go("\n\n".join([head, *reversed(goroutines)]))[0] == of_go(OF_GO)[0]


def test_who_waits_for_something_else_is_not_blocked() -> None:
    assert of_go(OF_GO.replace("semacquire, 2 minutes", "select").replace("sync.", "chan.")) == ("", "")


def test_a_jvm_names_its_deadlock() -> None:
    cause, places = of_jvm(OF_JVM)
    assert cause == "blocked in org.broker.Link.detach and org.broker.Session.close"
    assert places.splitlines() == [
        "1 waiting in org.broker.Session.close",
        "1 waiting in org.broker.Link.detach",
    ]
    assert of_jvm(OF_JVM.replace("Java stack information", "Information")) == ("", "")


def test_goroutines_that_were_asked_for_are_no_complaint_of_a_log() -> None:
    assert list(complaints(OF_GO)) == []
    died = OF_GO.replace("SIGQUIT: quit", "fatal error: out of memory")
    assert [seen.top for seen in complaints(died)] == ["go: fatal error: out of memory"]


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    # SIGQUIT would leave a core dump wherever the tests run.
    without_core = partial(resource.setrlimit, resource.RLIMIT_CORE, (0, 0))
    with subprocess.Popen([sys.executable, "-c", AT_REST], preexec_fn=without_core) as started:
        yield started
        started.kill()


def test_other_programs_are_sent_no_signal(process: subprocess.Popen[bytes]) -> None:
    assert not is_go(process.pid)
    assert blocked_in(process.pid, lambda: OF_GO, time.sleep) == ("", "")
    assert blocked_in(None, lambda: OF_GO, time.sleep) == ("", "")
    assert process.poll() is None


def test_a_program_of_go_is_known_by_what_its_linker_writes(
    monkeypatch: pytest.MonkeyPatch, process: subprocess.Popen[bytes]
) -> None:
    """Any program that holds this magic number is one; a gone process is none."""
    monkeypatch.setattr(blocked, "_GO_BUILD", b"\x7fELF")
    assert is_go(process.pid)
    process.kill()
    process.wait()
    assert not is_go(process.pid)


def test_a_go_program_is_read_until_it_has_ended(
    monkeypatch: pytest.MonkeyPatch, process: subprocess.Popen[bytes]
) -> None:
    monkeypatch.setattr(blocked, "is_go", lambda pid: True)
    parts = iter([OF_GO[:200], OF_GO[200:]])

    def wait(seconds_s: float) -> None:
        process.wait(60)

    assert blocked_in(process.pid, lambda: next(parts, ""), wait) == of_go(OF_GO)
    assert process.returncode, "a signal that it does not handle ends it"


def subject(process: subprocess.Popen[bytes]) -> Subject:
    return Subject("p", "amqp-0-9-1", Address("127.0.0.1", 1), pid=lambda: process.pid)


def test_a_target_that_cannot_be_restarted_is_not_asked(
    monkeypatch: pytest.MonkeyPatch, process: subprocess.Popen[bytes]
) -> None:
    monkeypatch.setattr(
        "amqpspec.fuzz.oracles.hang.blocked_in", lambda *given: ("blocked in a.b", "1 waiting in a.b")
    )
    assert ThreadWatch(subject(process), time.sleep).explains("nothing in 10 s") is None
    found = ThreadWatch(replace(subject(process), restart=lambda: None), time.sleep).explains(
        "nothing in 10 s"
    )
    assert found == Suspicion(
        Oracle.HANG, SILENT, "nothing in 10 s\nblocked in a.b\n1 waiting in a.b", cause="blocked in a.b"
    )


def test_a_deadlock_is_the_cause_whatever_the_log_says(
    monkeypatch: pytest.MonkeyPatch, process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    """The log may hold complaints of inputs that have nothing to do with it."""
    log = tmp_path / "log"
    log.write_text("")
    deadlock = Suspicion(Oracle.HANG, SILENT, "nothing\nblocked in a.b", cause="blocked in a.b")
    monkeypatch.setattr(ThreadWatch, "explains", lambda self, silence: deadlock)
    monkeypatch.setattr(Monitor, "_works_on", lambda self, *given: None)

    def greet(self: Subject, *given: float) -> SimpleNamespace:
        log.write_text("panic: runtime error: index out of range\n")
        raise Unanswered("nothing", silent=True)

    monkeypatch.setattr(Subject, "greet", greet)
    monitor = Monitor(replace(subject(process), log=log))
    check = monitor.after([])
    assert check.suspicions == (deadlock,) and "panic" in check.log
    assert cause_of(Blame(Status.LOST, deadlock), "C01", "channel") == "blocked in a.b"


@pytest.mark.parametrize(
    ("silent", "oracle", "top", "cause"),
    [
        (True, Oracle.HANG, "no answer to a canary", "blocked in a.b"),
        (False, Oracle.CANARY, CANARY_LOST, ""),
    ],
)
def test_a_deadlock_that_only_a_canary_meets_is_a_hang(
    silent: bool, oracle: Oracle, top: str, cause: str,
    monkeypatch: pytest.MonkeyPatch, process: subprocess.Popen[bytes],
) -> None:  # fmt: skip
    """A sentinel needs no lock of the target, and is answered. A canary that was refused shows no deadlock."""

    def check(self: Canaries) -> list[Suspicion]:
        raise Unanswered("expected basic.get-ok, actual: nothing", silent=silent)

    monkeypatch.setattr(
        "amqpspec.fuzz.oracles.hang.blocked_in", lambda *given: ("blocked in a.b", "1 waiting in a.b")
    )
    monkeypatch.setattr(Canaries, "check", check)
    monkeypatch.setattr(Monitor, "_works_on", lambda self, *given: None)
    monkeypatch.setattr(Subject, "greet", lambda self, *given: Greeting(0.1, 1))
    found = Monitor(replace(subject(process), restart=lambda: None)).after([])
    assert [(seen.oracle, seen.top, seen.cause) for seen in found.suspicions] == [(oracle, top, cause)]
