from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import amqpspec.reference
from amqpspec.reference.fault import fault_table, word_table
from amqpspec.reference.faults import Fault, all_faults, check_faults, faults_of
from amqpspec.reference.methods import amqp_0_9_1, amqp_wire_9_1
from amqpspec.reference.refusals import passes
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.dialects import certified_dialects, load_ledger
from amqpspec.spec.model import Refusal, Scope
from tests.reference.conftest import Broken
from tests.reference.talk import ready

PACKAGE = Path(amqpspec.reference.__file__).parent
FAMILIES = {
    "methods": ("amqp-0-9-1", "amqp-wire-9-1"),
    "amqp_1_0": ("amqp-1-0",),
    "amqp_fast_0_8": ("amqp-fast-0-8",),
    "amqp_0_10": ("amqp-0-10",),
}
LEDGERS = certified_dialects()
BASE, DRAFT = amqp_0_9_1.REFUSALS, amqp_wire_9_1.REFUSALS
FAULTS = [(ledger, fault) for ledger in LEDGERS for fault in all_faults(ledger).values()]
REFUSED = [(ledger, rule) for ledger in LEDGERS for rule in faults_of(ledger).refusals.rows]


def _modules(family: str) -> Iterator[Path]:
    """What the brokers of a family are made of; the model and the core are counted among those of 0-9."""
    for path in sorted(PACKAGE.rglob("*.py")):
        own = path.parent.name if path.parent.name in FAMILIES else "methods"
        if own == family:
            yield path


def _consulted(path: Path) -> set[str]:
    return set(re.findall(r'faulty\(\s*"([^"]+)"', path.read_text(encoding="utf-8")))


def _declared(path: Path) -> list[Fault]:
    place = path.relative_to(PACKAGE).with_suffix("")
    module = import_module(".".join(("amqpspec.reference", *place.parts)))
    return list(getattr(module, "FAULTS", ()))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_fault_is_declared_by_the_module_that_acts_it_out(family: str) -> None:
    known = {name for path in _modules(family) for name in _consulted(path)}
    declared = [(path, fault.name) for path in _modules(family) for fault in _declared(path)]
    assert [(path.name, name) for path, name in declared if name not in _consulted(path)] == []
    assert known - {name for _, name in declared} == set(), "asked for, but not declared"
    assert len(declared) == len({name.lower() for _, name in declared}), "declared twice"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_declared_fault_is_one_of_a_dialect(family: str) -> None:
    declared = {fault.name: fault.says for path in _modules(family) for fault in _declared(path)}
    known = [fault for dialect in FAMILIES[family] for fault in faults_of(dialect).behaviours.values()]
    # Another family can tell faults of the shared model as well, by rows of its own.
    shared = {fault.name: fault.says for path in _modules("methods") for fault in _declared(path)}
    assert (
        declared.items() <= {fault.name: fault.says for fault in known}.items() <= (shared | declared).items()
    )
    assert [fault.name for fault in known if (shared | declared)[fault.name] != fault.says] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_every_refusal_is_used_and_listed(family: str) -> None:
    text = "\n".join(
        path.read_text(encoding="utf-8")
        for path in _modules(family)
        if path.stem not in ("faults", "amqp_0_9_1", "amqp_wire_9_1")
    )
    rules = faults_of(FAMILIES[family][0]).refusals
    widest = faults_of(FAMILIES[family][-1]).refusals
    assert [rule for rule in rules.rows if f'"{rule}"' not in text] == []
    spoken = re.findall(r'refuse\(\s*"([^"]+)"', text)
    assert [rule for rule in spoken if not widest.row_of(rule).id] == [], (
        "refused by a rule that is not listed"
    )
    assert [row for row in rules.also if row not in rules.rows] == []


def test_a_rule_that_is_not_listed_is_an_error() -> None:
    for dialect in LEDGERS:
        with pytest.raises(KeyError, match="no/such/rule: not among the refusals of"):
            faults_of(dialect).refusals.row_of("no/such/rule")


def test_what_is_spoken_of_otherwise_has_rows() -> None:
    ledger = load_ledger("amqp-wire-9-1")
    assert set(DRAFT.spoken_as) <= set(BASE.rows)
    assert {row for rows in DRAFT.spoken_as.values() for row in rows} <= set(DRAFT.rows)
    assert set(DRAFT.also) <= set(DRAFT.rows)
    assert {row for rows in DRAFT.also.values() for row in rows} - set(ledger) == set()
    assert [rule for rule, (row,) in DRAFT.spoken_as.items() if ledger[row].same_as == rule] == []


@pytest.mark.parametrize(
    ("rule", "row"),
    [
        ("wire/table/malformed", "field-tables/format"),
        ("connection/grammar", "security/negotiation-errors"),
        ("amq_wlp_frame_01", "amq_wlp_frame_01"),
    ],
)
def test_the_draft_refuses_by_rows_of_its_own(rule: str, row: str) -> None:
    assert DRAFT.row_of(rule) is load_ledger("amqp-wire-9-1")[row]


def test_what_the_draft_has_no_row_for_is_refused_as_0_9_1_does() -> None:
    assert DRAFT.row_of("channel/grammar") is load_ledger("amqp-0-9-1")["channel/grammar"]


def test_a_dialect_refuses_in_codes_that_it_has() -> None:
    rule = "queue/declare/passive/equivalent-mismatch"
    assert BASE.right(rule, "amqp-0-9-1").code == 406
    assert DRAFT.right(rule, "amqp-wire-9-1") == Refusal(Scope.CONNECTION, 530)
    assert DRAFT.right(rule, "amqp-0-8").code == 406, "deployed brokers of 0-8 have it"


def test_a_table_of_faults_says_what_it_holds() -> None:
    table = fault_table(
        """
one: does this [a/b c/d
    e/f]
two: does
    that
"""
    )
    assert table == (Fault("one", ("a/b", "c/d", "e/f"), "does this"), Fault("two", (), "does that"))


@pytest.mark.parametrize("text", ["one does this", "one: a\none: b", "one: does this [a/b", "a one: does"])
def test_a_table_of_another_form_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        fault_table(text)


def test_a_table_of_words_keeps_their_order() -> None:
    assert dict(word_table("one: b a\n    c\ntwo: d\n")) == {"one": ("b", "a", "c"), "two": ("d",)}


@pytest.mark.parametrize(("ledger", "fault"), FAULTS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_a_fault_breaks_requirements_that_exist(ledger: str, fault: Fault) -> None:
    rows = load_ledger(ledger)
    assert fault.breaks
    assert [rule for rule in fault.breaks if rule not in rows or not rows[rule].testable] == []
    assert fault.says and not fault.says.endswith(".")


@pytest.mark.parametrize(("ledger", "rule"), REFUSED)
def test_wrong_refusals_are_wrong(ledger: str, rule: str) -> None:
    row, rules = load_ledger(ledger)[rule], faults_of(ledger).refusals
    assert rules.row_of(rule) is row
    assert rules.right(rule, ledger) == row.accepts[0]
    for wrong in (rules.wrong_code(row), rules.wrong_scope(row)):
        assert wrong is None or not any(
            known.scope is wrong.scope and known.code in (None, wrong.code) for known in row.accepts
        )
    if (scope := rules.wrong_scope(row)) is not None:
        assert not passes(scope, row)


def test_names_are_checked() -> None:
    assert check_faults(["purge-drops-unacked"], "amqp-0-9-1") == {"purge-drops-unacked"}
    assert check_faults([], "amqp-0-9-1") == frozenset()


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
    assert BASE.wrong_scope(BASE.row_of(rule)) is None
    broker = broken(f"wrong-scope:{rule}")
    with ready(broker.url, channel_max=1) as talk:
        talk.say("channel.open", 2)
        talk.say("channel.open", 1)
        talk.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            talk.next()


def test_a_socket_that_should_end_in_silence_says_something(broken: Broken) -> None:
    rule = "amq_wlp_frame_01"
    assert BASE.wrong_scope(BASE.row_of(rule)) == Refusal(Scope.CONNECTION, 541)
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
