"""Certifying clients: the harness is the server, and the target is a program that connects to it."""
