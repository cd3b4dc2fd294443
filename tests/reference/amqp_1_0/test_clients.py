"""Client libraries, unchanged, against the 1.0 reference broker: send, receive, settle, drain, errors of links."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.reference.npm import npm_package
from tests.waiting import PATIENCE_S

pytestmark = pytest.mark.clients
RHEA = "rhea@3.0.4"
_PATIENCE_S = 10

# --- qpid proton


@pytest.fixture(params=["PLAIN", "ANONYMOUS"])
def proton(request: pytest.FixtureRequest, broker: ReferenceBroker) -> Any:
    utils = pytest.importorskip("proton.utils", reason="python-qpid-proton is not installed")
    host = broker.url.partition("@")[2].partition("/")[0]
    connection = utils.BlockingConnection(
        f"amqp://guest:guest@{host}", timeout=_PATIENCE_S, allowed_mechs=request.param
    )
    yield connection
    connection.close()


def test_proton_sends_and_receives(proton: Any) -> None:
    from proton import Message

    sender = proton.create_sender("jobs")
    receiver = proton.create_receiver("jobs", credit=10)
    for body in ("one", "x" * 200_000):
        sender.send(Message(body=body))
        assert receiver.receive(timeout=_PATIENCE_S).body == body
        receiver.accept()


def test_proton_settles(proton: Any) -> None:
    from proton import Message

    sender, receiver = proton.create_sender("jobs"), proton.create_receiver("jobs")
    sender.send(Message(body="one"))
    receiver.receive(timeout=_PATIENCE_S)
    receiver.release(delivered=False)
    assert receiver.receive(timeout=_PATIENCE_S).body == "one"
    receiver.reject()
    sender.send(Message(body="two"))
    assert receiver.receive(timeout=_PATIENCE_S).body == "two"
    receiver.accept()


def test_proton_gets_errors_of_links(proton: Any) -> None:
    from proton.utils import LinkDetached

    with pytest.raises(LinkDetached, match="amqp:not-found"):
        proton.create_sender("amq.nothing")
    with pytest.raises(LinkDetached, match="amqp:not-found"):
        proton.create_receiver("amq.nothing")
    proton.create_sender("something")


def test_proton_makes_dynamic_nodes(proton: Any) -> None:
    from proton import Message

    receiver = proton.create_receiver(None, dynamic=True, credit=1)
    address = receiver.link.remote_source.address
    proton.create_sender(address).send(Message(body="answer"))
    assert receiver.receive(timeout=_PATIENCE_S).body == "answer"


# --- rhea


@pytest.fixture(scope="session")
def rhea(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which node finds rhea; kept in pytest's cache between runs."""
    return npm_package("rhea", RHEA, request, tmp_path_factory)


SCRIPT = """
const rhea = require('rhea');
const url = new URL(process.argv[2]);
const container = rhea.create_container();
const login = {username: 'guest', password: 'guest', reconnect: false};
const connection = container.connect({host: url.hostname, port: url.port, ...login});
const sender = connection.open_sender('jobs');
const seen = [];
let sent = 0, accepted = 0;
container.on('sendable', () => {
  while (sent < 3 && sender.sendable()) sender.send({body: 'm' + sent, application_properties: {n: sent++}});
});
container.on('accepted', () => {
  if (++accepted !== 3) return;
  const receiver = connection.open_receiver({source: 'jobs', credit_window: 0, autoaccept: false});
  receiver.on('receiver_open', () => { receiver.drain = true; receiver.add_credit(10); });
});
container.on('message', context => { seen.push(context.message.body); context.delivery.accept(); });
container.on('receiver_drained', () => {
  console.log('drained', seen.join());
  connection.open_receiver('amq.nothing');
});
container.on('receiver_error', context => { console.log(context.receiver.error.condition); connection.close(); });
container.on('connection_close', () => console.log('closed'));
"""


def test_rhea(broker: ReferenceBroker, rhea: Path) -> None:
    script = rhea / "talk.js"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        ["node", str(script), broker.url],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        cwd=rhea,
    )
    assert done.stdout.splitlines() == ["drained m0,m1,m2", "amqp:not-found", "closed"], done.stderr
