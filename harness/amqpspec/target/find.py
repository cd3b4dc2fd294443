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
    """The target by URL or by name. Without a file, it is one of ``targets.yaml`` here or a built-in one. Raises
    ConfigError.

    ``NAME@VERSION`` is the target of that release of NAME's broker if there is one, else NAME on that release.
    """
    if is_target(text) and (file is None or "://" in text or ":" in text):
        return target_of_url(text)
    targets = _targets(text, file)
    if text in targets:
        return targets[text]
    plain, _, release = text.partition("@")
    broker = f"{targets[plain].broker}@{release}" if release and plain in targets else ""
    if not is_known(broker):
        hint = did_you_mean(text, targets)
        raise ConfigError(
            f"{file or TARGETS_FILE}: no target {text!r}, expected one of {sorted(targets)}{hint}"
        )
    usual = _targets(plain, file)[plain]
    of_release = (t.name for t in targets.values() if (t.broker, t.dialect) == (broker, usual.dialect))
    own = next(of_release, None)
    return find_target(own, file) if own is not None else replace(usual, name=text, broker=broker)


def _targets(wanted: str, file: Path | None) -> dict[str, Target]:
    """Those of a file; without one, the built-in targets and those of ``targets.yaml`` here, which may replace them."""
    if file is not None:
        return read_targets(file, wanted)
    built_in = read_targets(built_in_targets(), wanted)
    return built_in | read_targets(TARGETS_FILE, wanted) if TARGETS_FILE.exists() else built_in
