"""boofuzz: the exported script renders what our grammar renders, runs alone, and runs here under our oracles."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.interop import boofuzz_engine
from amqpspec.fuzz.interop.boofuzz_engine import BoofuzzMissing, BoofuzzOrder, BoofuzzRun, load_session
from amqpspec.fuzz.interop.boofuzz_script import ScriptTarget, script
from amqpspec.fuzz.interop.graph import session_graph
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.states.model import Slot, Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.trees.tree import Role, octets_of, walk
from amqpspec.fuzz.triage.findings import item_of, read_finding
from amqpspec.record.journal import read_journal
from amqpspec.reference.server import ReferenceBroker
from tests.waiting import PATIENCE_S

DIALECTS = fuzzed_dialects()

EACH = pytest.mark.parametrize("dialect", DIALECTS)
TUNED = (Slot.RESPONSE, Slot.VHOST, Slot.CHANNEL_MAX, Slot.FRAME_MAX)
SLOTS = {
    "amqp-0-9-1": TUNED,
    "amqp-wire-9-1": TUNED,
    "amqp-1-0": (Slot.RESPONSE, Slot.CONTAINER, Slot.HOSTNAME),
    "amqp-fast-0-8": (Slot.USER, Slot.PASSWORD, Slot.VHOST, Slot.CONTAINER),
    "amqp-0-10": (Slot.RESPONSE, Slot.VHOST, Slot.CHANNEL_MAX, Slot.CONTAINER),
}
SIZED = {
    "amqp-0-9-1": ("queue_declare", 3, 4, 8),
    "amqp-wire-9-1": ("queue_declare", 4, 4, 9),
    "amqp-1-0": ("open", 0, 4, 0),
    "amqp-fast-0-8": ("command_handle_query", 0, 2, 2),
    "amqp-0-10": ("command_queue_query", 2, 2, 0),
}
"""A request with texts, the place of its frame's size, how wide it is, what it leaves out."""


def loaded(dialect: str) -> ModuleType:
    return load_session(Subject("none", dialect, Address("127.0.0.1", 1)))


# --- the graph


@EACH
def test_every_state_and_every_client_production_stands_in_the_graph(dialect: str) -> None:
    graph = session_graph(dialect)
    assert {edge.state for edge in graph.edges} == set(states(dialect))
    rendered = {octets_of(request.tree) for request in graph.requests.values()}
    for state in states(dialect).values():
        assert {octets_of(grammar(dialect)[name].tree) for name in state.next} <= rendered
    assert len({(edge.after, edge.request) for edge in graph.edges}) == len(graph.edges)


@EACH
def test_a_way_in_the_graph_sends_what_the_state_sends(dialect: str) -> None:
    graph = session_graph(dialect)
    before = {edge.request: edge.after for edge in reversed(graph.edges)}
    for state in states(dialect).values():
        expected = b"".join(octets_of_step(dialect, step, Values()) for step in state.steps)
        ends = {edge.after for edge in graph.edges if edge.state == state.name and not edge.since}
        ways = []
        for name in ends:
            octets = b""
            while name:
                octets, name = octets_of(graph.requests[name].tree) + octets, before[name]
            ways.append(octets)
        assert ways == [expected], state.name


@EACH
def test_slots_are_where_ways_leave_them_open(dialect: str) -> None:
    slots = [slot for request in session_graph(dialect).requests.values() for slot in request.slots.values()]
    assert {Slot.QUEUE, *SLOTS[dialect]} <= set(slots)


# --- the script


@EACH
def test_each_request_renders_what_the_grammar_renders(dialect: str) -> None:
    graph, module = session_graph(dialect), loaded(dialect)
    assert set(module.REQUESTS) == set(graph.requests)
    for name, request in graph.requests.items():
        assert module.REQUESTS[name]().render() == octets_of(request.tree), name


@EACH
def test_sizes_and_counts_follow_what_they_span(dialect: str) -> None:
    from boofuzz.mutation import Mutation
    from boofuzz.mutation_context import MutationContext

    module = loaded(dialect)
    name, at, width, left_out = SIZED[dialect]
    request = module.REQUESTS[name]()
    text = [n for n, part in request.names.items() if type(part).__name__ == "String"][-1]
    mutated = request.render(MutationContext(mutations={text: Mutation("x" * 60, text, 0)}))
    assert len(mutated) > len(request.render())
    told = int.from_bytes(mutated[at : at + width], "big")
    assert told == len(mutated) - left_out


def test_a_measure_of_each_kind_is_one_of_boofuzz() -> None:
    text = script("amqp-1-0") + script("amqp-0-9-1")
    kinds = {
        place.node.role
        for request in session_graph("amqp-1-0").requests.values()
        for place in walk(request.tree)
        if place.node.measure
    }
    assert kinds == {Role.SIZE, Role.COUNT, Role.OFFSET}
    assert "Size(" in text and "Count(" in text and "octets // 4" in text
    assert '"body.payload"' in text


def test_a_script_knows_its_target_and_holds_no_secret() -> None:
    text = script("amqp-0-9-1", ScriptTarget("127.0.0.9", 5999, "v h"))
    assert 'main(DEFINITION, "127.0.0.9", 5999)' in text and "'vhost': 'v h'" in text
    assert "/work" not in text and "/tmp" not in text


@EACH
def test_the_exported_file_runs_alone(dialect: str, tmp_path: Path) -> None:
    with ReferenceBroker(dialect) as broker:
        path = tmp_path / "session.py"
        url = f"amqp://guest:guest@{broker.host}:{broker.port}/"
        done = CliRunner().invoke(cli, ["fuzz", "export-boofuzz", "-d", dialect, "-o", str(path), url])
        assert done.exit_code == 0 and str(path) in done.output
        said = alone(path, "--check")
        assert f"{len(session_graph(dialect).edges)} test cases, 0 failed" in said
        assert "the state was not reached" not in said
        last = alone(path, "--index-start", "40", "--index-end", "90", "-q")
        assert last == "51 test cases, 0 failed\n"


def alone(path: Path, *args: str) -> str:
    """A script in a separate process, in a folder from which this project cannot be imported."""
    command = [sys.executable, "-I", str(path), "--db", str(path.parent / "results.db"), *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=path.parent)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def test_a_target_that_is_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "session.py"
    path.write_text(script("amqp-0-9-1"), encoding="utf-8")
    program = (
        "import runpy, sys\n"
        f"sys.argv = ['session.py', '--port', '1', '--index-end', '1', '-q', '--db', {str(tmp_path / 'r.db')!r}]\n"
        "import time; time.sleep = lambda seconds: None\n"
        f"runpy.run_path({str(path)!r}, run_name='__main__')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE_S, cwd=tmp_path
    )
    assert done.returncode == 3 and "127.0.0.1:1 takes no connection" in done.stdout, (
        done.stdout + done.stderr
    )


# --- the engine


@pytest.fixture
def clean() -> Iterator[Subject]:
    with ReferenceBroker("amqp-0-9-1") as broker:
        yield Subject("reference", "amqp-0-9-1", Address(broker.host, broker.port), restart=broker.restart)


def test_the_engine_runs_the_session_and_has_no_findings_on_a_clean_broker(
    clean: Subject, tmp_path: Path
) -> None:
    run = BoofuzzRun(BoofuzzOrder(clean, tmp_path, 300.0, index_end=48)).run()
    summary = run.summary()
    assert summary["findings"] == [] and summary["inputs"] == summary["reached"] == 48
    assert run.ended == "all done" and summary["response_states"] >= 1
    lines = list(read_journal(tmp_path))
    assert [line["kind"] for line in lines] == ["campaign", *["case"] * 48, "end"]
    assert [line["index"] for line in lines if line["kind"] == "case"] == list(range(1, 49))
    assert (tmp_path / "boofuzz.db").stat().st_size


def test_the_budget_ends_it(clean: Subject, tmp_path: Path) -> None:
    run = BoofuzzRun(BoofuzzOrder(clean, tmp_path, 0.0)).run()
    assert run.ended == "budget spent" and run.tally.inputs == 1


def test_a_broken_rule_is_a_finding_with_boofuzz_name_for_the_case(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-9-1", faults=["not-refused:amq_wlp_frame_02"]) as broker:
        subject = Subject("wrong", "amqp-0-9-1", Address(broker.host, broker.port), restart=broker.restart)
        first = index_of("amqp-0-9-1", "channel_open", "channel_open.frame.end")
        run = BoofuzzRun(BoofuzzOrder(subject, tmp_path, 300.0, first, first, smaller=False)).run()
    (finding,) = run.findings
    assert finding.status == "stable" and finding.suspicion.oracle == "conformance"
    (folder,) = (tmp_path / "findings").iterdir()
    data = read_finding(folder)
    assert "channel_open.frame.end" in data["words"] and data["state"] == "ready"
    assert finding.item is not None and item_of(data).octets == finding.item.octets
    assert data["requirement"] == finding.suspicion.top.partition(":")[0]


def index_of(dialect: str, wanted: str, element: str = "") -> int:
    """boofuzz' number of the first case of a request, or of one of its elements; it goes down each path first."""
    module, graph = loaded(dialect), session_graph(dialect)
    made = {name: make() for name, make in module.REQUESTS.items()}

    def cases(after: str) -> Iterator[tuple[str, str]]:
        for edge in graph.edges:
            if edge.after == after:
                for mutations in made[edge.request].get_mutations():
                    yield edge.request, mutations[0].qualified_name
                yield from cases(edge.request)

    return next(
        n for n, (name, bent) in enumerate(cases(""), 1) if name == wanted and bent.startswith(element)
    )


def test_a_crash_is_blamed_on_its_case_and_the_session_goes_on(tmp_path: Path) -> None:
    first = index_of("amqp-0-9-1", "method_tx_rollback")
    with SeededBroker.named("amqp-0-9-1/crash@rare", tmp_path) as broker:
        out = tmp_path / "campaign"
        run = BoofuzzRun(BoofuzzOrder(broker.subject(), out, 300.0, first, first + 19, smaller=False)).run()
    (finding,) = run.findings
    assert finding.suspicion.oracle == "crash" and finding.status == "stable"
    assert finding.item is not None and "method_tx_rollback:[" in finding.item.words
    assert run.ended == "all done" and run.tally.inputs == 20


def test_a_target_that_goes_away_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        monkeypatch.setattr(Subject, "awake", lambda self, within_s: False)
        subject = Subject("gone", "amqp-0-9-1", Address(broker.host, broker.port))
        run = BoofuzzRun(BoofuzzOrder(subject, tmp_path, 300.0, notify=lambda run: broker.stop())).run()
    assert run.target_lost and "gone no longer answers" in run.ended


def test_without_boofuzz_one_line_says_which_extra_has_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "boofuzz", None)
    with pytest.raises(BoofuzzMissing, match=r"pip install 'amqpspec\[boofuzz\]'"):
        loaded("amqp-0-9-1")
    done = CliRunner().invoke(cli, ["fuzz", "reference", "--engine", "boofuzz", "-o", str(tmp_path / "c")])
    assert done.exit_code == 2 and done.output.count("\n") == 1 and "amqpspec[boofuzz]" in done.output


def test_a_real_login_is_no_part_of_what_is_bent() -> None:
    module = loaded("amqp-0-9-1")
    case = module.Case(module.DEFINITION, {**module.SLOTS, "response": "\0me\0secret"})
    for node, login in (("under test", "\0guest\0guest"), ("another", "\0me\0secret")):
        session = type("Session", (), {"fuzz_node": "under test"})()
        context = type("Context", (), {"session_variables": {}})()
        case.answered()(None, None, session=session, node=node, test_case_context=context)
        assert context.session_variables["response"] == login


# --- the command line


def test_the_engine_from_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "campaign"
    args = ["fuzz", "reference", "--engine", "boofuzz", "--budget", "1s", "-o", str(out), "--json"]
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 0, done.output
    summary = json.loads((out / "summary.json").read_text())
    assert summary["engine"] == "boofuzz" and summary["inputs"] > 0 and summary["findings"] == []


@pytest.mark.parametrize("more", [["--cells", "C04/*"], ["--shard", "1/2"], ["--families-only"]])
def test_what_only_campaigns_can_do_is_refused(more: list[str], tmp_path: Path) -> None:
    args = ["fuzz", "reference", "--engine", "boofuzz", "-o", str(tmp_path / "c"), *more]
    done = CliRunner().invoke(cli, args)
    assert done.exit_code == 2 and more[0] in done.output and done.output.count("\n") == 1


def test_a_wrong_url_is_one_line() -> None:
    done = CliRunner().invoke(cli, ["fuzz", "export-boofuzz", "-d", "amqp-1-0", "http://host"])
    assert done.exit_code == 2 and done.output.count("\n") == 1


def test_the_engine_is_imported_without_boofuzz() -> None:
    program = f"import sys, {boofuzz_engine.__name__}; print('boofuzz' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
