"""The reference broker of AMQP 0-10.

From octets to meaning: ``wire`` cuts frames, ``assembling`` puts segments together, ``inbox`` sorts what is whole by
phase and channel, ``login`` and ``attaching`` handle controls of connections and attachments, ``accounting`` those
that report commands, ``executing`` numbers commands and hands each to its handler.

A class of commands is a module of handlers, listed in ``classes``. To add a command::

    @executes("queue.purge")
    def purge(session: Session, order: Order) -> Packed | None:
        \"\"\"What it does.\"\"\"
        if order["queue"] not in session.vhost.queues:
            session.refuse(ROW, "no such queue", "queue")

What a handler returns is the command's result. ``session.refuse(row, text, field)`` raises for a rule of the ledger,
which has to stand in ``faults._ROWS``, and returns where a fault tolerates it; the exception names command and field by
itself. ``session.command`` sends a command, ``session.control`` a control; ``session.vhost`` is the shared model.
``session.deferred`` is where an order goes that is not complete when its handler returns: ``session.complete`` is then
called by the code that completes it. A behaviour that a fault spoils asks ``session.faulty(NAME)`` at the spot; the
fault is a row of the table ``FAULTS`` at the end of the same module, which ``faults._MODULES`` lists.
"""
