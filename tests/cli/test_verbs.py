"""Every verb but ``run``: what it prints, its exit codes, its one-line errors."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import yaml

from amqpspec.cli import main
from amqpspec.cli.main import _VERBS
from amqpspec.net.ports import free_port
from amqpspec.reference.faults import all_faults
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run import selftest as selftest_run
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import certified_dialects
from tests.cli.verbs import ROOT, SMALL, amqpspec, command, error, outside, process
from tests.waiting import PATIENCE_S

FAULT = "not-refused:channel/open/state"
CASE = "channel.open.twice"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A conforming run and one with a fault."""
    folder = tmp_path_factory.mktemp("runs")
    amqpspec("run", "reference", *SMALL, "-q", "-o", folder / "good", code=0)
    amqpspec("run", "reference", *SMALL, "-q", "--fault", FAULT, "-o", folder / "bad", code=1)
    return folder / "good", folder / "bad"


def test_every_verb_has_its_help() -> None:
    overview = amqpspec("--help", code=0).output
    for verb in _VERBS:
        assert verb in overview
        assert "Usage:" in amqpspec(verb, "--help", code=0).output
    assert "0.1" in amqpspec("--version", code=0).output


def test_an_unknown_verb_is_a_usage_error() -> None:
    done = outside(command("certify"))
    assert done.returncode == 2 and "No such command" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["list", "query status:fail --marts docs/site-data", "list --json"])
def test_a_reader_that_has_enough_is_no_deviation(words: str) -> None:
    read_one = f'{{ {" ".join(command(*words.split()))}; echo "code $?" >&2; }} | head -1'
    done = outside(["sh", "-c", read_one], cwd=ROOT)
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == "code 4\n"


# --- list, explain, coverage


def test_list() -> None:
    lines = amqpspec("list", code=0).output.splitlines()
    assert len(lines) == sum(len(load_suite(d)) for d in certified_dialects())
    (line,) = amqpspec("list", "-d", "amqp-0-9-1", CASE, code=0).output.splitlines()
    assert line == f"{CASE}  {load_suite('amqp-0-9-1')[CASE].title}"
    data = json.loads(amqpspec("list", "--json", "tx*", "channel/open/state", code=0).stdout)
    assert {
        "id",
        "dialect",
        "suite",
        "title",
        "level",
        "requirements",
        "needs",
        "hooks",
        "destructive",
    } == set(data[0])
    assert CASE in {case["id"] for case in data}
    assert "'nothing' names no case" in error("list", "nothing", code=2)


def test_explain() -> None:
    of_case = amqpspec("explain", CASE, code=0).output
    assert of_case.startswith(f"{CASE} (amqp-0-9-1, channel)") and "channel/open/state (MUST" in of_case
    of_row = amqpspec("explain", "channel/open/state", code=0).output
    assert f"case {CASE}: " in of_row and "expected: connection exception" in of_row
    assert "hook restart" in amqpspec("explain", "exchange.durable.restart", code=0).output
    assert "'nothing' is neither a case nor a requirement" in error("explain", "nothing", code=2)


def test_coverage() -> None:
    data = json.loads(amqpspec("coverage", "--json", code=0).stdout)
    assert set(data) == {"dialects"} and set(data["dialects"]) == set(certified_dialects())
    for counts in data["dialects"].values():
        assert set(counts) >= {"testable", "covered", "excluded", "open"}
        assert counts["testable"] == counts["covered"] + counts["excluded"]
        assert counts["open"] == 0
    assert "240 testable" in amqpspec("coverage", "-d", "amqp-0-9-1", code=0).output
    shorter = amqpspec("coverage", "-d", "amqp-0-9-1", "--open", code=0).output.splitlines()
    assert not [line for line in shorter if line.startswith("  excluded")]


# --- report, compare, baseline


def test_report_of_one_run_and_of_two(runs: tuple[Path, Path], tmp_path: Path) -> None:
    good, bad = runs
    (good / "badge.svg").unlink()
    listed = amqpspec("report", good, code=0).output.split()
    assert str(good / "badge.svg") in listed and (good / "badge.svg").exists()
    amqpspec("report", good, bad, "-o", tmp_path / "both.html", code=0)
    page = (tmp_path / "both.html").read_text(encoding="utf-8")
    assert CASE in page
    amqpspec("report", good, "-o", tmp_path / "bare.html", "--evidence", "links", code=0)
    assert len((tmp_path / "bare.html").read_text(encoding="utf-8")) < len(page)
    assert "no such file" in error("report", tmp_path, code=2)


def test_compare(runs: tuple[Path, Path], tmp_path: Path) -> None:
    good, bad = runs
    assert amqpspec("compare", good, good, code=0).output == "0 worse\n"
    worse = amqpspec("compare", good, bad, code=1).output
    assert worse.startswith(f"{CASE}: pass (") and "→ fail (" in worse and worse.endswith("1 worse\n")
    assert amqpspec("compare", bad, good, code=0).output.endswith("0 worse\n")
    amqpspec("run", "reference", SMALL[1], "-q", "-o", tmp_path / "less", code=0)
    assert f"{CASE}: pass" in amqpspec("compare", good, tmp_path / "less", code=1).output
    assert "no such file" in error("compare", good, tmp_path / "none", code=2)


def test_baseline(runs: tuple[Path, Path], tmp_path: Path) -> None:
    _, bad = runs
    data = yaml.safe_load(amqpspec("baseline", bad, code=0).output)
    assert [entry["case"] for entry in data["entries"]] == [CASE]
    assert data["versions"] == ">=0.1,<0.2"
    path = tmp_path / "b.yaml"
    assert (
        "1 entries"
        in amqpspec("baseline", bad, "-o", path, "--reason", "verified", "--link", "x", code=0).output
    )
    run = ("run", "reference", *SMALL, "-q", "--fault", FAULT, "-o", tmp_path / "run", "--baseline", path)
    amqpspec(*run, code=0)
    assert "is there already" in error("baseline", bad, "-o", path, code=2)
    assert error("baseline", bad, "-o", path / "x", code=4) == f"{path}: File exists"
    assert "no such file" in error("baseline", tmp_path / "none", code=2)


# --- replay


def test_replay(runs: tuple[Path, Path], tmp_path: Path) -> None:
    evidence = runs[0] / "evidence" / f"{CASE}.jsonl"
    assert "DIFFERENT" not in amqpspec("replay", evidence, code=0).output
    with ReferenceBroker(faults=[FAULT]) as broker:
        output = amqpspec("replay", evidence, broker.url, code=1).output
    assert "DIFFERENT" in output and "recorded: connection.close" in output
    amqpspec("replay", evidence, "--pcap", tmp_path / "x.pcapng", code=0)
    assert (tmp_path / "x.pcapng").stat().st_size > 100


def test_replay_of_what_cannot_be_replayed(runs: tuple[Path, Path], tmp_path: Path) -> None:
    evidence = runs[0] / "evidence" / f"{CASE}.jsonl"
    assert "cannot connect" in error("replay", evidence, f"amqp://127.0.0.1:{free_port()}", code=3)
    assert "cannot be read" in error("replay", tmp_path / "none.jsonl", code=2)
    assert "cannot be read" in error("replay", tmp_path / "none.jsonl", "--pcap", tmp_path / "x", code=2)
    (tmp_path / "bad.jsonl").write_text("not JSON\n")
    assert "expected JSON" in error("replay", tmp_path / "bad.jsonl", "--pcap", tmp_path / "x", code=2)


# --- selftest


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load_suite("amqp-0-9-1")
    monkeypatch.setattr(selftest_run, "load_suite", lambda dialect: {name: suite[name] for name in SMALL})


@pytest.mark.usefixtures("tiny")
def test_selftest(tmp_path: Path) -> None:
    data = json.loads(amqpspec("selftest", "--fault", FAULT, "--json", "-o", tmp_path, code=0).stdout)
    keys = {"dialect", "cases", "clean_passed", "killed", "survivors", "faults", "faults_found"}
    assert set(data) >= keys
    assert [data[key] for key in ("dialect", "cases", "clean_passed", "killed", "faults", "faults_found")] == [
        "amqp-0-9-1", 3, 3, 1, 1, 1,
    ]  # fmt: skip
    assert json.loads((tmp_path / "amqp-0-9-1" / "kill-matrix.json").read_text(encoding="utf-8")) == data
    text = amqpspec("selftest", "--fault", FAULT, "-o", tmp_path, code=0).output
    assert "clean broker passed 3 of 3 cases; 1 cases killed; 1 of 1 faults found" in text


@pytest.mark.usefixtures("tiny")
def test_a_fault_that_is_not_found_fails_the_selftest(tmp_path: Path) -> None:
    faults = all_faults("amqp-0-9-1")
    other = next(
        f.name for f in faults.values() if not set(f.breaks) & {"channel/open/state"} and ":queue/" in f.name
    )
    result = amqpspec("selftest", "--fault", other, "-o", tmp_path, code=1)
    assert f"not found  {other}" in result.output
    assert "no fault 'nonsense'" in error("selftest", "--fault", "nonsense", code=2)


# --- brokers, reference


def test_brokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = json.loads(amqpspec("brokers", "list", "--json", code=0).stdout)
    assert {row["name"] for row in rows} == {
        "rabbitmq",
        "garagemq",
        "qpid-broker-j",
        "artemis",
        "activemq",
        "qpid-proton",
    }
    assert {row["url"] for row in rows} == {None}
    assert "not running" in amqpspec("brokers", "list", code=0).output
    assert "expected one of" in error("brokers", "start", "nobody", code=2)
    assert amqpspec("brokers", "stop", "garagemq", code=0).output == "garagemq was not running\n"


def test_the_reference_broker_is_served_until_it_is_ended(tmp_path: Path) -> None:
    with process(command("reference", "--fault", FAULT)) as running:
        assert running.stdout is not None
        url = running.stdout.readline().strip()
        assert url.startswith("amqp://guest:guest@127.0.0.1:")
        amqpspec("run", url, CASE, "-q", "-o", tmp_path, code=1)
        running.send_signal(signal.SIGTERM)
        _, err = running.communicate(timeout=PATIENCE_S)
        assert (running.returncode, err) == (0, "")


def test_reference_tells_its_faults_and_mistakes() -> None:
    assert FAULT in amqpspec("reference", "--list-faults", code=0).output
    assert "no fault 'x'" in error("reference", "--fault", "x", code=2)
    assert "no dialect 'x'" in error("reference", "x", code=2)
    with ReferenceBroker() as taken:
        said = error("reference", "--port", str(taken.port), code=2)
    assert said == f"cannot listen on 127.0.0.1, port {taken.port}: Address already in use"
    said = error("reference", "--tls-cert", __file__, code=2)
    assert said.startswith(f"{__file__}: expected a certificate and its key as PEM: ")
    assert "expected --tls-cert" in error("reference", "--tls-key", __file__, code=2)


def test_quick_verbs_import_no_broker_and_no_sockets() -> None:
    """The reason why ``list`` and ``--help`` are quick, without measuring time."""
    code = "import sys; from amqpspec.cli import main; main.cli(['--help'], standalone_mode=False); print(*sys.modules)"
    modules = outside([*command()[:1], "-c", code], cwd=ROOT).stdout.splitlines()[-1].split()
    assert not {"asyncio", "ssl", "scapy", "jinja2", "yaml", "rich.progress"} & set(modules)


@pytest.mark.parametrize(
    ("end", "told"),
    [(EOFError("marshal data too short"), "marshal data too short"), (KeyboardInterrupt(), "stopped")],
)
def test_what_click_calls_an_abort_is_told(
    end: BaseException, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise end

    monkeypatch.setattr(main.cli, "invoke", broken)
    monkeypatch.setattr("sys.argv", ["amqpspec", "list"])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert ended.value.code == 4 and capsys.readouterr().err.strip() == f"amqpspec: {told}"
