"""What the broker looks up in a message may be anything: it is carried all the same, unless a fault misreads it."""

from __future__ import annotations

import pytest

from amqpspec.reference.amqp_1_0.messages import message_of, misunderstanding, stored_octets, ttl_ms_of
from amqpspec.reference.server import ReferenceBroker
from amqpspec.wire.amqp_1_0.message import decode_message, encode_message
from amqpspec.wire.amqp_1_0.values import Array, Symbol, Value
from tests.reference.amqp_1_0.conftest import Broken
from tests.reference.amqp_1_0.talk import ready

ODD = [
    "005370c0110556005000700000ea6056007000000000005374a008616d717073706563",  # octets as application properties
    "00537000532cc00100",  # another composite as the header
    "0053704000537440",
    "",
    "ff",
]


@pytest.mark.parametrize("octets", ODD)
def test_a_message_of_odd_sections_is_carried(octets: str) -> None:
    message = message_of("node", bytes.fromhex(octets), None)
    assert (message.body.hex(), message.persistent, message.headers) == (octets, False, {})


@pytest.mark.parametrize(
    "octets", ["005370c004024051fb", "005370c0040345454500537740", "005370c0040341414100537740"]
)
def test_a_header_of_odd_values_is_as_none(octets: str) -> None:
    """A priority below zero; lists, then truths, as durable, priority and time to live."""
    message = message_of("node", bytes.fromhex(octets), None)
    assert (message.level, ttl_ms_of(bytes.fromhex(octets))) == (4, None)
    assert message.persistent is (octets.count("41") == 3)


ANNOTATED = encode_message(delivery_annotations={Symbol("x-opt-note"): 1}, data=b"body")
LEGAL = {
    "annotations": ANNOTATED,
    "list": encode_message(value=[None, None]),
    "map": encode_message(value={"one": 1}),
    "no width": encode_message(value=Array("list0", [[], []])),
    "some width": encode_message(value=Array("boolean1", [True, False])),
    "one": encode_message(value=["one"]),
    "data": encode_message(data=b"body"),
}
MISREAD = {
    "delivery-annotations-unknown": "annotations",
    "list-values-taken-for-fields": "list",
    "map-values-taken-for-fields": "map",
    "arrays-of-no-width-refused": "no width",
}


@pytest.mark.parametrize(("fault", "what"), MISREAD.items())
def test_a_legal_message_is_misread_by_its_fault_alone(fault: str, what: str) -> None:
    def faulty(name: str) -> bool:
        return name == fault

    misread = {name for name, octets in LEGAL.items() if misunderstanding(octets, faulty)}
    assert misread == {what}
    assert not any(misunderstanding(octets, lambda name: False) for octets in [*LEGAL.values(), b"\xff"])
    assert misunderstanding(b"\xff", faulty) == ""


@pytest.mark.parametrize(
    ("fault", "what", "left"),
    [
        ("delivery-annotations-end-the-message", "annotations", None),
        ("list-values-cut", "list", [None]),
    ],
)
def test_a_fault_loses_a_part_of_a_message(fault: str, what: str, left: object) -> None:
    assert decode_message(stored_octets(LEGAL[what], lambda name: name == fault)).body == left
    for octets in (LEGAL["map"], LEGAL["some width"], LEGAL["data"]):
        assert stored_octets(octets, lambda name: name == fault) == octets
    assert all(stored_octets(octets, lambda name: False) == octets for octets in LEGAL.values())


def _told_of(broker: ReferenceBroker) -> list[str]:
    """What the broker says of an unsettled and a settled message whose flag takes an octet of its own."""
    with ready(broker.url) as talk:
        talk.sender("q")
        talk.transfer(LEGAL["data"], settled=Value("boolean1", False))
        talk.transfer(LEGAL["data"], 1, settled=Value("boolean1", True))
        talk.say("flow", next_outgoing_id=0, incoming_window=9, outgoing_window=9, echo=True)
        names = [talk.hear().name]
        while names[-1] == "disposition":
            names.append(talk.hear().name)
        return names


@pytest.mark.parametrize(
    ("faults", "names"),
    [
        ((), ["disposition", "flow"]),
        (("booleans-of-one-octet-are-true",), ["flow"]),
        (("booleans-of-one-octet-refused",), ["end"]),
    ],
)
def test_settled_in_one_octet(broken: Broken, faults: tuple[str, ...], names: list[str]) -> None:
    assert _told_of(broken(*faults)) == names
