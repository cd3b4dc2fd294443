"""What the broker looks up in a message may be anything: it is carried all the same."""

from __future__ import annotations

import pytest

from harness.reference.amqp_1_0.messages import message_of

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
