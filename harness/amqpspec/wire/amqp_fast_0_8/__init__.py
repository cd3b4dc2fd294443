"""The codec of AMQP/Fast 0.8d6: commands in frames, and the fragments of messages that stand between frames.

Knows: the tables of the dialect. Must not know: sockets, time, what a command does to a channel or a handle.
"""
