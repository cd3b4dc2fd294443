"""Servers that send performatives in the wrong place: opens, begins, attaches, flows, dispositions."""

from __future__ import annotations

from typing import Any

from amqpspec.run.clients.provoking import Reading, followed, instead
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.suites.clients_1_0.hostile_frames import IN_SESSION, POINTS
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, performative_frame
from amqpspec.wire.amqp_1_0.values import Described
from amqpspec.wire.hostility import Deed

_NOBODY = 4000
_FAR = 0xFFFFFFFF
_WINDOWS = {"next_outgoing_id": 0, "incoming_window": 9, "outgoing_window": 9}


def _lone(performative: str, /, channel: int, **fields: Any) -> bytes:
    return performative_frame(performative, channel, **fields)


_ANYWHERE: tuple[tuple[str, str, Deed, str, Reading | None], ...] = (
    ("second-open", "connections/states/legal-frames",
     of.behind(lambda c: _lone("open", 0, container_id="again")), "a second open", None),
    ("begin-for-nobody", "performatives/begin/remote-channel/answer",
     of.behind(lambda c: _lone("begin", c + 1, remote_channel=_NOBODY, **_WINDOWS)),
     "a begin that answers no other begin", None),
    ("begin-beyond-limit", "performatives/open/channel-max/exceeded",
     of.behind(lambda c: _lone("begin", 65_535, remote_channel=_NOBODY, **_WINDOWS)),
     "a begin on channel 65,535", of.limited("channel_max", 65_535)),
    ("flow-on-no-session", "sessions/states/unmapped",
     of.behind(lambda c: _lone("flow", c + 2, **_WINDOWS)), "a flow on a channel without a session", None),
    ("end-of-no-session", "sessions/states/unmapped",
     of.behind(lambda c: _lone("end", c + 2)), "an end on a channel without a session", None),
    ("flow-for-nobody", "performatives/flow/handle/unattached",
     of.behind(lambda c: _lone("flow", c, next_incoming_id=0, handle=99, link_credit=1, delivery_count=0, **_WINDOWS)),
     "a flow with a handle that no link uses", None),
    ("detach-of-nobody", "definitions/condition/unattached-handle",
     of.behind(lambda c: _lone("detach", c, handle=99, closed=True)), "a detach with a handle that no link uses", None),
    ("transfer-to-nobody", "definitions/condition/unattached-handle",
     of.behind(lambda c: _lone("transfer", c, handle=99, delivery_id=0, delivery_tag=b"x", message_format=0)),
     "a transfer with a handle that no link uses", None),
    ("handle-beyond-limit", "performatives/begin/handle-max/exceeded",
     of.behind(lambda c: _lone("attach", c, name="far", handle=_FAR, role="receiver", target={}, source={})),
     "an attach with handle 4,294,967,295", of.limited("handle_max", _FAR, "begin")),
    ("credit-without-handle", "performatives/flow/link-credit/without-handle",
     of.behind(lambda c: _lone("flow", c, next_incoming_id=0, link_credit=7, **_WINDOWS)),
     "link-credit in a flow without handle", None),
    ("flow-of-nothing", "performatives/flow/mandatory", of.behind(lambda c: _lone("flow", c)),
     "a flow without windows", None),
    ("attach-of-nothing", "performatives/attach/mandatory", of.behind(lambda c: _lone("attach", c, name="x")),
     "an attach without handle and role", None),
    ("disposition-of-nothing", "performatives/disposition/mandatory",
     of.behind(lambda c: _lone("disposition", c, role="receiver")), "a disposition without first", None),
)  # fmt: skip
for _point in IN_SESSION:
    for _name, _row, _deed, _what, _reads in _ANYWHERE:
        of.hostile(
            globals(), f"client.hostile.{_name}.{_point}", f"violated/{_row}", POINTS[_point], _deed,
            f"A client {of.demand(f'violated/{_row}')} {_what} after {_point}", _reads,
        )  # fmt: skip


def _disposed(**fields: Any) -> Deed:
    """The disposition, and a second one with other fields."""
    return followed(lambda frame: of.again(frame, **fields))


def _other_handle(frame: bytes) -> bytes:
    return of.again(frame, name="another", role="sender", initial_delivery_count=0)


def _to_a_sender(frame: bytes) -> bytes:
    handle = of.read(frame)[0]["handle"]
    message = b"\x00\x53\x75\xa0\x01x"
    fields = {"handle": handle, "delivery_id": 0, "delivery_tag": b"x", "message_format": 0}
    return performative_frame("transfer", of.channel_of(frame), payload=message, **fields)


_AT: tuple[tuple[str, str, str, Deed, str], ...] = (
    ("open-without-container", "performatives/open/mandatory", "open",
     instead(lambda f: of.again(f, container_id=None)), "an open without container-id"),
    ("open-of-100-octets", "definitions/min-max-frame-size/lower-bound", "open",
     instead(lambda f: of.again(f, max_frame_size=100)), "a max-frame-size of 100"),
    ("empty-before-open", "connections/empty-frame/after-open", "open",
     lambda f: [EMPTY_FRAME + f], "an empty frame before open"),
    ("begin-before-open", "performatives/open/first-frame", "open",
     lambda f: [_lone("begin", 0, **_WINDOWS) + f], "a begin before open"),
    ("begin-twice", "sessions/begin/unused-channel", "begin", followed(lambda f: f), "a repeated begin"),
    ("attach-twice", "performatives/attach/handle/in-use", "attach", followed(lambda f: f), "a repeated attach"),
    ("handle-twice", "performatives/attach/handle/in-use", "attach", followed(_other_handle),
     "a second attach with the same handle"),
    ("transfer-to-a-sender", "definitions/condition/not-allowed", "flow", followed(_to_a_sender),
     "a transfer on a link on which it sends"),
    ("dispose-of-all", "performatives/disposition/directionality", "disposition",
     _disposed(first=0, last=0xFFFFFFFE), "a disposition for 0 to 4,294,967,294"),
    ("dispose-of-half", "performatives/disposition/directionality", "disposition",
     _disposed(first=0, last=0x7FFFFFFF), "a disposition for 0 to 2,147,483,647"),
    ("dispose-backwards", "performatives/disposition/directionality", "disposition",
     _disposed(first=9, last=3), "a disposition for 9 to 3"),
    ("dispose-of-nobody", "performatives/disposition/directionality", "disposition",
     _disposed(first=900, last=900), "a disposition for a delivery that does not exist"),
    ("dispose-as-sender", "performatives/disposition/directionality", "disposition",
     _disposed(role="sender"), "a disposition with the other role"),
    ("dispose-unknown-state", "performatives/disposition/directionality", "disposition",
     _disposed(first=900, last=900, state=Described(0x99, [])), "a disposition with an undefined state"),
)  # fmt: skip
for _name, _row, _point, _deed, _what in _AT:
    of.hostile(
        globals(),
        f"client.hostile.{_name}",
        f"violated/{_row}",
        POINTS[_point],
        _deed,
        f"A client {of.demand(f'violated/{_row}')} {_what}",
    )
