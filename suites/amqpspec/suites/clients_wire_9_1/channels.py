"""Channels and closes: the order of methods on a channel, and the answers to closes."""

from __future__ import annotations

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import conducts
from amqpspec.run.verdict import Verdict
from amqpspec.suites.clients_0_9_1 import EVERY, channels
from amqpspec.suites.clients_0_9_1.channels import codes_among
from amqpspec.suites.clients_wire_9_1._family import OCTETS, borrow

_CODES = "client.connection.close.codes"
borrow(globals(), channels, without=(_CODES,))


@case(_CODES, covers=["connection/close/reply-code"])
def closes_with_a_code_of_the_draft(client: Client) -> Verdict:
    """The reply codes in the client's closes are 200 or errors that the specification defines."""
    return conducts(client, codes_among(OCTETS.codec.dialect.codes), *EVERY)
