"""What the configuration of known brokers says, and how they are installed; nothing of them is needed here."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from amqpspec.target.known import BrokerError, KnownBroker
from amqpspec.target.known.activemq import CORE, ActiveMQ
from amqpspec.target.known.artemis import Artemis
from amqpspec.target.known.base import Command, Options, Ports
from amqpspec.target.known.install import install_python_package, python_package_version
from amqpspec.target.known.qpid_broker_j import QpidBrokerJ
from amqpspec.target.known.qpid_proton import QpidProton
from amqpspec.target.known.rabbitmq import RabbitMQ
from tests.target.test_known import StandIn, script


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
    monkeypatch.setattr("amqpspec.target.known.rabbitmq.SCRIPTS", tmp_path / "lib")
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


@pytest.mark.usefixtures("java")
def test_activemq_is_told_port_users_rights_and_limits(tmp_path: Path) -> None:
    broker = ActiveMQ(tmp_path / "a & b")
    (command,) = commands(broker)
    home = broker.state_dir / "home"
    configured = ElementTree.parse(home / "activemq.xml")
    core = {element.tag.partition("}")[2]: element for element in configured.iter()}
    assert (core["transportConnector"].get("uri") or "").startswith("amqp://127.0.0.1:4711?")
    assert core["kahaDB"].get("directory") == str(home / "data" / "kahadb")
    entries = configured.iter(f"{{{CORE}}}authorizationEntry")
    rights = {entry.get("queue") or entry.get("topic"): entry.get("admin") for entry in entries}
    assert rights == {"amqpspec-1-0.>": "full", "ActiveMQ.Advisory.>": "full,none"}
    users = configured.iter(f"{{{CORE}}}authenticationUser")
    assert {user.get("username"): user.get("groups") for user in users} == {
        "guest": "full", "second": "full", "limited": "none",
    }  # fmt: skip
    assert {core[name].get("limit") for name in ("memoryUsage", "storeUsage", "tempUsage")} == {
        "128 mb", "1 gb", "256 mb",
    }  # fmt: skip
    assert command.argv[-1] == f"xbean:{(home / 'activemq.xml').as_uri()}"


def test_versions_are_read_from_what_lies_there(tmp_path: Path) -> None:
    jars = Artemis(tmp_path / "a").jars
    jars.mkdir(parents=True)
    (jars / "artemis-server-2.42.0.jar").touch()
    assert Artemis(tmp_path / "a").version() is None
    (jars / "artemis-amqp-protocol-2.42.0.jar").touch()
    assert Artemis(tmp_path / "a").version() == "2.42.0"
    classic = ActiveMQ(tmp_path / "c")
    classic.jars.mkdir(parents=True)
    (classic.jars / "activemq-client-6.1.8.jar").touch()
    assert classic.version() is None
    (classic.jars / "activemq-amqp-6.1.8.jar").touch()
    assert classic.version() == "6.1.8"
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
    monkeypatch.setattr("amqpspec.target.known.install.shutil.which", lambda command: None)
    said = "some-hare: expected a C compiler on PATH to build it, found none; on Debian: apt-get install gcc"
    with pytest.raises(BrokerError, match=said):
        install_python_package("some-hare", "1.0", tmp_path / "venv")
