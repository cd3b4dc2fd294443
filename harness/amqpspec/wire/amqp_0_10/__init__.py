"""The codec of AMQP 0-10: controls and commands in assemblies of segments, cut into frames.

Knows: the tables of the dialect. Must not know: sockets, time, what a control or a command does to a session.
"""
