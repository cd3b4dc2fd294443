"""The package as one zip, for ``spark-submit --py-files``.

Knows: where the parts of the namespace are. Must not know: Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

import amqpspec

_DATA = frozenset({".py", ".yaml", ".json"})
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_package(out: Path) -> Path:
    """Write the zip, the same octets for the same installation; returns the script that ``spark-submit`` runs."""
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    try:
        with ZipFile(partial, "w", ZIP_DEFLATED) as archive:
            # Python before 3.13 finds a namespace package in a zip only if its folder is also an entry.
            archive.writestr(ZipInfo("amqpspec/", _EPOCH), b"")
            for name, path in _files():
                archive.writestr(ZipInfo(name, _EPOCH), path.read_bytes(), ZIP_DEFLATED)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return Path(__file__).with_name("job.py")


def _files() -> Iterator[tuple[str, Path]]:
    for top in map(Path, sorted(set(amqpspec.__path__))):
        for path in sorted(top.rglob("*")):
            if path.suffix in _DATA and "__pycache__" not in path.parts:
                yield str(path.relative_to(top.parent)), path
