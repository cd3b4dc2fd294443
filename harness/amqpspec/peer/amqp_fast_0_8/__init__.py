"""The peer of AMQP/Fast: a client that tracks what it sent and accepts everything that arrives.

For authors of cases, in short (``peer.Peer`` has it in full):

- ``peer.open_connection(**options)``, ``peer.open_channel(1, transacted=True, restartable=True)`` and
  ``peer.open_handle(1, channel=1)`` lead to an open handle, each with what is before it. A handle is opened with all
  rights unless some are named. ``peer.another()`` is a second connection of the same case.
- ``peer.send("handle.flow", handle_id=2, flow_pause=True)`` sends a command; channel 1 and handle 1 are meant if
  none is named, and what is left out is zero or empty. ``peer.call(…)`` asks for a confirmation and waits for it.
- ``peer.queue()`` makes a temporary queue (its name is the target's) that no one reads; ``peer.consume(name, …)`` reads
  it; ``peer.publish(name, b"body", **head)`` sends to it; ``peer.delivery(handle)`` is the next whole message:
  ``.body``, ``.head``, ``.number``, ``.delivered``, ``.redelivered``, ``.dest_name``, ``.frames``.
- ``peer.expect("handle.index", handle=1)`` waits for a command, and raises ``Unmet`` where another end comes.
- ``peer.barrier(channel)`` proves that a channel has done all that was sent; ``peer.received(handle)`` then tells
  what messages arrived. ``peer.ping()`` is a round trip on the connection.
- ``run.amqp_fast_0_8.oracles.rejects_violation(peer)`` judges what was sent last by the row that the case names first:
  ``handle=`` and ``channel=`` say where a CLOSE is looked for, ``barrier=None`` waits for the end.

CLOSEs of the target are answered at once, unless ``peer.polite`` is False.
"""
