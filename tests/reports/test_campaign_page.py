"""The page of a campaign in a real browser: light, dark, narrow, by keyboard, with hostile text."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amqpspec.reports.campaign.render import render_campaign
from tests.reports.browser import Browser, undisturbed
from tests.reports.campaigns import CELLS, FINDINGS, HOSTILE, write_campaign

pytestmark = [pytest.mark.browser, pytest.mark.timeout(180)]

TEXT = "document.querySelector('main').innerText"
SQUARES = (
    "[...document.querySelectorAll('a.square')].map((a) => [a.getAttribute('href'), a.innerText, a.title])"
)
COPY = "document.querySelector('#finding-1 .copy')"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_campaign(tmp_path_factory.mktemp("campaign") / "c")
    return render_campaign(folder)["campaign.html"]


@pytest.fixture(autouse=True)
def quiet(browser: Browser) -> Iterator[None]:
    """Every test ends silently in the console and without a request to anything but the page itself."""
    with undisturbed(browser, 1400):
        yield


def test_it_opens_with_the_head_and_sums_that_add_up(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.eval("document.title") == "AMQP 0-9-1 fuzzing: harbor"
    text = browser.eval(TEXT)
    for part in (
        "4 findings",
        "1,300 inputs = 1,000 of the families + 300 random; 1,290 reached their state",
        "7 cells planned = 3 covered + 1 not reachable + 1 stopped + 2 open",
        "4 findings = 2 stable + 1 flaky + 1 lost",
        "10 min 0 s",
        "seed 7",
        "shard 2/4",
        "memory limit 512 MiB",
    ):
        assert part in text
    assert browser.eval("document.querySelector('.subtitle').innerText") == "HarborMQ 3.10.8"


def test_every_finding_has_a_row_its_files_and_its_replay(browser: Browser, page: Path) -> None:
    browser.open(page)
    rows = browser.eval(
        "[...document.querySelectorAll('.overview tbody tr')].map((r) => r.cells[0].innerText)"
    )
    assert rows == ["crash", "log", "late", "conformance"]
    replays = browser.eval("[...document.querySelectorAll('.finding .command pre')].map((p) => p.innerText)")
    assert set(replays) == {row["replay"] for row in FINDINGS}
    links = browser.eval("[...document.querySelectorAll('.finding .links a')].map((a) => a.href)")
    assert len(links) == 3 * 3 + 1
    for link in links:
        assert Path(link.removeprefix("file://")).is_file()


def test_octets_are_shown_up_to_a_cap_that_is_told(browser: Browser, page: Path) -> None:
    browser.open(page)
    told = browser.eval("[...document.querySelectorAll('#finding-1 summary')].map((s) => s.textContent)")
    assert "4,000 octets in 1 step, the first 512 shown; all are in input.bin" in told
    pairs = "(p) => p.textContent.split(/\\s+/).length"
    assert 512 in browser.eval(f"[...document.querySelectorAll('#finding-1 details pre')].map({pairs})")


def test_squares_tell_what_stands_in_the_list(browser: Browser, page: Path) -> None:
    browser.open(page)
    squares = {href: (text, title) for href, text, title in browser.eval(SQUARES)}
    assert set(squares) == {f"#cells-{key.split('/')[1]}-{key.split('/')[3]}" for key in CELLS}
    text, title = squares["#cells-C03-channel"]
    assert text.split() == ["0/1", "1"]
    assert "C03 in channel: 1 cell, 1 stopped; 1 finding" in title and "crash came again" in title
    assert "not reachable: header was not reached (1)" in squares["#cells-C04-header"][1]
    assert squares["#cells-C04-channel"][0].split() == ["2/2", "2"]


def test_a_square_leads_to_its_cells_in_words(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert not browser.eval("document.querySelector('#family-C02').open")
    browser.eval("document.querySelector('a.square[href=\"#cells-C02-channel\"]').focus()")
    browser.press("Enter")
    browser.wait("document.querySelector('#family-C02').open")
    text = browser.eval("document.querySelector('#family-C02').innerText")
    assert "not finished: budget spent" in text and "table.size.cut" in text and "table.size (24)" in text


def test_an_address_of_cells_opens_them(browser: Browser, page: Path) -> None:
    browser.open(page, "#cells-C04-header")
    assert browser.eval("document.querySelector('#family-C04').open")
    assert browser.eval(
        "document.querySelector('#cells-C04-header').getBoundingClientRect().top < innerHeight"
    )


def test_the_copy_button_answers(browser: Browser, page: Path) -> None:
    browser.open(page)
    label = browser.eval(f"!{COPY}.hidden && {COPY}.getAttribute('aria-label')")
    assert label == "Copy the replay of crash-dead00000002"
    browser.eval(f"{COPY}.click()")
    browser.wait(f"{COPY}.textContent !== 'copy'")


def test_known_deviations_reactions_and_the_way_on(browser: Browser, page: Path) -> None:
    browser.open(page)
    text = browser.eval(TEXT)
    assert "wire/table/malformed" in text and "412" in text and "C02/channel (17)" in text
    assert "connection 501" in text
    commands = browser.eval(
        "[...document.querySelectorAll('main > .block > .command pre')].map((p) => p.innerText)"
    )
    expected = f"amqpspec fuzz --target harbor --seed 7 --shard 2/4 --cells 'C0*' --resume {page.parent}"
    assert commands == [expected]


def test_hostile_text_is_only_text(browser: Browser, page: Path) -> None:
    browser.open(page, "#finding-2")
    text = browser.eval("document.querySelector('#finding-2').innerText")
    shown = HOSTILE.replace("\x00", "\\x00").replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    assert shown in text
    assert "No single input was identified: a batch of 2" in text
    assert browser.eval("document.querySelectorAll('img').length + document.scripts.length") == 1
    whole = browser.eval("document.querySelector('main').textContent")
    assert whole.count(shown) >= 5


def test_a_transcript_stands_with_its_finding(browser: Browser, page: Path) -> None:
    browser.open(page)
    talk = browser.eval("document.querySelector('#finding-1 .talk').textContent")
    assert "connected to 127.0.0.1:5672" in talk and "protocol header" in talk and "end: rst" in talk


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_scrolls_downwards_only(browser: Browser, page: Path, scheme: str) -> None:
    browser.size(390, 800, mobile=True)
    browser.prefer(scheme)
    browser.open(page)
    assert browser.eval("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]
    browser.eval("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    assert browser.eval("[document.documentElement.scrollWidth, innerWidth]") == [390, 390]


def test_both_schemes_have_their_own_ground(browser: Browser, page: Path) -> None:
    grounds = set()
    for scheme in ("light", "dark"):
        browser.prefer(scheme)
        browser.open(page)
        grounds.add(browser.eval("getComputedStyle(document.body).backgroundColor"))
    assert grounds == {"rgb(250, 250, 249)", "rgb(19, 21, 25)"}


def test_a_campaign_without_findings_or_cells_says_so(browser: Browser, tmp_path: Path) -> None:
    folder = write_campaign(
        tmp_path / "c",
        cell_states={},
        findings=[],
        suppressed={},
        unblamed={},
        reactions={},
        engine="boofuzz",
    )
    for found in folder.glob("findings/*/finding.json"):
        found.unlink()
    browser.open(render_campaign(folder)["campaign.html"])
    text = browser.eval(TEXT)
    assert "no findings" in text and "applies only to the" in text
    assert "had no cells" in text and "--resume" not in text


def test_a_lost_target_is_told_first(browser: Browser, tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", exit_code=3, ended="no answer at 127.0.0.1:5672")
    browser.open(render_campaign(folder)["campaign.html"])
    assert "The target was lost. no answer" in browser.eval("document.querySelector('.banner').innerText")
    assert browser.eval("document.querySelector('.headline').innerText") == "target lost"


def test_cells_of_other_tables_are_not_made_up(browser: Browser, tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", tables="other", cells_planned=20)
    browser.open(render_campaign(folder)["campaign.html"])
    text = browser.eval(TEXT)
    assert (
        "20 cells planned = 3 covered + 1 not reachable + 1 stopped + 2 open + 13 open that cannot be listed"
        in text
    )
    assert "--resume" not in text
    assert "have changed since" in browser.eval("document.querySelector('.banner').innerText")
    browser.open(render_campaign(write_campaign(tmp_path / "d", tables="other"))["campaign.html"])
    assert "7 cells begun = 3 covered" in browser.eval(TEXT)
