"""The dialects as data."""
