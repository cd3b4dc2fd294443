"""What a fault is.

Knows: its three parts. Must not know: any fault.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """One deviation: its name, the requirements that it breaks, and what the broker then does, in one sentence."""

    name: str
    breaks: tuple[str, ...]
    says: str
