"""Rollups: one aggregation of the facts for each grain and day; all that marts read of the facts."""
