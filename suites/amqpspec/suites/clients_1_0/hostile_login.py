"""Servers that misbehave before open: protocol headers of other versions, SASL that goes wrong."""

from __future__ import annotations

from amqpspec.run.clients.provoking import all_of, followed, instead
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.wire.amqp_1_0.frames import encode_frame, performative_frame
from amqpspec.wire.hostility import Act, Deed

_SASL = 1
_HEADERS: tuple[tuple[str, Deed, str], ...] = (
    ("newer", all_of([b"AMQP\x00\x02\x00\x00"]), "AMQP 2.0.0"),
    ("older", all_of([b"AMQP\x00\x00\x09\x01"]), "AMQP 0-9-1"),
    ("other-protocol", all_of([b"HTTP/1.1 400 Bad Request\r\n\r\n"]), "an HTTP response"),
    ("half", lambda _: [b"AMQP", Act.FIN], "half a header and FIN"),
)
for _layer in ("sasl", "amqp"):
    for _name, _deed, _what in _HEADERS:
        of.hostile(
            globals(), f"client.hostile.header.{_name}.{_layer}", "violated/version/mismatch/outgoing-closed",
            (f"{_layer}-header", "connect"), _deed,
            f"A client disconnects from a server that sends {_what} as {_layer} header",
        )  # fmt: skip


def _mechanisms(*names: str) -> Deed:
    return instead(lambda frame: performative_frame("sasl-mechanisms", sasl_server_mechanisms=names))


def _outcome(code: int) -> Deed:
    return instead(lambda frame: performative_frame("sasl-outcome", code=code))


_OFFER, _RESULT = "sasl-mechanisms", "sasl-outcome"
_CHALLENGE = performative_frame("sasl-challenge", challenge=b"why")
_DEEDS: tuple[tuple[str, str, str, Deed, str], ...] = (
    ("mechanisms-empty", "sasl/mechanisms/list", _OFFER, _mechanisms(), "offers no mechanism"),
    ("mechanisms-unknown", "sasl/mechanisms/list", _OFFER, _mechanisms("AMQPSPEC-NONE"), "offers an unknown mechanism"),
    ("mechanisms-null", "sasl/mechanisms/list", _OFFER,
     instead(lambda f: performative_frame("sasl-mechanisms")), "omits its mechanisms"),
    ("mechanisms-twice", "sasl/negotiation/steps", _OFFER, followed(lambda f: f), "offers its mechanisms twice"),
    ("challenge", "sasl/negotiation/steps", _RESULT, lambda f: [_CHALLENGE + f], "sends a challenge for PLAIN"),
    ("outcome-twice", "sasl/negotiation/steps", _RESULT, followed(lambda f: f), "sends its outcome twice"),
    ("empty-frame", "sasl/frame/empty", _OFFER,
     instead(lambda f: encode_frame(b"", 0, _SASL)), "sends an empty SASL frame"),
    ("large-frame", "sasl/frame/max-size", _OFFER,
     _mechanisms("PLAIN", *(f"X-MECHANISM-{n}" for n in range(100, 160))), "sends a SASL frame of over 512 octets"),
    ("amqp-frame", "sasl/frame/body", _OFFER,
     lambda f: [performative_frame("open", container_id="early") + f], "sends open in the SASL layer"),
    *((f"outcome-{code}", "sasl/outcome/code", _RESULT, _outcome(code), f"refuses the login with code {code}")
      for code in (1, 2, 3, 4, 99)),
)  # fmt: skip
for _name, _row, _after, _deed, _what in _DEEDS:
    of.hostile(
        globals(), f"client.hostile.sasl.{_name}", f"violated/{_row}", (_after, "connect"), _deed,
        f"A client {of.demand(f'violated/{_row}', 'disconnect')} from a server that {_what}",
    )  # fmt: skip
