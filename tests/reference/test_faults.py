from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import amqpspec.reference
from amqpspec.reference.faults import Fault, all_faults, behaviours, check_faults
from amqpspec.reference.faults.refusals import (
    BORROWED,
    REFUSALS,
    own_refusals,
    right,
    row_of,
    wrong_code,
    wrong_scope,
)
from amqpspec.reference.faults.rules_wire_9_1 import ALSO, SPOKEN_AS
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Refusal, Scope
from tests.reference.conftest import Broken
from tests.reference.talk import ready

PACKAGE = Path(amqpspec.reference.__file__).parent
LEDGERS = ("amqp-0-9-1", "amqp-wire-9-1")
LEDGER = load_ledger("amqp-0-9-1")
FAULTS = [(ledger, fault) for ledger in LEDGERS for fault in all_faults(ledger).values()]
REFUSED = [(ledger, rule) for ledger in LEDGERS for rule in own_refusals(ledger)]


def _sources(*, faults: bool) -> Iterator[str]:
    """What the brokers of this family are made of."""
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).parts
        if parts[0] != "amqp_1_0" and (faults or "faults" not in parts):
            yield path.read_text(encoding="utf-8")


def _consulted() -> set[str]:
    return {name for text in _sources(faults=False) for name in re.findall(r'faulty\(\s*"([^"]+)"', text)}


def test_every_declared_behaviour_is_consulted_and_the_other_way_round() -> None:
    declared = {name for ledger in LEDGERS for name in behaviours(ledger)}
    assert declared - _consulted() == set(), "declared, but no line asks for it"
    assert _consulted() - declared == set(), "asked for, but not declared"


def test_no_fault_is_declared_twice_or_means_two_things() -> None:
    modules = [
        import_module(f"amqpspec.reference.faults.{path.stem}") for path in (PACKAGE / "faults").glob("*.py")
    ]
    meanings: dict[str, str] = {}
    for module in modules:
        faults = getattr(module, "FAULTS", ())
        assert len(faults) == len({fault.name for fault in faults})
        assert [f.name for f in faults if meanings.setdefault(f.name, f.says) != f.says] == []


def test_every_refusal_is_used_and_listed() -> None:
    text = "\n".join(_sources(faults=False))
    assert [rule for rule in REFUSALS if f'"{rule}"' not in text] == []
    spoken = set(re.findall(r'refuse\(\s*"([^"]+)"', text))
    known = {*REFUSALS, *BORROWED, *(rule for _, rule in REFUSED)}
    assert spoken - known == set()
    assert known - spoken - set(SPOKEN_AS.values()) - set(REFUSALS) == set()


def test_what_is_spoken_of_otherwise_has_rows() -> None:
    ledger = load_ledger("amqp-wire-9-1")
    assert set(SPOKEN_AS) <= set(REFUSALS)
    rows = {*SPOKEN_AS.values(), *ALSO, *(row for rows in ALSO.values() for row in rows)}
    assert rows - set(ledger) == set()


@pytest.mark.parametrize(("ledger", "fault"), FAULTS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_a_fault_breaks_requirements_that_exist(ledger: str, fault: Fault) -> None:
    rows = load_ledger(ledger)
    assert fault.breaks
    assert [rule for rule in fault.breaks if rule not in rows or not rows[rule].testable] == []
    assert fault.says and not fault.says.endswith(".")


@pytest.mark.parametrize(("ledger", "rule"), REFUSED)
def test_wrong_refusals_are_wrong(ledger: str, rule: str) -> None:
    row = load_ledger(ledger)[rule]
    known = (*row.accepts, *row.tolerates)
    assert row_of(rule, ledger) is row
    assert right(rule, ledger) == row.accepts[0]
    for wrong in (wrong_code(row), wrong_scope(row)):
        if wrong is not None:
            assert not any(k.scope is wrong.scope and k.code in (None, wrong.code) for k in known)


def test_there_are_many() -> None:
    assert len(behaviours()) >= 60
    assert len(all_faults()) >= 120
    assert len(behaviours()) == len({name.lower() for name in behaviours()})


def test_names_are_checked() -> None:
    assert check_faults(["purge-drops-unacked"]) == {"purge-drops-unacked"}
    assert check_faults([]) == frozenset()


# --- refusals, right and wrong


def _passive_declare(broker: ReferenceBroker) -> str:
    """What a client sees of a queue that is not there."""
    with ready(broker.url) as talk:
        talk.say("queue.declare", queue="missing", passive=True)
        call = talk.hear("channel.close", "connection.close", "queue.declare-ok")
        code = call.args.get("reply_code", "")
        return f"{call.name} {code}".strip()


RULE = "queue/declare/passive/not-found"


@pytest.mark.parametrize(
    ("fault", "seen"),
    [
        ((), "channel.close 404"),
        ((f"not-refused:{RULE}",), "queue.declare-ok"),
        ((f"wrong-code:{RULE}",), "channel.close 406"),
        ((f"wrong-scope:{RULE}",), "connection.close 404"),
        (("not-refused:channel/open/state",), "channel.close 404"),
    ],
)
def test_the_three_faults_of_a_refusal(broken: Broken, fault: tuple[str, ...], seen: str) -> None:
    assert _passive_declare(broken(*fault)) == seen


def test_silence_is_a_wrong_scope(broken: Broken) -> None:
    rule = "connection/tune/channel-max"
    assert wrong_scope(LEDGER[rule]) is None
    broker = broken(f"wrong-scope:{rule}")
    with ready(broker.url, channel_max=1) as talk:
        talk.say("channel.open", 2)
        talk.say("channel.open", 1)
        talk.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            talk.next()


def test_a_socket_that_should_end_in_silence_says_something(broken: Broken) -> None:
    rule = "amq_wlp_frame_01"
    assert wrong_scope(LEDGER[rule]) == Refusal(Scope.CONNECTION, 541)
    with ready(broken(f"wrong-scope:{rule}").url) as talk:
        talk.octets(bytes.fromhex("09 0000 00000000 ce"))
        assert talk.hear("connection.close")["reply_code"] == 541


@pytest.mark.parametrize(
    ("rule", "octets"),
    [
        ("amq_wlp_frame_01", "09 0000 00000000 ce"),
        ("amq_wlp_frame_02", "08 0000 00000000 cd"),
        ("amq_wlp_heartbeat_01", "08 0001 00000000 ce"),
        ("wire/method/unknown-class", "01 0001 00000004 0fff 0001 ce"),
        ("wire/content/unexpected-body", "03 0001 00000001 00 ce"),
        ("amq_wlp_content_03", "03 0000 00000001 00 ce"),
    ],
)
def test_a_violation_let_pass_does_no_harm(broken: Broken, rule: str, octets: str) -> None:
    with ready(broken(f"not-refused:{rule}").url) as talk:
        talk.octets(bytes.fromhex(octets))
        talk.silent()
