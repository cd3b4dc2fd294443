from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.target.config import ConfigError, read_targets, target_of_url

GOOD = """\
targets:
  staging:
    url: amqp://staging.example:5672/
    profile: two nodes
    users:
      default: {user_env: A_USER, password_env: A_PASSWORD}
      second: {user: other, password_env: B_PASSWORD}
    vhosts: {second: two}
    not_supported: {confirm: the vendor says so}
    supported: {nack: seen in its source}
    hooks: {restart: "true"}
    log: logs/broker.log
    ending_s: 4.5
    patience: 0.2
    connections: 4
    fresh: true
  other:
    broker: reference
"""


REFERENCE = "targets:\n  x:\n    broker: reference\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "targets.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("A_USER", "ann"), ("A_PASSWORD", "secret-a"), ("B_PASSWORD", "secret-b")):
        monkeypatch.setenv(name, value)
    target = read_targets(write(tmp_path, GOOD), "staging")["staging"]
    assert target.url is not None
    assert (target.url.user, target.url.password) == ("ann", "secret-a")
    assert target.logins["second"].user == "other"
    assert target.vhosts == {"second": "two"}
    assert target.not_supported == {"confirm": "the vendor says so"}
    assert target.supported == {"nack": "seen in its source"}
    assert target.log == tmp_path / "logs/broker.log"
    assert (target.ending_s, target.patience, target.connections, target.fresh) == (4.5, 0.2, 4, True)
    assert set(target.secrets) == {"secret-a", "secret-b"}


def test_credentials_of_other_targets_are_not_asked_for(tmp_path: Path) -> None:
    assert read_targets(write(tmp_path, GOOD), "other")["other"].broker == "reference"


def test_a_missing_credential_is_said_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("A_USER", raising=False)
    said = r"line 6, key 'users.default.user_env': environment variable A_USER is not set"
    with pytest.raises(ConfigError, match=said):
        read_targets(write(tmp_path, GOOD), "staging")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("targets: [", "not YAML"),
        ("- a", r"line 1, key 'the file': expected a mapping, actual sequence"),
        ("", "expected a mapping, actual nothing"),
        ("goals: {}", r"line 1, key 'goals': expected only the key 'targets'"),
        ("targets:\n  x:\n    ulr: amqp://h", r"line 3, key 'ulr': unknown key"),
        ("targets:\n  x:\n    url: http://h", r"line 3, key 'url': .*expected scheme"),
        ("targets:\n  x:\n    profile: p", r"key 'x': expected either 'url' or 'broker'"),
        ("targets:\n  x: {}", r"line 2, key 'x': expected either 'url' or 'broker'"),
        ("targets:\n  x:\n  y:\n", r"line 2, key 'x': expected a mapping, actual nothing"),
        (
            "targets:\n  x:\n    broker: b",
            r"line 3, key 'broker': expected one of .*'reference'\], actual 'b'",
        ),
        (f"{REFERENCE}    hooks: {{boot: c}}", r"line 4, key 'hooks.boot': unknown key, expected one of"),
        (f"{REFERENCE}    vhosts: {{third: c}}", r"line 4, key 'vhosts.third': unknown key"),
        (f"{REFERENCE}    users: {{usual: {{}}}}", r"line 4, key 'users.usual': unknown key"),
        (f"{REFERENCE}    not_supported: {{cofirm: c}}", r"line 4, key 'not_supported.cofirm': unknown key"),
        (f"{REFERENCE}    ending_s: soon", r"line 4, key 'ending_s': expected a number"),
        (f"{REFERENCE}    ending_s: -1", r"line 4, key 'ending_s': expected a number above 0"),
        (f"{REFERENCE}    patience: 0", r"line 4, key 'patience': expected a number above 0, actual '0'"),
        (f"{REFERENCE}    patience: .inf", r"line 4, key 'patience': expected a number"),
        (f"{REFERENCE}    connections: 0", r"line 4, key 'connections': expected a number above 0"),
        (
            f"{REFERENCE}    connections: 1.5",
            r"line 4, key 'connections': expected a whole number, actual '1.5'",
        ),
        (f"{REFERENCE}    fresh: maybe", r"line 4, key 'fresh': expected true or false, actual 'maybe'"),
        (f"{REFERENCE}    broker: reference", r"line 4, key 'broker': is there twice"),
        (f"{REFERENCE}  x:\n    broker: reference", r"line 4, key 'x': is there twice"),
        (f"{REFERENCE}  [a]: b", r"line 4, key 'targets': expected names as keys, actual sequence"),
        (f"{REFERENCE}   bad: [", r"line 4: not YAML: expected <block end>"),
        ("targets:\n  x:\n    broker: [b]", r"line 3, key 'broker': expected a text"),
    ],
)
def test_mistakes_name_file_line_and_key(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        read_targets(write(tmp_path, text))
    assert "targets.yaml" in str(caught.value)


def test_a_variable_of_the_wanted_url_must_be_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_HOST", raising=False)
    path = write(tmp_path, "targets:\n  x:\n    url: amqp://${NO_HOST}/\n  y:\n    broker: reference\n")
    assert "y" in read_targets(path, "y")
    with pytest.raises(ConfigError, match="line 3, key 'url': environment variable NO_HOST is not set"):
        read_targets(path, "x")


def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_targets(tmp_path / "none.yaml")


def test_a_url_is_a_target_of_its_own() -> None:
    assert target_of_url("reference:amqp-0-9-1").broker == "reference"
    target = target_of_url("amqp://u:p@h")
    assert (target.name, target.secrets) == ("h:5672", ("p",))
    with pytest.raises(ConfigError, match="expected scheme"):
        target_of_url("ftp://h")


def test_the_targets_that_we_ship_are_readable() -> None:
    targets = read_targets(Path(__file__).parents[2] / "targets.yaml")
    assert {"reference", "rabbitmq", "garagemq", "qpid-broker-j"} <= set(targets)
