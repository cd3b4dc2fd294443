"""Install pip in a virtual environment if the system's Python came without it (Debian without python3-venv).

Usage: ``PYTHON .ci/ensure_pip.py VENV``. Takes pip's wheel from the index of PIP_INDEX_URL (PyPI by default), checks
its hash, and lets it install itself.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urljoin

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
RELEASE = re.compile(r"pip-[0-9.]+-py3-none-any\.whl")
TIMEOUT_S = 60


class _Links(HTMLParser):
    """The files of an index page: names to addresses, with hashes, without yanked files."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Every link."""
        given = dict(attrs)
        href = given.get("href")
        if tag == "a" and href and "data-yanked" not in given:
            self.found[href.partition("#")[0].rpartition("/")[2]] = href


def newest_wheel() -> tuple[str, str, str]:
    """Name, address and hash of the newest wheel that is not a pre-release."""
    with urllib.request.urlopen(INDEX, timeout=TIMEOUT_S) as answer:
        links = _Links()
        links.feed(answer.read().decode())
    name = max((name for name in links.found if RELEASE.fullmatch(name)), key=_version)
    address, _, digest = urljoin(INDEX, links.found[name]).partition("#sha256=")
    return name, address, digest


def _version(name: str) -> list[int]:
    return [int(part) for part in name.split("-")[1].split(".")]


def main(venv: Path) -> None:
    """Fetch, check, install."""
    name, address, digest = newest_wheel()
    with urllib.request.urlopen(address, timeout=TIMEOUT_S) as answer:
        octets = answer.read()
    if hashlib.sha256(octets).hexdigest() != digest:
        sys.exit(f"{name}: expected sha256 {digest}, actual another one")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(octets)
        python = venv / "bin" / "python"
        subprocess.run([python, f"{path}/pip", "install", "--quiet", "--no-index", path], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
