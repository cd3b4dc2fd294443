"""Which target was meant: a URL, the reference broker, or a name in targets.yaml.

Knows: the place of targets.yaml. Must not know: how a target is started.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amqpspec.spec.names import did_you_mean
from amqpspec.target.config import ConfigError, Target, read_targets, target_of_url
from amqpspec.target.known import is_known

TARGETS_FILE = Path("targets.yaml")


def built_in_targets() -> Path:
    """The targets that are shipped with the tool: in the installed package, or at the top of a checkout."""
    here = Path(__file__).resolve()
    packaged = here.with_name("targets.yaml")
    return packaged if packaged.exists() else here.parents[3] / "targets.yaml"


def is_target(text: str) -> bool:
    """Whether a word names a target by URL or as ``reference[:DIALECT]``."""
    return "://" in text or text == "reference" or text.startswith("reference:")


def find_target(text: str, file: Path | None = None) -> Target:
    """The target by URL or by name; without a file, ``targets.yaml`` here or next to the package. Raises
    ConfigError.

    ``NAME@VERSION`` is a target on a known broker, and of that broker another release.
    """
    if is_target(text) and (file is None or "://" in text or ":" in text):
        return target_of_url(text)
    path = file or TARGETS_FILE
    if file is None and not path.exists():
        path = built_in_targets()
    targets = read_targets(path, text)
    if text in targets:
        return targets[text]
    plain, _, release = text.partition("@")
    broker = targets[plain].broker if release and plain in targets else ""
    if not is_known(f"{broker}@{release}"):
        hint = did_you_mean(text, targets)
        raise ConfigError(f"{path}: no target {text!r}, expected one of {sorted(targets)}{hint}")
    return replace(read_targets(path, plain)[plain], name=text, broker=f"{broker}@{release}")
