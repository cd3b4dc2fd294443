"""Gives the fuzzer a queue on a target of AMQP 1.0 for which the user has named no address.

Knows: where programs run, and how they make nodes. Must not know: campaigns, findings.
"""

from __future__ import annotations

from dataclasses import replace

from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import pause
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.oracles.part import HeldBack
from amqpspec.fuzz.sequences.stage import Stage
from amqpspec.fuzz.states.model import Values
from amqpspec.net.clock import monotonic_s
from amqpspec.peer.context import BudgetSpent, Nodes, Unmet, Withheld
from amqpspec.run.driver import ProbeFailed
from amqpspec.wire.transport import StreamEnded

_QUEUE = "amqpspec.fuzz.q"
_MOST_S = 20.0
"""How long a target may take for the questions of a probe, or to create a queue."""
_HELD_BACK_S, _AGAIN_S = 60.0, 1.0
"""How long a target is waited for that gives no credit or window before the campaign, and the pause between two tries:
RabbitMQ does not while its memory alarm is set.
"""
NO_ROOM = "a queue could not be created: the target gave no credit or window"
"""Without names: the campaign notes it once."""


def with_nodes(subject: Subject, nodes: Nodes) -> Subject:
    """The subject with the address of a queue, which is created, as more can be, if links do not create them.

    An address that the user has given stays. A target that passes no message is left as it is: what it says about an
    address is found out later. One that lives and holds messages back is waited for. Raises Unanswered, HeldBack.
    """
    if not executor_part(subject.dialect).attached_by or subject.values.queue:
        return subject
    until_s = monotonic_s() + _HELD_BACK_S
    while True:
        try:
            return _with_nodes(subject, nodes)
        except HeldBack:
            if monotonic_s() >= until_s:
                raise
            pause(_AGAIN_S)


def _with_nodes(subject: Subject, nodes: Nodes) -> Subject:
    try:
        stage = Stage.of(subject, nodes, monotonic_s() + _MOST_S)
    except ProbeFailed as failed:
        if isinstance(failed.__cause__, Withheld):
            raise HeldBack(f"{subject.name}: {failed}") from failed
        return subject
    except BudgetSpent:
        return subject

    def make(values: Values, address: str) -> None:
        here = replace(stage, subject=replace(subject, values=values), until_s=monotonic_s() + _MOST_S)
        try:
            here.make_node(address)
        except Withheld as reason:
            subject.greet(subject.hang_s)  # one that no longer answers holds nothing back
            raise HeldBack(NO_ROOM) from reason
        except (Unmet, StreamEnded, BudgetSpent) as reason:
            raise Unanswered(f"{subject.name}: {address} could not be created: {reason}") from reason

    values, *others = (_found(login, stage.nodes) for login in (subject.values, *subject.others))
    known = replace(subject, values=values, others=tuple(others))
    if not stage.nodes.are_made:
        return known
    make(values, values.queue)
    return replace(known, make_node=make)


def _found(login: Values, nodes: Nodes) -> Values:
    """A login with the address of its queue, and the hostname of its virtual host where queues are made in one."""
    hostname = nodes.hostname.replace("{name}", login.vhost) if nodes.are_made else login.hostname
    return replace(login, queue=nodes.address_of(_QUEUE), hostname=hostname)
