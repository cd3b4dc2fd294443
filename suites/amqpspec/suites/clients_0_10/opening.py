"""From the protocol header to open: what a client selects from the server's offers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
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


@conduct("client.header.first", covers=["transport/protocol-header/first"])
def begins_with_a_header(talk: Conversation) -> Iterator[Looked]:
    """A client sends a protocol header before anything else."""
    for said in talk.by_client():
        yield Looked(said, said.name == "greeting")
        return


@conduct("client.header.layout", covers=["transport/protocol-header/layout"])
def sends_the_header_of_its_version(talk: Conversation) -> Iterator[Looked]:
    """The client's protocol header is AMQP, 1, 1, 0, 10."""
    for said in talk.by_client("greeting"):
        yield Looked(said, said.what.octets == TABLES.protocol_header)


@conduct("client.handshake.order", covers=["connection/grammar"], scenarios=_LOGIN)
def keeps_the_order_of_the_handshake(talk: Conversation) -> Iterator[Looked]:
    """The client sends header, start-ok, tune-ok and open in this order, each once and before anything else."""
    said = [s for s in talk.by_client() if s.name not in _ANYWHERE]
    for at, first in enumerate(said):
        wanted = _ORDER[at] if at < len(_ORDER) else ""
        kept = first.name == wanted if wanted else first.name not in _ORDER
        yield Looked(first, kept, f"expected {wanted or 'the work of sessions'}")


@conduct(
    "client.start-ok.properties",
    covers=["connection/start-ok/client-properties/required-fields"],
    scenarios=_LOGIN,
)
def names_itself(talk: Conversation) -> Iterator[Looked]:
    """Start-ok contains product, version, platform, copyright and information."""
    for ok in talk.by_client("connection.start-ok"):
        named = fields(ok).get("client_properties")
        known = {} if named is None else named.plain()
        missing = [name for name in _NAMED if not known.get(name)]
        yield Looked(ok, not missing, f"missing: {', '.join(missing)}")


@conduct("client.start-ok.mechanism", covers=["connection/start-ok/mechanism/offered"], scenarios=_LOGIN)
def picks_an_offered_mechanism(talk: Conversation) -> Iterator[Looked]:
    """Start-ok selects a mechanism that start offers."""
    offered = _strings(_offered(talk, "connection.start"), "mechanisms")
    for ok in talk.by_client("connection.start-ok"):
        yield Looked(ok, fields(ok).get("mechanism") in offered, f"offered: {' '.join(offered)}")


@conduct("client.start-ok.locale", covers=["connection/start-ok/locale"], scenarios=_LOGIN)
def picks_an_offered_locale(talk: Conversation) -> Iterator[Looked]:
    """Start-ok selects a locale that start offers."""
    offered = _strings(_offered(talk, "connection.start"), "locales")
    for ok in talk.by_client("connection.start-ok"):
        yield Looked(ok, fields(ok).get("locale") in offered, f"offered: {' '.join(offered)}")


def _within(talk: Conversation, key: str) -> Iterator[Looked]:
    """The value in tune-ok is no higher than that in tune; one that is left out asks for no limit."""
    what = key.replace("_", "-")
    offer = (_offered(talk, "connection.tune") or {}).get(key)
    for ok in talk.by_client("connection.tune-ok") if offer is not None else ():
        chosen = fields(ok).get(key)
        yield Looked(ok, chosen is None or chosen <= offer, f"{what}: offered {offer}, chosen {chosen}")


@conduct(
    "client.tune-ok.channel-max", covers=["connection/tune-ok/channel-max/upper-limit"], scenarios=_LOGIN
)
def asks_for_no_more_channels(talk: Conversation) -> Iterator[Looked]:
    """Tune-ok requests no more channels than tune offers."""
    yield from _within(talk, "channel_max")


@conduct(
    "client.tune-ok.max-frame-size",
    covers=["connection/tune-ok/max-frame-size/upper-limit"],
    scenarios=_LOGIN,
)
def asks_for_no_larger_frames(talk: Conversation) -> Iterator[Looked]:
    """Tune-ok requests no larger frames than tune offers."""
    yield from _within(talk, "max_frame_size")


@conduct(
    "client.tune-ok.max-frame-size.minimum",
    covers=["connection/tune-ok/max-frame-size/minimum/chosen"],
    scenarios=_LOGIN,
)
def keeps_the_smallest_frame_size(talk: Conversation) -> Iterator[Looked]:
    """Tune-ok never selects a max-frame-size below 4096 octets."""
    for ok in talk.by_client("connection.tune-ok"):
        size = fields(ok).get("max_frame_size")
        yield Looked(ok, size is None or size >= TABLES.layout.min_max_frame_size, f"max-frame-size {size}")


@conduct(
    "client.tune-ok.heartbeat",
    covers=["connection/tune-ok/heartbeat/permitted-range"],
    scenarios=(*_LOGIN, "idle"),
)
def picks_a_heartbeat_in_the_range(talk: Conversation) -> Iterator[Looked]:
    """The heartbeat in tune-ok is between heartbeat-min and heartbeat-max."""
    offer = _offered(talk, "connection.tune") or {}
    least, most = offer.get("heartbeat_min"), offer.get("heartbeat_max")
    for ok in talk.by_client("connection.tune-ok"):
        chosen = fields(ok).get("heartbeat")
        if chosen is not None and least is not None:
            within = least <= chosen and (most is None or chosen <= most)
            yield Looked(ok, within, f"heartbeat {chosen}, offered {least} to {most}")
