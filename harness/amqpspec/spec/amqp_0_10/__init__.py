"""AMQP 0-10 as published in 2008.

Knows: which tables make up the dialect. Must not know: how anything is encoded, and the ledger beside these tables.

What is special about 0-10, for whoever builds on these tables:

1. Both sides send a protocol header (1 1 0 10); connection.start follows that of the server. Channel 0 is like any
   other.
2. A control or a command is one assembly: segments, each cut into frames anywhere. Flags B, E mark the first and the
   last segment, b and e the first and the last frame of a segment. A frame has no end octet; its size counts its
   header.
3. Controls travel on track 0, commands on track 1 of a channel. A control can stand between two frames of a command;
   what arrives on a channel is handled in its order, whatever the track.
4. A command segment is followed by the optional header segment (structs with a code, in any order) and body segment.
5. Arguments are a struct with two octets of packing flags; a field without its flag is absent, not empty, and a
   ``bit`` is nothing but its flag. Field 0 is the lowest bit of the first octet. Each command has a
   ``session.header`` before.
6. A session is attached to a channel by name and outlives it for its timeout. Before its first command on a channel,
   a sender says ``command-point``; from then on ids count up by themselves, as serial numbers (RFC 1982) that wrap.
7. There are no replies as in 0-9: ``completed`` lists the ids that are done, ``known-completed`` says that this has
   been seen, ``confirmed`` comes earlier. The flag ``sync`` and ``flush`` ask for them; results are commands of their
   own. Only file and stream still have replies (``qos-ok``).
8. Whatever fails within a session ends it: ``execution.exception`` with a number, then detaching. A ``detached`` with
   a code other than normal ends it without an exception. Only framing and the opening end the connection.
"""

from __future__ import annotations

from amqpspec.spec.amqp_0_10 import (
    connection,
    dtx,
    exchange,
    execution,
    file,
    message,
    queue,
    session,
    stream,
    tx,
)
from amqpspec.spec.amqp_0_10.types import (
    CODE_DOMAINS,
    CODE_RANGES,
    COMMON_DOMAINS,
    CONSTANTS,
    LAYOUT,
    PROTOCOL_HEADER,
    TYPES,
)
from amqpspec.spec.assemblies import AssemblyDialect

DIALECT = AssemblyDialect(
    id="amqp-0-10",
    title="AMQP 0-10",
    protocol_header=PROTOCOL_HEADER,
    layout=LAYOUT,
    types=TYPES,
    code_ranges=CODE_RANGES,
    constants=CONSTANTS,
    common_domains=COMMON_DOMAINS,
    classes=(
        connection.CLASS,
        session.CLASS,
        execution.CLASS,
        message.CLASS,
        tx.CLASS,
        dtx.CLASS,
        exchange.CLASS,
        queue.CLASS,
        file.CLASS,
        stream.CLASS,
    ),
    code_domains=CODE_DOMAINS,
    accepted_headers=(PROTOCOL_HEADER,),
)
