"""TLS as brokers with client certificates have it: who gets in, and one line with its exit code for who does not."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
import trustme

from amqpspec.reference.server import ReferenceBroker
from tests.certificates import Certificates
from tests.cli.verbs import amqpspec, error
from tests.net.server import drain, serving

CASES = {"amqp-0-9-1": "channel.open.twice", "amqp-1-0": "close.written"}
DIALECTS = tuple(CASES)


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path, demanded=True)


def run(url: str, dialect: str, folder: Path, code: int) -> str:
    """A run of one case; returns the last line that it said."""
    said = amqpspec("run", url, "-d", dialect, CASES[dialect], "-q", "-o", folder / "run", code=code).stderr
    assert "Traceback" not in said
    return said.splitlines()[-1]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("login", ["guest:guest@", "nobody:wrong@"])
def test_a_client_with_its_certificate_gets_in(
    dialect: str, login: str, certificates: Certificates, tmp_path: Path
) -> None:
    mechanism = "&auth_mechanism=external" if "wrong" in login else ""
    query = f"cacertfile={certificates.ca}&certfile={certificates.client}{mechanism}"
    with ReferenceBroker(dialect, tls=certificates.server) as broker:
        run(f"amqps://{login}localhost:{broker.port}/?{query}", dialect, tmp_path, 0)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_without_a_certificate_the_alert_is_told(
    dialect: str, version: ssl.TLSVersion, certificates: Certificates, tmp_path: Path
) -> None:
    """With 1.3 the alert comes after the handshake, when the first answer is waited for."""
    certificates.server.minimum_version = certificates.server.maximum_version = version
    with serving(drain, certificates.server, times=3) as port:
        line = run(f"amqps://localhost:{port}/?cacertfile={certificates.ca}", dialect, tmp_path, 3)
    alert = "certificate required" if version is ssl.TLSVersion.TLSv1_3 else "handshake failure"
    assert line.startswith(f"amqpspec: localhost:{port}: could not ")
    assert f"TLS with localhost:{port} " in line and alert in line


@pytest.mark.parametrize("scheme", ["amqps", "amqp+wss"])
def test_a_wrong_certificate_of_ours_is_told(
    scheme: str, certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "localhost")
    stranger = tmp_path / "stranger.pem"
    issued = trustme.CA().issue_cert("guest@example.org", common_name="guest")
    issued.private_key_and_cert_chain_pem.write_to_path(str(stranger))
    with serving(drain, certificates.server, times=3) as port:
        query = f"cacertfile={certificates.ca}&certfile={stranger}"
        line = run(f"{scheme}://localhost:{port}/?{query}", "amqp-1-0", tmp_path, 3)
    assert f"TLS with localhost:{port} " in line and "unknown ca" in line


@pytest.mark.parametrize("scheme", ["amqps", "amqp+wss"])
@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("cacertfile={other}", "certificate verify failed"),
        ("", "certificate verify failed"),
        (
            "cacertfile={ca}&server_name_indication=other.example",
            "Hostname mismatch, certificate is not valid for 'other.example'",
        ),
    ],
)
def test_a_server_that_is_not_trusted_is_told(
    scheme: str,
    query: str,
    why: str,
    certificates: Certificates,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NO_PROXY", "localhost")
    with ReferenceBroker("amqp-1-0", tls=certificates.server) as broker:
        url = f"{scheme}://localhost:{broker.port}/?{query.format(ca=certificates.ca, other=certificates.other)}"
        line = run(url, "amqp-1-0", tmp_path, 3)
    assert f"could not reach the target: TLS with localhost:{broker.port} failed: " in line and why in line


def test_an_unknown_server_is_taken_where_nothing_is_verified(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-1-0", tls=Certificates(tmp_path).server) as broker:
        run(f"amqps://localhost:{broker.port}/?verify=verify_none", "amqp-1-0", tmp_path, 0)


@pytest.mark.parametrize(
    ("host", "query", "named"),
    [
        ("localhost", "", "localhost"),
        ("127.0.0.1", "", None),
        ("127.0.0.1", "&server_name_indication=localhost", "localhost"),
    ],
)
def test_the_server_is_asked_for_by_name(host: str, query: str, named: str | None, tmp_path: Path) -> None:
    certificates, names = Certificates(tmp_path), set[str | None]()
    certificates.server.sni_callback = lambda sock, name, context: names.add(name)
    with ReferenceBroker("amqp-1-0", tls=certificates.server) as broker:
        url = f"amqps://{host}:{broker.port}/?cacertfile={certificates.ca}{query}"
        run(url, "amqp-1-0", tmp_path, 0)
    assert names == {named}


@pytest.mark.usefixtures("ipv6")
def test_ipv6_with_tls_and_without(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    for number, (scheme, tls) in enumerate((("amqp", None), ("amqps", certificates.server))):
        with ReferenceBroker("amqp-1-0", host="::1", tls=tls) as broker:
            url = f"{scheme}://[::1]:{broker.port}/?cacertfile={certificates.ca}"
            run(url, "amqp-1-0", tmp_path / str(number), 0)


def test_files_that_cannot_be_used_are_mistakes_of_the_configuration(
    certificates: Certificates, tmp_path: Path
) -> None:
    nowhere = tmp_path / "nowhere.pem"
    for query, why in (
        (f"cacertfile={nowhere}", "No such file or directory"),
        (f"cacertfile={certificates.ca}&certfile={nowhere}", "No such file or directory"),
        (f"certfile={certificates.ca}", "cannot be used: "),
        (f"certfile={certificates.client}&keyfile={certificates.ca}", "cannot be used: "),
        (f"cacertfile={tmp_path / 'empty'}", "cannot be used: "),
    ):
        (tmp_path / "empty").touch()
        line = error("run", f"amqps://localhost:1/?{query}", "-o", tmp_path / "run", code=2)
        assert line.startswith("amqps://localhost:1/: ") and why in line and str(tmp_path) in line
