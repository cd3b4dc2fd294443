"""Limits around what a broker's process may write to, set before it begins and read from the system afterwards.

Knows: RLIMIT_DATA, the heap options of a JVM. Must not know: brokers.

The limit is on private writable memory and not on addresses: runtimes reserve far more of those than they ever use.
"""

from __future__ import annotations

import re
from dataclasses import replace

from amqpspec.target.known.process import Command

try:
    import resource
except ImportError:  # Windows: nothing is limited there
    resource = None  # type: ignore[assignment]

_MIB = 1 << 20
_UNITS = {"k": 1 << 10, "m": _MIB, "g": 1 << 30}
_JVM = re.compile(r"(-Xmx|-XX:MaxDirectMemorySize=)(\d+)([kmg])", re.IGNORECASE)
_JVM_SHARES = {"-Xmx": 2, "-XX:MaxDirectMemorySize=": 4}
"""What part of the limit a JVM's heap and its direct memory may take at most: the rest is for itself."""


def limited(command: Command, limit_mib: int | None) -> Command:
    """The command under a limit, if one is set; a JVM's own limits are lowered to fit into it."""
    if limit_mib is None:
        return command
    argv = [_lowered(word, limit_mib) for word in command.argv]
    return replace(command, argv=tuple(argv), data_limit_octets=limit_mib * _MIB)


def _lowered(word: str, limit_mib: int) -> str:
    found = _JVM.fullmatch(word)
    if found is None:
        return word
    most_mib = limit_mib // _JVM_SHARES[found[1]]
    wanted_mib = int(found[2]) * _UNITS[found[3].lower()] // _MIB
    return f"{found[1]}{min(wanted_mib, most_mib)}m"


def limit_in_force_mib(pid: int | None) -> int | None:
    """The limit that a process lives under; None if there is none, or it cannot be read."""
    if pid is None or not hasattr(resource, "prlimit"):
        return None
    try:
        soft, _ = resource.prlimit(pid, resource.RLIMIT_DATA)
    except (OSError, ValueError):
        return None
    return None if soft == resource.RLIM_INFINITY else soft // _MIB
