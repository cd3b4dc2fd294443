"""Other releases of a known broker: their names, their places, what they are put together from."""

from __future__ import annotations

import json
import platform
from pathlib import Path
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from amqpspec.cli import brokers as verbs
from amqpspec.target.config import ConfigError, read_targets
from amqpspec.target.find import find_target
from amqpspec.target.known import KNOWN, BrokerError, is_known, known_broker
from amqpspec.target.known.base import Ports, Tls
from amqpspec.target.known.qpid_broker_j import PARTS, RELEASE, Parts, QpidBrokerJ, _pom
from amqpspec.target.known.rabbitmq import RabbitMQ
from tests.target.test_known import script
from tests.target.test_known_configured import commands

TARGETS = """\
targets:
  j:
    broker: qpid-broker-j
    dialect: amqp-1-0
    address: x.{name}
  old:
    broker: qpid-broker-j@7.0.0
  here:
    url: amqp://guest:guest@localhost/
"""


@pytest.fixture
def targets(tmp_path: Path) -> Path:
    path = tmp_path / "targets.yaml"
    path.write_text(TARGETS)
    return path


def test_a_release_has_a_place_of_its_own() -> None:
    broker = known_broker("qpid-broker-j@7.0.4")
    assert broker.state_dir == Path.cwd() / ".brokers" / "qpid-broker-j@7.0.4"
    assert (broker.name, broker.release, broker.full_name) == (
        "qpid-broker-j",
        "7.0.4",
        "qpid-broker-j@7.0.4",
    )
    with pytest.raises(BrokerError, match=r"run: amqpspec brokers install qpid-broker-j@7\.0\.4$"):
        broker.start()


def test_a_broker_of_one_release_takes_no_other(tmp_path: Path) -> None:
    for name in set(KNOWN) - {"qpid-broker-j", "rabbitmq"}:
        with pytest.raises(BrokerError, match=f"{name}: expected no version, .* requested 1.2"):
            known_broker(f"{name}@1.2", tmp_path)


def test_other_releases_of_rabbitmq_come_from_other_releases_of_debian(
    bin_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = RabbitMQ(tmp_path / "state", release="4.3")
    assert broker.version() is None
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with pytest.raises(
        BrokerError, match=r"rabbitmq-server of Debian's sid: expected to be root, .* actual: user 1000"
    ):
        broker.install()
    monkeypatch.setattr("os.geteuid", lambda: 0)
    script(bin_dir, "apt-get", "echo Debian http://mirror/debian; echo Other http://elsewhere")
    script(bin_dir, "unshare", f'echo "$@" >> {tmp_path}/asked; shift 3; exec "$@"')
    home = "usr/lib/rabbitmq/lib/rabbitmq_server-4.2.1/sbin"
    script(bin_dir, "debootstrap", f'mkdir -p "$4/{home}" && touch "$4/{home}/rabbitmq-server"')
    monkeypatch.setattr("amqpspec.target.known.folder.PATH", str(bin_dir))
    with pytest.raises(
        BrokerError, match=r"rabbitmq@4.3: expected that version in Debian's sid, found 4.2.1"
    ):
        broker.install()
    asked = "debootstrap --variant=minbase --include=rabbitmq-server sid"
    assert f"{asked} {tmp_path}/state/root.partial http://mirror/debian\n" in (tmp_path / "asked").read_text()
    assert not (tmp_path / "state" / "root").exists()


def test_a_release_of_rabbitmq_that_debian_does_not_carry(tmp_path: Path) -> None:
    with pytest.raises(
        BrokerError, match=r"rabbitmq: expected version 4.0 or 4.3, or none .* requested 3.13"
    ):
        known_broker("rabbitmq@3.13", tmp_path)


def test_a_node_in_a_folder_names_paths_as_it_sees_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    root, files = tmp_path / "state" / "root", Tls(*(tmp_path / name for name in ("a", "b", "c")))
    for file in (files.ca, files.cert, files.key):
        file.write_text(file.name)
    (root / "usr/lib/rabbitmq/lib/rabbitmq_server-4.3.9/sbin").mkdir(parents=True)
    (root / "usr/lib/rabbitmq/lib/rabbitmq_server-4.3.9/sbin/rabbitmq-server").touch()
    (root / "etc").mkdir()
    broker = RabbitMQ(tmp_path / "state", release="4.3", tls=files)
    epmd, server = broker._commands(Ports(5672, 5671, (1, 2)), broker.options)
    assert server.argv[-2:] == (
        "/usr/lib/rabbitmq/lib/rabbitmq_server-4.3.9/sbin/rabbitmq-server",
        "-noinput",
    )
    assert epmd.argv[-5:] == ("/usr/bin/epmd", "-address", "127.0.0.1", "-port", "1")
    assert {server.env[name] for name in ("RABBITMQ_MNESIA_BASE", "HOME")} == {"/srv/mnesia", "/srv/home"}
    said = (broker.state_dir / "rabbitmq.conf").read_text()
    assert "load_definitions = /srv/definitions.json\n" in said
    assert "ssl_options.keyfile = /srv/key.pem\n" in said
    assert (broker.state_dir / "key.pem").read_text() == "c"
    assert (broker.state_dir / "enabled_plugins").read_text() == "[].\n"
    assert f" {platform.node()}\n" in (broker.state_dir / "hosts").read_text()


@pytest.mark.parametrize(
    "name", ["", "@", "qpid-broker-j@", "qpid-broker-j@../x", "j@7.0.0", "qpid-broker-j@1@2"]
)
def test_what_is_no_name_of_a_broker(name: str) -> None:
    assert not is_known(name)
    with pytest.raises(BrokerError, match="expected one of"):
        known_broker(name)


def test_a_target_with_a_version_is_the_same_target_on_another_release(targets: Path) -> None:
    found = find_target("j@7.0.4", targets)
    usual = find_target("j", targets)
    assert (found.name, found.broker) == ("j@7.0.4", "qpid-broker-j@7.0.4")
    assert (found.dialect, found.address) == (usual.dialect, usual.address) == ("amqp-1-0", "x.{name}")
    assert read_targets(targets)["old"].broker == "qpid-broker-j@7.0.0"


def test_a_release_that_has_a_target_of_its_own_is_that_target() -> None:
    found = find_target("rabbitmq@4.3")
    assert (found, found.name) == (find_target("rabbitmq-4.3"), "rabbitmq-4.3")
    assert found.baseline is not None and found.baseline.name == "rabbitmq-4.3.yaml"
    typed = find_target("rabbitmq-1-0@4.0")
    assert (typed.name, typed.dialect) == ("rabbitmq-4.0-1-0", "amqp-1-0")


@pytest.mark.parametrize("name", ["here@7.0.4", "old@7.0.4", "none@7.0.4", "j@", "j@x", "@7.0.4"])
def test_other_targets_have_no_releases(name: str, targets: Path) -> None:
    with pytest.raises(ConfigError, match=f"no target '{name}', expected one of"):
        find_target(name, targets)


def modules(pom: str) -> dict[str, tuple[str, set[str]]]:
    """What a pom depends on: release and exclusions by module."""
    found = {}
    for element in ElementTree.fromstring(pom).iter("dependency"):
        excluded = {text.text or "" for text in element.iter("artifactId")} - {element.findtext("artifactId")}
        found[element.findtext("artifactId") or ""] = (element.findtext("version") or "", excluded)
    return found


def test_a_release_is_put_together_from_itself() -> None:
    assert {name: release for name, (release, _) in modules(_pom("9.2.1", Parts())).items()} == {
        "qpid-broker": "9.2.1"
    }


def test_a_module_that_stands_in_takes_the_place_of_the_release_s_own() -> None:
    found = modules(_pom("7.0.0", PARTS["7.0.0"]))
    release, excluded = found["qpid-broker"]
    assert release == "7.0.0"
    assert found["qpid-broker-plugins-logging-logback"][0] == "7.0.3"
    assert {"qpid-broker-plugins-logging-logback", "qpid-bdbstore"} <= excluded


def test_where_only_some_modules_are_left_the_launcher_brings_none_of_its_own() -> None:
    found = modules(_pom("10.0.1", PARTS["10.0.1"]))
    assert found["qpid-broker"] == ("10.1.0", {"*"})
    assert found["qpid-broker-core"][0] == found["qpid-broker-plugins-amqp-0-8-protocol"][0] == "10.0.1"


MVN = """
if grep -q '<artifactId>qpid-broker</artifactId><version>7.0.0</version><exclusions>.*logging-logback' pom.xml
then touch qpid-broker-core-7.0.0.jar
elif grep -q '<artifactId>qpid-broker</artifactId><version>7.0.4</version>' pom.xml
then touch qpid-broker-core-7.0.4.jar
else echo '[ERROR] Could not find artifact'; exit 1; fi
"""


def test_parts_are_asked_for_where_the_whole_cannot_be_had(bin_dir: Path, tmp_path: Path) -> None:
    script(bin_dir, "java", "echo 'openjdk version \"17\"' >&2")
    script(bin_dir, "mvn", MVN)
    for release in ("7.0.0", "7.0.4"):
        broker = QpidBrokerJ(tmp_path / release, release=release)
        broker.install()
        assert broker.version() == release
    with pytest.raises(BrokerError, match="Could not find artifact"):
        QpidBrokerJ(tmp_path / "other", release="7.0.5").install()
    with pytest.raises(BrokerError, match="Could not find artifact"):
        QpidBrokerJ(tmp_path / "usual").install()
    assert QpidBrokerJ(tmp_path / "usual").wanted == RELEASE


def test_each_release_is_configured_in_its_own_form(bin_dir: Path, tmp_path: Path) -> None:
    script(bin_dir, "java", "echo 'openjdk version \"17\"' >&2")
    for release, model in (("7.0.0", "7.0"), ("7.1.12", "7.0"), ("9.2.1", "8.0"), ("", "8.0")):
        broker = QpidBrokerJ(tmp_path / f"at-{release}", release=release)
        commands(broker)
        assert json.loads((broker.state_dir / "config.json").read_text())["modelVersion"] == model


def test_stores_are_in_memory_where_derby_is_missing(bin_dir: Path, tmp_path: Path) -> None:
    script(bin_dir, "java", "echo 'openjdk version \"17\"' >&2")
    broker = QpidBrokerJ(tmp_path / "state")
    for store in ("Memory", "DERBY"):
        commands(broker)
        node = json.loads((broker.state_dir / "config.json").read_text())["virtualhostnodes"][0]
        assert json.loads(node["virtualHostInitialConfiguration"])["type"] == store
        broker.jars.mkdir(exist_ok=True)
        (broker.jars / f"qpid-broker-plugins-derby-store-{RELEASE}.jar").touch()


def test_verbs_take_a_version_and_list_what_lies_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "STATE_DIR", tmp_path)
    jars = tmp_path / "qpid-broker-j@7.0.4" / "jars"
    jars.mkdir(parents=True)
    (jars / "qpid-broker-core-7.0.4.jar").touch()
    (tmp_path / "hare@1").mkdir()
    run = CliRunner().invoke
    assert run(verbs.brokers, ["install", "qpid-broker-j", "--version", "7.0.4"]).output == (
        "qpid-broker-j 7.0.4 installed\n"
    )
    names = [row["name"] for row in json.loads(run(verbs.brokers, ["list", "--json"]).output)]
    assert names == [*KNOWN, "qpid-broker-j@7.0.4"]
    assert run(verbs.brokers, ["stop", "qpid-broker-j@7.0.4"]).output == (
        "qpid-broker-j@7.0.4 was not running\n"
    )
    refused = run(verbs.brokers, ["start", "qpid-broker-j", "--version", "newest"])
    assert refused.exit_code == 2
    assert "no broker 'qpid-broker-j@newest', expected a version like 7.0.4" in refused.output
