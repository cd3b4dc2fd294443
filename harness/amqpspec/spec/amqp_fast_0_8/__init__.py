"""AMQP/Fast 0.8d6, the protocol of 2005 from which AMQP grew.

Knows: which tables make up the dialect. Must not know: how anything is encoded, and the ledger of requirements beside
these tables.

What is special about it:

- The client opens with two octets, not eight, and no header ever comes back: a server challenges or closes the socket.
- A frame has no channel number. A command names its channel or its handle in its first field.
- Work is done on handles. A handle belongs to the channel that HANDLE OPEN names; no later command repeats it, so a
  receiver has to remember which channel a handle is on. All ids are chosen by the client, so nothing waits for an answer.
- CLOSE exists on three levels, always as a handshake of two equal commands. An answer to CLOSE and a CLOSE for an error
  of one's own differ in nothing but the moment.
- TUNE goes both ways: once from the server, then any number of times from the client, none included. Options are fields
  of a table. The client's TUNEs also bring dictionaries, aliases for the names of message headers.
- Replies are asked for: a confirm-tag other than zero wants one REPLY, on the level of the command. Zero wants silence.
- Message data stands between frames, not in them: SEND, NOTIFY and PREPARE say how many octets follow the end octet.
  A message is cut into such fragments, which nothing else on its channel interrupts; its head opens the first one.
- Restartable messages: PREPARE carries the head (which is the message's identity) and a hash, READY says how much the
  other side holds, SEND or NOTIFY with ``recovery`` bring the rest. Who keeps nothing answers with what PREPARE brought.
- Server message numbers are scoped by channel, begin at zero, and serve to acknowledge, to browse and to push back.
"""

from __future__ import annotations

from amqpspec.spec.amqp_fast_0_8 import channel, connection, handle
from amqpspec.spec.amqp_fast_0_8.states import STEPS
from amqpspec.spec.amqp_fast_0_8.types import (
    GREETING,
    LAYOUT,
    REPLY_CODES,
    SERVICE_TYPES,
    TABLE_TAGS,
    TUNE_OPTIONS,
    TYPES,
)
from amqpspec.spec.commands import CommandDialect

DIALECT = CommandDialect(
    id="amqp-fast-0-8",
    title="AMQP/Fast 0.8d6",
    protocol_header=GREETING,
    layout=LAYOUT,
    types=TYPES,
    commands=connection.COMMANDS + channel.COMMANDS + handle.COMMANDS,
    message_head=handle.MESSAGE_HEAD,
    table_tags=TABLE_TAGS,
    tune_options=TUNE_OPTIONS,
    service_types=SERVICE_TYPES,
    reply_codes=REPLY_CODES,
    steps=STEPS,
    accepted_headers=(GREETING,),
)
