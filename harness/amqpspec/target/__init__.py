"""Targets: their configuration, and how they are reached and restarted."""
