"""Common parts of the fuzzer's verbs: the target and its dialect, SIGTERM as an orderly end.

Knows: targets, detection, signals. Must not know: what a verb does with a target.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from amqpspec.cli.common import stop
from amqpspec.fuzz.executor.subject import check_scope
from amqpspec.fuzz.parts import deployed_dialects
from amqpspec.run.detect import detect
from amqpspec.run.driver import ProbeFailed
from amqpspec.run.exits import Exit
from amqpspec.spec.dialects import deployed_as
from amqpspec.target.config import Target
from amqpspec.target.find import find_target


def check_one_target(url: str | None, name: str | None) -> None:
    """End with one line unless there is either a URL or a name; a URL is not repeated, because of its password."""
    if url is None and name is None:
        stop(Exit.USAGE, "expected a URL or --target, actual: none")
    if url is not None and name is not None:
        hint = "an option that takes several values, like --cells, is repeated for each"
        stop(Exit.USAGE, f"expected a URL or --target, actual: both (--target {name}); {hint}")


def target_of(url: str | None, name: str | None, options: dict[str, Any]) -> Target:
    """The named target, in the requested dialect."""
    target = find_target(url or name or "", options["targets_file"])
    if options["dialect"]:
        return replace(target, dialect=options["dialect"])
    if url is not None and target.url is not None:
        check_scope(target.url.host, options["scope"])
        found = detect(target)
        if found.amiss:
            raise ProbeFailed(f"{target.name}: {found.amiss}")
        target = replace(target, dialect=found.dialect)
    if target.broker != "reference" and deployed_as(target.dialect) in deployed_dialects():
        return replace(target, dialect=str(deployed_as(target.dialect)))
    return target


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM ends a campaign like an interrupt from the keyboard: findings are written."""

    def end(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
