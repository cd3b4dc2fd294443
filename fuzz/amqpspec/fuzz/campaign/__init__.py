"""Campaigns: what is sent next, what is counted, what is written down when."""
