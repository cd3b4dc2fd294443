"""Two uploads of one message at a time: what one has completed the other does not find any more."""

from __future__ import annotations

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.run.memory import MemoryTarget
from amqpspec.suites.amqp_fast_0_8._transfers import BODY, head_of, prepare, restartable, send_rest

_DIALECT, _INVALID_CONTENT = "amqp-fast-0-8", 542


def test_the_second_of_two_uploads_of_one_message_is_refused_by_its_size() -> None:
    target = MemoryTarget(_DIALECT)
    try:
        peer = Peer(target.context())
        name = restartable(peer)
        peer.open_channel(2, restartable=True)
        peer.open_handle(2, 2)
        for handle in (1, 2):
            prepare(peer, head_of(BODY, identifier="one"), BODY[:500], handle)
        send_rest(peer, name, BODY[500:])
        peer.ping()
        send_rest(peer, name, BODY[500:], 2)
        assert peer.reaction(2, 2).code == _INVALID_CONTENT
        peer.open_channel(3)
        assert peer.left_in(name, 3) == [BODY]
    finally:
        target.close()
