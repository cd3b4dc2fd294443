"""Check that a tag can be released: ``released.py v0.1.0``; one line and exit code 1 if it cannot.

The version in pyproject.toml is that of the tag, and towncrier has put its notes into CHANGELOG.md.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def complaint(tag: str, version: str, changelog: str, fragments: list[str]) -> str:
    """Why a tag cannot be released; empty if it can."""
    if tag != f"v{version}":
        return f"expected the tag v{version}, the version of pyproject.toml, actual {tag}"
    if f"\n## {version} (" not in changelog:
        return f"CHANGELOG.md: expected notes on {version}, actual: none; towncrier build makes them"
    if fragments:
        return f"changes/{fragments[0]}: expected no fragment that is left, actual: {len(fragments)}"
    return ""


def main(tag: str) -> int:
    """Read, check, print."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    fragments = sorted(path.name for path in (ROOT / "changes").glob("*.md"))
    found = complaint(tag, project["version"], (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), fragments)
    if found:
        print(found, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
