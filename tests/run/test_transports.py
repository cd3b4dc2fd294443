"""The whole runner over TLS, client certificates, IPv6, and each SASL mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.cli.certify import RunRequest, certify
from amqpspec.record.rows import RAN
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import load_suite
from amqpspec.run.driver import ProbeFailed
from amqpspec.target.config import target_of_url
from tests.certificates import Certificates

CASES = ("channel.open.twice", "amq_wlp_frame_02", "basic.ack.multiple")


def certified(url: str, folder: Path, cases: tuple[str, ...] = CASES) -> dict[str, str]:
    document = certify(RunRequest(target=target_of_url(url), patterns=cases, out=folder / "run", quiet=True))
    return {case["id"]: case["verdict"] for case in document["cases"]}


@pytest.fixture
def certificates(tmp_path: Path) -> Certificates:
    return Certificates(tmp_path)


def test_tls_with_an_authority_of_ones_own(certificates: Certificates, tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1", tls=certificates.server) as broker:
        url = f"amqps://guest:guest@localhost:{broker.port}/?cacertfile={certificates.ca}"
        assert set(certified(url, tmp_path).values()) == {"pass"}


def test_a_client_certificate_logs_in_by_external(certificates: Certificates, tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1", tls=certificates.server) as broker:
        query = f"cacertfile={certificates.ca}&certfile={certificates.client}&auth_mechanism=external"
        url = f"amqps://nobody:wrong@localhost:{broker.port}/?{query}"
        assert set(certified(url, tmp_path).values()) == {"pass"}


def test_an_unknown_authority_is_one_line(certificates: Certificates, tmp_path: Path) -> None:
    with (
        ReferenceBroker("rabbitmq-0-9-1", tls=certificates.server) as broker,
        pytest.raises(ProbeFailed, match="could not reach the target") as caught,
    ):
        certified(f"amqps://localhost:{broker.port}/", tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("mechanism", ["plain", "amqplain", "anonymous"])
def test_every_mechanism_logs_in(mechanism: str, tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        url = f"amqp://guest:guest@127.0.0.1:{broker.port}/?auth_mechanism={mechanism}"
        assert set(certified(url, tmp_path).values()) == {"pass"}


@pytest.mark.usefixtures("ipv6")
def test_ipv6(tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1", host="::1") as broker:
        assert set(certified(f"amqp://guest:guest@[::1]:{broker.port}/", tmp_path).values()) == {"pass"}


def test_the_whole_suite_over_tls(certificates: Certificates, tmp_path: Path) -> None:
    with ReferenceBroker("rabbitmq-0-9-1", tls=certificates.server) as broker:
        url = f"amqps://guest:guest@localhost:{broker.port}/?cacertfile={certificates.ca}"
        verdicts = certified(url, tmp_path, ())
    assert len(verdicts) == len(load_suite("amqp-0-9-1"))
    green = {"pass", "observed", "blocked"}
    assert {name: verdict for name, verdict in verdicts.items() if verdict not in green} == {}
    assert sum(verdict in RAN for verdict in verdicts.values()) > 500
