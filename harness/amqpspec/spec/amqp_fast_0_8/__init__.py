"""AMQP/Fast 0.8d6, the protocol of 2005 from which AMQP grew.

Knows: which tables make up the dialect. Must not know: how anything is encoded, and the ledger of requirements next
to these tables.

What is special about it, for code that builds on these tables:

- The client opens with two octets. No header ever returns: a server sends CHALLENGE or closes the socket.
- A frame has no channel number. Each command names its channel or its handle in its first field.
- Handles do the work. HANDLE OPEN puts a handle on a channel, and no later command repeats which; a receiver has to
  remember it. The client chooses all ids, so it never has to wait for an answer before it continues.
- CLOSE exists on three levels (handle, channel, connection), each a handshake of two equal commands: only its place
  tells an answer from a new CLOSE.
- TUNE goes both ways: once from the server, then any number of times from the client, or never. Options are fields of
  a table. The client's TUNEs may also bring dictionaries: aliases for the names of message headers.
- A confirm-tag other than zero asks for one REPLY on the level of the command; zero asks for silence.
- Message data stands between frames. SEND, NOTIFY and PREPARE say how many octets follow their end octet. A message is
  a run of such fragments, with nothing else on its channel between them; its head opens the first fragment.
- Restartable messages: PREPARE carries the head, which identifies the message, and a hash; READY says how much of the
  body the other side holds; SEND or NOTIFY with ``recovery`` carry the rest.
- Message numbers are the server's: in sequence on a channel for ACK, and on any basis for INDEX and BROWSE.
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
