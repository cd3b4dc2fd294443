"""The SASL layer of a connection: input and output between its headers and its outcome (1.0 §5.3).

Knows: SASL frames and their order, how a login is refused. Must not know: mechanisms (``logins`` does), what arrives
after the outcome.
"""

from __future__ import annotations

from typing import Any

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.connection import Connection
from amqpspec.reference.amqp_1_0.phases import Phase
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import User
from amqpspec.reference.sasl import Result
from amqpspec.wire.amqp_1_0.performatives import Composed
from amqpspec.wire.amqp_1_0.types import decode
from amqpspec.wire.errors import WireError

OK, AUTH, SYS = 0, 1, 2
_SILENCE_S = 0.5
_SMALL_OCTETS = 256
_SYMBOL, _STRING = b"\xa3", b"\xa1"


# --- outgoing


def greet(connection: Connection) -> None:
    """Begin the layer: a header, and the mechanisms on offer."""
    connection.greet("sasl")
    connection.phase = Phase.SASL
    if not connection.faulty("mechanisms-wait-for-init"):
        _send(connection, "sasl-mechanisms", sasl_server_mechanisms=_offer(connection))
    if connection.faulty("silence-logs-in"):
        connection.after(_SILENCE_S, lambda: _let_in(connection, connection.core.users["guest"]))


def _offer(connection: Connection) -> tuple[str, ...]:
    offered = connection.login.offered
    if connection.faulty("no-mechanism-offered"):
        return ()
    if connection.faulty("mechanisms-beyond-a-frame"):
        return (*offered, *(f"X-MECHANISM-{number}" for number in range(100, 140)))
    return offered


def _send(connection: Connection, name: str, /, **fields: Any) -> None:
    body = wire.performative(name, fields)
    if name == "sasl-mechanisms" and connection.faulty("mechanisms-as-strings"):
        body = body.replace(_SYMBOL, _STRING, 1)
    if connection.faulty("sasl-frames-with-payload"):
        body += b"\x40"
    kind = wire.AMQP if connection.faulty("sasl-frames-of-type-zero") else wire.SASL
    octets = wire.frame(body, 1 if connection.faulty("sasl-frames-on-channel-one") else 0, kind)
    if connection.faulty("sasl-frames-with-extended-header"):
        octets = (len(octets) + 4).to_bytes(4, "big") + b"\x03" + octets[5:8] + bytes(4) + octets[8:]
    connection.write(octets)


def _let_in(connection: Connection, user: User) -> None:
    connection.user = user
    _send(connection, "sasl-outcome", code=OK, additional_data=connection.login.last_words)
    connection.phase = Phase.SECOND_HEADER


def _turn_away(connection: Connection) -> None:
    """The login has failed: report it, and end."""
    more = b"wrong" if connection.faulty("refused-login-with-data") else None
    code = SYS if connection.faulty("refused-login-is-a-failure-of-the-system") else AUTH
    if not connection.faulty("refused-login-without-outcome"):
        _send(connection, "sasl-outcome", code=code, additional_data=more)
    if connection.faulty("refused-login-ends-by-reset"):
        connection.flush()
        connection.reset()
    elif not connection.faulty("refused-login-may-go-on"):
        connection.end_socket()


# --- incoming


def on_frame(connection: Connection, incoming: wire.Incoming) -> None:
    """A frame has arrived between the headers of the layer and its outcome."""
    if incoming.type == wire.AMQP and connection.faulty("frames-before-the-outcome-served"):
        connection.phase = Phase.OPENING
        return
    if incoming.type == wire.SASL and not incoming.body:
        connection.refuse("sasl/frame/empty", "an empty SASL frame")
        return
    frame = _frame_in(connection, incoming)
    if frame is None and connection.faulty("any-body-is-a-login"):
        _let_in(connection, connection.core.users["guest"])
    elif frame is None:
        connection.end_socket()
    else:
        _step(connection, _result(connection, frame))


def _frame_in(connection: Connection, incoming: wire.Incoming) -> Composed | None:
    """The SASL frame that a client may send now; None for anything else."""
    faulty = connection.faulty
    frame = _sasl_frame(incoming)
    if frame is None:
        return None
    if incoming.channel and faulty("sasl-channel-octets-read"):
        return None
    if len(incoming.body) > _SMALL_OCTETS and faulty("sasl-frames-half-as-large"):
        return None
    awaited = "sasl-response" if connection.login.is_challenged else "sasl-init"
    lax = faulty("responses-taken-for-init") and frame.name == "sasl-response"
    from_client = faulty("client-tells-the-outcome") and frame.name == "sasl-outcome"
    return frame if frame.name == awaited or lax or from_client else None


def _sasl_frame(incoming: wire.Incoming) -> Composed | None:
    """The body of a frame if it is exactly one SASL frame."""
    try:
        value, end = decode(incoming.body)
    except WireError:
        return None
    whole = incoming.type == wire.SASL and end == len(incoming.body)
    return value if whole and isinstance(value, Composed) and "sasl-frame" in value.row.provides else None


def _result(connection: Connection, frame: Composed) -> Result:
    """The result of a frame of the client: a challenge, a user, or a refusal."""
    login = connection.login
    if frame.name == "sasl-outcome":
        return connection.core.users["guest"]
    if frame.name == "sasl-response" and not login.is_challenged:
        return login.first("PLAIN", _octets(frame.get("response")))
    if frame.name == "sasl-response":
        return login.second(_octets(frame.get("response")))
    if "hostname" not in frame.given and connection.faulty("hostname-demanded-in-init"):
        return None
    initial = frame.get("initial_response")
    return login.first(str(frame.get("mechanism", "")), None if initial is None else _octets(initial))


def _step(connection: Connection, result: Result) -> None:
    if isinstance(result, bytes):
        _send(connection, "sasl-challenge", challenge=result)
    elif (
        result is None
        and connection.login.mechanism not in connection.login.offered
        and connection.faulty("unknown-mechanism-unanswered")
    ):
        return
    elif result is None:
        _turn_away(connection)
    else:
        _let_in(connection, result)


def _octets(value: object) -> bytes:
    """A response as octets; a value of another type answers nothing."""
    return value if isinstance(value, bytes) else b""


FAULTS = fault_table("""
mechanisms-wait-for-init: the mechanisms are not announced [sasl/mechanisms/announced]
no-mechanism-offered: the list of mechanisms is empty [sasl/mechanisms/list]
mechanisms-as-strings: the mechanisms are strings [sasl/mechanisms/list]
mechanisms-beyond-a-frame: the frame with the offered mechanisms is too large [sasl/frame/max-size]
sasl-frames-with-payload: a null follows the type in the broker's SASL frames [sasl/frame/body]
sasl-frames-of-type-zero: the broker's SASL frames are of the type of AMQP frames [sasl/frame/type]
sasl-frames-on-channel-one: the broker's SASL frames name channel 1 [sasl/frame/channel-zero]
sasl-frames-with-extended-header: the broker's SASL frames have an extended header [sasl/frame/doff]
any-body-is-a-login: a body without a SASL frame logs the client in [sasl/frame/body]
silence-logs-in: a silent client is logged in after a while [sasl/negotiation/silence]
refused-login-with-data: an unsuccessful outcome contains additional data [sasl/outcome/additional-data]
refused-login-is-a-failure-of-the-system: a wrong password is reported as a system failure
    [sasl/outcome/code sasl/init/unsupported]
refused-login-without-outcome: a login is refused only by closing the stream
    [sasl/outcome/code sasl/plain/wrong-password sasl/plain/unknown-user sasl/plain/malformed sasl/init/unsupported]
refused-login-ends-by-reset: after a refused login, the stream is reset [sasl/terminated/shut-down-first]
refused-login-may-go-on: after a refused login the client may try again [sasl/terminated/closed]
frames-before-the-outcome-served: an open is served while the login is in progress [sasl/negotiation/choose]
sasl-channel-octets-read: a SASL frame on another channel than 0 ends the connection [sasl/frame/channel-ignored]
sasl-frames-half-as-large: SASL frames of more than 256 octets end the connection [sasl/frame/max-size]
responses-taken-for-init: a response without a challenge logs the client in [sasl/negotiation/steps]
client-tells-the-outcome: an outcome from the client logs it in [sasl/negotiation/roles]
hostname-demanded-in-init: an init without hostname is refused [sasl/init/hostname]
unknown-mechanism-unanswered: a mechanism that is not offered is not answered [sasl/init/unsupported]
""")
