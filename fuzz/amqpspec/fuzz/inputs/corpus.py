"""Recorded octets as trees, so that they can be bent like productions.

Knows: that a dialect's driver reads them. Must not know: where octets come from, frames.
"""

from __future__ import annotations

from functools import lru_cache

from amqpspec.fuzz.inputs.part import inputs_part
from amqpspec.fuzz.trees.tree import Node, group

_KEPT_TREES = 64


@lru_cache(maxsize=_KEPT_TREES)
def tree_of(dialect_id: str, octets: bytes) -> Node:
    """Octets as frames whose sizes follow their payloads, what is no frame as it is; rendered, the same octets.

    Payloads that can be read are as fine as those of productions.
    """
    return group("corpus", *inputs_part(dialect_id).frames_of(octets))
