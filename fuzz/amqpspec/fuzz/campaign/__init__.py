"""Campaigns: the order of inputs, the counts, and what is written to disk when."""
