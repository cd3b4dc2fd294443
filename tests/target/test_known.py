"""The life of a known broker, tested with a stand-in that needs nothing installed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from amqpspec.net.ports import LOOPBACK, free_port, is_listening
from amqpspec.spec.dialects import runnable_dialects
from amqpspec.target.known import INSTALLED, KNOWN, BrokerError, Tls, known_broker, process
from amqpspec.target.known.base import STARTED_AGAIN, Command, KnownBroker, Options, Ports
from amqpspec.target.known.install import copy_maven_jars, install_package, java_command
from amqpspec.target.known.process import Process, birth, is_alive
from amqpspec.target.known.rabbitmq import RabbitMQ
from amqpspec.target.known.state import State, StateFile
from tests.waiting import until

ROOT = Path(__file__).parents[2]
LISTENER = """
import os, signal, socket, sys
if "busy" in sys.argv and os.path.exists("busy"):
    os.remove("busy")
    sys.exit("the table is locked")
if "deaf" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "fails" in sys.argv:
    sys.exit("no such table")
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("mute" if "mute" in sys.argv else "stand-in ready", flush=True)
while True:
    server.accept()[0].close()
"""


class StandIn(KnownBroker):
    """A broker that listens and says so; ``flaws`` are what it does wrong."""

    name = "stand-in"
    ready_mark = b"stand-in ready"
    dialects = ()
    users: ClassVar = {"default": ("guest", "guest"), "second": ("b@d", "p/w")}
    vhosts: ClassVar = {"default": "/"}
    stored = "store"
    takes_plugins = True
    start_timeout_s = 20.0
    stop_timeout_s = 0.5
    flaws: tuple[str, ...] = ()
    installed: str | None = "1.0"
    helper_argv: tuple[str, ...] = ()
    helper_port: int | None = None

    def version(self) -> str | None:
        return self.installed

    def install(self) -> None:
        raise AssertionError("not part of these tests")

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        argv = (sys.executable, "-c", LISTENER, str(ports.amqp), *self.flaws)
        helpers = [Command(self.helper_argv, os.environ, self.helper_port)] if self.helper_argv else []
        return (*helpers, Command(argv, os.environ, data_limit_octets=2**30))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[StandIn]:
    one = StandIn(tmp_path / "state")
    yield one
    one.stop()


def test_a_broker_starts_without_what_it_stored_if_asked(broker: StandIn) -> None:
    store = broker.state_dir / StandIn.stored
    store.mkdir(parents=True)
    (store / "queue").write_text("durable")
    broker.start()
    with pytest.raises(BrokerError, match="expected to start it without data, it runs already"):
        broker.start(empty=True)
    assert (store / "queue").exists()
    broker.stop()
    running = broker.start(empty=True)
    assert not store.exists() and broker.is_running() and running.log.exists()


def test_known_brokers_delete_no_more_than_they_store() -> None:
    stored = {name: known.stored for name, known in KNOWN.items()}
    assert stored.pop("qpid-proton") == "" and all(stored.values())
    installed = {part.partition("/")[0] for part in INSTALLED}
    assert not installed.intersection(stored.values())


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen(["sleep", "60"])
    yield child
    child.kill()
    child.wait()


def a_state(tmp_path: Path, *processes: Process) -> State:
    return State("1.0", Ports(1), Options(), tmp_path / "log", 0, processes, complete=True)


def test_start_answers_and_stop_leaves_no_process(broker: StandIn) -> None:
    running = broker.start()
    port = int(running.url.rpartition(":")[2].strip("/"))
    assert running.url == f"amqp://guest:guest@{LOOPBACK}:{port}/"
    assert (running.name, running.version, running.tls_url) == ("stand-in", "1.0", None)
    assert running.log.read_text() == "stand-in ready\n"
    assert is_listening(LOOPBACK, port)
    assert broker.is_running()
    broker.stop()
    assert not broker.is_running()
    assert broker.running() is None
    assert not Path(f"/proc/{running.pid}").exists()
    assert not is_listening(LOOPBACK, port)


def test_start_takes_the_given_port(broker: StandIn) -> None:
    port = free_port()
    assert broker.start(port).url.endswith(f":{port}/")


def test_starting_twice_returns_the_running_one(broker: StandIn) -> None:
    first = broker.start()
    assert broker.start() == first
    assert StandIn(broker.state_dir).start() == first
    assert broker.running() == first


def test_starting_again_on_another_port_is_refused(broker: StandIn) -> None:
    broker.start()
    with pytest.raises(BrokerError, match=r"expected to start on port 1, it runs on port \d+ already"):
        broker.start(1)


def test_a_taken_port_is_named(broker: StandIn, tmp_path: Path) -> None:
    other = StandIn(tmp_path / "other")
    port = int(other.start().url.rpartition(":")[2].strip("/"))
    with pytest.raises(BrokerError, match=f"expected port {port} of 127.0.0.1 to be free, it is taken"):
        broker.start(port)
    other.stop()


def test_restart_keeps_port_and_options_and_changes_the_process(tmp_path: Path) -> None:
    broker = StandIn(tmp_path, plugins=("one", "two"))
    first = broker.start()
    elsewhere = StandIn(tmp_path)
    second = elsewhere.restart()
    elsewhere.stop()
    assert second.url == first.url
    assert second.pid != first.pid
    state = StateFile(tmp_path).read()
    assert state is not None
    assert state.options == Options(("one", "two"))


def test_restart_after_stop_and_after_a_crash(broker: StandIn) -> None:
    first = broker.start()
    broker.stop()
    second = broker.restart()
    os.kill(second.pid, signal.SIGKILL)
    until(lambda: not broker.is_running(), "the broker is gone")
    third = broker.restart()
    assert first.url == second.url == third.url
    assert third.log.read_text() == "stand-in ready\n" * 3


def test_a_large_log_is_set_aside_at_a_start(broker: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a fuzzed broker writes in a night must not fill the disk: there are at most two logs of that size."""
    line = "stand-in ready\n"
    monkeypatch.setattr("amqpspec.target.known.base._MOST_LOG_OCTETS", len(line))
    log = broker.start().log
    for lines, aside in ((1, ""), (2, ""), (1, 2 * line), (2, 2 * line), (1, 2 * line)):
        assert log.read_text() == lines * line
        old = log.with_name("stand-in.log.1")
        assert (old.read_text() if old.exists() else "") == aside
        broker.restart()


def test_a_restart_that_fails_is_tried_again_once_and_the_log_says_so(broker: StandIn) -> None:
    first = broker.start()
    broker.flaws = ("busy",)
    (broker.state_dir / "busy").touch()
    second = broker.restart()
    assert second.url == first.url and broker.is_running()
    (told,) = (line for line in second.log.read_text().splitlines() if line.startswith(STARTED_AGAIN))
    assert "expected it to be ready on port" in told and told.endswith("the table is locked")
    broker.flaws = ("fails",)
    with pytest.raises(BrokerError, match="no such table"):
        broker.restart()
    assert second.log.read_text().count(STARTED_AGAIN) == 2


def test_a_helper_that_ends_at_once_is_not_waited_for(broker: StandIn) -> None:
    broker.helper_argv = (sys.executable, "-c", "raise SystemExit('no such host')")
    broker.helper_port = free_port()
    with pytest.raises(BrokerError, match=r"to listen on port \d+ .*, it does not: no such host"):
        broker.start()
    assert not broker.is_running()


def test_restart_needs_a_first_start(broker: StandIn) -> None:
    with pytest.raises(BrokerError, match="expected one that was started before, found none in "):
        broker.restart()


def test_stop_without_start_does_nothing(broker: StandIn) -> None:
    broker.stop()
    assert not broker.is_running()


def test_a_deaf_broker_is_killed(broker: StandIn) -> None:
    broker.flaws = ("deaf",)
    running = broker.start()
    broker.stop()
    assert birth(running.pid) is None


def test_a_broker_that_ends_at_once_is_quoted(broker: StandIn) -> None:
    broker.flaws = ("fails",)
    with pytest.raises(
        BrokerError, match=r"expected it to be ready on port \d+.*ended.*no such table"
    ) as refused:
        broker.start()
    assert "\n" not in str(refused.value)
    assert not broker.is_running()


def test_a_broker_that_is_never_ready_is_ended(broker: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    broker.flaws = ("mute",)
    monkeypatch.setattr(broker, "start_timeout_s", 0.5)
    with pytest.raises(BrokerError, match=r"within 0.5 s, it is not; .*stand-in.log says: mute"):
        broker.start()
    state = StateFile(broker.state_dir).read()
    assert state is not None
    assert state.processes == ()


def test_not_installed_says_how_to_install(broker: StandIn) -> None:
    broker.installed = None
    with pytest.raises(BrokerError, match="is not; run: amqpspec brokers install stand-in"):
        broker.start()


def test_a_missing_program_is_named(broker: StandIn) -> None:
    broker.helper_argv = ("/no/such/helper",)
    with pytest.raises(BrokerError, match="expected /no/such/helper to start"):
        broker.start()


def test_helpers_end_with_the_broker_and_after_its_crash(broker: StandIn) -> None:
    broker.helper_argv = ("sleep", "60")
    running = broker.start()
    state = StateFile(broker.state_dir).read()
    assert state is not None
    helper, _ = state.processes
    os.kill(running.pid, signal.SIGKILL)
    assert is_alive(helper)
    broker.stop()
    assert not is_alive(helper)


def test_a_broker_outlives_the_command_that_started_it(broker: StandIn) -> None:
    script = (
        "import sys; from pathlib import Path; from tests.target.test_known import StandIn;"
        "print(StandIn(Path(sys.argv[1])).start().pid)"
    )
    command = [sys.executable, "-c", script, str(broker.state_dir)]
    pid = int(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert os.getsid(pid) == pid
    running = broker.running()
    assert running is not None
    assert running.pid == pid
    broker.stop()
    assert birth(pid) is None


def test_a_broker_that_hangs_is_restarted_without_the_usual_patience(
    broker: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.flaws = ("deaf",)
    monkeypatch.setattr(broker, "stop_timeout_s", 60.0)
    first = broker.start()
    started_s = time.monotonic()
    again = broker.restart(stop_timeout_s=0.1)
    assert time.monotonic() - started_s < 20.0
    assert again.pid != first.pid and again.url == first.url
    broker.restart(stop_timeout_s=0.1)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system cannot keep a process to a CPU")
def test_a_process_can_be_kept_to_one_cpu_and_its_starter_is_not(tmp_path: Path) -> None:
    usual = os.sched_getaffinity(0)
    child = process.spawn(Command(("sleep", "60"), os.environ, one_cpu=True), tmp_path, tmp_path / "log")
    try:
        assert len(os.sched_getaffinity(child.pid)) == 1
        assert os.sched_getaffinity(0) == usual
    finally:
        assert process.end(child, 1.0)


def test_a_foreign_pid_is_not_signalled(broker: StandIn, sleeper: subprocess.Popen[bytes]) -> None:
    foreign = Process(sleeper.pid, "born at another time")
    broker.state_dir.mkdir()
    StateFile(broker.state_dir).write(a_state(broker.state_dir, foreign))
    assert not broker.is_running()
    broker.stop()
    assert broker.start().pid != sleeper.pid
    assert sleeper.poll() is None


def test_a_process_is_known_by_its_birth(sleeper: subprocess.Popen[bytes]) -> None:
    born = birth(sleeper.pid)
    assert born is not None
    assert is_alive(Process(sleeper.pid, born))
    assert not is_alive(Process(sleeper.pid, born + "0"))


def test_a_zombie_counts_as_dead(sleeper: subprocess.Popen[bytes]) -> None:
    born = birth(sleeper.pid)
    assert born is not None
    sleeper.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    os.kill(sleeper.pid, 0)
    assert not is_alive(Process(sleeper.pid, born))


def test_births_without_proc(sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "BOOT_ID", Path("/no/such/file"))
    born = birth(sleeper.pid)
    assert born is not None
    sleeper.send_signal(signal.SIGKILL)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert birth(sleeper.pid) is None
    sleeper.wait()
    assert birth(sleeper.pid) is None


def test_the_state_file_keeps_everything(tmp_path: Path) -> None:
    tls = Tls(tmp_path / "ca", tmp_path / "cert", tmp_path / "key")
    state = replace(a_state(tmp_path, Process(1, "a"), Process(2, "b")), options=Options(("p",), tls))
    state = replace(state, ports=Ports(1, 2, (3, 4)), ready=True)
    file = StateFile(tmp_path)
    file.write(state)
    assert file.read() == state
    assert file.read() != state.stopped()


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"ports": 1}'])
def test_an_unreadable_state_file_is_no_state(tmp_path: Path, text: str) -> None:
    (tmp_path / "state.json").write_text(text)
    assert StateFile(tmp_path).read() is None


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(
        BrokerError, match="'hare': expected one of activemq, artemis, garagemq, qpid-broker-j, qpid-proton"
    ):
        known_broker("hare")


@pytest.mark.parametrize("name", KNOWN)
def test_known_brokers_keep_their_state_below_the_working_directory(name: str) -> None:
    broker = known_broker(name)
    assert broker.state_dir == Path.cwd() / ".brokers" / name
    assert broker.users["default"] == ("guest", "guest")
    assert broker.vhosts["default"] == "/"
    assert set(broker.dialects) <= set(runnable_dialects())


@pytest.mark.parametrize("options", [{"plugins": ("x",)}, {"tls": Tls(Path("a"), Path("b"), Path("c"))}])
def test_what_a_broker_cannot_do_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BrokerError, match="garagemq: expected no"):
        known_broker("garagemq", **options)


def test_real_brokers_say_that_they_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("amqpspec.target.known.rabbitmq.SCRIPTS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in KNOWN:
        with pytest.raises(BrokerError, match=f"{name}: expected it to be installed"):
            known_broker(name, tmp_path / name).start()


def test_rabbitmq_takes_the_newest_installed_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("amqpspec.target.known.rabbitmq.SCRIPTS", tmp_path)
    for version in ("3.9.27", "3.10.8"):
        (tmp_path / f"rabbitmq_server-{version}" / "sbin").mkdir(parents=True)
        (tmp_path / f"rabbitmq_server-{version}" / "sbin" / "rabbitmq-server").touch()
    assert RabbitMQ(tmp_path).version() == "3.10.8"


def script(directory: Path, name: str, body: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_an_old_java_is_refused(bin_dir: Path) -> None:
    script(bin_dir, "java", "echo 'openjdk version \"1.8.0_402\"' >&2")
    with pytest.raises(BrokerError, match="java: expected Java 17 or newer, found 8"):
        java_command(17)
    script(bin_dir, "java", "echo 'openjdk version \"21-ea\"' >&2")
    assert java_command(17) == "java"


def test_java_home_comes_first(bin_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/no/such/java")
    with pytest.raises(BrokerError, match="/no/such/java/bin/java: expected the command on PATH, found none"):
        java_command(17)


def test_package_lists_are_fetched_when_the_package_is_unknown(bin_dir: Path, tmp_path: Path) -> None:
    script(bin_dir, "sudo", 'shift; exec "$@"')
    calls = tmp_path / "calls"
    script(bin_dir, "apt-get", f'echo "$1" >> {calls}; [ "$(wc -l < {calls})" -gt 1 ]')
    install_package("hare")
    assert calls.read_text().split() == ["install", "update", "install"]


def test_a_failed_install_is_quoted_in_one_line(bin_dir: Path) -> None:
    script(bin_dir, "sudo", 'shift; exec "$@"')
    script(bin_dir, "apt-get", 'echo "Reading"; echo "E: no network" >&2; echo "more"; exit 100')
    with pytest.raises(BrokerError, match=r"update .*: expected exit code 0, got 100: E: no network$"):
        install_package("hare")


def test_maven_jars_arrive_all_or_not_at_all(bin_dir: Path, tmp_path: Path) -> None:
    jars = tmp_path / "jars"
    script(bin_dir, "mvn", "touch half.jar; echo '[ERROR] Could not resolve'; exit 1")
    with pytest.raises(BrokerError, match="Could not resolve"):
        copy_maven_jars("<project/>", jars)
    assert not jars.exists()
    script(bin_dir, "mvn", "touch whole.jar")
    copy_maven_jars("<project/>", jars)
    assert sorted(path.name for path in jars.iterdir()) == ["pom.xml", "whole.jar"]
