"""C5: limits that were agreed on, and are not kept.

Knows: which limits the states have settled. Must not know: what a target does beyond one.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, bend, locations_at, next_productions, numbers_of
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.methods.grammar import BODY, CHANNEL, body_frame, method_frame
from amqpspec.fuzz.methods.kit import kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Node, Place, edited_path, group, octets_of
from amqpspec.spec.methods import MethodDialect

_BEYOND = (-1, 0, 1, 2, 7, 8, 9, 64, 512, 4096, 61_440)
_NEAR = (0, 1, 2, 7, 8, 9, 255, 256, 4095, 4096, 4097, 8191, 8193, 131_071, 131_072, 131_073)

_TUNE_OK = (
    "connection/tune-ok/frame-max/minimum-chosen", "connection/tune-ok/frame-max/upper-limit",
    "connection/tune-ok/channel-max/upper-limit",
)  # fmt: skip


def _limit(place: Place) -> str:
    wanted = place.node.name in ("channel-max", "frame-max", "heartbeat")
    return f"tune-ok.{place.node.name}" if wanted else ""


def _edges(width_octets: int, value: int) -> list[int]:
    top = 1 << 8 * width_octets
    edges = {*_NEAR, top - 1, top - 2, top >> 1}
    return sorted(number for number in edges if number < top and number != value)


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    if state.name == "tune":
        yield from locations_at(dialect_id, state, _limit, numbers_of(_edges), *_TUNE_OK)
    if state.frame_max_octets is not None:
        touches = ("amq_wlp_frame_03", "connection/tune-ok/frame-max/all-frames")
        yield Location("frame.too-large", lambda: _large(dialect_id, state), touches)
        yield Location(
            "channel.too-high", lambda: _channels(dialect_id, state), ("connection/tune/channel-max",)
        )
    if state.name in ("content", "body"):
        touches = ("wire/content/body-exceeds-size", "content-header/body-size")
        yield Location("body.too-long", lambda: _bodies(dialect_id, state), touches)


def _large(dialect_id: str, state: State) -> Iterator[Bend]:
    """Frames about the largest size: a method, a header and a body."""
    dialect = kit(dialect_id).dialect
    assert state.frame_max_octets is not None
    publish = octets_of(method_frame(dialect, dialect.methods["basic.publish"]))
    declare = grammar(dialect_id)["method/queue.declare"].tree
    where = "frame.payload.args.arguments.entries.k.value.text"
    short = len(octets_of(edited_path(declare, where, b"")))
    for beyond in _BEYOND:
        wanted = state.frame_max_octets + beyond
        yield bend(f"method frame of {wanted} octets", edited_path(declare, where, b"x" * (wanted - short)))
        body = body_frame(dialect, b"x" * (wanted - dialect.layout.overhead_octets))
        size = (wanted - dialect.layout.overhead_octets).to_bytes(8, "big")
        header = edited_path(grammar(dialect_id)["header/basic/bare"].tree, "frame.payload.body-size", size)
        yield bend(f"body frame of {wanted} octets", publish + octets_of(header) + octets_of(body))


def _channels(dialect_id: str, state: State) -> Iterator[Bend]:
    assert state.channel_max is not None
    tree = grammar(dialect_id)["method/channel.open"].tree
    top = state.channel_max
    for channel in (2, top - 1, top, top + 1, top + 2, 2 * top, 255, 256, 2047, 2048, 32_767, 32_768, 65_535):
        yield bend(
            f"channel {channel} opened", edited_path(tree, "frame.channel", channel.to_bytes(2, "big"))
        )
    several = [edited_path(tree, "frame.channel", n.to_bytes(2, "big")) for n in range(CHANNEL + 1, top + 3)]
    yield bend(f"channels 2 to {top + 2} opened", *several)


def _bodies(dialect_id: str, state: State) -> Iterator[Bend]:
    """Bodies about the announced size, in one frame and in several."""
    dialect = kit(dialect_id).dialect
    begin = [] if state.name == "body" else [next_productions(dialect_id, state)[0].tree]
    for count in (0, 1, len(BODY) - 1, len(BODY), len(BODY) + 1, 2 * len(BODY), 1000, 3000):
        yield bend(f"body of {count} octets", *begin, _body(dialect, b"x" * count))
        yield bend(f"body of {count} octets, one a frame", *begin, *[_body(dialect, b"x")] * min(count, 64))
    yield bend("many frames without a body", *begin, *[_body(dialect, b"")] * 256)


def _body(dialect: MethodDialect, octets: bytes) -> Node:
    return group("body", body_frame(dialect, octets))
