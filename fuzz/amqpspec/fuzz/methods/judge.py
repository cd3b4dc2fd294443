"""What the ledgers of the 0-9 family say of octets sent in a state: the one rule that they break, if it is one.

Knows: which rule each breach is, and where the text leaves no doubt. Must not know: families, targets.

Careful by intent, for a wrong claim is worse than none. Nothing is claimed of octets that break several rules at once,
that a target may not even have to look at, or that only some version of the tables refuses; nor of what follows a frame
whose effect depends on the target's entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.judge.headers import known_headers
from amqpspec.fuzz.states.model import State
from amqpspec.spec.dialects import dialect_ids, load_dialect, widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Side
from amqpspec.wire.errors import Kind, WireError
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader
from amqpspec.wire.values import Table, Typed

_AT_ONCE = frozenset({"type", "end", "too-large"})
"""Rules on frames: a reader sees the violation before anything that follows."""
_TABLE_PLACES = ("table", "array", "field value", "field name")
_NAME = re.compile(r"[A-Za-z$#][A-Za-z0-9_$#]{0,127}")
_STANDARD_CLASSES_END = 0xF000
_IDS_OCTETS, _SIZE_OCTETS = 4, 4
_FIELDS_OCTETS = 1100
"""More than the fields before a table take."""
_TAKEN_OCTETS = 1 << 24
"""A body that is announced larger may be refused for its size, before it or anything after it is read."""
_CONTENT_STATES = {"content": None, "body": 8}
"""States in which the connection is in the middle of a content, and how many octets of body are still to come."""


def judge(dialect_id: str, rules: Mapping[str, str], state: State, steps: tuple[bytes, ...]) -> str:
    """The requirement that the octets break in a state, or nothing if that is not beyond doubt.

    ``rules`` are the rows of the ledger by what is broken.
    """
    if not state.judged:
        return ""
    octets = b"".join(steps)
    rule = _of_header(octets) if state.name == "raw" else _of_frames(dialect_id, state, octets)
    return rules.get(rule, "")


# --- the first octets


def _of_header(octets: bytes) -> str:
    """Only a header of the right form whose version no one has defined is beyond doubt: other octets may be another
    protocol, which a server is free to serve.
    """
    begins = octets[:8]
    return "header" if begins[:4] == b"AMQP" and len(begins) == 8 and begins not in known_headers() else ""


# --- frames


def _codecs(dialect_id: str) -> tuple[Codec, ...]:
    return tuple(codec_for(d) for d in dict.fromkeys((dialect_id, widest(dialect_id))))


def _of_frames(dialect_id: str, state: State, octets: bytes) -> str:
    """The first frame that breaks a rule, as long as all before it are parts of one content."""
    dialect = tables(dialect_id)
    assert isinstance(dialect, MethodDialect)
    reader = FrameReader(dialect.layout, max_payload_octets=1 << 32, header_allowed=False)
    reader.feed(octets)
    content = _Content(dialect, state)
    while True:
        try:
            item = reader.next()
        except WireError:
            return _of_bad_end(dialect, state, octets[reader.offset :])
        if not isinstance(item, Frame):
            return ""
        broken = list(_breaches(dialect_id, dialect, state, item, content))
        if broken:
            # What follows, even in part, may be refused earlier: a target may read on while it judges.
            sure = broken[0] in _AT_ONCE or not reader.pending_octets
            return broken[0] if len(broken) == 1 and sure else ""
        if not content.takes(item):
            return ""


def _of_bad_end(dialect: MethodDialect, state: State, octets: bytes) -> str:
    """A wrong end octet; not where type or size are wrong as well, of which a target may speak first."""
    if octets[0] not in dialect.layout.types.values():
        return ""
    size = int.from_bytes(octets[dialect.layout.header_octets - 4 : dialect.layout.header_octets], "big")
    return "end" if size + dialect.layout.overhead_octets <= dialect.layout.min_size_octets else ""


class _Content:
    """How far the content in progress is: nothing, a header to come, or this many octets of body."""

    def __init__(self, dialect: MethodDialect, state: State) -> None:
        self._dialect = dialect
        self.class_id = dialect.classes_by_name["basic"].index if state.name in _CONTENT_STATES else None
        self.left = _CONTENT_STATES.get(state.name)

    def takes(self, frame: Frame) -> bool:
        """Continue by a legal frame; False if what follows depends on more than the frames."""
        types = self._dialect.layout.types
        if frame.type == types["method"] and self.class_id is None:
            ids = (int.from_bytes(frame.payload[:2], "big"), int.from_bytes(frame.payload[2:4], "big"))
            method = self._dialect.methods_by_id[ids]
            plain = method.name == "basic.publish" and _to_default(self._dialect.id, frame.payload)
            self.class_id, self.left = (method.class_id if plain else None), None
            return self.class_id is not None
        if frame.type == types["header"] and self.class_id is not None and self.left is None:
            self.left = int.from_bytes(frame.payload[4:12], "big")
            return self.left > 0
        if frame.type == types["body"] and self.left is not None:
            self.left -= len(frame.payload)
            return self.left > 0
        return frame.type == types["heartbeat"]


def _to_default(dialect_id: str, payload: bytes) -> bool:
    """Whether a publish can fail at nothing: to the default exchange, without a ticket or a demand."""
    args = codec_for(dialect_id).decode_method(payload).args
    return not any(value for key, value in args.items() if key != "routing_key")


def _breaches(
    dialect_id: str, dialect: MethodDialect, state: State, frame: Frame, content: _Content
) -> Iterator[str]:
    types = dialect.layout.types
    if frame.type not in types.values():
        # One text says 4 for the heartbeat: whether that is undefined is in doubt.
        yield "type" if frame.type != 4 else "doubt"
        return
    largest = state.frame_max_octets
    size = len(frame.payload) + dialect.layout.overhead_octets
    if largest is not None and size > largest:
        # The draft measures the payload in one chapter, the frame in another: between the two is in doubt.
        yield "too-large" if len(frame.payload) > largest else "doubt"
    elif size > dialect.layout.min_size_octets:
        yield "doubt"
    kind = dialect.layout.type_name(frame.type)
    if kind == "method":
        yield from _of_method(dialect_id, dialect, state, frame, content)
    elif kind in ("header", "body"):
        yield from _of_content(dialect_id, dialect, state, frame, content, kind)
    elif kind == "heartbeat":
        if frame.channel:
            yield "heartbeat-channel"
        if frame.payload:
            yield "doubt"
    else:
        yield "doubt"


def _of_method(
    dialect_id: str, dialect: MethodDialect, state: State, frame: Frame, content: _Content
) -> Iterator[str]:
    if content.class_id is not None:
        yield "doubt"
    if len(frame.payload) < 4:
        yield "arguments"
        return
    ids = (int.from_bytes(frame.payload[:2], "big"), int.from_bytes(frame.payload[2:4], "big"))
    method = dialect.methods_by_id.get(ids)
    if method is None:
        yield from _of_unknown(dialect, ids, frame, state)
        return
    yield from _of_place(dialect, state, method.class_name, method.name, frame.channel)
    if method.sent_by is Side.SERVER:
        # Who puts contents together first waits for the rest of one.
        yield "doubt" if method.content else "server-only"
    errors = [
        error for codec in _codecs(dialect_id) if (error := _error_of(codec, frame.payload)) is not None
    ]
    if not errors:
        # Rules on values that can be read: a target may report them before it reports the frame's place.
        if _has_odd_text(list(_codecs(dialect_id)[-1].decode_method(frame.payload).args.values())):
            yield "doubt"
        return
    disputed = any(e.kind is Kind.BOUND or _is_disputed(dialect_id, frame.payload, e) for e in errors)
    if len(errors) < len(_codecs(dialect_id)) or disputed:
        yield "doubt"
    else:
        has_table = any(field.type == "table" for field in method.fields)
        inside = errors[-1].where in _TABLE_PLACES or (
            has_table and _is_in_table(_codecs(dialect_id)[-1], frame.payload, errors[-1])
        )
        yield "table" if inside else "arguments"


def _is_disputed(dialect_id: str, payload: bytes, error: WireError) -> bool:
    """Whether a tag is unknown to one version of the tables and known to another: a target may read by either."""
    if error.kind is not Kind.TAG:
        return False
    known = {row.tag for codec in _codecs(dialect_id) for row in codec.dialect.table_tags}
    return chr(payload[error.offset]) in known


def _is_in_table(codec: Codec, payload: bytes, error: WireError) -> bool:
    """Whether what cannot be read is in a table: with an empty one in its place, all before it can be read."""
    ends = range(_IDS_OCTETS, min(error.offset, _FIELDS_OCTETS) + 1)
    return any(_error_of(codec, payload[:end] + bytes(_SIZE_OCTETS)) is None for end in ends)


def _has_odd_text(value: object) -> bool:
    """Whether a text holds a zero octet or is no UTF-8, or a field of a table has no legal name, however deep."""
    if isinstance(value, Table):
        return any(not _NAME.fullmatch(name) or _has_odd_text(typed.value) for name, typed in value)
    if isinstance(value, list):
        return any(_has_odd_text(item.value if isinstance(item, Typed) else item) for item in value)
    return isinstance(value, str) and ("\0" in value or any("\ud800" <= c <= "\udfff" for c in value))


def _of_unknown(dialect: MethodDialect, ids: tuple[int, int], frame: Frame, state: State) -> Iterator[str]:
    """A class or method that no version of the protocol has had; low numbers may be some server's extension."""
    if frame.channel not in state.channels or 0 in ids or ids in _known_anywhere():
        yield "doubt"
    if ids[0] in dialect.classes_by_id:
        yield "unknown-method"
    else:
        yield "unknown-class" if ids[0] < _STANDARD_CLASSES_END else "doubt"


@cache
def _known_anywhere() -> frozenset[tuple[int, int]]:
    """Methods that any version has: servers may know those of others."""
    dialects = map(load_dialect, dialect_ids())
    return frozenset(ids for d in dialects if isinstance(d, MethodDialect) for ids in d.methods_by_id)


def _of_place(
    dialect: MethodDialect, state: State, class_name: str, name: str, channel: int
) -> Iterator[str]:
    if class_name == "connection":
        if channel:
            # One rule is about the class, another about a channel that was not opened: either answer serves.
            yield "connection-class" if channel in state.channels else "doubt"
        return
    if channel == 0:
        yield "class-on-zero"
    elif name == "channel.open":
        highest = 1 if state.channel_max is None else state.channel_max
        if channel in state.channels or channel > highest:
            yield "doubt"
    elif channel not in state.channels:
        # Close-ok comes late where both sides close at once. Who puts contents together first sees the channel later.
        late = name.endswith("-ok") or name == "channel.close" or dialect.methods[name].content
        yield "doubt" if late else "channel-not-open"


def _of_content(
    dialect_id: str, dialect: MethodDialect, state: State, frame: Frame, content: _Content, kind: str
) -> Iterator[str]:
    basic = dialect.classes_by_name["basic"].index
    # A header that cannot be read may be refused for that.
    unreadable = kind == "header" and any(_of_header_payload(dialect_id, frame.payload, basic))
    if frame.channel == 0:
        yield "doubt" if unreadable else "content-on-zero"
        return
    if frame.channel not in state.channels:
        yield "doubt"
        return
    if kind == "body":
        if content.left is None:
            yield "unexpected-body" if content.class_id is None else "doubt"
        elif len(frame.payload) > content.left:
            yield "body-too-long"
        return
    if content.class_id is None:
        yield "doubt" if unreadable else "unexpected-header"
        return
    if content.left is not None:
        yield "doubt"
        return
    yield from _of_header_payload(dialect_id, frame.payload, content.class_id)


def _of_header_payload(dialect_id: str, payload: bytes, class_id: int) -> Iterator[str]:
    if len(payload) < 14:
        yield "content-header"
        return
    if int.from_bytes(payload[:2], "big") != class_id:
        yield "content-class"
        return
    if any(payload[2:4]) or int.from_bytes(payload[4:12], "big") > _TAKEN_OCTETS:
        yield "doubt"
    errors = [_header_error_of(codec, payload) for codec in _codecs(dialect_id)]
    if all(errors):
        table = any(e.where in _TABLE_PLACES for e in errors if e)
        flags = any(e.where == "property flags" for e in errors if e)
        # Two rows are about a malformed table in a header, and name other codes.
        yield "doubt" if flags or table else "content-header"
    elif any(errors) or _has_odd_text(
        list(_codecs(dialect_id)[-1].decode_header(payload).properties.values())
    ):
        yield "doubt"


def _error_of(codec: Codec, payload: bytes) -> WireError | None:
    try:
        codec.decode_method(payload)
    except WireError as error:
        return error
    return None


def _header_error_of(codec: Codec, payload: bytes) -> WireError | None:
    try:
        codec.decode_header(payload)
    except WireError as error:
        return error
    return None
