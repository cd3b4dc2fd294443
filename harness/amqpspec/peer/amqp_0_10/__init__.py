"""The client side of AMQP 0-10 for cases.

``peer.Peer`` is the entry point; a case above the session layer needs these methods:

- ``open_session(channel)``: the login where it has not been done, attach, command-point; everything on channel 0 where
  no other is named. Several sessions are several channels. ``another()`` is a further connection.
- ``send(name, channel, …)`` sends a control or a command by its name in the tables and does not wait; of a command it
  gives the id. ``sync`` sets the flag, ``header`` and ``body`` are the segments after it.
- ``call(name, channel, …)`` sends one and takes what answers it: the responding control, the result of a command that
  has one (a ``Packed``), else its completion. ``Unmet`` where a refusal comes in its place.
- ``queue``, ``exchange``, ``publish``, ``subscribe``, ``flow``, ``transfer``, ``transfers``, ``accept`` are the usual
  steps with entities and messages; ``pending`` takes what has arrived of a kind.
- ``barrier(channel)`` proves that everything before it is done: execution.sync, and its completion.
- ``reaction(channel)`` watches what the target does about what was sent last.

``sessions[channel]`` keeps book (``books.Session``): ids in both directions, what is completed on either side. The peer
answers what a session has to answer (detach, flush, timely completed …) unless ``polite`` is off. It does not complete
transfers by itself: ``complete`` does, because completion moves windows.
"""
