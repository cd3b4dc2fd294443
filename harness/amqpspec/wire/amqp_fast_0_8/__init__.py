"""The codec of AMQP/Fast 0.8d6: commands in frames, and the fragments of messages between frames.

Knows: the tables of the dialect. Must not know: sockets, time, what a command does to a channel or a handle.
"""
