"""Figures: each one a ratio, measured side by side in one run."""
