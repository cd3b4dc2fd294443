"""AMQP 0-10 as published in 2008.

Knows: which tables make up the dialect. Must not know: how anything is encoded, and the ledger next to these tables.

What is special about 0-10, for code that builds on these tables:

1. Both sides send the header AMQP 1 1 0 10, then the server sends start. Channel 0 is a channel like any other.
2. A control or command is an assembly of segments, cut into frames anywhere. Flags B E mark its first and last
   segment, b e the first and last frame of a segment. A frame has no end octet; its size counts its header.
3. Controls travel on track 0, also between frames of a command; commands travel on track 1, with header and body
   segments after them. What arrives on a channel is handled in its order, whatever the track.
4. Arguments have two octets of packing flags, field 0 the lowest bit of the first; a field without its flag is
   absent, not empty, and a ``bit`` is nothing but its flag. Commands have a ``session.header`` before them.
5. A session has a name and outlives its channel for its timeout. ``command-point`` comes before its first command on
   a channel; ids then count up by themselves and wrap as serial numbers (RFC 1982).
6. Commands have no replies (but for file and stream): ``completed`` lists ids that are done, and ``known-completed``
   says that this was seen; ``sync`` and ``flush`` ask for it. Results are commands of the other side.
7. A failure ends the session: ``execution.exception`` (a number), then detaching; or ``detached`` alone (its codes
   are cited by name). Only framing and what goes wrong before open end the connection.
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
