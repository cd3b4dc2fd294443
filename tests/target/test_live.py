"""A configured target becomes one that can be spoken to: address, logins, hooks, TLS."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from amqpspec.net.stream import ConnectError, Stream
from amqpspec.peer.context import Login
from amqpspec.reference.faults import UnknownFaultError
from amqpspec.target import live as module
from amqpspec.target.config import ConfigError, Target, target_of_url
from amqpspec.target.find import find_target, is_target
from amqpspec.target.live import TargetError, live, run_hook
from amqpspec.target.url import parse_url


def test_the_reference_broker_is_started_and_stopped() -> None:
    with live(target_of_url("reference")) as target:
        stream = Stream(target.endpoint)
        stream.close()
        assert set(target.logins) == {"second", "limited"}
        assert set(target.vhosts) == {"second", "forbidden"}
        assert target.restart is not None
        assert target.secrets == ()
    with pytest.raises(ConnectError):
        Stream(target.endpoint)


def test_faults_belong_to_reference_brokers() -> None:
    with (
        pytest.raises(ConfigError, match="faults belong to reference brokers, host is none"),
        live(Target("host", url=parse_url("amqp://host")), faults=["x"]),
    ):
        pass
    with pytest.raises(UnknownFaultError), live(target_of_url("reference"), faults=["no such fault"]):
        pass


def test_a_configured_target(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    pid.write_text("4711\n")
    target = Target(
        "staging",
        url=parse_url("amqp://ann:s3cret@host:1234/two?auth_mechanism=amqplain"),
        logins={"second": Login("bob", "0ther")},
        vhosts={"second": "three"},
        hooks={"restart": "true"},
        log=tmp_path / "log",
        pid=pid,
    )
    with live(target) as made:
        assert made.login == Login("ann", "s3cret", "two", "AMQPLAIN")
        assert (made.endpoint.host, made.endpoint.port, made.endpoint.tls) == ("host", 1234, None)
        assert (made.logins["second"].user, made.vhosts, made.pid, made.log) == (
            "bob", {"second": "three"}, 4711, tmp_path / "log",
        )  # fmt: skip
        assert set(made.secrets) == {"s3cret", "0ther"}
        assert made.restart is not None
        made.restart()


@pytest.mark.parametrize("text", ["", "x", None])
def test_a_pid_file_that_says_nothing_is_no_pid(text: str | None, tmp_path: Path) -> None:
    path = tmp_path / "pid"
    if text is not None:
        path.write_text(text)
    with live(Target("t", url=parse_url("amqp://h"), pid=path)) as made:
        assert (made.pid, made.restart) == (None, None)


def test_a_known_broker_that_does_not_run_says_how_to_start_it(tmp_path: Path) -> None:
    said = "expected a running broker, actual: none that was started from .*; try: amqpspec brokers start rabbitmq"
    with (
        pytest.raises(TargetError, match=said),
        live(Target("rabbit", broker="rabbitmq"), state_dir=tmp_path),
    ):
        pass


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "echo first >&2; echo 'it broke' >&2; exit 3",
            "hook restart: exit code 3, expected 0: .*: it broke$",
        ),
        ("echo 'on stdout'; exit 1", "exit code 1, expected 0: .*: on stdout$"),
        ("exit 1", "no output$"),
    ],
)
def test_a_hook_that_fails_is_one_line(command: str, said: str) -> None:
    with pytest.raises(TargetError, match=said) as caught:
        run_hook("restart", command)
    assert "\n" not in str(caught.value)


def test_a_hook_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_HOOK_PATIENCE_S", 0.1)
    with pytest.raises(TargetError, match="hook stop: no end within 0 s: "):
        run_hook("stop", "exec sleep 30")


# --- TLS


def tls_context(query: str) -> ssl.SSLContext:
    with live(target_of_url(f"amqps://localhost?{query}")) as made:
        context = made.endpoint.tls
    assert context is not None
    return context


def test_tls_as_the_url_says(tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    own = authority.issue_cert("me@example.org")
    own.private_key_and_cert_chain_pem.write_to_path(str(tmp_path / "me.pem"))
    checked = tls_context(f"cacertfile={tmp_path / 'ca.pem'}&certfile={tmp_path / 'me.pem'}")
    assert (checked.verify_mode, checked.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert len(checked.get_ca_certs()) == 1
    assert tls_context("verify=verify_none").verify_mode is ssl.CERT_NONE


def test_tls_files_that_cannot_be_used_are_said(tmp_path: Path) -> None:
    (tmp_path / "bad.pem").write_text("no certificate")
    for query in (f"cacertfile={tmp_path / 'none.pem'}", f"certfile={tmp_path / 'bad.pem'}"):
        with pytest.raises(
            ConfigError, match=f"amqps://localhost:5671/: {query.replace('=', ' ')}: cannot be used: "
        ):
            tls_context(query)


def test_the_name_that_the_server_is_asked_for() -> None:
    with live(
        target_of_url("amqps://127.0.0.1?server_name_indication=broker.example&verify=verify_none")
    ) as made:
        assert made.endpoint.server_name == "broker.example"


# --- finding


def test_what_names_a_target() -> None:
    assert [is_target(text) for text in ("amqp://h", "reference", "reference:x", "channel.open", "channel")] == [
        True, True, True, False, False,
    ]  # fmt: skip


def test_targets_of_this_folder_are_added_to_the_built_in_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_target("rabbitmq").broker == "rabbitmq"
    file = tmp_path / "targets.yaml"
    file.write_text(
        "targets:\n  mine:\n    url: amqp://mine\n  garagemq:\n    url: amqp://ours\n", encoding="utf-8"
    )
    assert find_target("mine").url == parse_url("amqp://mine")
    assert find_target("rabbitmq").broker == "rabbitmq"
    assert (find_target("garagemq").broker, find_target("garagemq").url) == ("", parse_url("amqp://ours"))
    with pytest.raises(
        ConfigError, match=r"^targets.yaml: no target 'rabbit', expected one of .*'mine'.*\?$"
    ):
        find_target("rabbit")


def test_a_file_that_is_named_replaces_the_built_in_targets(tmp_path: Path) -> None:
    file = tmp_path / "ours.yaml"
    file.write_text("targets:\n  mine:\n    url: amqp://mine\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"ours.yaml: no target 'rabbitmq', expected one of \['mine'\]"):
        find_target("rabbitmq", file)
