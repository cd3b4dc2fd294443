"""The reference agent of the 9.1 wire draft: the mistakes of the family by the rows of the draft, and its own.

Knows: rows of both ledgers for clients. Must not know: when a mistake is made (``agent_session``), how one is found.
"""

from __future__ import annotations

from dataclasses import replace

from amqpspec.reference.fault import Fault, fault_table, word_table
from amqpspec.reference.faults import AgentFaults
from amqpspec.run.clients.scenario import Order, Tell
from amqpspec.run.methods import agent

_BEYOND = ("violated/confirm/published",)
"""Rows about what this dialect does not have."""

ROWS = word_table("""
wire/heartbeat/interval: heartbeat-frames/negotiated
wire/heartbeat/missed: heartbeat-frames/missed
wire/frame/end-octet-sent: general-frame-format/size
connection/tune-ok/frame-max/all-frames: general-frame-format/size-sent
wire/frame/channel-zero-for-connection: general-frame-format/channel-numbers
wire/frame/channel-class-on-zero: grammar/channel-non-zero
connection/tune/channel-max: channel-multiplexing/maximum
amq_wlp_heartbeat_01: heartbeat-frames/channel-zero
amq_wlp_content_01: content-header/body-size
amq_wlp_content_02: content-header/class
amq_wlp_content_03: content-header/channel-non-zero
amq_wlp_content_04: content-header/weight
violated/frame/end-octet: violated/amq_wlp_frame_02
violated/frame/type: violated/amq_wlp_frame_01
violated/frame/size: violated/amq_wlp_frame_03
violated/method/unknown: violated/method-frames/standard-classes
violated/method/arguments: violated/grammar/method-payload
violated/handshake/method: violated/security/invalid-data
violated/table: violated/field-tables/format
violated/content/order: violated/content-framing/unconditional
violated/content/size: violated/content-header/body-size
violated/content/class: violated/amq_wlp_content_02
violated/content/channel-zero: violated/amq_wlp_content_03
violated/content/memory: violated/limitations/content
violated/channel/zero: violated/general-frame-format/channel-numbers
violated/heartbeat/channel: violated/amq_wlp_heartbeat_01
""")
"""Rules as the family's cases and mistakes name them to the row that rules here, where it has another id."""

_MORE = word_table("""
crashes-on-what-it-cannot-read: violated/grammar/ids-non-zero violated/amq_wlp_trace_01 violated/amq_wlp_content_05
    violated/content-header/values violated/content-header/flags-continued
ignores-every-violation: violated/data-fields/strings/short-zero-octet
takes-the-end-for-success: error-handling/connection-exception
""")
"""What mistakes of the family break beyond that."""

_OWN = fault_table("""
header-of-0-9-1: the protocol header is that of 0-9-1 [protocol-header/eight-octets]
frames-before-the-header: a heartbeat is sent before the protocol header [protocol-header/client-starts]
property-named-badly: start-ok has a property whose name begins with a digit [field-tables/names]
zero-octet-in-a-short-string: a queue's name contains a zero octet [data-fields/strings/short-zero-octet]
refuses-traces: a trace is answered by a close [amq_wlp_trace_02]
refuses-heartbeats: a heartbeat is answered by a close [amq_wlp_heartbeat_02]
refuses-duplicates: a server that names a property twice makes the client disconnect [field-tables/duplicates]
leaves-at-structured-contents: a content within another one ends the socket [structured-content/support]
""")


def row_of(id: str) -> str:
    """The row that rules here in place of one of 0-9-1."""
    return ROWS[id][0] if id in ROWS else id


def _as_ruled(fault: Fault) -> Fault:
    rows = (row_of(row) for row in fault.breaks if row not in _BEYOND)
    return replace(fault, breaks=(*rows, *_MORE.get(fault.name, ())))


AGENT_FAULTS = AgentFaults((*map(_as_ruled, agent.FAULTS), *_OWN))


def run_scenario(order: Order, tell: Tell) -> None:
    """Carry out an order; see ``amqpspec.run.clients.scenario.Agent``."""
    agent.run_scenario(order, tell, "amqp-wire-9-1")
