"""The canaries of the 0-9 family: a queue that stores a message, and queues that are consumed from.

Knows: channels, queues, its own deliveries. Must not know: inputs, processes, what a complaint leads to.

All queues are exclusive; two of them are consumed from, each on a separate channel. On one more channel nothing is
ever asked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.heard import Heard
from amqpspec.fuzz.oracles.part import HeldBack
from amqpspec.fuzz.oracles.queues import QueueCanary, QueueClient, consuming
from amqpspec.fuzz.states.model import Step
from amqpspec.spec.dialects import widest
from amqpspec.wire.methods.codec import ContentHeader, codec_for
from amqpspec.wire.methods.frames import FrameWriter

_FIRST, _SECOND, _QUIET = 1, 2, 3
"""Channels: the last one receives nothing."""
_BLOCKED, _UNBLOCKED = "connection.blocked", "connection.unblocked"
_FLOW, _TURNED_OFF, _LOOK_S = "channel.flow", "the target turned contents off (channel.flow)", 0.05
_HELD_BACK, _HELD_BACK_S = f"the target blocked publishers ({_BLOCKED})", 1.0
"""How long a target that blocks publishers has for an answer: RabbitMQ stops reading from connections that publish."""


@cache
def _asking_to_be_notified(step: Step) -> Step:
    """The step of a client that wants to know whether publishers are blocked."""
    capability = ("client_properties", {"capabilities": {_BLOCKED: True}})
    says = (
        replace(say, args=(*say.args, capability)) if say.name == "connection.start-ok" else say
        for say in step.says
    )
    return replace(step, says=tuple(says))


class MethodsClient(QueueClient):
    """A client with methods and contents. ``is_blocked``: the target said that it blocks publishers."""

    is_blocked = False
    _off: frozenset[int] = frozenset()

    def _octets_of(self, step: Step) -> bytes:
        knows = _BLOCKED in codec_for(widest(self.dialect)).dialect.methods
        return super()._octets_of(_asking_to_be_notified(step) if knows else step)

    def next(self, until_s: float) -> Heard | None:
        """Return the next thing that the target says, or None at ``until_s``."""
        said = super().next(until_s)
        while said is not None and said.name == _FLOW:
            self._turn(said)
            said = super().next(until_s)
        if said is not None and said.name in (_BLOCKED, _UNBLOCKED):
            self.is_blocked = said.name == _BLOCKED
        return said

    def _turn(self, said: Heard) -> None:
        """Confirm that contents on a channel were turned off or on (channel.flow)."""
        active = bool(codec_for(widest(self.dialect)).decode_method(said.payload)["active"])
        self._off = self._off - {said.channel} if active else self._off | {said.channel}
        self.say(f"{_FLOW}-ok", said.channel, active=active)

    def _obey_flow(self, channel: int) -> None:
        """Take in what has arrived; while contents are off on the channel, wait. Raises HeldBack."""
        self._pass_until(now_s())
        until_s = now_s() + _HELD_BACK_S
        while channel in self._off:
            if now_s() >= until_s:
                raise HeldBack(_TURNED_OFF)
            self._pass_until(now_s() + _LOOK_S)

    def _pass_until(self, until_s: float) -> None:
        while (said := self.next(until_s)) is not None:
            self.passed.append(said)

    def answer(self, *names: str) -> Heard:
        """The next of these. Raises Unanswered, and HeldBack if the target blocks publishers meanwhile."""
        said = None if self.is_blocked else self.wait(*names, also=_BLOCKED)
        return said if said is not None and said.name != _BLOCKED else self._answer_while_blocked(names)

    def _answer_while_blocked(self, names: Sequence[str]) -> Heard:
        patience_s, self.timeout_s = self.timeout_s, _HELD_BACK_S
        try:
            return self.wait(*names)
        except Unanswered as reason:
            if reason.silent:
                raise HeldBack(_HELD_BACK) from reason
            raise
        finally:
            self.timeout_s = patience_s

    def say(self, name: str, /, channel: int = 1, **args: Any) -> None:
        """One method."""
        codec = codec_for(widest(self.dialect))
        write = FrameWriter(codec.dialect.layout).frame
        self.send(write(codec.dialect.layout.types["method"], channel, codec.encode_method(name, args)))

    def publish(self, queue: str, body: bytes, channel: int = 1) -> None:
        """A message straight to a queue. Raises HeldBack while the target has turned contents off."""
        self._obey_flow(channel)
        codec = codec_for(widest(self.dialect))
        write, types = FrameWriter(codec.dialect.layout).frame, codec.dialect.layout.types
        header = codec.encode_header(ContentHeader(codec.dialect.classes_by_name["basic"].index, len(body)))
        method = codec.encode_method("basic.publish", {"routing_key": queue})
        parts = (("method", method), ("header", header), ("body", body))
        self.send(b"".join(write(types[kind], channel, payload) for kind, payload in parts))

    def body(self) -> bytes:
        """The body of the content that comes next, of one frame."""
        return self.wait("content body").payload

    def get(self, queue: str) -> bytes | None:
        """One message out of a queue, or None."""
        self.say("basic.get", queue=queue, no_ack=True)
        return None if self.answer("basic.get-ok", "basic.get-empty").name.endswith("empty") else self.body()


class MethodsCanary(QueueCanary[MethodsClient]):
    """Exclusive queues; two of them are consumed from."""

    client_class = MethodsClient

    def settle(self) -> None:
        """Open the channels, if the target allows this many, and the queues."""
        client, name = self.client, f"amqpspec.canary.{self.number}"
        self.store, self.inboxes = f"{name}.s", {_FIRST: f"{name}.i"} if self.listens else {}
        client.enter("channel")
        if client.values.channel_max >= _QUIET:
            if self.inboxes:
                self.inboxes[_SECOND] = f"{name}.i2"
            for channel in (_SECOND, _QUIET):
                client.say("channel.open", channel)
                client.wait("channel.open-ok")
        for channel, queue in ((_FIRST, self.store), *self.inboxes.items()):
            client.say("queue.declare", channel, queue=queue, exclusive=True)
            client.wait("queue.declare-ok")
        with consuming():
            for channel, queue in self.inboxes.items():
                client.say("basic.consume", channel, queue=queue, no_ack=True)
                client.wait("basic.consume-ok")

    def fetched(self) -> bytes | None:
        """Get the stored message. Raises Unanswered, HeldBack."""
        return self.client.get(self.store)

    def received(self, own: Mapping[int, bytes]) -> list[tuple[int, bytes]]:
        """Bodies by channel; a target that blocks publishers need not deliver. Raises Unanswered, HeldBack."""
        received = super().received(own)
        missing = own.keys() - {channel for channel, _ in received}
        if missing and self.stored == self.expected and self.client.is_blocked:
            raise HeldBack(_HELD_BACK)
        return received

    def counts(self, said: Heard) -> bool:
        """Whether something is a body, or on a channel that asked nothing."""
        return said.name == "content body" or said.channel not in (0, _FIRST, *self.inboxes)
