"""Messages in both directions: the head at the beginning, the fragments.

Knows: heads, fragment sizes, which fragment names the destination. Must not know: channels' states, destinations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.reference.amqp_fast_0_8.destinations import EXPIRATION, FIELDS
from amqpspec.reference.amqp_fast_0_8.fields import CutShortError, FieldReader
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Message
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_head
from amqpspec.wire.values import Typed

Refuse = Callable[[str, str], None]
Faulty = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Head:
    """A message head: its octets, and its fields by their keys."""

    octets: bytes
    fields: Mapping[str, Any]

    @property
    def body_size(self) -> int:
        """How long the body is to be."""
        return int(self.fields["body_size"])


def read_head(octets: bytes, refuse: Refuse, faulty: Faulty) -> tuple[Head, bytes] | None:
    """The head that begins a first fragment, and the body's first octets; None if a missing one was tolerated."""
    reader = FieldReader(octets, refuse, faulty)
    try:
        fields = reader.read(DIALECT.message_head)
    except CutShortError:
        refuse("messages/head/body-size", "a fragment ends within the message head")
        return None
    return Head(octets[: reader.at], fields), octets[reader.at :]


def message_of(
    head: Head, body: bytes, name: str, publisher: object, aliases: Mapping[str, str], faulty: Faulty
) -> Message:
    """What queues keep of a message."""
    fields = head.fields
    named = {} if faulty("dictionaries-ignored") else aliases
    values = {named.get(key, key): value for key, value in fields["headers"].items()}
    return Message(
        "",
        name,
        _head_as_kept(head, faulty),
        body,
        priority=fields["priority"],
        persistent=fields["persistent"] and not faulty("persistent-is-forgotten"),
        headers={EXPIRATION: fields["expiration"], FIELDS: values},
        publisher=publisher,
    )


def _head_as_kept(head: Head, faulty: Faulty) -> bytes:
    """The head as received, except for faults."""
    changed: dict[str, Any] = {}
    if faulty("empty-mime-type-becomes-text") and not head.fields["mime_type"]:
        changed["mime_type"] = "text/plain"
    if faulty("empty-encoding-becomes-gzip") and not head.fields["encoding"]:
        changed["encoding"] = "gzip"
    if faulty("identifier-dropped"):
        changed["identifier"] = ""
    if faulty("priority-dropped"):
        changed["priority"] = 0
    if faulty("mime-type-in-capitals"):
        changed["mime_type"] = head.fields["mime_type"].upper()
    if faulty("headers-dropped"):
        changed["headers"] = {}
    cut = faulty("headers-lose-zero-octets")
    if not changed and not cut:
        return head.octets
    tables = {} if "headers" in changed else {"headers": _typed(head.fields["headers"], cut)}
    return encode_head(**{**head.fields, **tables, **changed})


def _typed(values: Mapping[str, tuple[str, Any]], cut: bool) -> list[tuple[str, Any]]:
    """Fields to be written; ``cut``: strings end at their first zero octet."""
    return [
        (name, Typed(tag, value.split(b"\0")[0] if cut and tag == "S" else value))
        for name, (tag, value) in values.items()
    ]


# --- going out


def cut(octets: bytes, most_octets: int, faulty: Faulty) -> list[bytes]:
    """Head and body in fragments; at least one."""
    step = most_octets + 1 if faulty("fragments-one-too-large") else most_octets
    step = 64 << 10 if faulty("frame-max-of-client-ignored") else step
    return [octets[at : at + step] for at in range(0, len(octets), step)] or [b""]


def notifies(pieces: list[bytes], name: str, faulty: Faulty, **fields: Any) -> Iterator[bytes]:
    """The NOTIFYs of one message; only the last names the destination."""
    for place, piece in enumerate(pieces, start=1):
        last = place == len(pieces)
        partial = not last or faulty("last-fragment-is-partial")
        named = name if last != faulty("name-on-first-fragments") else ""
        if faulty("notify-name-cut"):
            named = named[:-1]
        size = {"fragment_size": len(piece) + 1} if faulty("notify-size-one-more") else {}
        yield command_frame(
            "handle.notify",
            fragment=piece,
            partial=partial,
            dest_name=named,
            **{"fragment_size": len(piece), **size, **fields},
        )


FAULTS = fault_table("""
persistent-is-forgotten: persistent messages are held in memory only [messages/head/persistent]
dictionaries-ignored: dictionaries have no effect [dictionaries/short-names dictionaries/merged]
empty-mime-type-becomes-text: an empty MIME type becomes text/plain [messages/head/mime-type handle/open/mime-type]
empty-encoding-becomes-gzip: an empty encoding becomes gzip [messages/head/encoding handle/open/encoding]
identifier-dropped: messages lose their identifiers [syntax/message-head]
priority-dropped: messages lose their priorities [syntax/message-head messages/head/priority]
mime-type-in-capitals: MIME types are put into capitals [syntax/message-head]
headers-dropped: messages lose their headers
    [syntax/message-head tables/strings tables/integers tables/decimals tables/times]
headers-lose-zero-octets: strings in headers end at their first zero octet [syntax/notes/long-strings tables/strings]
fragments-one-too-large: fragments have one octet more than the client takes
    [tuning/frame-max/kept messages/fragments/large]
frame-max-of-client-ignored: the client's FRAME_MAX has no effect [tuning/frame-max/kept messages/fragments/large]
last-fragment-is-partial: the last fragment announces more
    [messages/frames/partial messages/writing/partial]
name-on-first-fragments: all fragments but the last name the destination [handle/notify/dest-name]
notify-name-cut: NOTIFY lacks the last letter of the destination's name [handle/notify/dest-name]
notify-size-one-more: NOTIFY announces one octet more than follow
    [messages/frames/size handle/notify/behind messages/frames/carriers]
""")
