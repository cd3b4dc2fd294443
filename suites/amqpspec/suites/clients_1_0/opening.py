"""From the first protocol header to open: the order of layers, and what a client sends in them."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.peer.amqp_1_0.books import number
from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.suites.clients_1_0._books import LEAST_MAX_FRAME_OCTETS, fields
from amqpspec.wire.amqp_1_0.frames import SASL_FRAME
from amqpspec.wire.conversation import Conversation, Said

_HEADERS = ("amqp-header", "sasl-header", "tls-header", "header")
_LOGIN = ("connect", "reconnect")
_SASL_OF_CLIENTS = ("sasl-init", "sasl-response")


def _sasl_frames(talk: Conversation) -> Iterator[Said]:
    """The client's frames between its SASL header and the header that follows."""
    inside = False
    for said in talk.by_client():
        if said.name in _HEADERS:
            inside = said.name == "sasl-header"
        elif inside:
            yield said


@conduct("client.header.first", covers=["version/header-first"])
def begins_with_a_header(talk: Conversation) -> Iterator[Looked]:
    """The first octets that a client sends are a protocol header."""
    for first in list(talk.by_client())[:1]:
        yield Looked(first, first.name in _HEADERS)


@conduct("client.header.layout", covers=["version/header-layout"])
def sends_headers_of_this_version(talk: Conversation) -> Iterator[Looked]:
    """A client's protocol headers are those of AMQP 1.0.0, with protocol id 0, 2 for TLS or 3 for SASL."""
    for header in talk.by_client(*_HEADERS):
        yield Looked(header, header.name != "header")


@conduct("client.header.after-sasl", covers=["sasl/outcome/then-headers"], scenarios=_LOGIN)
def sends_a_header_after_sasl(talk: Conversation) -> Iterator[Looked]:
    """After the SASL layer, the client sends the AMQP header before any other frame."""
    layer = ""
    for said in talk.by_client():
        if said.name in _HEADERS:
            layer = said.name
        elif layer == "sasl-header" and said.name not in _SASL_OF_CLIENTS:
            yield Looked(said, said.name in ("garbled", "empty"), "no AMQP header before it")
        elif layer == "amqp-header" and said.name == "open":
            yield Looked(said, True)


@conduct("client.sasl.mechanism", covers=["sasl/negotiation/choose"], scenarios=_LOGIN)
def picks_an_offered_mechanism(talk: Conversation) -> Iterator[Looked]:
    """The mechanism in sasl-init is one that the server offers."""
    offer = talk.first_of_server("sasl-mechanisms")
    for init in talk.by_client("sasl-init"):
        if offer is None:
            return
        offered = [str(name) for name in fields(offer)["sasl_server_mechanisms"]]
        yield Looked(init, str(fields(init)["mechanism"]) in offered, f"offered: {' '.join(offered)}")


@conduct("client.sasl.steps", covers=["sasl/negotiation/steps"])
def keeps_the_steps_of_sasl(talk: Conversation) -> Iterator[Looked]:
    """A client sends one sasl-init, then a response for each challenge, and no frame of servers."""
    inits, challenges, responses = 0, sum(1 for _ in talk.by_server("sasl-challenge")), 0
    for said in talk.by_client():
        if said.name == "sasl-init":
            inits += 1
            yield Looked(said, inits == 1, "a second init")
        elif said.name == "sasl-response":
            responses += 1
            yield Looked(said, responses <= challenges, f"challenges: {challenges}")
        elif said.name.startswith("sasl-") and said.name not in _HEADERS:
            yield Looked(said, False, "a frame of servers")


@conduct("client.sasl.frames", covers=["sasl/frame/body"], scenarios=_LOGIN)
def sends_sasl_frames_that_are_such(talk: Conversation) -> Iterator[Looked]:
    """In the SASL layer, a client sends only frames of type 1 with one SASL frame body and nothing after it."""
    for said in _sasl_frames(talk):
        kept = said.name in _SASL_OF_CLIENTS and said.what.frame_type == SASL_FRAME
        yield Looked(said, kept and not said.what.payload)


@conduct("client.sasl.frame-size", covers=["sasl/frame/max-size"], scenarios=_LOGIN)
def sends_no_large_sasl_frame(talk: Conversation) -> Iterator[Looked]:
    """A SASL frame has at most 512 octets."""
    for said in _sasl_frames(talk):
        yield Looked(said, said.octets <= LEAST_MAX_FRAME_OCTETS, f"{said.octets} octets")


@conduct("client.sasl.channel-zero", covers=["sasl/frame/channel-zero"], scenarios=_LOGIN)
def sends_sasl_frames_with_zeros(talk: Conversation) -> Iterator[Looked]:
    """Octets 6 and 7 of a SASL frame are zero."""
    for said in _sasl_frames(talk):
        yield Looked(said, said.channel == 0, f"{said.channel} in octets 6 and 7")


@conduct("client.open.first", covers=["connections/opening/open-first"])
def opens_before_all_else(talk: Conversation) -> Iterator[Looked]:
    """After the AMQP header, the client sends open before all other frames."""
    header: Said | None = None
    for said in talk.by_client():
        if header is not None and said.name not in _HEADERS:
            yield Looked(said, said.name == "open")
            return
        header = said if said.name == "amqp-header" else None


@conduct("client.open.once", covers=["connections/states/legal-frames"])
def opens_once(talk: Conversation) -> Iterator[Looked]:
    """A client sends one open and one AMQP header on a connection."""
    for name in ("amqp-header", "open"):
        for at, said in enumerate(talk.by_client(name)):
            yield Looked(said, at == 0, f"another {name}")


@conduct("client.open.channel-zero", covers=["connections/opening/channel-zero"])
def opens_on_channel_zero(talk: Conversation) -> Iterator[Looked]:
    """The client sends open on channel 0."""
    for said in talk.by_client("open"):
        yield Looked(said, said.channel == 0, f"channel {said.channel}")


@conduct("client.open.size", covers=["connections/opening/limits-before"], scenarios=_LOGIN)
def opens_within_512_octets(talk: Conversation) -> Iterator[Looked]:
    """The frame of open, which is sent before limits are negotiated, has at most 512 octets."""
    for said in talk.by_client("open"):
        yield Looked(said, said.octets <= LEAST_MAX_FRAME_OCTETS, f"{said.octets} octets")


@conduct(
    "client.open.max-frame-size", covers=["definitions/min-max-frame-size/lower-bound"], scenarios=_LOGIN
)
def takes_frames_of_512_octets(talk: Conversation) -> Iterator[Looked]:
    """The max-frame-size of a client's open is at least 512 octets."""
    for said in talk.by_client("open"):
        octets = number(fields(said)["max_frame_size"], 0)
        yield Looked(said, octets >= LEAST_MAX_FRAME_OCTETS, f"max-frame-size {octets}")


@conduct("client.open.hostname", covers=["performatives/open/hostname/same"], scenarios=_LOGIN)
def keeps_its_hostname(talk: Conversation) -> Iterator[Looked]:
    """If sasl-init contains a hostname, the client repeats it unchanged in open, or omits it."""
    told = next((fields(s)["hostname"] for s in talk.by_client("sasl-init")), None)
    for said in talk.by_client("open") if told is not None else ():
        name = fields(said)["hostname"]
        yield Looked(said, name in (None, told), f"{told!r} in sasl-init, {name!r} in open")
