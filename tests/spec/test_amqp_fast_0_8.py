"""The tables of AMQP/Fast 0.8d6 against facts written by hand from its grammar, and against octets of its clients."""

from __future__ import annotations

import re
from collections import Counter
from itertools import groupby

import pytest

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.amqp_fast_0_8.handle import FRAGMENT
from amqpspec.spec.amqp_fast_0_8.states import INITIATION
from amqpspec.spec.amqp_fast_0_8.types import FIELD_NAME, MECHANISMS, PROTOCOL_ID, PROTOCOL_IDS
from amqpspec.spec.commands import Area, CommandField, Payload, Severity, Step, Tier, WireType
from amqpspec.spec.model import Side

LAYOUT = DIALECT.layout
OTHER = {Side.CLIENT: Side.SERVER, Side.SERVER: Side.CLIENT}

# The grammar, by hand: code, sender, and what the fields are called there; a bit is marked by a dot.
GRAMMAR = {
    "connection.challenge": (10, "S", "version mechanisms challenges"),
    "connection.response": (11, "C", "mechanism responses"),
    "connection.tune": (12, "CS", "options dictionary"),
    "connection.open": (13, "C", "confirm-tag virtual-path client-name options"),
    "connection.ping": (14, "CS", ".respond"),
    "connection.reply": (18, "S", "confirm-tag reply-code reply-text"),
    "connection.close": (19, "CS", "reply-code reply-text"),
    "channel.open": (20, "C", "channel-id confirm-tag .transacted .restartable options out-of-band"),
    "channel.ack": (21, "C", "channel-id confirm-tag message-nbr"),
    "channel.commit": (22, "C", "channel-id confirm-tag options"),
    "channel.rollback": (23, "C", "channel-id confirm-tag options"),
    "channel.reply": (28, "S", "channel-id confirm-tag reply-code reply-text"),
    "channel.close": (29, "CS", "channel-id reply-code reply-text"),
    "handle.open": (
        30,
        "C",
        "channel-id handle-id confirm-tag .producer .consumer .browser mime-type encoding options",
    ),
    "handle.send": (
        31,
        "C",
        "handle-id confirm-tag service-type fragment-size .partial .out-of-band .recovery dest-name",
    ),
    "handle.consume": (
        32,
        "C",
        "handle-id confirm-tag service-type prefetch .no-local .no-ack .dynamic .exclusive dest-name selector",
    ),
    "handle.flow": (34, "C", "handle-id confirm-tag .flow-pause"),
    "handle.unget": (35, "C", "handle-id confirm-tag message-nbr"),
    "handle.query": (36, "C", "handle-id message-nbr dest-name selector mime-type"),
    "handle.browse": (37, "C", "handle-id confirm-tag message-nbr"),
    "handle.created": (40, "S", "handle-id dest-name"),
    "handle.notify": (
        41,
        "S",
        "handle-id message-nbr fragment-size .partial .out-of-band .recovery .delivered .redelivered dest-name",
    ),
    "handle.index": (42, "S", "handle-id message-nbr message-list"),
    "handle.prepare": (43, "CS", "handle-id fragment-size content-hash"),
    "handle.ready": (44, "CS", "handle-id message-size"),
    "handle.reply": (48, "S", "handle-id confirm-tag reply-code reply-text"),
    "handle.close": (49, "CS", "handle-id reply-code reply-text"),
}
SENDERS = {"C": Side.CLIENT, "S": Side.SERVER, "CS": Side.BOTH}
SHORT = {"confirm-tag", "channel-id", "handle-id", "reply-code", "service-type", "prefetch"}
LONG = {"message-nbr", "fragment-size", "message-size", "body-size", "expiration"}
TABLES = {"challenges", "responses", "options", "dictionary", "headers"}


def fields(command: str) -> tuple[CommandField, ...]:
    return DIALECT.commands_by_name[command].fields


def field(command: str, name: str) -> CommandField:
    return next(f for f in fields(command) if f.name == name)


# --- commands


def test_the_27_commands_are_those_of_the_grammar_in_its_order() -> None:
    actual = {
        c.name: (c.code, c.sent_by, " ".join("." * (f.type == "bit") + f.name for f in c.fields))
        for c in DIALECT.commands
    }
    assert actual == {name: (code, SENDERS[by], row) for name, (code, by, row) in GRAMMAR.items()}
    assert list(actual) == list(GRAMMAR)
    assert len(DIALECT.commands_by_code) == len(DIALECT.commands_by_name) == 27


def test_codes_tell_what_a_command_works_on() -> None:
    counts = Counter(c.tier for c in DIALECT.commands)
    assert counts == {Tier.CONNECTION: 7, Tier.CHANNEL: 6, Tier.HANDLE: 14}
    ranges = {Tier.CONNECTION: range(10, 20), Tier.CHANNEL: range(20, 30), Tier.HANDLE: range(30, 50)}
    assert all(c.code in ranges[c.tier] for c in DIALECT.commands)
    assert DIALECT.commands_by_name["handle.send"].title == "HANDLE SEND"


def test_every_type_exists_and_every_name_has_one_type_but_three() -> None:
    rows = [f for c in DIALECT.commands for f in c.fields] + list(DIALECT.message_head)
    assert {f.type for f in rows} == set(DIALECT.types_by_name)
    types: dict[str, set[str]] = {}
    for row in rows:
        types.setdefault(row.name, set()).add(row.type)
    assert {name: given for name, given in types.items() if len(given) > 1} == {
        "out-of-band": {"bit", "shortstr"},
        "selector": {"table", "longstr"},
    }
    assert {name for name, given in types.items() if given == {"short"}} == SHORT
    assert {name for name, given in types.items() if given == {"long"}} == LONG
    assert {name for name, given in types.items() if given == {"table"}} == TABLES
    assert {name for name, given in types.items() if given == {"octet"}} == {"version", "priority"}
    assert types["message-list"] == {"longstr"}


def test_where_the_text_has_two_types_for_a_field() -> None:
    assert field("channel.open", "out-of-band").type == "shortstr"
    assert field("handle.send", "out-of-band").type == field("handle.notify", "out-of-band").type == "bit"
    assert (field("handle.consume", "selector").type, field("handle.query", "selector").type) == (
        "table",
        "longstr",
    )
    widths = {DIALECT.types_by_name[name].length_octets for name in ("table", "longstr")}
    assert widths == {2}


def test_bounds_are_those_of_the_text() -> None:
    bounds = {
        (f.name, f.at_least, f.at_most)
        for f in [f for c in DIALECT.commands for f in c.fields] + list(DIALECT.message_head)
        if f.at_least or f.at_most is not None
    }
    assert bounds == {
        ("version", 1, None),
        ("channel-id", 1, None),
        ("handle-id", 1, None),
        ("prefetch", 1, None),
        ("priority", 0, 9),
        ("service-type", 1, 3),
        ("service-type", 1, 2),
        ("reply-code", 100, 599),
    }


def test_what_stands_behind_a_frame_has_a_size_in_it() -> None:
    payloads = {c.name: c.payload for c in DIALECT.commands if c.payload is not Payload.NONE}
    assert payloads == {
        "handle.send": Payload.FRAGMENT,
        "handle.notify": Payload.FRAGMENT,
        "handle.prepare": Payload.HEAD,
    }
    sized = {c.name for c in DIALECT.commands if any(f.name == "fragment-size" for f in c.fields)}
    assert sized == set(payloads)
    assert [f.name for f in FRAGMENT] == ["fragment-size", "partial", "out-of-band", "recovery"]


def test_answers_exist_and_can_be_sent_by_whoever_answers() -> None:
    for command in DIALECT.commands:
        senders = set(OTHER) if command.sent_by is Side.BOTH else {command.sent_by}
        sides = {OTHER[side] for side in senders}
        reachable = {name for side in sides for name in DIALECT.answers(command.name, side)}
        assert set(command.answers) <= reachable <= set(DIALECT.commands_by_name), command.name
        assert {name for name in (command.confirmed_by,) if name} <= reachable


@pytest.mark.parametrize(
    ("command", "side", "answers"),
    [
        ("connection.challenge", Side.CLIENT, ("connection.response",)),
        ("connection.response", Side.SERVER, ("connection.challenge", "connection.tune")),
        ("connection.tune", Side.CLIENT, ("connection.tune", "connection.open")),
        ("connection.tune", Side.SERVER, ()),
        ("connection.open", Side.SERVER, ("connection.reply",)),
        ("connection.reply", Side.CLIENT, ()),
        ("channel.ack", Side.SERVER, ("handle.reply", "channel.reply")),
        ("handle.browse", Side.SERVER, ("handle.notify", "handle.reply")),
        ("handle.query", Side.SERVER, ("handle.index",)),
        ("handle.ready", Side.SERVER, ("handle.notify",)),
        ("handle.ready", Side.CLIENT, ("handle.send",)),
        ("handle.close", Side.SERVER, ("handle.close",)),
    ],
)
def test_what_answers_a_command(command: str, side: Side, answers: tuple[str, ...]) -> None:
    assert DIALECT.answers(command, side) == answers


def test_commands_that_can_be_confirmed() -> None:
    confirmed = {c.name for c in DIALECT.commands if c.confirmed_by}
    assert confirmed == {
        "connection.open",
        *(f"channel.{name}" for name in ("open", "ack", "commit", "rollback")),
        *(f"handle.{name}" for name in ("open", "send", "consume", "flow", "unget", "browse")),
    }


# --- values


def test_frames() -> None:
    assert (LAYOUT.size_octets, LAYOUT.escape, LAYOUT.long_size_octets) == (2, 0xFFFF, 4)
    assert (LAYOUT.least_size, LAYOUT.overhead_octets, LAYOUT.end) == (2, 4, 0xCE)
    assert (LAYOUT.min_frame_max_octets, LAYOUT.max_login_frame_octets) == (1024, 4096)
    assert DIALECT.protocol_header == b"\x80\x01"
    assert DIALECT.family == "commands"


def test_types_have_the_widths_of_the_grammar() -> None:
    fixed = {t.name: t.octets for t in DIALECT.types if t.octets}
    counted = {t.name: t.length_octets for t in DIALECT.types if t.length_octets}
    assert fixed == {"octet": 1, "short": 2, "long": 4}
    assert counted == {"shortstr": 1, "longstr": 2, "table": 2}
    assert [t.name for t in DIALECT.types if t.is_bit] == ["bit"]
    assert "".join(t.tag for t in DIALECT.table_tags) == "SIDT"


def test_names_of_fields_in_tables() -> None:
    good = ["FRAME_MAX", "x", "$", "#1", "a$b#c_9", "N" * 128]
    bad = ["", "1a", "_a", "Expiration-Time", "a b", "N" * 129]
    assert [name for name in good if not re.fullmatch(FIELD_NAME, name)] == []
    assert [name for name in bad if re.fullmatch(FIELD_NAME, name)] == []


def test_protocol_ids_do_not_overlap() -> None:
    octets = [octet for ranges in PROTOCOL_IDS.values() for part in ranges for octet in part]
    assert len(octets) == len(set(octets)) == 52 + 128
    assert PROTOCOL_IDS["fast"] == (range(PROTOCOL_ID, PROTOCOL_ID + 1),)


def test_tune_options_with_their_limits() -> None:
    options = {o.name: o for o in DIALECT.tune_options}
    assert list(options) == ["FRAME_MAX", "CHANNEL_MAX", "HANDLE_MAX", "HEARTBEAT", "TXN_LIMIT"]
    assert {o.name for o in options.values() if o.sent_by is Side.BOTH} == {"FRAME_MAX", "HEARTBEAT"}
    assert {o.name for o in options.values() if o.sent_by is Side.CLIENT} == set()
    assert options["FRAME_MAX"].at_least == LAYOUT.min_frame_max_octets
    assert {o.name for o in options.values() if not o.zero} == {"FRAME_MAX"}
    assert all(re.fullmatch(FIELD_NAME, name) and name.isupper() for name in options)


def test_service_types_and_mechanisms() -> None:
    assert {s.name: s.value for s in DIALECT.service_types} == {"queue": 1, "topic": 2, "any": 3}
    consumable = [s.value for s in DIALECT.service_types if s.consumable]
    assert consumable[-1] == field("handle.consume", "service-type").at_most == 2
    assert dict(MECHANISMS) == {"PLAIN": ("LOGIN", "PASSWORD")}


def test_reply_codes() -> None:
    codes = [c.value for c in DIALECT.reply_codes]
    assert codes == [
        200, 310, 311, 320, 401, 402, 403, 404, 501, 502, 503, 504, 505, 506, 507, 540, 541, 542,
    ]  # fmt: skip
    assert set(DIALECT.refusal_codes.values()) == set(codes) - {200}
    assert len(DIALECT.refusal_codes) == 17
    assert DIALECT.code_name(505) == "505 handle-error"
    assert DIALECT.code_name(599) == "599"


@pytest.mark.parametrize(
    ("value", "severity", "area"),
    [
        (200, Severity.DONE, Area.SYNTAX),
        (310, Severity.MORE_NEEDED, Area.GENERAL),
        (320, Severity.MORE_NEEDED, Area.SESSION),
        (404, Severity.TEMPORARY, Area.SYNTAX),
        (542, Severity.PERMANENT, Area.IMPLEMENTATION),
    ],
)
def test_digits_of_a_reply_code(value: int, severity: Severity, area: Area) -> None:
    code = next(c for c in DIALECT.reply_codes if c.value == value)
    assert (code.severity, code.area) == (severity, area)


# --- states


def machine(name: str) -> list[Step]:
    return [step for step in DIALECT.steps if step.machine == name]


MACHINES = list(dict.fromkeys(step.machine for step in DIALECT.steps))


def test_steps_name_commands_that_the_side_can_send() -> None:
    for step in DIALECT.steps:
        if step.command != INITIATION:
            sent_by = DIALECT.commands_by_name[step.command].sent_by
            assert sent_by in (step.sent_by, Side.BOTH), step
    named = {step.command for step in DIALECT.steps}
    assert named == {INITIATION, *DIALECT.commands_by_name}


def test_what_a_step_depends_on_is_a_bit_of_a_command() -> None:
    bits = {f.name for c in DIALECT.commands for f in c.fields if f.type == "bit"}
    assert {step.when.removeprefix("not ") for step in DIALECT.steps} - {""} <= bits


@pytest.mark.parametrize("name", MACHINES)
def test_every_state_is_reached_from_the_first_one(name: str) -> None:
    steps = machine(name)
    reached = {steps[0].state}
    for _ in steps:
        reached |= {step.then for step in steps if step.state in reached}
    assert reached == {step.state for step in steps} | {step.then for step in steps}


@pytest.mark.parametrize("name", ["connection", "channel", "handle"])
def test_close_is_a_handshake_that_either_side_begins(name: str) -> None:
    ends = [s for s in machine(name) if s.command == f"{name}.close"]
    assert {s.sent_by for s in ends} == {Side.BOTH}
    assert {s.then for s in ends if s.state != "closing"} == {"closing"}
    assert [s.then for s in ends if s.state == "closing"] == ["closed"]
    assert {s.command for s in machine(name) if s.state == "closing"} == {f"{name}.close"}


def test_no_two_steps_disagree() -> None:
    keys = [(s.machine, s.state, s.sent_by, s.command, s.when) for s in DIALECT.steps]
    assert len(keys) == len(set(keys))


# --- octets by hand


def read(frame: bytes) -> tuple[str, dict[str, object]]:
    """Take one frame apart by the tables alone; lengths, bits and the end octet have to come out even."""
    size, start = int.from_bytes(frame[:2], "big"), 2
    if size == LAYOUT.escape:
        size, start = int.from_bytes(frame[2:6], "big"), 6
    assert size == len(frame) - start and frame[-1] == LAYOUT.end
    command = DIALECT.commands_by_code[frame[start]]
    values, rest = read_fields(command.fields, frame[start + 1 : -1])
    assert rest == b""
    return command.name, values


def read_fields(rows: tuple[CommandField, ...], octets: bytes) -> tuple[dict[str, object], bytes]:
    values: dict[str, object] = {}
    for are_bits, group in groupby(rows, key=lambda row: DIALECT.types_by_name[row.type].is_bit):
        run = list(group)
        if are_bits:
            values |= {row.name: bool(octets[0] >> place & 1) for place, row in enumerate(run)}
            octets = octets[1:]
            continue
        for row in run:
            values[row.name], octets = read_value(DIALECT.types_by_name[row.type], octets)
    return values, octets


def read_value(kind: WireType, octets: bytes) -> tuple[int | bytes, bytes]:
    width = kind.octets or kind.length_octets
    number, octets = int.from_bytes(octets[:width], "big"), octets[width:]
    if kind.octets:
        return number, octets
    assert len(octets) >= number
    return octets[:number], octets[number:]


LOGIN = bytes.fromhex("05 4c4f47494e 53 0005 6775657374  08 50415353574f5244 53 0005 6775657374")

# What the Perl client of 2005 opens with, frame by frame; a client name and a password were filled in.
OPENING = [
    (
        "0029 0b 05 504c41494e 001f" + LOGIN.hex() + "ce",
        "connection.response",
        {"mechanism": b"PLAIN", "responses": LOGIN},
    ),
    ("0006 0c 0000 0000 ce", "connection.tune", {"options": b"", "dictionary": b""}),
    (
        "0010 0d 0001 05 2f74657374 03 636c69 0000 ce",
        "connection.open",
        {"confirm-tag": 1, "virtual-path": b"/test", "client-name": b"cli", "options": b""},
    ),
    (
        "000a 14 0001 0002 00 0000 00 ce",
        "channel.open",
        {
            "channel-id": 1,
            "confirm-tag": 2,
            "transacted": False,
            "restartable": False,
            "options": b"",
            "out-of-band": b"",
        },
    ),
    (
        "000d 1e 0001 0001 0003 03 00 00 0000 ce",
        "handle.open",
        {
            "channel-id": 1,
            "handle-id": 1,
            "confirm-tag": 3,
            "producer": True,
            "consumer": True,
            "browser": False,
            "mime-type": b"",
            "encoding": b"",
            "options": b"",
        },
    ),
    (
        "000f 20 0001 0004 0001 0001 04 01 71 0000 ce",
        "handle.consume",
        {
            "handle-id": 1,
            "confirm-tag": 4,
            "service-type": 1,
            "prefetch": 1,
            "no-local": False,
            "no-ack": False,
            "dynamic": True,
            "exclusive": False,
            "dest-name": b"q",
            "selector": b"",
        },
    ),
]


@pytest.mark.parametrize(("octets", "name", "values"), OPENING, ids=[name for _, name, _ in OPENING])
def test_what_the_client_of_2005_sends_fits_the_tables(
    octets: str, name: str, values: dict[str, object]
) -> None:
    assert read(bytes.fromhex(octets)) == (name, values)


def test_five_bits_of_notify_share_an_octet() -> None:
    frame = "000f 29 0001 00000007 0000000a 15 01 71 ce"
    name, values = read(bytes.fromhex(frame))
    assert name == "handle.notify"
    assert [key for key, value in values.items() if value is True] == ["partial", "recovery", "redelivered"]
    assert (values["message-nbr"], values["fragment-size"], values["dest-name"]) == (7, 10, b"q")


def test_a_size_of_four_octets_stands_behind_its_escape() -> None:
    assert read(bytes.fromhex("ffff 00000003 0e 01 ce")) == ("connection.ping", {"respond": True})


def test_a_message_head_fits_its_table() -> None:
    octets = bytes.fromhex("00000002 01 09 00000000 00 00 02 6964 0000") + b"hi"
    values, body = read_fields(DIALECT.message_head, octets)
    assert (values["body-size"], values["persistent"], values["priority"]) == (2, True, 9)
    assert (values["identifier"], body) == (b"id", b"hi")


def test_the_example_of_a_login_has_28_octets() -> None:
    table = b"\x05LOGINS\x00\x05Johan" + b"\x08PASSWORDS\x00\x02Ok"
    frame = b"\x0b\x05PLAIN" + len(table).to_bytes(2, "big") + table + b"\xce"
    assert len(table) == 28
    assert read(len(frame).to_bytes(2, "big") + frame)[1]["responses"] == table
