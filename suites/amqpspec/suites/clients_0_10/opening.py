"""From the protocol header to open: what a client selects from the server's offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from amqpspec.run.case import case
from amqpspec.run.clients.client import Client
from amqpspec.run.clients.judging import Looked, conducts
from amqpspec.run.verdict import Verdict
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
from amqpspec.suites.clients_0_10 import EVERY
from amqpspec.suites.clients_0_10._books import fields
from amqpspec.wire.conversation import Conversation

_NAMED = ("product", "version", "platform", "copyright", "information")
_LOGIN = ("connect", "reconnect")
_ANYWHERE = ("connection.secure-ok", "connection.heartbeat", "part")
_ORDER = ("greeting", "connection.start-ok", "connection.tune-ok", "connection.open")


def _offered(talk: Conversation, control: str) -> dict[str, Any] | None:
    """What the server's first control of that name offers."""
    said = talk.first_of_server(control)
    return None if said is None else dict(fields(said))


def _strings(offer: dict[str, Any] | None, key: str) -> Sequence[str]:
    array = None if offer is None else offer.get(key)
    return [] if array is None else [str(item) for item in array.items]


@case("client.header.first", covers=["transport/protocol-header/first"])
def begins_with_a_header(client: Client) -> Verdict:
    """A client sends a protocol header before anything else."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client():
            yield Looked(said, said.name == "greeting")
            return

    return conducts(client, rule, *EVERY)


@case("client.header.layout", covers=["transport/protocol-header/layout"])
def sends_the_header_of_its_version(client: Client) -> Verdict:
    """The client's protocol header is AMQP, 1, 1, 0, 10."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for said in talk.by_client("greeting"):
            yield Looked(said, said.what.octets == TABLES.protocol_header)

    return conducts(client, rule, *EVERY)


@case("client.handshake.order", covers=["connection/grammar"])
def keeps_the_order_of_the_handshake(client: Client) -> Verdict:
    """The client sends header, start-ok, tune-ok and open in this order, each once and before anything else."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        said = [s for s in talk.by_client() if s.name not in _ANYWHERE]
        for at, first in enumerate(said):
            wanted = _ORDER[at] if at < len(_ORDER) else ""
            kept = first.name == wanted if wanted else first.name not in _ORDER
            yield Looked(first, kept, f"expected {wanted or 'the work of sessions'}")

    return conducts(client, rule, *_LOGIN)


@case("client.start-ok.properties", covers=["connection/start-ok/client-properties/required-fields"])
def names_itself(client: Client) -> Verdict:
    """Start-ok contains product, version, platform, copyright and information."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for ok in talk.by_client("connection.start-ok"):
            named = fields(ok).get("client_properties")
            known = {} if named is None else named.plain()
            missing = [name for name in _NAMED if not known.get(name)]
            yield Looked(ok, not missing, f"missing: {', '.join(missing)}")

    return conducts(client, rule, *_LOGIN)


@case("client.start-ok.mechanism", covers=["connection/start-ok/mechanism/offered"])
def picks_an_offered_mechanism(client: Client) -> Verdict:
    """Start-ok selects a mechanism that start offers."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        offered = _strings(_offered(talk, "connection.start"), "mechanisms")
        for ok in talk.by_client("connection.start-ok"):
            yield Looked(ok, fields(ok).get("mechanism") in offered, f"offered: {' '.join(offered)}")

    return conducts(client, rule, *_LOGIN)


@case("client.start-ok.locale", covers=["connection/start-ok/locale"])
def picks_an_offered_locale(client: Client) -> Verdict:
    """Start-ok selects a locale that start offers."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        offered = _strings(_offered(talk, "connection.start"), "locales")
        for ok in talk.by_client("connection.start-ok"):
            yield Looked(ok, fields(ok).get("locale") in offered, f"offered: {' '.join(offered)}")

    return conducts(client, rule, *_LOGIN)


def _within(client: Client, key: str) -> Verdict:
    """The value in tune-ok is no higher than that in tune; one that is left out asks for no limit."""
    what = key.replace("_", "-")

    def rule(talk: Conversation) -> Iterator[Looked]:
        offer = (_offered(talk, "connection.tune") or {}).get(key)
        for ok in talk.by_client("connection.tune-ok") if offer is not None else ():
            chosen = fields(ok).get(key)
            yield Looked(ok, chosen is None or chosen <= offer, f"{what}: offered {offer}, chosen {chosen}")

    return conducts(client, rule, *_LOGIN)


@case("client.tune-ok.channel-max", covers=["connection/tune-ok/channel-max/upper-limit"])
def asks_for_no_more_channels(client: Client) -> Verdict:
    """Tune-ok requests no more channels than tune offers."""
    return _within(client, "channel_max")


@case("client.tune-ok.max-frame-size", covers=["connection/tune-ok/max-frame-size/upper-limit"])
def asks_for_no_larger_frames(client: Client) -> Verdict:
    """Tune-ok requests no larger frames than tune offers."""
    return _within(client, "max_frame_size")


@case("client.tune-ok.max-frame-size.minimum", covers=["connection/tune-ok/max-frame-size/minimum/chosen"])
def keeps_the_smallest_frame_size(client: Client) -> Verdict:
    """Tune-ok never selects a max-frame-size below 4096 octets."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        for ok in talk.by_client("connection.tune-ok"):
            size = fields(ok).get("max_frame_size")
            yield Looked(
                ok, size is None or size >= TABLES.layout.min_max_frame_size, f"max-frame-size {size}"
            )

    return conducts(client, rule, *_LOGIN)


@case("client.tune-ok.heartbeat", covers=["connection/tune-ok/heartbeat/permitted-range"])
def picks_a_heartbeat_in_the_range(client: Client) -> Verdict:
    """The heartbeat in tune-ok is between heartbeat-min and heartbeat-max."""

    def rule(talk: Conversation) -> Iterator[Looked]:
        offer = _offered(talk, "connection.tune") or {}
        least, most = offer.get("heartbeat_min"), offer.get("heartbeat_max")
        for ok in talk.by_client("connection.tune-ok"):
            chosen = fields(ok).get("heartbeat")
            if chosen is not None and least is not None:
                within = least <= chosen and (most is None or chosen <= most)
                yield Looked(ok, within, f"heartbeat {chosen}, offered {least} to {most}")

    return conducts(client, rule, *_LOGIN, "idle")
