"""Codecs of the 0-9 family: frames, methods, tables, contents."""
