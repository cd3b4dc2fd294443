"""The input of one connection: the greeting, then commands, dispatched by phase, channel and handle.

Knows: which command may arrive when, and which rule other commands violate. Must not know: the effects of commands.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.reference.amqp_fast_0_8 import channel_commands, handle_commands, opening
from amqpspec.reference.amqp_fast_0_8 import transfers as _transfers  # noqa: F401  (registers its commands)
from amqpspec.reference.amqp_fast_0_8.connection import Connection
from amqpspec.reference.amqp_fast_0_8.fields import CutShortError, FieldReader
from amqpspec.reference.amqp_fast_0_8.limits import FRAME_MAX_OCTETS
from amqpspec.reference.amqp_fast_0_8.phases import BEFORE_OPEN, Phase
from amqpspec.reference.amqp_fast_0_8.wire import Incoming
from amqpspec.reference.core import Core
from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.amqp_fast_0_8.types import PROTOCOL_ID, PROTOCOL_IDS, PROTOCOL_VERSION
from amqpspec.spec.commands import Command, Payload, Tier

_LOGIN_SIZES = {
    "connection.response": "connection/response/size",
    "connection.tune": "connection/tune/size",
}
_LEGAL = {
    Phase.LOGIN: ("connection.response", "connection.close", "connection.ping"),
    Phase.TUNING: ("connection.tune", "connection.open", "connection.close", "connection.ping"),
}
_NEVER = {
    "connection.challenge": "connection/summary/server/challenge",
    "connection.reply": "connection/summary/server/reply",
    "channel.reply": "channel/summary/server/reply",
    "handle.created": "handle/summary/server/created",
    "handle.notify": "handle/summary/server/notify",
    "handle.index": "handle/summary/server/index",
    "handle.reply": "handle/summary/server/reply",
}
_UNKNOWN = (
    (19, "syntax/connection-commands"),
    (29, "syntax/channel-commands"),
    (255, "syntax/handle-commands"),
)
_PADDING_OCTETS = 64
Args = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Taken:
    """One command that could be read, with the fragment after it."""

    command: Command
    args: Args
    fragment: bytes


class Inbox(Connection):
    """A connection with its input."""

    def __init__(self, core: Core) -> None:
        super().__init__(core)
        self._waiting: tuple[Command, Args, int] | None = None

    def next_command(self) -> bool:
        """Handle the greeting or the next command, with its fragment; False if more octets are needed."""
        if self.phase is Phase.GREETING:
            return self._greeted()
        if self._waiting is None:
            incoming = self.splitter.next()
            if incoming is None:
                return False
            self._waiting = self._read(incoming)
            if self._waiting is None:
                return True
        command, args, size = self._waiting
        fragment = self.splitter.take(size)
        if fragment is None:
            return False
        self._waiting = None
        self.on_frame(Taken(command, args, fragment))
        return True

    # --- the greeting

    def _greeted(self) -> bool:
        octets = self.splitter.take(2)
        if octets is None:
            return False
        id, version = octets
        if id in PROTOCOL_IDS["reserved"][0]:
            self.refuse("initiation/protocol-ids", f"protocol id {id}")
        elif id != PROTOCOL_ID:
            self.refuse("initiation/invalid", f"protocol id {id}")
        elif version < PROTOCOL_VERSION:
            self.refuse("syntax/initiation", f"version {version}")
        opening.challenge(self, version)
        return True

    # --- one command

    def _read(self, incoming: Incoming) -> tuple[Command, Args, int] | None:
        """A command with its fields, and how much follows it; None if it was refused, tolerated or discarded."""
        command = DIALECT.commands_by_code.get(incoming.code)
        if command is None and self.faulty("unknown-codes-skipped"):
            return None
        if command is None:
            self.refuse(_unknown(incoming.code), f"code {incoming.code}")
            return None
        if self.phase in BEFORE_OPEN and incoming.size > DIALECT.layout.max_login_frame_octets:
            rule = _LOGIN_SIZES.get(command.name, "connection/errors/kinds")
            self.refuse(rule, f"{command.name} of {incoming.size} octets")
        args = self._fields(command, incoming.fields)
        return None if args is None else (command, args, self._announced(command, args))

    def _fields(self, command: Command, octets: bytes) -> Args | None:
        self._name_ids(command, octets)
        refuse = self.refuse
        reader = FieldReader(octets, refuse, self.faulty)
        response = command.name == "connection.response"
        rule = "connection/summary/server/response-unknown" if response else "frames/fixed-fields"
        try:
            args = reader.read(command.fields)
        except CutShortError:
            if self.faulty("truncated-commands-executed"):
                return FieldReader(octets + bytes(_PADDING_OCTETS), refuse, self.faulty).read(command.fields)
            refuse(rule, f"{command.name} ends too early")
            return None
        if reader.at < len(octets):
            refuse(rule, f"{command.name} goes on for {len(octets) - reader.at} octets")
        return args

    def _name_ids(self, command: Command, octets: bytes) -> None:
        """Take the ids from the front, so that fields that cannot be read are refused where they belong."""
        at = 0
        for field in command.fields[:2]:
            number = int.from_bytes(octets[at : at + 2], "big")
            if field.name == "channel-id":
                self.channel_id = number
            elif field.name == "handle-id":
                self.handle_id = number
            at += 2
        handle = self.handles.get(self.handle_id)
        if handle is not None and command.name != "handle.open":
            self.channel_id = handle.channel.id

    def _announced(self, command: Command, args: Args) -> int:
        if command.payload is Payload.NONE or args.get("out_of_band"):
            return 0
        size = int(args["fragment_size"])
        if self.faulty("fragment-size-counts-the-frame"):
            size = max(0, size - 1)
        if size > FRAME_MAX_OCTETS:
            self.refuse("frames/size-forms", f"a fragment of {size} octets")
        return size

    def on_frame(self, taken: Taken) -> None:
        """Handle one command."""
        phase, command, args = self.phase, taken.command, taken.args
        self._remember(args)
        if command.name == "connection.close":
            self.closed_by_peer()
        elif phase is Phase.CLOSING:
            self.close_again()
        elif command.name in _NEVER:
            self.refuse(_NEVER[command.name], f"{command.title} from a client")
        elif phase in _LEGAL and command.name not in _LEGAL[phase]:
            self.refuse("connection/errors/kinds", f"{command.title} before CONNECTION OPEN")
        elif command.tier is Tier.CONNECTION:
            opening.COMMANDS[command.name](self, args)
        elif not self._is_closing(command):
            self._serve(command, args, taken.fragment)

    def _remember(self, args: Mapping[str, Any]) -> None:
        self.confirm_tag = args.get("confirm_tag", 0)
        self.handle_id = args.get("handle_id", 0)
        handle = self.handles.get(self.handle_id)
        self.channel_id = args.get("channel_id", handle.channel.id if handle else 0)

    def _serve(self, command: Command, args: Args, fragment: bytes) -> None:
        if command.tier is Tier.CHANNEL:
            channel_commands.COMMANDS[command.name](self, args)
        else:
            handle_commands.COMMANDS[command.name](self, {**args, "fragment": fragment})

    def _is_closing(self, command: Command) -> bool:
        """Whether a command meets a CLOSE of the broker, as its answer or as what is to be discarded."""
        name = command.name
        if self.channel_id in self.closing_channels:
            return self._meets_channel_close(name)
        if name == "handle.open" or self.handle_id not in self.closing_handles:
            return False
        if name == "handle.close":
            self.closing_handles.discard(self.handle_id)
            if self.faulty("answer-to-handle-close-is-answered"):
                self.reply("handle.close", handle_id=self.handle_id, reply_code=200)
        elif self.faulty("command-behind-handle-close-closes-the-connection"):
            self.close(503, "the handle is closing")
        return True

    def _meets_channel_close(self, name: str) -> bool:
        id = self.channel_id
        if name == "channel.close":
            self.closing_channels.discard(id)
            if self.faulty("closed-channel-cannot-be-opened"):
                self.closing_channels.add(id)
        elif not self.faulty("channel-close-not-repeated"):
            self.reply("channel.close", channel_id=id, reply_code=503)
        return True


def _unknown(code: int) -> str:
    """The rule that an undefined code breaks: codes go by levels, in tens."""
    return next(rule for last, rule in _UNKNOWN if code <= last)


FAULTS = fault_table("""
truncated-commands-executed: zeros take the place of fields that are missing, and the command is executed
    [frames/fixed-fields]
fragment-size-counts-the-frame: a fragment is read as one octet shorter than announced
    [messages/frames/size handle/send/behind messages/frames/carriers]
unknown-codes-skipped: frames with codes that are not defined are passed over
    [frames/skipping syntax/connection-commands syntax/channel-commands syntax/handle-commands]
command-behind-handle-close-closes-the-connection: behind the broker's HANDLE CLOSE, a command on the handle closes
    the connection [handle/close/discards]
answer-to-handle-close-is-answered: the HANDLE CLOSE that answers the broker's is answered [handle/close/reads-on]
closed-channel-cannot-be-opened: a channel that the broker closed stays closing [channel/close/ended]
channel-close-not-repeated: after the broker's CHANNEL CLOSE, other commands are ignored
    [channel/close/repeated]
""")
