"""Messages as a client sends, acknowledges and browses them."""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.run.amqp_fast_0_8.books import Books
from amqpspec.run.clients.judging import Looked
from amqpspec.spec.model import Side
from amqpspec.suites.clients_fast_0_8._rules import declare, each, walk
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame
from amqpspec.wire.conversation import Conversation, Said

_C = Side.CLIENT
_SENDING = ("send", "receive", "transacted", "browse", "flow", "unget", "large", "restart")
_RECEIVING = ("receive", "flow", "unget", "large", "restart")


def _unmixed(frame: CommandFrame, books: Books) -> bool:
    under_way = books.arriving.get((_C, books.channel_of(frame)))
    return under_way is None or under_way.handle == frame.args["handle_id"]


def _same_tag(frame: CommandFrame, books: Books) -> bool:
    under_way = books.arriving.get((_C, books.channel_of(frame)))
    if under_way is None or under_way.handle != frame.args["handle_id"]:
        return True
    return bool(under_way.args["confirm_tag"] == frame.args["confirm_tag"])


def _whole(talk: Conversation) -> Iterator[Looked]:
    """What is sent of a body, in one fragment or many, is what its head announced."""
    for said, frame, books in walk(talk, "handle.send"):
        message = books.message_with(_C, frame)
        if frame.args["recovery"] or frame.args["out_of_band"]:
            continue
        done = not frame.args["partial"]
        kept = message.sent_octets == message.body_octets if done else not message.is_too_long
        yield Looked(said, kept, f"{message.sent_octets} octets of {message.body_octets}")


def _fits(talk: Conversation) -> Iterator[Looked]:
    for said, frame, books in walk(talk):
        limit = books.proposed.get("FRAME_MAX", 0)
        octets = max(said.octets - len(frame.fragment), len(frame.fragment))
        if limit:
            yield Looked(said, octets <= limit, f"{octets} octets, FRAME_MAX is {limit}")


def _acknowledges(talk: Conversation) -> Iterator[Looked]:
    """Only a client that said itself that it is done owes nothing more."""
    if not any(talk.by_client("connection.close")):
        return
    books = Books()
    owed: list[tuple[Said, int]] = []
    for said in talk.said:
        if not isinstance(said.what, CommandFrame):
            continue
        channel = books.channel_of(said.what)
        if said.name == "handle.notify" and said.what.args["delivered"] and not said.what.args["partial"]:
            owed.append((said, channel))
            if said.what.args["handle_id"] in books.without_ack:
                yield Looked(owed.pop()[0], True)
        elif said.sender is _C:
            settled = [(get, at) for get, at in owed if at == channel and _settles(said.what, get.what)]
            owed = [one for one in owed if one not in settled]
            yield from (Looked(get, True) for get, _ in settled)
        books.follow(said.sender, said.what)
    yield from (Looked(get, False, "never acknowledged") for get, _ in owed)


def _settles(said: CommandFrame, notify: CommandFrame) -> bool:
    """Whether a command on its channel leaves nothing to be done about a message; a rollback cancels its NOTIFY."""
    number = notify.args["message_nbr"]
    return (
        said.name == "channel.rollback"
        or (said.name == "channel.ack" and number <= said.args["message_nbr"])
        or (said.name == "handle.unget" and number == said.args["message_nbr"])
    )


def _processes(frame: CommandFrame, books: Books) -> bool:
    """What was delivered may be acknowledged; what was only shown is nothing to acknowledge."""
    return books.last_number.get(frame.args["channel_id"], 0) > 0 or not books.shown


def _came(frame: CommandFrame, books: Books) -> bool:
    return 0 < int(frame.args["message_nbr"]) <= books.last_number.get(books.channel_of(frame), 0)


def _is_not_settled(frame: CommandFrame, books: Books) -> bool:
    number, channel = frame.args["message_nbr"], books.channel_of(frame)
    return number in books.delivered.get(channel, set()) or not _came(frame, books)


def _tags_its_browses(talk: Conversation) -> Iterator[Looked]:
    """BROWSEs that are sent before the one before is answered have tags by which their answers are distinguished."""
    for said, frame, books in walk(talk, "handle.browse"):
        pipelined = books.browses[frame.args["handle_id"]] > 0
        yield Looked(said, not pipelined or frame.args["confirm_tag"] > 0)


for _id, _rows, _rule, _title, _scenarios in (
    ("send.service", "handle/send/service-type", each(lambda f, b: f.args["service_type"] in (1, 2, 3), "handle.send"),
     "The service type of SEND is queue, topic or any.", _SENDING),
    ("consume.service", "handle/consume/service-type",
     each(lambda f, b: f.args["service_type"] in (1, 2), "handle.consume"),
     "The service type of CONSUME is queue or topic.", _SENDING),
    ("consume.prefetch", "handle/consume/prefetch-range", each(lambda f, b: f.args["prefetch"] > 0, "handle.consume"),
     "The prefetch of CONSUME is at least 1.", _SENDING),
    ("send.unmixed", "messages/fragments/not-mixed", each(_unmixed, "handle.send"),
     "The client completes a message before it begins another one on the same channel.", _SENDING),
    ("send.tag", "handle/send/consecutive", each(_same_tag, "handle.send"),
     "All fragments of a message have the same confirm-tag.", _SENDING),
    ("send.body-size", "messages/head/body-size", _whole, "Each body has the size that its head announces.", _SENDING),
    ("frames.size", "messages/fragments/large", _fits, "No frame and no fragment exceeds FRAME_MAX.", _SENDING),
    ("ack.owed", "handle/notify/acknowledged handle/summary/client/notify", _acknowledges,
     "The client acknowledges each delivered message or gives it back.", _RECEIVING),
    ("ack.shown", "handle/notify/not-processed", each(_processes, "channel.ack"),
     "The client does not acknowledge a message that was only browsed.", ("browse", "receive")),
    ("unget.number", "handle/unget/number", each(_came, "handle.unget"), "UNGET names a delivered message.",
     ("unget", "send")),
    ("unget.before-ack", "handle/unget/before-ack", each(_is_not_settled, "handle.unget"),
     "The client sends UNGET before the ACK of the message.", ("unget", "receive")),
    ("browse.tags", "handle/browse/confirm-tag", _tags_its_browses,
     "Pipelined BROWSEs have confirm-tags.", ("browse",)),
):  # fmt: skip
    declare(globals(), _id, _rows, _rule, _title, _scenarios)
