"""The grammar: end octets, codes, strings, bits, message heads (frame-syntax and its notes)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_fast_0_8.peer import QUEUE, TOPIC, Peer
from amqpspec.run.amqp_fast_0_8.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_fast_0_8._steps import on_handle, on_queue, silent, topic
from amqpspec.wire.amqp_fast_0_8.fields import encode_field
from amqpspec.wire.values import Raw

_UNDEFINED = {
    "syntax/connection-commands": (15, 16, 17),
    "syntax/channel-commands": (24, 25, 26, 27),
    "syntax/handle-commands": (33, 38, 39, 45, 46, 47, 50, 255),
}


@case("syntax.command-end", covers=["syntax/command-end"])
def another_end_octet(peer: Peer) -> Verdict:
    """A frame whose end octet is not CE is refused, whether it differs by one or is zero."""
    verdicts = []
    for end in (0xCD, 0xCF, 0x00):
        line = peer.another().open_channel()
        line.send("handle.open", handle_id=3, producer=True, end=end)
        verdicts.append(rejects_violation(line, 1, 3, barrier="ping"))
    return worst(verdicts)


@case("syntax.connection-commands", covers=["syntax/connection-commands"])
@case("syntax.channel-commands", covers=["syntax/channel-commands"])
@case("syntax.handle-commands", covers=["syntax/handle-commands"])
def undefined_codes(peer: Peer) -> Verdict:
    """Codes between the defined ones are refused."""
    row = peer.context.requirements[0].id
    verdicts = []
    for code in _UNDEFINED[row]:
        line = peer.another().open_handle()
        line.send_frame(code, bytes.fromhex("0001 0001"))
        verdicts.append(rejects_violation(line, barrier="ping"))
    return worst(verdicts)


@case(
    "syntax.codes", covers=["syntax/connection-commands", "syntax/channel-commands", "syntax/handle-commands"]
)
def codes_that_the_target_sends(peer: Peer) -> Verdict:
    """The target's commands have the codes of the grammar, on each level."""
    peer.claim("codes of the grammar, those of CREATED, NOTIFY and INDEX among them")
    peer.open_handle(1)
    name = peer.queue()
    peer.store(name, b"one")
    peer.index(name)
    peer.left_in(name)
    peer.open_channel(2)
    peer.close_channel(2)
    seen = {frame.code for frame in peer.listener.frames if frame.name != "connection.ping"}
    return equals(peer, sorted(seen), [10, 12, 18, 28, 29, 40, 41, 42, 48, 49], "codes")


@on_queue("syntax.message-head", covers=["syntax/message-head"])
def all_fields_of_a_head(peer: Peer, name: str) -> Verdict:
    """Every field of a message head arrives unchanged, at both ends of its range."""
    peer.reader(name, 2)
    first = {
        "persistent": True,
        "priority": 9,
        "expiration": 0xFFFFFFFE,
        "mime_type": "text/plain",
        "encoding": "gzip",
    }
    first |= {"identifier": "one", "headers": {"A": b"b"}}
    heads: list[dict[str, Any]] = [
        first,
        {"persistent": False, "priority": 0, "mime_type": "m" * 255, "identifier": "i" * 255},
    ]
    peer.claim("heads unchanged")
    for head in heads:
        peer.store(name, b"body", 1, **head)
    found = [message.head for message in peer.deliveries(2, 2)]
    pairs = [(sent, {key: _plain(got[key]) for key in sent}) for sent, got in zip(heads, found, strict=True)]
    sizes = [got["body_size"] for got in found]
    wrong = [f"{key}: {got[key]!r}" for sent, got in pairs for key in sent if got[key] != sent[key]]
    return holds(peer, not wrong and sizes == [4, 4], f"differing {wrong}, body sizes {sizes}")


def _plain(value: object) -> object:
    plain = getattr(value, "plain", None)
    return value if plain is None else plain()


@on_queue("syntax.empty-strings", covers=["syntax/notes/empty-strings"])
def empty_strings(peer: Peer, name: str) -> Verdict:
    """An empty short string is one zero octet; an empty long string and an empty table are two."""
    peer.store(name, b"one")
    peer.claim("INDEX, for a QUERY encoded by hand")
    text = encode_field(peer.dialect.types_by_name["shortstr"], name, "name")
    # Handle 1, message 0, the name; then a long string and a short one, both empty.
    peer.send_frame(36, bytes.fromhex("0001 00000000") + text + bytes.fromhex("0000 00"))
    index = peer.expect("handle.index", handle=1)
    peer.publish(name, b"", 1)
    bodies = peer.left_in(name)
    return equals(peer, (index["message_list"], bodies), (b"0", [b"one", b""]), "list and bodies")


@on_handle("syntax.long-strings", covers=["syntax/notes/long-strings"], needs=["selectors"])
def long_strings_are_binary(peer: Peer) -> Verdict:
    """The target also compares the octets after a zero octet in a long string."""
    name = topic(peer)
    peer.reader(name, 2, service_type=TOPIC, selector={"K": b"a\0b"})
    peer.claim("the message whose field is equal up to its last octet")
    peer.store(name, b"other", 1, service=TOPIC, headers={"K": b"a\0c"})
    peer.store(name, b"shorter", 1, service=TOPIC, headers={"K": b"a"})
    peer.store(name, b"equal", 1, service=TOPIC, headers={"K": b"a\0b"})
    return equals(peer, peer.bodies(1, 2), [b"equal"], "bodies")


@on_queue("syntax.long-strings.headers", covers=["syntax/notes/long-strings"])
def long_strings_pass_through(peer: Peer, name: str) -> Verdict:
    """A long string of all octets, including zero, arrives unchanged."""
    peer.reader(name, 2)
    value = bytes(range(256)) * 2
    peer.claim("the string unchanged")
    peer.store(name, b"x", 1, headers={"ALL": value})
    return equals(peer, peer.delivery(2).head["headers"].get("ALL"), value, "string")


@on_handle("syntax.short-strings", covers=["syntax/notes/short-strings"])
def short_strings_are_utf8(peer: Peer) -> Verdict:
    """A name in UTF-8 is returned in the same octets, and differs from another one of the same length."""
    names = [peer.name("topic") + text for text in ("ß€𝄞", "ߠ€𝄞")]
    for handle, name in enumerate(names, start=2):
        peer.reader(name, handle, service_type=TOPIC)
    peer.claim("each message by its own name")
    for name in names:
        peer.store(name, name.encode(), 1, service=TOPIC)
    seen = [(m.dest_name, m.body.decode()) for m in (peer.delivery(2), peer.delivery(3))]
    return equals(peer, seen, [(name, name) for name in names], "destinations and bodies")


@case("syntax.zero-octet", covers=["syntax/notes/zero-octet"])
def a_zero_octet_in_a_short_string(peer: Peer) -> Verdict:
    """A zero octet in a destination name or in a MIME type is refused."""
    verdicts = []
    for name, fields in (
        ("handle.consume", {"service_type": TOPIC, "prefetch": 1, "dest_name": "a\0b"}),
        ("handle.query", {"dest_name": "a", "mime_type": "\0"}),
    ):
        line = peer.another().open_handle(1)
        line.send(name, **fields)
        verdicts.append(rejects_violation(line))
    return worst(verdicts)


@case("syntax.end-counted", covers=["syntax/notes/end-counted"])
def a_size_without_the_end_octet(peer: Peer) -> Verdict:
    """A size that excludes the end octet makes a broken frame."""
    peer.open_channel()
    octets = peer.octets("handle.open", handle_id=3, producer=True, confirm_tag=1)
    size = int.from_bytes(octets[:2], "big") - 1
    peer.send_octets(size.to_bytes(2, "big") + octets[2:])
    return rejects_violation(peer, 1, 3, barrier=None)


@case("syntax.bits", covers=["syntax/notes/bits"])
def adjacent_bits_share_an_octet(peer: Peer) -> Verdict:
    """The first of adjacent bits is the lowest bit of the octet, the second the next one."""
    peer.open_channel()
    peer.claim(
        "a producer by bit 0 may send, a browser by bit 2 may query, and NOTIFY marks messages by bit 3"
    )
    peer.call("handle.open", handle_id=1, producer=Raw(b"\x01"))
    peer.call("handle.open", handle_id=3, producer=Raw(b"\x04"))
    name = peer.queue()
    peer.store(name, b"one", 1)
    peer.index(name, handle=3)
    peer.reader(name, 4)
    message = peer.delivery(4)
    # Size, number and handle stand before the bits of NOTIFY.
    return equals(peer, message.frames[0].fields[10], 0b1000, "octet of bits")


@on_handle("syntax.unused-bits", covers=["syntax/notes/bits"])
def dynamic_is_the_third_bit(peer: Peer) -> Verdict:
    """In CONSUME, bit 2 creates a queue, and bit 0 does not."""
    peer.open_handle(2)
    peer.claim("CREATED for bit 2 only")
    peer.consume("", 1, no_local=Raw(b"\x04"))
    created = peer.expect("handle.created", handle=1)["handle_id"]
    peer.send("handle.consume", handle_id=2, service_type=QUEUE, prefetch=1, no_local=Raw(b"\x01"))
    peer.reaction(1, 2)
    return equals(peer, (created, silent(peer, "handle.created", channels=(1,))), (1, []), "CREATED")
