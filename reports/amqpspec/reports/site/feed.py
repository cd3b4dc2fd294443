"""Regressions as a feed (Atom, RFC 4287).

Knows: rows of the mart, Atom. Must not know: HTML.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from xml.etree import ElementTree as ET

from amqpspec.reports.marts.rows import Regression
from amqpspec.reports.outcomes import dialect_title
from amqpspec.reports.site.names import anchor
from amqpspec.reports.text import one_line

ENTRIES_MAX = 100
FEED = "regressions.xml"
PAGE = "regressions.html"
_ATOM = "http://www.w3.org/2005/Atom"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://pypi.org/project/amqpspec/#regressions")
_TITLE_LETTERS = 200


def newest_first(changes: Mapping[tuple[str, str], Sequence[Regression]]) -> list[Regression]:
    """Every verdict that got worse, of all targets."""
    found = [row for rows in changes.values() for row in rows if row.direction == "regressed"]
    return sorted(
        found, key=lambda row: (-row.at.timestamp() if row.at else 0.0, row.target, row.dialect, row.case)
    )


def regression_anchor(row: Regression) -> str:
    """The anchor of a regression on its page; it is permanent, because it depends only on the key of the row."""
    return f"r-{_uuid(row).hex[:16]}"


def feed(rows: Iterable[Regression], as_of: str, url: str) -> str:
    """The feed as XML; links are relative unless ``url``, the address of the site's folder, is given."""
    entries = list(rows)[:ENTRIES_MAX]
    base = f"{url.rstrip('/')}/" if url else ""
    ET.register_namespace("", _ATOM)
    root = ET.Element(f"{{{_ATOM}}}feed")
    _text(root, "id", _NAMESPACE.urn)
    _text(root, "title", "amqpspec: regressions")
    _text(root, "updated", max((_stamp(row.at, as_of) for row in entries), default=_stamp(None, as_of)))
    _text(_child(root, "author"), "name", "amqpspec")
    _child(root, "link", rel="self", href=f"{base}{FEED}")
    _child(root, "link", rel="alternate", type="text/html", href=f"{base}{PAGE}")
    for row in entries:
        _entry(_child(root, "entry"), row, as_of, base)
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _entry(entry: ET.Element, row: Regression, as_of: str, base: str) -> None:
    before, after = row.from_target_version or "unknown", row.to_target_version or "unknown"
    suites = f"suite {row.from_suite_version} to {row.to_suite_version}"
    versions = suites if row.change == "suite-version" else f"version {before} to {after}"
    dialect = dialect_title(row.dialect)
    _text(entry, "id", _uuid(row).urn)
    _text(entry, "title", f"{row.target}: {row.case} {row.from_verdict} → {row.to_verdict} ({versions})")
    _text(entry, "updated", _stamp(row.at, as_of))
    _child(entry, "link", rel="alternate", type="text/html", href=f"{base}{PAGE}#{regression_anchor(row)}")
    _child(entry, "category", term=anchor(row.dialect) or "unknown", label=one_line(dialect))
    level = f" ({row.level})" if row.level else ""
    flaky = " One of the two versions also had other verdicts." if row.flaky else ""
    text = (
        f"{dialect}, case {row.case}{level}: {row.from_verdict} with {before}, {row.to_verdict} with {after}."
    )
    _text(entry, "summary", f"{text}{flaky}")


def _uuid(row: Regression) -> uuid.UUID:
    key = "\0".join(str(getattr(row, column)) for column in Regression.GRAIN)
    return uuid.uuid5(_NAMESPACE, key.encode("utf-8", "backslashreplace").decode("utf-8"))


def _stamp(at: datetime | None, as_of: str) -> str:
    """A time in the format of RFC 3339; if there is none, the date of the marts."""
    if at is None:
        return f"{as_of or '1970-01-01'}T00:00:00Z"
    utc = at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%SZ}"


def _child(parent: ET.Element, name: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, f"{{{_ATOM}}}{name}", attributes)


def _text(parent: ET.Element, name: str, text: str) -> None:
    _child(parent, name).text = one_line(text, _TITLE_LETTERS * 3)
