"""Figures: each one a ratio, measured in parallel in one run."""
