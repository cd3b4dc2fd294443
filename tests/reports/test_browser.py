"""The page in a real browser: opens, filters by address, keys and clicks, follows a link to evidence, no complaint."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reports.html.page import Evidence, write_matrix
from amqpspec.reports.load import LoadedRun, load_run
from tests.reports import synthetic
from tests.reports.browser import Browser, undisturbed

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

SHOWN = "[...document.querySelectorAll('tr.case')].filter((r) => r.offsetParent).map((r) => r.dataset.id)"
FOCUS = (
    "document.activeElement.closest('tr')?.dataset.id + '/' + document.activeElement.closest('td')?.cellIndex"
)
PANEL = "document.querySelector('#panel').innerText"


@pytest.fixture(scope="module")
def page(runs_folder: Path, harbor: LoadedRun, quay: LoadedRun) -> Path:
    path = runs_folder / "matrix.html"
    write_matrix(path, [harbor, quay], Evidence.ALL)
    return path


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> Iterator[None]:
    """Every test ends silently in the console and without a request to anything but the page itself."""
    with undisturbed(browser, 1400):
        yield


def shown(browser: Browser) -> set[str]:
    return set(browser.eval(SHOWN))


def with_verdict(*runs: LoadedRun, verdict: Outcome) -> set[str]:
    return {case.id for run in runs for case in run.cases if case.verdict is verdict}


def test_it_opens_with_every_case(browser: Browser, page: Path, harbor: LoadedRun) -> None:
    browser.open(page)
    assert shown(browser) == {case.id for case in harbor.cases}
    assert browser.eval("document.title") == "AMQP 0-9-1 conformance: HarborMQ 3.10.8, quayd 0.1.0"
    assert browser.eval("document.querySelector('#panel').hidden")


def test_the_address_filters(browser: Browser, page: Path, harbor: LoadedRun, quay: LoadedRun) -> None:
    browser.open(page, "#verdict=fail")
    assert shown(browser) == with_verdict(harbor, quay, verdict=Outcome.FAIL)
    browser.open(page, "#verdict=error,inconclusive")
    assert shown(browser) == {"queue.purge.message-count", "tx.rollback.not-transacted"}
    browser.open(page, "#level=MAY&section=exchange")
    assert shown(browser) == {"exchange.declare.reserved"}
    browser.open(page, "#q=504+channel")
    assert shown(browser) == {"channel.open.state"}
    browser.open(page, "#q=r91-118")
    assert shown(browser) == {"queue.declare.durable"}
    browser.open(page, "#verdict=fail&known=0&section=framing")
    assert shown(browser) == {"framing.header.unsupported"}
    assert browser.eval("document.querySelector('#shown').textContent") == "1 of 27 cases"


def test_only_rows_that_differ(browser: Browser, page: Path, harbor: LoadedRun, quay: LoadedRun) -> None:
    other = {case.id: case.verdict for case in quay.cases}
    differing = {case.id for case in harbor.cases if other.get(case.id, case.verdict) != case.verdict}
    browser.open(page, "#differs=1")
    assert shown(browser) == differing
    assert browser.eval("document.querySelector('#differs').getAttribute('aria-pressed')") == "true"


def test_a_change_of_the_address_is_followed(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.eval("location.hash = '#section=tx'")
    browser.wait(f"{SHOWN}.length === 2")
    browser.eval("history.back()")
    browser.wait(f"{SHOWN}.length === 27")


def test_controls_write_the_address(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.eval("document.querySelector('[data-verdict=fail]').click()")
    browser.eval("document.querySelector('[data-level=MUST]').click()")
    assert browser.eval("location.hash") == "#verdict=fail&level=MUST"
    browser.eval("document.querySelector('#q').focus()")
    browser.type("channel.open")
    browser.wait("location.hash === '#verdict=fail&level=MUST&q=channel.open'")
    assert shown(browser) == {"channel.open.state"}
    browser.eval("document.querySelector('#reset').click()")
    assert browser.eval("location.hash") == "" and len(shown(browser)) == 27


def test_no_match_says_so_and_offers_the_way_back(browser: Browser, page: Path) -> None:
    browser.open(page, "#q=nothing-like-this")
    assert shown(browser) == set()
    assert "No case matches" in browser.eval("document.querySelector('#nothing').innerText")
    browser.eval("document.querySelector('#reset-too').click()")
    assert len(shown(browser)) == 27


def test_sections_fold_and_the_address_knows(browser: Browser, page: Path) -> None:
    browser.open(page, "#fold=queue")
    assert len(shown(browser)) == 23
    browser.eval("document.querySelector('tbody.section[data-section=tx] .fold').click()")
    assert browser.eval("location.hash") == "#fold=queue,tx" and len(shown(browser)) == 21
    browser.eval("document.querySelector('#fold-all').click()")
    assert len(shown(browser)) == 27


def test_a_link_to_a_case_opens_its_evidence(browser: Browser, page: Path) -> None:
    browser.open(page, "#case=channel.open.state&target=2")
    text = browser.eval(PANEL)
    for part in (
        "A second open on an open channel number is refused",
        "connection exception 504 channel-error",
        "opening a channel that is already open is a channel error",
        "channel.open#state · R91-044",
        "the XML was taken",
        "closed by the target, FIN after 3.1 ms",
        "connection.close reply-code=504",
        "41 4d 51 50 00 00 09 01",
        "AMQP····",
        "+0.012 ms",
        "barrier: round trip on channel 2 answered",
        "closed by the target (FIN)",
    ):
        assert part in text
    frames = browser.eval("document.querySelectorAll('.frame').length")
    assert frames == len(synthetic.DATA["talk"])
    assert browser.eval("document.querySelectorAll('.frame.out').length") == 7
    assert (
        browser.eval("document.querySelector('.tab[aria-current=true]').textContent") == "✗quayd 0.1.0: fail"
    )


def test_a_click_opens_and_keeps_the_filters_and_back_closes(browser: Browser, page: Path) -> None:
    browser.open(page, "#verdict=fail")
    browser.eval("document.querySelector('tr[data-id=\"channel.flow.answer\"] a.tile').click()")
    assert browser.eval("location.hash") == "#verdict=fail&case=channel.flow.answer&target=1"
    assert "channel.flow-ok active=0" in browser.eval(PANEL)
    browser.eval("document.querySelector('#panel-next').click()")
    assert browser.eval("location.hash") == "#verdict=fail&case=exchange.declare.type-support&target=1"
    browser.eval("document.querySelectorAll('.tab')[1].click()")
    assert browser.eval("location.hash").endswith("target=2")
    assert "BASELINE: KNOWN BECAUSE\nissue 17 of quayd" in browser.eval(PANEL)
    browser.eval("history.go(-3)")
    browser.wait("document.querySelector('#panel').hidden")
    assert browser.eval("location.hash") == "#verdict=fail"


def test_the_keyboard_is_enough(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.eval("document.querySelector('#skip').click()")
    assert browser.eval(FOCUS) == "framing.header.unsupported/1"
    for key in ("ArrowDown", "ArrowRight", "ArrowDown", "ArrowUp", "ArrowRight"):
        browser.press(key)
    assert browser.eval(FOCUS) == "framing.frame.end-octet/2"
    browser.press("Enter")
    browser.wait("!document.querySelector('#panel').hidden")
    assert browser.eval("location.hash") == "#case=framing.frame.end-octet&target=2"
    assert browser.eval("document.activeElement.id") == "panel"
    browser.press("Escape")
    assert browser.eval("document.querySelector('#panel').hidden")
    assert browser.eval(FOCUS) == "framing.frame.end-octet/2"


def test_one_cell_is_in_the_tab_order(browser: Browser, page: Path) -> None:
    browser.open(page, "#verdict=blocked")
    stops = "document.querySelectorAll('a.tile[tabindex=\"0\"]')"
    assert browser.eval(f"{stops}.length") == 1
    assert browser.eval(f"{stops}[0].closest('tr').dataset.id") == "connection.open.vhost-separation"
    browser.eval(f"{stops}[0].focus()")
    browser.press("ArrowDown")
    assert browser.eval(FOCUS) == "queue.declare.durable/1"


def test_arrows_step_over_cells_that_are_not_there(browser: Browser, page: Path) -> None:
    browser.open(page, "#section=basic")
    browser.eval(
        "document.querySelector('tr[data-id=\"basic.ack.unknown-tag\"]').cells[2].firstElementChild.focus()"
    )
    browser.press("ArrowDown")
    assert browser.eval(FOCUS) == "basic.ack.unknown-tag/2"


def test_hostile_text_is_only_text(browser: Browser, page: Path) -> None:
    browser.open(page, "#case=" + quote(synthetic.HOSTILE_ID))
    text = browser.eval(PANEL)
    assert "</script><script>alert('x')</script>" in text and "octets that are not a frame" in text
    assert "a line of the transcript could not be read" in text
    assert "reset by the target (RST)" in text


def test_cases_without_evidence_say_why(browser: Browser, page: Path) -> None:
    browser.open(page, "#case=queue.declare.durable&target=1")
    assert "targets.yaml has no restart hook" in browser.eval(PANEL)
    assert "None: this case exchanged no data" in browser.eval(PANEL)
    browser.open(page, f"#case={quote(synthetic.HOSTILE_ID)}&target=2")
    assert "quayd 0.1.0 has no such case in its run." in browser.eval(PANEL)
    browser.open(page, "#case=no.such.case&target=77")
    assert "This report has no case with this id." in browser.eval(PANEL)


def test_without_embedded_evidence_the_panel_links_to_the_file(browser: Browser, harbor: LoadedRun) -> None:
    path = harbor.folder / "light.html"
    write_matrix(path, [harbor], Evidence.LINKS)
    browser.open(path, "#case=channel.open.state")
    assert "Not embedded in this page: evidence/channel.open.state.jsonl" in browser.eval(PANEL)
    link = browser.eval("document.querySelector('.log-note a').href")
    assert link == (harbor.folder / "evidence/channel.open.state.jsonl").resolve().as_uri()


@pytest.mark.parametrize("fragment", ["", "#case=channel.open.state&target=2", "#verdict=fail&fold=framing"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_downwards_only(browser: Browser, page: Path, fragment: str, scheme: str) -> None:
    browser.size(360, 740, mobile=True)
    browser.prefer(scheme)
    browser.open(page, fragment)
    assert browser.eval("[document.documentElement.scrollWidth, innerWidth]") == [360, 360]
    assert browser.eval("document.querySelector('#panel').scrollWidth") <= 360


def test_on_a_phone_the_panel_covers_the_page(browser: Browser, page: Path) -> None:
    browser.size(360, 740, mobile=True)
    browser.open(page, "#case=channel.open.state")
    assert browser.eval("document.querySelector('#page').inert")
    browser.eval("document.querySelector('#panel-close').click()")
    assert not browser.eval("document.querySelector('#page').inert")


def test_both_schemes_have_their_own_ground(browser: Browser, page: Path) -> None:
    grounds = set()
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.open(page)
        grounds.add(browser.eval("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(250, 250, 249)", "rgb(19, 21, 25)"}


def test_print_shows_everything_and_no_filters(browser: Browser, page: Path) -> None:
    browser.open(page, "#fold=framing,queue")
    assert len(shown(browser)) == 19
    assert browser.print().startswith(b"%PDF")
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert len(shown(browser)) == 27
    assert browser.eval("document.querySelector('#tools').offsetParent") is None
    assert browser.eval("document.querySelector('.words details').open")
    browser.call("Emulation.setEmulatedMedia", media="")


def test_three_hundred_cases_on_five_targets_stay_usable(browser: Browser, tmp_path: Path) -> None:
    targets = (("harbor", "1"), ("quay", "1"), ("harbor", "2"), ("quay", "2"), ("harbor", "3"))
    folders = [synthetic.write_large_run(tmp_path / f"{n}{v}", n, 12, v) for n, v in targets]
    path = tmp_path / "matrix.html"
    write_matrix(path, [load_run(folder) for folder in folders])
    browser.open(path)
    assert len(shown(browser)) == 312
    browser.eval("document.querySelector('[data-verdict=fail]').click()")
    assert len(shown(browser)) == 72
    browser.size(360, 740, mobile=True)
    browser.open(path, "#level=SHOULD")
    assert browser.eval("[document.documentElement.scrollWidth, innerWidth]") == [360, 360]
    assert browser.eval(
        "(({scrollWidth, clientWidth}) => scrollWidth > clientWidth)(document.querySelector('#matrix-wrap'))"
    )


def test_endings_are_told_in_words(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.eval("endings('rst')") == "reset by the target (RST)"
    assert (
        browser.eval("endings('fin, open, fin')")
        == "2 closed by the target (FIN), 1 still open when the case ended"
    )
    assert browser.eval("endings('after 3 ms, fin')") == "after 3 ms, fin"
