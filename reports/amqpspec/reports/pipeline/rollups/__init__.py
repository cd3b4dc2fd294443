"""Rollups: one aggregation of the facts for each grain and day; marts read nothing else from the facts."""
