"""The cause of a finding: one of several families and states have the same where the same thing broke.

Knows: traces in logs, the parts that a smallest input needs. Must not know: files, how an input was blamed.

A line of a log, or a crash by what the log says last, has what broke and where. A deviation has its requirement. Of
anything else, the parts matter that could not be made simpler: their frames and fields. If an input was not
minimized, its family and role are used instead; if none is to blame, the finding is alone, but growth and CPU time
that nothing was blamed for before the end are together.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from itertools import takewhile

from amqpspec.fuzz.inputs.corpus import tree_of
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.inputs.part import inputs_part
from amqpspec.fuzz.oracles.suspicion import BY_THREADS, Oracle
from amqpspec.fuzz.trees.tree import Role, walk
from amqpspec.fuzz.triage.shrink_tree import is_simplest
from amqpspec.fuzz.triage.triage import NOISY, Blame, Status
from amqpspec.wire.errors import WireError

_BY_LOG = frozenset({Oracle.LOG, Oracle.CRASH})
_PLACES = 4
_MOST_OCTETS = 4096


def cause_of(blame: Blame, family: str, state: str) -> str:
    """The cause as text; equal for all findings of one cause."""
    seen, item = blame.suspicion, blame.item
    if (seen.oracle in _BY_LOG and seen.cause) or seen.cause.startswith(BY_THREADS):
        return seen.cause
    if seen.oracle is Oracle.CONFORMANCE:
        return f"{seen.oracle}: {seen.top.partition(':')[0]}"
    if seen.oracle is Oracle.LOG:
        return f"{seen.oracle}: {seen.top}"
    # What a log says during a hang may be unrelated to it.
    what = f"{seen.oracle}: {seen.top.partition('; ')[0]}"
    if blame.status is Status.UNBLAMED and seen.oracle in NOISY:
        return f"{what}; not yet blamed"  # a heap that grows to its size does so in many places
    if item is None or blame.status in (Status.LOST, Status.UNBLAMED):
        return f"{what}; {family}, {state}"
    needed = what_matters(item) if blame.asks and blame.status is Status.STABLE else ""
    return f"{what}; {needed or _edited(item)}"


def cause_id(words: str) -> str:
    """Short, for names of files and fingerprints; the same in every campaign."""
    return blake2b(words.encode(), digest_size=6).hexdigest()


def _edited(item: FuzzInput) -> str:
    return f"{item.id.family} {item.id.role}" if item.id.family != RANDOM else f"{item.id.role}, {item.state}"


def what_matters(item: FuzzInput) -> str:
    """The frames of an input, each with the parts that are not as simple as can be; "" if they cannot be read."""
    if len(item.octets) > _MOST_OCTETS:
        return ""
    found = [_frames(item.dialect, step) for step in item.steps]
    return "; ".join(found) if all(found) else ""


def _frames(dialect_id: str, octets: bytes) -> str:
    names, places = list(_names(dialect_id, octets)), list(_needed(dialect_id, octets))
    return " ".join([*names, *list(dict.fromkeys(places))[:_PLACES]]) if names else ""


def _names(dialect_id: str, octets: bytes) -> Iterator[str]:
    """What each frame is, without its values; only of those before one that cannot be read."""
    worded = inputs_part(dialect_id).words_of(octets)
    try:
        while worded is not None and (text := worded.next()) is not None:
            words = text.partition(",")[0].split()
            yield " ".join(takewhile(lambda word: "=" not in word and not word.isdigit(), words))
    except WireError:
        return


def _needed(dialect_id: str, octets: bytes) -> Iterator[str]:
    """The path of each part that is neither simplest nor says what others are, without the numbers of items."""
    for place in walk(tree_of(dialect_id, octets)):
        node = place.node
        if node.role is not Role.GROUP and not is_simplest(node):
            yield ".".join(part.rstrip("0123456789").rstrip("-") for part in place.path.split(".")[1:])
