"""The codec of AMQP 1.0, driven by its tables: types, composites, frames, messages; sans I/O.

Knows: nothing itself; ``frames`` is where most readers begin. Must not know: sockets, time, states.
"""
