"""Octets to frames, methods, contents and tables, and back: sans I/O, driven by the tables of amqpspec.spec."""
