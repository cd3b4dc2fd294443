"""The pages in a real browser, as they are read: light and dark, wide and on a phone, without a complaint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amqpspec.reports.site.folder import write_site
from amqpspec.reports.site.names import page_name
from tests.reference.npm import npm_package
from tests.reports.browser import Browser, undisturbed
from tests.site import marts

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

PAGES = (
    "index.html", "target-harbor.html", "differences.html", "matrix-amqp-0-9-1.html", "broker-harbor.html",
    "requirements/amqp-0-9-1/channel.open.html", "differences/amqp-0-9-1/case.queue.declare.html",
    "differences/amqp-0-9-1/fuzz.v1.html", "regressions.html", "search.html", page_name(marts.HOSTILE),
)  # fmt: skip
"""One page of each kind, and one all of whose texts are hostile."""
AXE = "axe-core@4.14.1"
BEYOND = """[...document.querySelectorAll('main *')].filter((e) => !e.closest('.wide, .plot, .as-table')
  && e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.sr')).map((e) => e.outerHTML.slice(0, 120))"""

SCROLLING = """[...document.querySelectorAll('.scores, .by-level')]
  .filter((table) => table.offsetWidth > table.parentElement.clientWidth)"""
COLOURS = """[getComputedStyle(document.body).backgroundColor,
  getComputedStyle(document.querySelector('svg.lines .line.c0')).stroke,
  getComputedStyle(document.querySelector('svg.heat .h4 rect')).fill].join()"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("site")
    return write_site(marts.write(root / "marts", marts.hostile()), root / "site").parent


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> Iterator[None]:
    """Every test ends silently in the console and without a request to anything but the pages."""
    with undisturbed(browser, 1200):
        yield


def show(browser: Browser, page: Path) -> None:
    browser.call("Page.navigate", url="about:blank")
    browser.wait("location.href === 'about:blank'")
    browser.call("Page.navigate", url=page.resolve().as_uri())
    browser.wait("location.href.startsWith('file:') && document.readyState === 'complete'")


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_downwards_only(browser: Browser, site: Path, page: str, scheme: str) -> None:
    browser.size(390, 800, mobile=True)
    browser.prefer(scheme)
    show(browser, site / page)
    assert browser.eval("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
    assert browser.eval(BEYOND) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_wide_window_shows_tables_whole(browser: Browser, site: Path, page: str) -> None:
    show(browser, site / page)
    assert browser.eval("document.documentElement.scrollWidth <= innerWidth")
    assert browser.eval("document.querySelectorAll('main h1').length") == 1
    if page != PAGES[-1]:
        assert browser.eval(f"{SCROLLING}.length") == 0


def test_both_schemes_have_their_own_ground_and_lines(browser: Browser, site: Path) -> None:
    seen = set()
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        show(browser, site / "index.html")
        seen.add(browser.eval(COLOURS))
    assert seen == {
        "rgb(250, 250, 249),rgb(28, 91, 184),rgb(211, 238, 219)",
        "rgb(19, 21, 25),rgb(134, 180, 255),rgb(23, 52, 35)",
    }


def test_pictures_have_names_for_those_who_do_not_see_them(browser: Browser, site: Path) -> None:
    show(browser, site / "target-harbor.html")
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    names = [node["name"]["value"] for node in tree if node.get("role", {}).get("value") in ("image", "img")]
    assert "Score of harbor 3.10 over runs, AMQP 0-9-1" in names
    assert all(names) and any(name.startswith("Covered over time") for name in names)


def test_scrolling_parts_are_reached_by_keyboard(browser: Browser, site: Path) -> None:
    browser.size(390, 800, mobile=True)
    show(browser, site / "index.html")
    hidden = "[...document.querySelectorAll('.wide, .plot')].filter((e) => e.tabIndex !== 0 || !e.getAttribute('role'))"
    assert browser.eval(f"{hidden}.length") == 0
    browser.press("Tab")
    assert browser.eval("document.activeElement.className") == "skip"
    browser.press("Enter")
    browser.wait("location.hash === '#main'")


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checker of accessibility, as a script."""
    folder = npm_package("axe-core", AXE, request, tmp_path_factory)
    return (folder / "node_modules/axe-core/axe.min.js").read_text("utf-8")


def violations(browser: Browser, axe: str, scheme: str) -> Any:
    """What axe finds on the page that is open: of the dark scheme what depends on colours; the rest is the same."""
    options: dict[str, Any] = {"preload": False, "resultTypes": ["violations"]}
    if scheme == "dark":
        options["runOnly"] = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
    browser.eval(f"{axe}; true")
    named = "result.violations.map((found) => [found.id, found.nodes[0].html])"
    return browser.eval(f"axe.run({json.dumps(options)}).then((result) => {named})")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_no_violation(browser: Browser, site: Path, axe: str, page: str, scheme: str) -> None:
    browser.prefer(scheme)
    show(browser, site / page)
    assert violations(browser, axe, scheme) == []


def test_the_filters_of_a_matrix_leave_what_is_wanted(browser: Browser, site: Path) -> None:
    show(browser, site / "matrix-amqp-0-9-1.html")
    shown = "[...document.querySelectorAll('#matrix tr[id]')].filter((row) => row.offsetParent).map((row) => row.id)"
    assert len(browser.eval(shown)) > 3
    browser.eval("document.getElementById('filter').focus()")
    browser.type("channel open")
    assert browser.eval(shown) == ["channel.open"]
    assert browser.eval("document.getElementById('left').textContent") == "1 shown"


def test_the_search_finds_pages_by_words(browser: Browser, site: Path) -> None:
    show(browser, site / "requirements/amqp-0-9-1/channel.open.html")
    browser.eval("document.getElementById('find').focus()")
    browser.type("attach link")
    browser.press("Enter")
    browser.wait(
        "location.pathname.endsWith('search.html') && document.documentElement.dataset.ready === 'true'"
    )
    links = browser.eval(
        "[...document.querySelectorAll('#found a')].map((link) => link.getAttribute('href'))"
    )
    assert links == ["requirements/amqp-1-0/link.attach.html"]


def test_a_plot_can_be_opened_and_closed(browser: Browser, site: Path) -> None:
    show(browser, site / "target-harbor.html")
    browser.wait("document.documentElement.dataset.ready === 'true'")
    browser.eval("document.querySelector('.zoom').click()")
    assert browser.eval("document.querySelectorAll('.interactive canvas[role=img]').length") == 1
    assert browser.eval("getComputedStyle(document.querySelector('.plot.replaced')).display") == "none"
    browser.eval("document.querySelector('.zoom').click()")
    assert browser.eval("document.querySelectorAll('.interactive, .replaced').length") == 0


def test_links_between_pages_work(browser: Browser, site: Path) -> None:
    show(browser, site / "index.html")
    browser.eval("document.querySelector('.scores th a').click()")
    browser.wait("document.readyState === 'complete' && location.pathname.includes('target-')")
    browser.eval("document.querySelector('.site-nav a').click()")
    browser.wait("document.readyState === 'complete' && location.pathname.endsWith('index.html')")


def test_a_hostile_target_runs_nothing(browser: Browser, site: Path) -> None:
    show(browser, site / PAGES[-1])
    assert browser.eval("document.querySelectorAll('img, script:not([src])').length") == 0
    assert "onerror=alert(1)" in browser.eval("document.querySelector('h1').innerText")
    assert browser.eval("document.title").startswith("</script>")
    assert browser.print().startswith(b"%PDF")
