"""From the protocol header to connection.open: what a client selects from the server's offers."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.clients.conduct import conduct
from amqpspec.run.clients.judging import Looked
from amqpspec.wire.conversation import Conversation

_LOGIN = ("connect", "reconnect")
_NAMED = ("product", "version", "platform", "copyright", "information")


@conduct(
    "client.start-ok.properties",
    covers=["connection/start-ok/client-properties/required-fields"],
    scenarios=["connect"],
)
def names_itself(talk: Conversation) -> Iterator[Looked]:
    """Start-ok contains product, version, platform, copyright and information."""
    for ok in talk.by_client("connection.start-ok"):
        named = ok.what["client_properties"].plain()
        missing = [name for name in _NAMED if not named.get(name)]
        yield Looked(ok, not missing, f"missing: {', '.join(missing)}")


@conduct("client.start-ok.mechanism", covers=["connection/start-ok/mechanism/offered"], scenarios=_LOGIN)
def picks_an_offered_mechanism(talk: Conversation) -> Iterator[Looked]:
    """Start-ok selects a mechanism that start offers."""
    start = talk.first_of_server("connection.start")
    for ok in talk.by_client("connection.start-ok"):
        offered = start.what["mechanisms"].decode().split() if start else []
        yield Looked(ok, ok.what["mechanism"] in offered, f"offered: {' '.join(offered)}")


@conduct("client.start-ok.locale", covers=["connection/start-ok/locale"], scenarios=_LOGIN)
def picks_an_offered_locale(talk: Conversation) -> Iterator[Looked]:
    """Start-ok selects a locale that start offers."""
    start = talk.first_of_server("connection.start")
    for ok in talk.by_client("connection.start-ok"):
        offered = start.what["locales"].decode().split() if start else []
        yield Looked(ok, ok.what["locale"] in offered, f"offered: {' '.join(offered)}")


@conduct(
    "client.tune-ok.frame-max.minimum",
    covers=["connection/tune-ok/frame-max/minimum-chosen"],
    scenarios=_LOGIN,
)
def keeps_the_smallest_frame_max(talk: Conversation) -> Iterator[Looked]:
    """Tune-ok never selects a frame-max below 4096 octets."""
    for ok in talk.by_client("connection.tune-ok"):
        frame_max = ok.what["frame_max"]
        yield Looked(ok, frame_max == 0 or frame_max >= 4096, f"frame-max {frame_max}")


@conduct("client.tune-ok.within-offer", covers=["connection/tune-ok/within-offer"], scenarios=_LOGIN)
def stays_within_the_offer(talk: Conversation) -> Iterator[Looked]:
    """Tune-ok requests no more channels and no larger frames than tune offers."""
    tune = talk.first_of_server("connection.tune")
    if tune is None:
        return
    for ok in talk.by_client("connection.tune-ok"):
        for key in ("channel_max", "frame_max"):
            offer, chosen = tune.what[key], ok.what[key]
            within = offer == 0 or 0 < chosen <= offer
            yield Looked(ok, within, f"{key.replace('_', '-')}: offered {offer}, chosen {chosen}")


@conduct("client.handshake.order", covers=["connection/grammar"], scenarios=_LOGIN)
def keeps_the_order_of_the_handshake(talk: Conversation) -> Iterator[Looked]:
    """The client sends header, start-ok, tune-ok and open in this order, each once and before anything else."""
    order = ["greeting", "connection.start-ok", "connection.tune-ok", "connection.open"]
    said = [s for s in talk.by_client() if s.name not in ("heartbeat", "trace", "connection.secure-ok")]
    for at, first in enumerate(said):
        wanted = order[at] if at < len(order) else ""
        kept = first.name == wanted if wanted else first.name not in order
        yield Looked(first, kept, f"expected {wanted or 'the work on channels'}")
