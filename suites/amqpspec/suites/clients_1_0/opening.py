"""From the first protocol header to open: the order of layers, and what a client sends in them."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.peer.amqp_1_0.books import number
from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.suites.clients_1_0 import EVERY
from amqpspec.suites.clients_1_0._books import LEAST_MAX_FRAME_OCTETS, fields
from amqpspec.wire.amqp_1_0.frames import SASL_FRAME
from amqpspec.wire.conversation import Conversation, Said

_HEADERS = ("amqp-header", "sasl-header", "tls-header", "header")
_SASL_OF_CLIENTS = ("sasl-init", "sasl-response")


def _sasl_frames(talk: Conversation) -> Iterator[Said]:
    """The client's frames between its SASL header and the header that follows."""
    inside = False
    for said in talk.by_client():
        if said.name in _HEADERS:
            inside = said.name == "sasl-header"
        elif inside:
            yield said


@case("client.header.first", covers=["version/header-first"])
def begins_with_a_header(client: Client) -> Verdict:
    """The first octets that a client sends are a protocol header."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for first in list(talk.by_client())[:1]:
            yield Looked(first, first.name in _HEADERS)

    return conducts(client, rule, *EVERY)


@case("client.header.layout", covers=["version/header-layout"])
def sends_headers_of_this_version(client: Client) -> Verdict:
    """A client's protocol headers are those of AMQP 1.0.0, with protocol id 0, 2 for TLS or 3 for SASL."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for header in talk.by_client(*_HEADERS):
            yield Looked(header, header.name != "header")

    return conducts(client, rule, *EVERY)


@case("client.header.after-sasl", covers=["sasl/outcome/then-headers"])
def sends_a_header_after_sasl(client: Client) -> Verdict:
    """After the SASL layer, the client sends the AMQP header before any other frame."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        layer = ""
        for said in talk.by_client():
            if said.name in _HEADERS:
                layer = said.name
            elif layer == "sasl-header" and said.name not in _SASL_OF_CLIENTS:
                yield Looked(said, said.name in ("garbled", "empty"), "no AMQP header before it")
            elif layer == "amqp-header" and said.name == "open":
                yield Looked(said, True)

    return conducts(client, rule, "connect", "reconnect")


@case("client.sasl.mechanism", covers=["sasl/negotiation/choose"])
def picks_an_offered_mechanism(client: Client) -> Verdict:
    """The mechanism in sasl-init is one that the server offers."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        offer = talk.first_of_server("sasl-mechanisms")
        for init in talk.by_client("sasl-init"):
            if offer is None:
                return
            offered = [str(name) for name in fields(offer)["sasl_server_mechanisms"]]
            yield Looked(init, str(fields(init)["mechanism"]) in offered, f"offered: {' '.join(offered)}")

    return conducts(client, rule, "connect", "reconnect")


@case("client.sasl.steps", covers=["sasl/negotiation/steps"])
def keeps_the_steps_of_sasl(client: Client) -> Verdict:
    """A client sends one sasl-init, then a response for each challenge, and no frame of servers."""

    def rule(talk: Conversation) -> Iterator[Looked]:
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

    return conducts(client, rule, *EVERY)


@case("client.sasl.frames", covers=["sasl/frame/body"])
def sends_sasl_frames_that_are_such(client: Client) -> Verdict:
    """In the SASL layer, a client sends only frames of type 1 with one SASL frame body and nothing after it."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in _sasl_frames(talk):
            kept = said.name in _SASL_OF_CLIENTS and said.what.frame_type == SASL_FRAME
            yield Looked(said, kept and not said.what.payload)

    return conducts(client, rule, "connect", "reconnect")


@case("client.sasl.frame-size", covers=["sasl/frame/max-size"])
def sends_no_large_sasl_frame(client: Client) -> Verdict:
    """A SASL frame has at most 512 octets."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in _sasl_frames(talk):
            yield Looked(said, said.octets <= LEAST_MAX_FRAME_OCTETS, f"{said.octets} octets")

    return conducts(client, rule, "connect", "reconnect")


@case("client.sasl.channel-zero", covers=["sasl/frame/channel-zero"])
def sends_sasl_frames_with_zeros(client: Client) -> Verdict:
    """Octets 6 and 7 of a SASL frame are zero."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in _sasl_frames(talk):
            yield Looked(said, said.channel == 0, f"{said.channel} in octets 6 and 7")

    return conducts(client, rule, "connect", "reconnect")


@case("client.open.first", covers=["connections/opening/open-first"])
def opens_before_all_else(client: Client) -> Verdict:
    """After the AMQP header, the client sends open before all other frames."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        header: Said | None = None
        for said in talk.by_client():
            if header is not None and said.name not in _HEADERS:
                yield Looked(said, said.name == "open")
                return
            header = said if said.name == "amqp-header" else None

    return conducts(client, rule, *EVERY)


@case("client.open.once", covers=["connections/states/legal-frames"])
def opens_once(client: Client) -> Verdict:
    """A client sends one open and one AMQP header on a connection."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for name in ("amqp-header", "open"):
            for at, said in enumerate(talk.by_client(name)):
                yield Looked(said, at == 0, f"another {name}")

    return conducts(client, rule, *EVERY)


@case("client.open.channel-zero", covers=["connections/opening/channel-zero"])
def opens_on_channel_zero(client: Client) -> Verdict:
    """The client sends open on channel 0."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client("open"):
            yield Looked(said, said.channel == 0, f"channel {said.channel}")

    return conducts(client, rule, *EVERY)


@case("client.open.size", covers=["connections/opening/limits-before"])
def opens_within_512_octets(client: Client) -> Verdict:
    """The frame of open, which is sent before limits are negotiated, has at most 512 octets."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client("open"):
            yield Looked(said, said.octets <= LEAST_MAX_FRAME_OCTETS, f"{said.octets} octets")

    return conducts(client, rule, "connect", "reconnect")


@case("client.open.max-frame-size", covers=["definitions/min-max-frame-size/lower-bound"])
def takes_frames_of_512_octets(client: Client) -> Verdict:
    """The max-frame-size of a client's open is at least 512 octets."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client("open"):
            octets = number(fields(said)["max_frame_size"], 0)
            yield Looked(said, octets >= LEAST_MAX_FRAME_OCTETS, f"max-frame-size {octets}")

    return conducts(client, rule, "connect", "reconnect")


@case("client.open.hostname", covers=["performatives/open/hostname/same"])
def keeps_its_hostname(client: Client) -> Verdict:
    """If sasl-init contains a hostname, the client repeats it unchanged in open, or omits it."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        told = next((fields(s)["hostname"] for s in talk.by_client("sasl-init")), None)
        for said in talk.by_client("open") if told is not None else ():
            name = fields(said)["hostname"]
            yield Looked(said, name in (None, told), f"{told!r} in sasl-init, {name!r} in open")

    return conducts(client, rule, "connect", "reconnect")
