"""The computation of marts: each a pure function of rollups and dimensions, in a separate module."""
