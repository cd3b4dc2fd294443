"""The life of a known broker, told with a stand-in that needs nothing installed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree

import pytest

from harness.net.ports import LOOPBACK, free_port, is_listening
from harness.spec.dialects import certified_dialects
from harness.target.known import KNOWN, BrokerError, Tls, known_broker, process
from harness.target.known.artemis import Artemis
from harness.target.known.base import Command, KnownBroker, Options, Ports
from harness.target.known.install import (
    copy_maven_jars,
    install_package,
    install_python_package,
    java_command,
    python_package_version,
)
from harness.target.known.process import Process, birth, is_alive
from harness.target.known.qpid_broker_j import QpidBrokerJ
from harness.target.known.qpid_proton import QpidProton
from harness.target.known.rabbitmq import RabbitMQ
from harness.target.known.state import State, StateFile

ROOT = Path(__file__).parents[2]
LISTENER = """
import signal, socket, sys
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
    takes_plugins = True
    start_timeout_s = 20.0
    stop_timeout_s = 0.5
    flaws: tuple[str, ...] = ()
    installed: str | None = "1.0"
    helper_argv: tuple[str, ...] = ()

    def version(self) -> str | None:
        return self.installed

    def install(self) -> None:
        raise AssertionError("not part of these tests")

    def _commands(self, ports: Ports, options: Options) -> tuple[Command, ...]:
        argv = (sys.executable, "-c", LISTENER, str(ports.amqp), *self.flaws)
        helpers = [Command(self.helper_argv, os.environ)] if self.helper_argv else []
        return (*helpers, Command(argv, os.environ, data_limit_octets=2**30))


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[StandIn]:
    one = StandIn(tmp_path / "state")
    yield one
    one.stop()


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
    while broker.is_running():
        time.sleep(0.01)
    third = broker.restart()
    assert first.url == second.url == third.url
    assert third.log.read_text() == "stand-in ready\n" * 3


def test_restart_needs_a_first_start(broker: StandIn) -> None:
    with pytest.raises(BrokerError, match="expected one started before, found none in "):
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


def test_a_broker_that_is_never_ready_is_ended(broker: StandIn) -> None:
    broker.flaws, broker.start_timeout_s = ("mute",), 0.5  # type: ignore[misc]
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


def test_a_broker_that_hangs_is_restarted_without_the_usual_patience(broker: StandIn) -> None:
    broker.flaws, broker.stop_timeout_s = ("deaf",), 60.0  # type: ignore[misc]
    first = broker.start()
    started_s = time.monotonic()
    again = broker.restart(stop_timeout_s=0.1)
    assert time.monotonic() - started_s < 20.0
    assert again.pid != first.pid and again.url == first.url
    broker.restart(stop_timeout_s=0.1)
    broker.stop_timeout_s = 0.1  # type: ignore[misc]


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
        BrokerError, match="'hare': expected one of artemis, garagemq, qpid-broker-j, qpid-proton"
    ):
        known_broker("hare")


@pytest.mark.parametrize("name", KNOWN)
def test_known_brokers_keep_their_state_below_the_working_directory(name: str) -> None:
    broker = known_broker(name)
    assert broker.state_dir == Path.cwd() / ".brokers" / name
    assert broker.users["default"] == ("guest", "guest")
    assert broker.vhosts["default"] == "/"
    assert set(broker.dialects) <= set(certified_dialects())


@pytest.mark.parametrize("options", [{"plugins": ("x",)}, {"tls": Tls(Path("a"), Path("b"), Path("c"))}])
def test_what_a_broker_cannot_do_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BrokerError, match="garagemq: expected no"):
        known_broker("garagemq", **options)


def test_real_brokers_say_that_they_are_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.target.known.rabbitmq.SCRIPTS", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in KNOWN:
        with pytest.raises(BrokerError, match=f"{name}: expected it to be installed"):
            known_broker(name, tmp_path / name).start()


def test_rabbitmq_takes_the_newest_installed_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.target.known.rabbitmq.SCRIPTS", tmp_path)
    for version in ("3.9.27", "3.10.8"):
        (tmp_path / f"rabbitmq_server-{version}" / "sbin").mkdir(parents=True)
        (tmp_path / f"rabbitmq_server-{version}" / "sbin" / "rabbitmq-server").touch()
    assert RabbitMQ(tmp_path).version() == "3.10.8"


def script(directory: Path, name: str, body: str) -> None:
    path = directory / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", f"{directory}:/bin:/usr/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return directory


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
    with pytest.raises(BrokerError, match=r"update: expected exit code 0, got 100: E: no network$"):
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


# --- what each broker is configured as


def commands(broker: KnownBroker, **options: Any) -> tuple[Command, ...]:
    """What would be started, with its configuration written."""
    broker.state_dir.mkdir(parents=True, exist_ok=True)
    return broker._commands(Ports(4711, None, (4712, 4713)), Options(**options))


@pytest.fixture
def rabbitmq(tmp_path: Path, bin_dir: Path, monkeypatch: pytest.MonkeyPatch) -> RabbitMQ:
    home = tmp_path / "lib" / "rabbitmq_server-3.10.8" / "sbin"
    home.mkdir(parents=True)
    (home / "rabbitmq-server").touch()
    script(bin_dir, "epmd", "")
    monkeypatch.setattr("harness.target.known.rabbitmq.SCRIPTS", tmp_path / "lib")
    return RabbitMQ(tmp_path / "state")


def test_rabbitmq_always_has_its_1_0_plugin(rabbitmq: RabbitMQ) -> None:
    file = rabbitmq.state_dir / "enabled_plugins"
    commands(rabbitmq)
    assert file.read_text() == "[rabbitmq_amqp1_0].\n"
    commands(rabbitmq, plugins=("rabbitmq_shovel", "rabbitmq_amqp1_0"))
    assert file.read_text() == "[rabbitmq_amqp1_0,rabbitmq_shovel].\n"


def test_rabbitmq_gives_up_queues_of_1_0_and_no_others(rabbitmq: RabbitMQ) -> None:
    commands(rabbitmq)
    policies = json.loads((rabbitmq.state_dir / "definitions.json").read_text())["policies"]
    assert [policy["vhost"] for policy in policies] == ["/", "second"]
    for policy in policies:
        assert policy["definition"] == {"expires": 600_000}
        assert re.match(policy["pattern"], "amqpspec-1-0.q")
        assert not re.match(policy["pattern"], "amqpspec-1-0q")


@pytest.fixture
def java(bin_dir: Path) -> None:
    script(bin_dir, "java", "echo 'openjdk version \"21\"' >&2")


@pytest.mark.usefixtures("java")
def test_broker_j_creates_queues_of_1_0_and_no_others(tmp_path: Path) -> None:
    broker = QpidBrokerJ(tmp_path / "state")
    commands(broker)
    configuration = json.loads((broker.state_dir / "config.json").read_text())
    for node in configuration["virtualhostnodes"]:
        (policy,) = json.loads(node["virtualHostInitialConfiguration"])["nodeAutoCreationPolicies"]
        assert (policy["nodeType"], policy["createdOnPublish"], policy["createdOnConsume"]) == (
            "queue", True, True,
        )  # fmt: skip
        assert re.fullmatch(policy["pattern"], "amqpspec-1-0.q")
        assert not re.fullmatch(policy["pattern"], "amqpspec-1-0q")
        assert not re.fullmatch(policy["pattern"], "x.amqpspec-1-0.q")


@pytest.mark.usefixtures("java")
def test_broker_j_keeps_its_stores_unless_they_were_begun_in_another_way(tmp_path: Path) -> None:
    broker = QpidBrokerJ(tmp_path / "state")
    queues = broker.state_dir / "work" / "queues"
    begun_as = broker.state_dir / "work" / "begun-as.json"
    queues.parent.mkdir(parents=True)
    queues.write_text("of an earlier release")
    commands(broker)
    assert not queues.exists()
    queues.write_text("ours")
    commands(broker)
    assert queues.read_text() == "ours"
    begun_as.write_text("[]\n")
    commands(broker)
    assert not queues.exists()


@pytest.mark.usefixtures("java")
def test_artemis_is_told_port_users_rights_and_addresses(tmp_path: Path) -> None:
    broker = Artemis(tmp_path / "a & b")
    (command,) = commands(broker)
    home, logins = broker.state_dir / "home", broker.state_dir / "logins"
    core = ElementTree.parse(home / "etc" / "broker.xml").getroot()[0]
    text = {element.tag.partition("}")[2]: element.text for element in core.iter()}
    assert text["acceptor"] == "tcp://127.0.0.1:4711?protocols=AMQP;securityDomain=amqpspec"
    assert text["journal-directory"] == str(home / "data" / "journal")
    settings = {element.get("match"): element for element in core.iter("{urn:activemq:core}address-setting")}
    created = {
        match: {child.text for child in element if "auto-create" in child.tag}
        for match, element in settings.items()
    }
    assert created == {"#": {"false"}, "amqpspec-1-0.#": {"true"}}
    rights = list(core.iter("{urn:activemq:core}permission"))
    assert len(rights) == 9 and {right.get("roles") for right in rights} == {"full"}
    assert (logins / "roles.properties").read_text() == "full=guest,second\n"
    assert (logins / "users.properties").read_text() == "guest=guest\nsecond=second\nlimited=limited\n"
    assert f"-Djava.security.auth.login.config={logins / 'login.config'}" in command.argv
    assert command.argv[-1] == str(home)


def test_versions_are_read_from_what_lies_there(tmp_path: Path) -> None:
    jars = Artemis(tmp_path / "a").jars
    jars.mkdir(parents=True)
    (jars / "artemis-server-2.42.0.jar").touch()
    assert Artemis(tmp_path / "a").version() is None
    (jars / "artemis-amqp-protocol-2.42.0.jar").touch()
    assert Artemis(tmp_path / "a").version() == "2.42.0"
    proton = QpidProton(tmp_path / "p")
    assert proton.version() is None
    (proton.venv / "lib/python3.11/site-packages/python_qpid_proton-0.40.0.dist-info").mkdir(parents=True)
    assert proton.version() == "0.40.0"


def test_what_is_installed_is_not_installed_again(tmp_path: Path, bin_dir: Path) -> None:
    for name in ("mvn", "java"):
        script(bin_dir, name, "exit 1")
    artemis, proton = Artemis(tmp_path / "a"), QpidProton(tmp_path / "p")
    artemis.jars.mkdir(parents=True)
    (artemis.jars / "artemis-amqp-protocol-2.42.0.jar").touch()
    artemis.install()
    (proton.venv / "lib/python3.11/site-packages/python_qpid_proton-0.40.0.dist-info").mkdir(parents=True)
    proton.install()
    (artemis.jars / "artemis-amqp-protocol-2.42.0.jar").rename(
        artemis.jars / "artemis-amqp-protocol-2.41.0.jar"
    )
    with pytest.raises(BrokerError, match="java"):
        artemis.install()


def test_proton_is_run_by_the_interpreter_that_has_it(tmp_path: Path) -> None:
    broker = QpidProton(tmp_path)
    (command,) = commands(broker)
    python, isolated, program, prefix, port = command.argv
    assert (python, isolated, prefix, port) == (
        str(broker.venv / "bin/python"),
        "-I",
        "amqpspec-1-0.",
        "4711",
    )
    assert Path(program).is_file()


def test_how_to_log_in_stands_in_the_url_where_it_is_not_plain(tmp_path: Path) -> None:
    class Anonymous(StandIn):
        mechanism = "anonymous"

    broker = Anonymous(tmp_path)
    try:
        assert broker.start().url.endswith("/?auth_mechanism=anonymous")
    finally:
        broker.stop()


def python_of(directory: Path, pip: str) -> Any:
    """A stand-in for the interpreter, whose environments hold a pip that does ``pip``."""
    script(
        directory,
        "python",
        f'if [ "$2" = venv ]; then mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; else {pip}; fi',
    )
    return directory / "python"


def test_python_packages_arrive_all_or_not_at_all(
    bin_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "venv"
    failing = "echo 'ERROR: no matching distribution'; exit 1"
    monkeypatch.setattr("sys.executable", str(python_of(bin_dir, failing)))
    script(bin_dir, "cc", "")
    with pytest.raises(BrokerError, match="ERROR: no matching distribution"):
        install_python_package("some-hare", "1.0", directory)
    assert not directory.exists()
    installs = f"mkdir -p {directory}/lib/python3.11/site-packages/some_hare-1.0.dist-info"
    monkeypatch.setattr("sys.executable", str(python_of(bin_dir, installs)))
    install_python_package("some-hare", "1.0", directory)
    assert python_package_version("some-hare", directory) == "1.0"


def test_a_missing_compiler_is_said(bin_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(python_of(bin_dir, "exit 1")))
    monkeypatch.setattr("harness.target.known.install.shutil.which", lambda command: None)
    said = "some-hare: expected a C compiler on PATH to build it, found none; on Debian: apt-get install gcc"
    with pytest.raises(BrokerError, match=said):
        install_python_package("some-hare", "1.0", tmp_path / "venv")
