"""One connection for each container, where either side has asked for that (connection uniqueness 1.0).

Knows: the two policies, and what each connection receives. Must not know: sessions.
"""

from __future__ import annotations

from amqpspec.reference.amqp_1_0.connection import Connection
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed
from amqpspec.wire.amqp_1_0.values import Map, Symbol

SOLE = "sole-connection-for-container"
REFUSE, CLOSE_EXISTING = 0, 1


def admits(connection: Connection, frame: Composed) -> bool:
    """Whether a connection may open; the policy of the connection that is there goes before that of the new one."""
    if SOLE in (frame.get("desired_capabilities") or ()):
        asked = (frame.get("properties") or {}).get("sole-connection-enforcement-policy", REFUSE)
        connection.sole = CLOSE_EXISTING if asked == CLOSE_EXISTING else REFUSE
    for other in _others(connection):
        policy = other.sole if other.sole is not None else connection.sole
        if policy is None or connection.faulty("sole-connections-not-enforced"):
            continue
        if policy == REFUSE and not connection.faulty("sole-connection-closes-the-first"):
            _refuse(connection)
            return False
        _close(other)
    return True


def _others(connection: Connection) -> list[Connection]:
    known = [one for one in connection.core.connections if isinstance(one, Connection)]
    if connection.faulty("sole-connections-whatever-the-container"):
        return [one for one in known if one is not connection and one.sole is not None]
    same = (connection.container, connection.vhost)
    alike = [one for one in known if (one.container, one.vhost) == same]
    return [one for one in alike if one is not connection and one.phase is Connection.OPEN]


def _refuse(connection: Connection) -> None:
    """Tell in open that it fails, and in close why."""
    properties = {} if connection.faulty("refused-open-looks-like-any") else _FAILED
    connection.open(**properties)
    info: Map | None = Map({Symbol("invalid-field"): Symbol("container-id")})
    if connection.faulty("refused-container-not-named"):
        info = None
    condition = (
        "amqp:not-allowed" if connection.faulty("refused-container-misnamed") else "amqp:invalid-field"
    )
    connection.close(condition, "the container has a connection", info)


def _close(other: Connection) -> None:
    condition = "amqp:resource-locked"
    if other.faulty("replaced-connection-told-as-forced"):
        condition = "amqp:connection:forced"
    info = Map({Symbol("sole-connection-enforcement"): True})
    other.close(condition, "the container has opened another connection", info)


_FAILED = {"amqp:connection-establishment-failed": True}

FAULTS = fault_table("""
sole-connections-not-enforced: a container can have two connections although it requested one
    [sole-connection/refused sole-connection/replaced definitions/condition/resource-locked]
sole-connection-closes-the-first: with any policy, the first connection of a container is closed
    [sole-connection/refused]
sole-connections-whatever-the-container: a sole connection is the only one of all containers
    [sole-connection/refused sole-connection/replaced]
refused-open-looks-like-any: the open of a refused connection does not announce the failure [sole-connection/refused]
refused-container-misnamed: a second connection of a container is refused by not-allowed [sole-connection/refused]
refused-container-not-named: a second connection of a container is refused without naming the field
    [sole-connection/refused]
replaced-connection-told-as-forced: the connection that is replaced is closed as by force
    [sole-connection/replaced definitions/condition/resource-locked]
""")
