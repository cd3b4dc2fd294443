"""The site of the known brokers, from the marts that the repository keeps."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote, urlsplit

import pytest

from amqpspec.reports.marts.files import rows
from amqpspec.reports.site.folder import write_site
from amqpspec.reports.site.load import load
from amqpspec.reports.site.rules import rules
from amqpspec.target.config import read_targets
from amqpspec.target.known import KNOWN
from tests.reports.browser import Browser, undisturbed
from tests.site import marts
from tests.site.test_site import Page
from tests.site.test_site_browser import BEYOND, axe, show, violations

__all__ = ["axe"]

pytestmark = pytest.mark.timeout(180)

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "docs" / "site-data"
MOST_OCTETS = 3_000_000
PAGES = (
    "index.html", "broker-rabbitmq.html", "target-artemis.html", "matrix-amqp-1-0.html", "differences.html",
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(KEPT, tmp_path_factory.mktemp("kept") / "site").parent


def text_of(page: Page) -> str:
    return " ".join(page.text.split())


def test_what_is_kept_is_small_and_names_no_folder_of_a_machine() -> None:
    files = [path for path in KEPT.rglob("*") if path.is_file()]
    assert {path.suffix for path in files} == {".parquet", ".json"}
    assert sum(path.stat().st_size for path in files) < MOST_OCTETS
    for mart in json.loads((KEPT / "manifest.json").read_text("utf-8"))["marts"]:
        for row in rows(KEPT / mart):
            assert not row.get("evidence")
            assert not [
                word for word in row.values() if isinstance(word, str) and str(word).startswith("/tmp")
            ]
            assert "/" not in (row.get("folder") or "")


def test_every_target_on_a_known_broker_has_a_page_of_all_its_cases(site: Path) -> None:
    """Where this fails after a change of targets.yaml: make site-data, as docs/site.md says."""
    about = {target.name: target for target in read_targets(ROOT / "targets.yaml").values()}
    wanted = {name for name, target in about.items() if (target.broker or "").partition("@")[0] in KNOWN}
    seen: dict[str, int] = {}
    for row in rows(KEPT / "verdicts"):
        seen[row["target"]] = seen.get(row["target"], 0) + 1
    assert seen.keys() == wanted
    assert min(seen.values()) > 100
    assert len(list(site.glob("target-*.html"))) == len(wanted)


def test_the_index_has_every_broker_and_the_page_of_one_its_versions(site: Path) -> None:
    index = Page(site / "index.html")
    assert f"{len(list(site.glob('target-*.html')))} targets" in text_of(index)
    brokers = [path.name for path in site.glob("broker-*.html")]
    assert len(brokers) == len(KNOWN) and set(brokers) <= set(index.links)
    rabbitmq = text_of(Page(site / "broker-rabbitmq.html"))
    assert all(version in rabbitmq for version in ("3.10.8", "4.0.5", "4.3.6"))
    assert all(dialect in rabbitmq for dialect in ("AMQP 0-9-1", "AMQP 1.0"))


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_pages_of_the_site(site: Path, name: str) -> None:
    page, ids = Page(site / name), {}
    assert len(page.links) > 10
    for link in page.links:
        parts = urlsplit(link)
        if parts.scheme == "data":
            continue
        assert not parts.scheme and not parts.netloc, link
        target = Path(os.path.normpath(site / unquote(parts.path))) if parts.path else site / name
        assert target.is_file() and target.is_relative_to(site), link
        if parts.fragment and target not in ids:
            ids[target] = set(Page(target).ids)
        assert not parts.fragment or parts.fragment in ids[target], link


def test_brokers_are_in_the_order_of_their_names_whatever_letters_they_begin_with() -> None:
    orders = {tuple(history.product for history in rule.histories) for rule in rules(load(KEPT))}
    assert all(list(order) == sorted(order, key=str.lower) for order in orders)
    assert any(list(order) != sorted(order) for order in orders)


def test_what_is_kept_of_marts_has_the_same_rows_without_places(tmp_path: Path) -> None:
    tables = marts.literal()
    tables["verdicts"][0]["evidence"] = "/runs/night/evidence/channel.open.jsonl"
    tables["findings"][0]["folder"] = "/runs/night"
    made = marts.write(tmp_path / "marts", tables)
    kept = tmp_path / "kept"
    (kept / "gone").mkdir(parents=True)
    size = site_data().keep_for_pages(made, kept)
    assert size == sum(path.stat().st_size for path in kept.rglob("*") if path.is_file())
    assert not (kept / "gone").exists() and not list(kept.glob("*/*.csv"))
    for name in tables:
        expected = [row | ({"evidence": None} if "evidence" in row else {}) for row in rows(made / name)]
        for row in expected:
            if "folder" in row:
                row["folder"] = Path(row["folder"] or "").name
        assert list(rows(kept / name)) == expected
    assert (write_site(kept, tmp_path / "site").parent / "target-harbor.html").is_file()


def site_data() -> ModuleType:
    """The program of `make site-data`."""
    spec = importlib.util.spec_from_file_location("site_data", ROOT / ".ci" / "site_data.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- in a browser


@pytest.fixture
def watched(browser: Browser) -> Iterator[Browser]:
    """Without output in the console and without a request to anything but the pages."""
    with undisturbed(browser, 1200):
        yield browser


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_pages_are_accessible_and_fit_a_phone(
    watched: Browser, site: Path, axe: str, page: str, scheme: str
) -> None:
    watched.prefer(scheme)
    watched.size(390, 800, mobile=True)
    show(watched, site / page)
    assert watched.eval("document.documentElement.scrollWidth") == 390
    assert watched.eval(BEYOND) == []
    assert violations(watched, axe, scheme) == []
