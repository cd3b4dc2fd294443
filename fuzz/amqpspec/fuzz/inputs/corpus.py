"""Recorded octets: as trees, so that they can be bent like productions, and as files of a campaign's folder.

Knows: that a dialect's driver reads them, how an entry is named. Must not know: where octets come from, frames.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b
from pathlib import Path

from amqpspec.fuzz.inputs.identity import IdError
from amqpspec.fuzz.inputs.part import inputs_part
from amqpspec.fuzz.trees.tree import Node, group

FOLDER = "corpus"
"""Below a campaign's folder: one file for each entry."""
_CORPUS, _AND = "corpus-", "+"
_MOST_OCTETS = 1 << 20
_SMALL_OCTETS = 256
"""A tree takes some hundred times the memory of its octets: many small ones are kept, and few large ones."""


def tree_of(dialect_id: str, octets: bytes) -> Node:
    """Octets as frames whose sizes follow their payloads, what is no frame as it is; rendered, the same octets.

    Payloads that can be read are as fine as those of productions.
    """
    return (_small_tree if len(octets) <= _SMALL_OCTETS else _large_tree)(dialect_id, octets)


def _tree(dialect_id: str, octets: bytes) -> Node:
    return group("corpus", *inputs_part(dialect_id).frames_of(octets))


_small_tree, _large_tree = lru_cache(maxsize=512)(_tree), lru_cache(maxsize=64)(_tree)


def corpus_role(octets: bytes) -> str:
    """A corpus entry as the role of an id."""
    return _CORPUS + blake2b(octets, digest_size=8).hexdigest()


def spliced_role(role: str, other: str) -> str:
    """An entry into which parts of another one are put, as the role of an id."""
    return role + _AND + other.removeprefix(_CORPUS)


def entries_of(role: str) -> tuple[str, ...]:
    """The entries that a role names: one, or the one that is changed and the one that gives parts; none of others."""
    if not role.startswith(_CORPUS):
        return ()
    return tuple(_CORPUS + name for name in role.removeprefix(_CORPUS).split(_AND, 1))


def write_entry(folder: Path, role: str, octets: bytes) -> None:
    """Keep an entry in a campaign's folder. Raises OSError."""
    place = folder / FOLDER
    place.mkdir(parents=True, exist_ok=True)
    partial = place / f".{role}.bin"
    partial.write_bytes(octets)
    partial.replace(place / f"{role}.bin")


def read_entry(folder: Path, role: str) -> bytes:
    """An entry of a campaign's folder; raises IdError if it is missing or changed."""
    path = folder / FOLDER / f"{role}.bin"
    try:
        with path.open("rb") as file:
            octets = file.read(_MOST_OCTETS + 1)
    except OSError as error:
        raise IdError(f"{path}: expected an entry of a corpus, actual: {error.strerror}") from error
    if corpus_role(octets) != role:
        raise IdError(f"{path}: expected the octets of {role}, actual: others")
    return octets


def entries_in(folder: Path, role: str) -> dict[str, bytes]:
    """The entries that a role names, from a campaign's folder; raises IdError."""
    return {name: read_entry(folder, name) for name in entries_of(role)}
