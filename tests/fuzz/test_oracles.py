"""Each oracle by itself: what it complains about, and what it lets pass."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.fuzz.amqp_1_0 import canary as canary_1_0
from amqpspec.fuzz.campaign.clock import TimeUp
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.result import End, InputResult, Obedience, Timing
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.catalogue import by_key, cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.methods.canary import MethodsClient
from amqpspec.fuzz.oracles import log
from amqpspec.fuzz.oracles import monitor as monitor_module
from amqpspec.fuzz.oracles.answers import astray, conformance, deviates, obedience
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.fuzz.oracles.lateness import Moments, late
from amqpspec.fuzz.oracles.log import LogWatch, complaints
from amqpspec.fuzz.oracles.monitor import Monitor, Usual
from amqpspec.fuzz.oracles.process import Allowance, Gauge, gauge
from amqpspec.fuzz.oracles.suspicion import Oracle, steady
from amqpspec.fuzz.selftest.defects import defect
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.states.model import Values
from amqpspec.net.ports import free_port
from amqpspec.reference.amqp_1_0 import limits
from amqpspec.reference.amqp_1_0.receiving import ReceivingEndpoint
from amqpspec.reference.amqp_1_0.sending import SendingEndpoint
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.handlers import CHANNEL_HANDLERS
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.methods.codec import Call
from tests.fuzz.kit import SECOND, canaries_of, subject_of, target


def must_be_refused() -> FuzzInput:
    cell = next(c for c in cells("amqp-0-9-1") if c.key == "amqp-0-9-1/C04/frame.end/ready")
    return next(i for i in cell if i.expectation.must_refuse)


def came(
    item: FuzzInput, refused: Refusal | None, end: End = End.OPEN, latency_s: float = 0.01
) -> InputResult:
    return InputResult(item, True, (), refused, end, Timing(latency_s, 0.1), 10, 10)


def test_the_ledger_decides() -> None:
    item = must_be_refused()
    (accepted,) = item.expectation.accepts
    assert not deviates(came(item, None, End.FIN))
    assert accepted.scope is Scope.SOCKET
    wrong = came(item, Refusal(Scope.CHANNEL, 404))
    assert deviates(wrong) and deviates(came(item, None))
    (seen,) = conformance([wrong])
    assert seen.oracle is Oracle.CONFORMANCE and seen.inputs == (item.id,)
    assert (
        seen.detail == "amq_wlp_frame_02: expected connection closed without further data, actual channel 404"
    )


def test_what_was_not_reached_or_may_be_legal_is_not_judged() -> None:
    item = must_be_refused()
    assert not deviates(
        InputResult(item, False, (), None, End.OPEN, Timing(None, 0.1), 1, 1, "no tune in time")
    )
    legal = next(i for c in cells("amqp-0-9-1") for i in c if not i.expectation.must_refuse)
    assert not deviates(came(legal, None))


def test_a_late_answer_names_the_slowest_first() -> None:
    item, other = must_be_refused(), cells("amqp-0-9-1")[0].input(0)
    results = [came(item, None, latency_s=0.7), came(other, None, latency_s=0.9)]
    (seen,) = late(results, 0.5, Moments())
    assert seen.inputs == (other.id, item.id) and "actual 0.90 s" in seen.detail
    assert not list(late(results, 1.0, Moments()))


def waited(item: FuzzInput, since_s: float, until_s: float) -> InputResult:
    """An input that was sent at one moment and answered at another one."""
    timing = Timing(until_s - since_s, 0.1, answered_s=until_s)
    return InputResult(item, True, (), None, End.OPEN, timing, 10, 10)


def suspected(results: Sequence[InputResult]) -> list[InputId]:
    moments = Moments()
    moments.learn(results)
    return [id for seen in late(results, 0.5, moments) for id in seen.inputs]


def test_nobody_is_late_where_all_wait_alike() -> None:
    items = list(islice(chain.from_iterable(cells("amqp-0-9-1")), 16))
    queue = [waited(item, 100.0, 100.0 + 0.08 * place) for place, item in enumerate(items, 1)]
    assert queue[-1].timing.latency_s == pytest.approx(1.28) and not suspected(queue)
    assert suspected(queue[-1:]) == [items[-1].id]


def test_who_holds_a_target_up_is_late_and_those_behind_are_not() -> None:
    items = list(islice(chain.from_iterable(cells("amqp-0-9-1")), 16))
    quick = [waited(item, 100.0, 100.01 + 0.001 * place) for place, item in enumerate(items[:8])]
    culprit = waited(items[8], 100.0, 103.0)
    behind = [waited(item, 100.02, 103.001 + 0.001 * place) for place, item in enumerate(items[9:])]
    assert suspected([*quick, culprit, *behind])[0] == items[8].id
    assert items[-1].id not in suspected([*quick, culprit, *behind])
    assert suspected([*quick, culprit]) == [items[8].id]


def test_a_slow_step_on_the_way_is_late_as_well() -> None:
    item = must_be_refused()
    slow = InputResult(item, True, (), None, End.OPEN, Timing(0.01, 2.0, 1.5, 10.0, 9.0), 10, 10)
    assert suspected([slow]) == [item.id]


def test_a_zombie_is_gone() -> None:
    assert gauge(os.getpid()).alive and gauge(os.getpid()).rss_octets > 1 << 20
    child = subprocess.Popen([sys.executable, "-c", "pass"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    os.kill(child.pid, 0)
    assert not gauge(child.pid).alive
    child.wait()
    child.stdout.close()
    assert not gauge(child.pid).alive
    assert gauge(None) == Gauge(None)


def test_allowances_grow_with_what_was_sent() -> None:
    allowed = Allowance()
    before = Gauge(1, True, 100 << 20, 5.0)
    assert allowed.memory(before, Gauge(1, True, 150 << 20, 5.0), 1000).startswith("memory grew by 50 MiB")
    assert not allowed.memory(before, Gauge(1, True, 150 << 20, 5.0), 4 << 20)
    assert not allowed.memory(before, Gauge(2, True, 900 << 20, 5.0), 1000)
    assert allowed.cpu(before, Gauge(1, True, 0, 8.0), 1000, 0.5).startswith("3.0 s of processor time")
    assert not allowed.cpu(before, Gauge(1, True, 0, 8.0), 1000, 2.5)


@pytest.mark.parametrize(
    ("text", "top"),
    [
        (
            "Traceback (most recent call last):\n  File \"x.py\", line 1\nKeyError: 'a'\n",
            "python: KeyError: 'a'",
        ),
        (
            "2026-11-21 15:25:07.95+00:00 [error] <0.679.0>   crasher:\n"
            "2026-11-21 15:25:07.95+00:00 [error] <0.679.0>     pid: <0.679.0>\n"
            "2026-11-21 15:25:07.95+00:00 [error] <0.679.0>     exception error: no function clause matching\n"
            "2026-11-21 15:25:07.95+00:00 [error] <0.679.0>         some_parser:parse_table(<<127,107>>) (x.erl)\n",
            "beam: exception error: no function clause matching some_parser:parse_table",
        ),
        (
            "2026-11-21 15:25:07.95+00:00 [error] <0.68.0>   crasher:\n"
            '2026-11-21 15:25:07.95+00:00 [error] <0.68.0>     exception exit: {{badmatch,<<"text",7,8>>},\n'
            "2026-11-21 15:25:07.95+00:00 [error] <0.68.0>         [{some_framing,decode_properties,2,\n"
            "2026-11-21 15:25:07.95+00:00 [error] <0.68.0>       in function  gen_server2:terminate/3 (g.erl)\n",
            "beam: exception exit: badmatch some_framing:decode_properties",
        ),
        (
            "2026-11-21 15:25:07.95+00:00 [error] <0.9.0>   crasher:\n"
            '2026-11-21 15:25:07.95+00:00 [error] <0.9.0>     exception exit: {{badkey,<<"text">>},\n'
            '2026-11-21 15:25:07.95+00:00 [error] <0.9.0>         [{erlang,map_get,[<<"text">>,#{}],[]},\n'
            "2026-11-21 15:25:07.95+00:00 [error] <0.9.0>          {some_channel,monitor,2,[{line,7}]},\n",
            "beam: exception exit: badkey some_channel:monitor",
        ),
        (
            "[error] <0.6.0>   crasher:\n    exception error: bad argument\n      in function  split_binary/2\n"
            "         called as split_binary(<<>>,1)\n      in call from some_parser:parse/1 (p.erl, line 1)\n",
            "beam: exception error: bad argument some_parser:parse",
        ),
        (
            'java.lang.NullPointerException: value of "a17" is null\n\tat java.base/java.util.X.y(X.java:1)\n'
            "\tat org.some.Link.open(Link.java:500)\n",
            "jvm: java.lang.NullPointerException in org.some.Link.open",
        ),
        (
            "java.lang.StackOverflowError\n\tat org.some.Codec.read(Codec.java:5)\n",
            "jvm: java.lang.StackOverflowError",
        ),
        (
            'Exception in thread "IO-7" java.lang.StackOverflowError\n\tat a.B.c(B.java:7)',
            'jvm: Exception in thread "IO-N" java.lang.StackOverflowError',
        ),
        ("panic: runtime error: slice bounds out of range [5:3]", "go: panic: runtime error: slice bounds"),
        ("==7==ERROR: AddressSanitizer: heap-buffer-overflow on 0x60", "sanitizer: ==N==ERROR: Address"),
    ],
)
def test_runtimes_are_known_by_how_they_complain(text: str, top: str) -> None:
    seen = next(complaints(f"INFO all is well\n{text}"))
    assert seen.top.startswith(top) and seen.oracle is Oracle.LOG
    assert "text" not in seen.top and "Codec" not in seen.top


def test_a_report_takes_no_place_from_a_trace_that_it_quotes() -> None:
    """A process that ends while it reports an error of another one: where the other one failed is not its place."""
    lines = (
        "crasher:",
        "exception exit: {noproc,",
        "{gen_server,call,",
        r"""[<0.32.0>,{utf8,<<"{badmatch,[]}\n[{some_parser,pm,3,[{file,\"a.erl\"},{line,7}]}">>},""",
        "300000]}}",
        "in function  gen_server:call/3 (gen_server.erl, line 1222)",
        "in call from some_session:log_error/2 (some_session.erl, line 9)",
    )
    text = "".join(f"2026-11-21 15:25:08.01+00:00 [error] <0.68.0>   {line}\n" for line in lines)
    assert [seen.top for seen in complaints(text)] == ["beam: exception exit: noproc some_session:log_error"]


@pytest.mark.parametrize("process", ["<0.68.0>", "<0.69.0>"])
def test_a_report_takes_no_place_from_the_next_one(process: str) -> None:
    reports = {
        "08.01+00:00 [error] <0.68.0>": (
            "crasher:",
            "exception exit: {noproc,",
            "[{gen_server,call,[flush]}]}",
        ),
        f"08.02+00:00 [error] {process}": (
            "crasher:",
            "exception error: bad",
            "in function some_parser:parse/2",
        ),
    }
    text = "".join(
        f"2026-11-21 15:25:{prefix}   {line}\n" for prefix, lines in reports.items() for line in lines
    )
    tops = [seen.top for seen in complaints(text)]
    assert tops == ["beam: exception exit: noproc", "beam: exception error: bad some_parser:parse"]


@pytest.mark.parametrize("octets", [1, 3000, 131_072])
def test_a_report_that_prints_octets_has_the_same_name_however_many(octets: int) -> None:
    prefix = "2026-11-21 15:25:07.95+00:00 [error] <0.68.0>  "
    printed = [",".join(["120"] * 12) + ","] * (octets // 12)
    lines = [
        " crasher:", "   exception exit: {{badmatch,", "     <<", *(f"      {line}" for line in printed),
        "      120,121>>},", "     [{some_framing,decode_properties,2,",
    ]  # fmt: skip
    seen = next(complaints("".join(f"{prefix}{line}\n" for line in lines)))
    assert seen.top == "beam: exception exit: badmatch some_framing:decode_properties"


PIECES = (
    *(word for _, _, words in log._SIGNATURES for word in words), "Uncaught exception", "java.lang.",
    "uncaught exception", "Unhandled exception", "Unhandled error", "Exception", "ArrayIndexOutOfBounds",
    "java.nio.BufferUnderflow", "java.nio.BufferOverflow", "flow", "crasher:", "CRASH REPORT", "=CRASH", "terminating",
    "terminated", "goroutine 7", "http: ", "ERROR: ", "Address", "UndefinedBehavior", "Segmentation fault",
    "segmentation fault", "Assertion ", "x > 0", "corrupted size", "corrupted unsorted", " ", "x", "\n", "\u2028", "\t",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_looking_for_words_first_finds_the_same_lines(text: str) -> None:
    lines = text.splitlines()
    signatures = [(runtime, pattern) for runtime, pattern, _ in log._SIGNATURES]
    expected = {
        number: next(runtime for runtime, pattern in signatures if pattern.search(line))
        for number, line in enumerate(lines)
        if any(pattern.search(line) for _, pattern in signatures)
    }
    assert log._marks(lines) == expected


@pytest.mark.parametrize(
    "line",
    [
        "Traceback (most recent call last):", "java.lang.StackOverflowError", "OutOfMemoryError", "Uncaught exception",
        "an uncaught exception", 'Exception in thread "a"', "Unhandled exception", "Unhandled error",
        "java.lang.NullPointerException", "java.lang.ClassCastException", "java.lang.IllegalStateException",
        "java.lang.ArrayIndexOutOfBoundsException", "java.lang.NegativeArraySizeException",
        "java.nio.BufferUnderflowException", "java.nio.BufferOverflowException", "  crasher:", "CRASH REPORT", "=CRASH",
        "terminating with reason: a", "Error in process <0.1.0>", "crash report", "eheap_alloc",
        "no more index entries in atom_tab", "2026/01/01 panic: a", "goroutine 1 [running]:", "fatal error: a",
        "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "ERROR: MemorySanitizer", "ERROR: ThreadSanitizer",
        "ERROR: UndefinedBehaviorSanitizer", "a.c:1: runtime error: b", "Segmentation fault", "segmentation fault",
        "SIGSEGV", "Assertion `a' failed", "corrupted size vs. prev_size", "corrupted unsorted chunks",
    ],
)  # fmt: skip
def test_every_signature_is_found_among_ordinary_lines(line: str) -> None:
    assert list(log._marks(["INFO a", line, "INFO b failed", line])) == [1, 3]


def test_an_ordinary_log_is_no_complaint() -> None:
    text = "[warning] closing connection: client unexpectedly closed TCP connection\n[info] exception: none\n"
    assert not list(complaints(text))


def test_the_cause_of_an_exception_is_a_complaint_where_nothing_else_is() -> None:
    known = "java.lang.IllegalStateException: a\n\tat a.B.c(B.java:1)\n"
    unknown = "org.some.OwnException: a\n\tat a.B.d(B.java:1)\n"
    cause = "Caused by: java.lang.NullPointerException: b\n\tat a.B.e(B.java:2)\n\t... 3 more\n"
    assert [s.top for s in complaints(known + cause)] == ["jvm: java.lang.IllegalStateException in a.B.c"]
    assert [s.top for s in complaints(unknown + cause)] == ["jvm: java.lang.NullPointerException in a.B.e"]
    assert len(list(complaints(known + "INFO b\n" + unknown + cause))) == 2


def test_an_exception_that_is_only_named_again_is_no_second_complaint() -> None:
    stack = "java.nio.BufferUnderflowException\n\tat a.B.c(B.java:1)\n"
    named = "INFO (a.Connection) - Exception for connection: java.nio.BufferUnderflowException\n"
    other = "INFO (a.Connection) - Exception for connection: java.nio.BufferOverflowException\n"
    (once,) = complaints(f"WARN - Unexpected exception\n{stack}INFO b\n{named}")
    assert once.top == "jvm: java.nio.BufferUnderflowException in a.B.c"
    assert len(list(complaints(named))) == 1
    assert len(list(complaints(stack + other))) == 2


def test_one_complaint_for_one_cause() -> None:
    text = "ValueError: 0x1f at 7\n"
    twice = f"Traceback (most recent call last):\n{text}" + f"Traceback (most recent call last):\n{text}"
    assert len(list(complaints(twice))) == 1
    assert steady("at 0x1f, <0.67.0> and 12") == "at N, N and N"


def test_a_log_is_read_on_and_from_its_beginning_when_it_is_new(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("old\n", encoding="utf-8")
    watch = LogWatch(path)
    watch.skip()
    with path.open("a", encoding="utf-8") as file:
        file.write("new\n")
    assert watch.news() == "new\n" and watch.news() == ""
    path.write_text("x\n", encoding="utf-8")
    assert watch.news() == "x\n"
    assert LogWatch(tmp_path / "none").news() == "" and LogWatch(None).news() == ""


def test_canaries_of_two_users_live_in_a_clean_broker() -> None:
    with target(others=(SECOND,)) as subject, canaries_of(subject) as canaries:
        assert canaries.check() == []
        canaries.place()
        assert canaries.check() == []


@pytest.mark.parametrize("fault", ["body-modified", "virtual-hosts-shared"])
def test_a_modified_body_is_seen(fault: str) -> None:
    with target("amqp-0-9-1", fault, others=(SECOND,)) as subject, canaries_of(subject) as canaries:
        found = {s.oracle for s in canaries.check()}
    assert (Oracle.CANARY in found) is (fault == "body-modified")


@pytest.mark.parametrize("is_blocked", [True, False])
def test_a_target_that_blocks_publishers_has_lost_nothing(
    clean: ReferenceBroker, monkeypatch: pytest.MonkeyPatch, is_blocked: bool
) -> None:
    with canaries_of(subject_of(clean)) as canaries:
        if is_blocked:
            clean.block("out of memory")
        with monkeypatch.context() as unread:
            unread.setattr(MethodsClient, "publish", lambda *given: None)
            found = {s.top for s in canaries.check()}
        assert found == (set() if is_blocked else {"delivery changed or lost"})
        assert ("blocked publishers (connection.blocked)" in canaries.note) is is_blocked
        canaries.place()  # on a new connection
        assert canaries.check() == []


def test_a_target_that_blocks_publishers_may_leave_their_requests_unanswered(
    clean: ReferenceBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    say = MethodsClient.say
    canaries = Canaries(subject_of(clean))
    canaries.place()
    clean.block("out of memory")
    monkeypatch.setattr(
        MethodsClient, "say", lambda self, name, **more: name == "basic.get" or say(self, name, **more)
    )
    assert canaries.check() == [] and "blocked publishers" in canaries.note


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-1-0"])
def test_an_alarm_while_canaries_open_leaves_no_socket_open(
    dialect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def alarmed(self: Client, state: str) -> None:
        made.append(self._socket)
        raise TimeUp

    monkeypatch.setattr(Client, "enter", alarmed)
    with target(dialect) as subject, pytest.raises(TimeUp):
        Canaries(subject).place()
    assert [on.fileno() for on in made] == [-1]


def test_a_target_that_blocks_publishers_and_answers_is_judged() -> None:
    with (
        ReferenceBroker("amqp-0-9-1", faults=["body-modified"]) as broker,
        canaries_of(subject_of(broker)) as canaries,
    ):
        broker.block("out of memory")
        assert Oracle.CANARY in {s.oracle for s in canaries.check()}


def test_a_message_goes_through_a_1_0_broker_and_back() -> None:
    with target("amqp-1-0") as subject, canaries_of(subject) as canaries:
        assert canaries.check() == []


def test_a_1_0_broker_may_count_from_any_number(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = SendingEndpoint.__init__

    def counts_from_high(self: SendingEndpoint, *given: Any) -> None:
        sound(self, *given)
        self.delivery_count = self.initial_delivery_count = 2**32 - 3

    monkeypatch.setattr(SendingEndpoint, "__init__", counts_from_high)
    with target("amqp-1-0") as subject, canaries_of(subject) as canaries:
        for _ in range(5):
            assert canaries.check() == []
            canaries.place()
    assert canaries.note == ""


def test_canaries_that_cannot_be_opened_again_blame_no_later_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """The target had canaries: that they cannot be opened now says something about it, and is not gone on without."""
    with target("amqp-1-0") as subject, canaries_of(subject) as canaries:
        canaries.drop()
        with monkeypatch.context() as patched:
            patched.setattr(canary_1_0.TypedCanary, "_until", lambda self, body, within_s: [])
            with pytest.raises(
                Unanswered, match="for canaries: expected a canary's own message back"
            ) as missing:
                canaries.place()
        assert missing.value.silent
        canaries.place()
        assert canaries.check() == [] and canaries.note == ""


def test_the_message_that_replaces_canaries_has_a_node_that_is_made() -> None:
    made: list[str] = []
    with target("amqp-1-0", make_node=lambda values, address: made.append(address)) as subject:
        canaries = Canaries(subject)
        canaries._through_only = True
        assert canaries.check() == []
    assert made == [f"{subject.values.queue}.canary"]


def test_a_1_0_broker_that_gives_no_more_credit_has_lost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CREDIT_MESSAGES", 8)
    with target("amqp-1-0") as subject, canaries_of(subject) as canaries:
        assert canaries.check() == []
        monkeypatch.setattr(ReceivingEndpoint, "renew_credit", lambda self: False)
        monkeypatch.setattr(canary_1_0, "_HELD_BACK_S", 0.2)
        for _ in range(10):
            canaries.place()
            assert canaries.check() == []
        assert "no credit" in canaries.note
        monkeypatch.undo()
        canaries.place()  # on a new connection
        assert canaries.check() == []


def test_a_target_that_is_gone_has_crashed() -> None:
    monitor = Monitor(Subject("r", "amqp-0-9-1", Address("127.0.0.1", free_port())))
    (seen,) = monitor.after([]).suspicions
    assert seen.oracle is Oracle.CRASH and "cannot connect" in seen.detail


def test_a_clean_broker_gives_no_suspicion() -> None:
    with target() as subject, closing(Monitor(subject)) as monitor:
        monitor.before()
        assert monitor.after([]).suspicions == ()


def test_what_is_usual_is_learnt() -> None:
    usual = Usual()
    assert usual.late_s == 0.5
    usual.learn([came(must_be_refused(), None, latency_s=0.1)] * 4, 2.0)
    assert usual.late_s == pytest.approx(1.2)
    assert usual.cpu_s(10) == pytest.approx(10.0)


def test_before_a_batch_was_clean_greetings_say_what_is_usual() -> None:
    usual = Usual()
    assert usual.cpu_s(128) == pytest.approx(2.56)
    usual.learn_greetings(24 * 0.002)
    assert usual.cpu_s(128) == pytest.approx(2 * 128 * 0.004)
    usual.learn_greetings(24 * 5.0)
    assert usual.cpu_s(128) == pytest.approx(2.56)
    usual.learn_greetings(0.0)
    assert usual.cpu_s(100) == pytest.approx(0.2)


def test_a_burn_in_the_first_batch_is_seen(tmp_path: Path) -> None:
    planted = defect("amqp-0-9-1/cpu@rare")
    cell = by_key("amqp-0-9-1")["amqp-0-9-1/C09/order.twice/channel"]
    others = [i for i in cell if not planted.is_in(i.octets) and not i.expectation.must_refuse][:127]
    struck = next(i for i in cell if planted.is_in(i.octets))
    assert len(others) == 127
    with SeededBroker(planted, tmp_path) as broker:
        subject = broker.subject()
        monitor, executor = Monitor(subject), subject.executor(Tempo(quiet_s=0.2, way_s=30.0))
        monitor.before()
        results = list(executor.run([*others, struck]))
        check = monitor.after(results)
        executor.close()
        monitor.close()
    assert Oracle.CPU in {s.oracle for s in check.suspicions}, (check, monitor.usual.first_cpu_s)


def heard_while_served(monkeypatch: pytest.MonkeyPatch, effect: Callable[[Channel], None]) -> set[str]:
    """What the canaries complain about when the broker does more than it should at each queue.purge of another one."""

    def purge(channel: Channel, call: Call) -> None:
        effect(channel)
        channel.send("queue.purge-ok", message_count=0)

    monkeypatch.setitem(CHANNEL_HANDLERS, "queue.purge", purge)
    with target() as subject, canaries_of(subject) as canaries:
        with MethodsClient(subject.address, subject.dialect, Values(), 5.0) as client:
            client.enter("channel")
            client.say("queue.purge", queue="any")
            client.wait("queue.purge-ok")
        return {f"{s.oracle}: {s.top}" for s in canaries.check()}


def watchers(channel: Channel) -> Iterator[Channel]:
    """The channels of other connections."""
    for connection in channel.connection.core.connections:
        if isinstance(connection, Connection) and connection is not channel.connection:
            yield from connection.channels.values()


def answered_elsewhere(channel: Channel) -> None:
    for other in watchers(channel):
        if not other.consumers:
            other.send("queue.purge-ok", message_count=0)
            other.connection.core.flush()


def consumers_exchanged(channel: Channel) -> None:
    one, two = (other for other in watchers(channel) if other.consumers)
    one.number, two.number = two.number, one.number


@pytest.mark.parametrize(
    ("effect", "leaks"),
    [
        (answered_elsewhere, {"leak: answer on a channel that asked nothing"}),
        (consumers_exchanged, {"leak: delivery on another channel"}),
        (lambda channel: None, set()),
    ],
    ids=["answer", "delivery", "nothing"],
)
def test_what_is_sent_astray_is_a_leak(
    monkeypatch: pytest.MonkeyPatch, effect: Callable[[Channel], None], leaks: set[str]
) -> None:
    found = heard_while_served(monkeypatch, effect)
    assert leaks <= found if effect is consumers_exchanged else leaks == found


def test_a_target_that_no_longer_obeys_is_suspected_by_what_it_was_asked() -> None:
    item, other = must_be_refused(), cells("amqp-0-9-1")[0].input(0)
    silent = "expected channel.open-ok on channel 2, actual nothing"
    found = [
        replace(came(i, None), obedience=Obedience.SILENT, disobeys=silent.replace("2", str(n)))
        for n, i in enumerate((item, other), 2)
    ]
    (seen,) = obedience(found)
    assert seen.oracle is Oracle.OBEDIENCE and seen.inputs == (item.id, other.id)
    assert seen.top == "no longer answers: expected channel.open-ok" and seen.detail == silent
    assert not list(obedience([came(item, None)]))


def test_an_answer_astray_is_a_leak() -> None:
    item = must_be_refused()
    (seen,) = astray([came(item, None), replace(came(item, None), astray="basic.deliver on channel 9")])
    assert seen.oracle is Oracle.LEAK and seen.inputs == (item.id,)
    assert seen.detail == "expected answers on channels in use, actual basic.deliver on channel 9"
    assert not list(astray([came(item, None)]))


INACTIVE = """WARN ProtonHandler - Channel was inactive for to long
java.lang.IllegalStateException: Channel was inactive for to long
\tat org.some.ProtonHandler.tick(ProtonHandler.java:190)
Caused by: java.lang.IllegalStateException: Channel was inactive for the specified time
"""


def test_a_client_that_kept_silent_too_long_is_no_complaint_about_the_target() -> None:
    assert not list(complaints(INACTIVE))
    other = "java.lang.IllegalStateException: a\n\tat a.B.c(B.java:1)\n"
    assert [s.top for s in complaints(INACTIVE + other)] == ["jvm: java.lang.IllegalStateException in a.B.c"]


PANIC = "panic: boom\n[signal SIGSEGV: segmentation violation]\n\ngoroutine 1 [running]:\nmain.main()\n\t/a.go:3\n"


def test_a_panic_is_one_complaint_with_its_goroutines() -> None:
    assert [s.top for s in complaints(f"{PANIC}\ngoroutine 2 [running]:\n")] == ["go: panic: boom"]
    assert [s.top for s in complaints("http: panic serving\ngoroutine 7 [running]:\n")]


@pytest.mark.parametrize(
    ("news", "last"),
    [
        ("java.lang.NullPointerException: a\njava.lang.OutOfMemoryError: heap\n", "jvm: java.lang.OutOfMemoryError"),
        ("=CRASH a\n=CRASH b\n=CRASH a\n", "beam: =CRASH a"),
        (f"Traceback (most recent call last):\nKeyError: 1\n{PANIC}", "go: panic: boom"),
    ],
)  # fmt: skip
def test_a_crash_is_explained_by_what_the_log_said_last(news: str, last: str, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.touch()
    monitor = Monitor(Subject("r", "amqp-0-9-1", Address("127.0.0.1", free_port()), log=path))
    path.write_text(news, encoding="utf-8")
    (seen,) = monitor.after([]).suspicions
    assert seen.oracle is Oracle.CRASH and seen.top == f"the target is gone; {last}"


MIB = 1 << 20


class Gauged:
    """A process whose memory is what a test says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mib, self.pid = 100, 7
        monkeypatch.setattr(monitor_module, "gauge", lambda pid: Gauge(self.pid, True, self.mib * MIB))
        monkeypatch.setattr(monitor_module, "is_working", lambda pid: False)

    def batch(self, monitor: Monitor, mib: int) -> set[Oracle]:
        monitor.before()
        self.mib = mib
        return {s.oracle for s in monitor.after([]).suspicions}


def test_memory_that_was_held_before_is_no_growth(monkeypatch: pytest.MonkeyPatch) -> None:
    with target() as subject, closing(Monitor(subject)) as monitor:
        process = Gauged(monkeypatch)
        assert process.batch(monitor, 130) == set()
        assert process.batch(monitor, 60) == set()
        assert process.batch(monitor, 160) == set()  # 100 MiB more than before, 30 more than ever
        assert process.batch(monitor, 200) == {Oracle.MEMORY}
        process.pid, process.mib = 8, 60  # a fresh process has held nothing yet
        assert process.batch(monitor, 100) == {Oracle.MEMORY}


def test_what_a_target_costs_that_complains_in_its_log_each_time_is_learnt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log, cpu_s = tmp_path / "log", [0.0]
    log.touch()
    monkeypatch.setattr(monitor_module, "gauge", lambda pid: Gauge(7, True, 100 * MIB, cpu_s[0]))
    monkeypatch.setattr(monitor_module, "is_working", lambda pid: False)
    results = [came(must_be_refused(), None)] * 100
    with target(log=log) as subject, closing(Monitor(subject)) as monitor:

        def batch(took_s: float) -> set[Oracle]:
            monitor.before()
            cpu_s[0] += took_s
            with log.open("a", encoding="utf-8") as file:
                file.write("Traceback (most recent call last):\nKeyError: 1\n")
            return {s.oracle for s in monitor.after(results).suspicions}

        assert batch(0.5) == {Oracle.CONFORMANCE, Oracle.LOG}
        assert monitor.usual.cpu_s(100) == pytest.approx(1.0)
        assert batch(2.5) == {Oracle.CPU, Oracle.CONFORMANCE, Oracle.LOG}
        assert monitor.usual.cpu_s(100) == pytest.approx(1.0), "a burn is not usual"


def test_growth_that_nobody_is_to_blame_for_is_allowed_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    with target() as subject, closing(Monitor(subject)) as monitor:
        process = Gauged(monkeypatch)
        assert process.batch(monitor, 180) == {Oracle.MEMORY}
        monitor.unconfirmed(Oracle.MEMORY)
        assert process.batch(monitor, 259) == set()
        assert process.batch(monitor, 600) == {Oracle.MEMORY}
        monitor.unconfirmed(Oracle.MEMORY)
        assert process.batch(monitor, 857) == {Oracle.MEMORY}
