"""Ids of distributed transactions: X/Open XA allows 64 octets, however long the name of a run is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.suites.amqp_0_10._branches import xid


def named(tag: str) -> Peer:
    return cast(Peer, SimpleNamespace(name=lambda what: f"{tag}.{what}"))


def test_a_global_id_has_room_whatever_the_run_is_called() -> None:
    long = "a-target-with-a-long-name-" * 6
    one, another = xid(named(long + "1")), xid(named(long + "2"))
    assert len(one["global_id"]) <= 64 and one["global_id"] != another["global_id"]
    assert one == xid(named(long + "1"))
