"""The folder of a site: written next to the old one, which it then replaces atomically.

Knows: which files a site has, including copies of the marts. Must not know: the contents of pages.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path

from amqpspec.record.evidence import is_transcript
from amqpspec.reports.files import WholeFolder, atomic_text, swap
from amqpspec.reports.html.template import SHARED_SHEET
from amqpspec.reports.marts.files import columns, names, rows
from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.marts.tables import write_tables
from amqpspec.reports.site.load import load
from amqpspec.reports.site.pages import pages

MANIFEST = "site.json"
_PLACE = WholeFolder(MANIFEST, "pages", "a site")
ASSETS = Path(__file__).parent / "assets"
DATA = "data"
EVIDENCE = "evidence"
SITE_SCHEMA = 1
TRANSCRIPT_MAX_OCTETS = 1 << 20


def write_site(marts: Path, out: Path, url: str = "") -> Path:
    """Write all pages of these marts, and their CSV and JSON, into the folder ``out``; returns the page to open.

    ``url`` is where the site is published, for the links of its feed. Raises ReportError if the marts are incomplete,
    or ``out`` contains anything other than a site; the old site is then unchanged.
    """
    _PLACE.check(out)
    loaded = load(marts)
    draft = out.with_name(f".{out.name}.{os.getpid()}.tmp")
    shutil.rmtree(draft, ignore_errors=True)
    try:
        files = dict(_copied(marts, draft / DATA))
        written = []
        shutil.copytree(ASSETS, draft / ASSETS.name)
        _style(draft / ASSETS.name)
        for name, chunks in pages(loaded, files, Transcripts(draft), url):
            _write(draft / name, chunks)
            written.append(name)
        _write_manifest(draft, loaded.as_of, written, files)
        swap(draft, out)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return out / "index.html"


def _write(page: Path, chunks: Iterable[str]) -> None:
    """Write a page of a draft; pages are not synced, because the draft replaces the site as a whole."""
    page.parent.mkdir(parents=True, exist_ok=True)
    with page.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
        file.writelines(chunks)


def _style(assets: Path) -> None:
    """One style sheet for all pages: that of all reports, then that of the site."""
    own = assets / "site.css"
    _write(own, [SHARED_SHEET.read_text(encoding="utf-8"), own.read_text(encoding="utf-8")])


def _copied(marts: Path, data: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each mart's name with its CSV and JSON: copied, or generated if only the Parquet was kept."""
    data.mkdir(parents=True)
    for name in names(marts):
        copies = [f"{name}.{form}" for form in ("csv", "json")]
        if not all((marts / name / copy).is_file() for copy in copies):
            write_tables(data, name, columns(marts / name), rows(marts / name))
        else:
            for copy in copies:
                shutil.copyfile(marts / name / copy, data / copy)
        yield name, tuple(f"{DATA}/{copy}" for copy in copies)


class Transcripts:
    """Copies of transcripts in a site, so that its links work; large transcripts are not copied."""

    def __init__(self, site: Path) -> None:
        self._site = site

    def __call__(self, row: LatestVerdict) -> str:
        """Copy the transcript of a verdict; returns its path in the site, or nothing if it is not copied."""
        path = Path(row.evidence or "")
        if not _is_transcript(path):
            return ""
        digits = blake2b(str(path).encode("utf-8", "replace"), digest_size=6).hexdigest()
        name = f"{EVIDENCE}/{re.sub('[^A-Za-z0-9.-]+', '-', row.case)[:80]}-{digits}.jsonl.txt"
        (self._site / EVIDENCE).mkdir(exist_ok=True)
        shutil.copyfile(path, self._site / name)
        return name


def _is_transcript(path: Path) -> bool:
    """Whether the run's folder has such a file; paths from journals are not trusted."""
    if not is_transcript(path) or ".." in path.parts:
        return False
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size <= TRANSCRIPT_MAX_OCTETS
    except (OSError, ValueError):
        return False


def _write_manifest(
    draft: Path, as_of: str, written: list[str], files: Mapping[str, tuple[str, ...]]
) -> None:
    manifest = {"schema": SITE_SCHEMA, "as_of": as_of, "pages": written, "data": files}
    with atomic_text(draft / MANIFEST) as file:
        json.dump(manifest, file, indent=1)
        file.write("\n")
