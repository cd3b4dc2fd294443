"""The verdict on a whole run, and what counts as what, which every report shares."""

from __future__ import annotations

from dataclasses import replace

from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reports.load import LoadedRun, RequirementRow
from amqpspec.reports.outcomes import LOOKS, dialect_title, levels_in_order
from amqpspec.reports.standing import Deviations, standing
from amqpspec.reports.summary import Score, headline
from amqpspec.reports.text import one_line, plural, visible
from tests.reports import synthetic


def run_of(run: LoadedRun, *verdicts: tuple[Outcome, str], exit_code: int = 0) -> LoadedRun:
    row = synthetic.hostile_case()
    cases = tuple(replace(row, id=str(n), verdict=v, baseline=b) for n, (v, b) in enumerate(verdicts))
    tally = Tally.of(case.verdict for case in cases)
    return replace(run, cases=cases, tally=tally, exit_code=exit_code, requirements={})


GOOD = (Outcome.PASS, "")


def test_the_headline_agrees_with_the_exit_code(harbor: LoadedRun) -> None:
    assert headline(run_of(harbor, GOOD)) == "conforms"
    assert headline(run_of(harbor, GOOD, (Outcome.NONSTRICT, ""))) == "conforms"
    assert headline(run_of(harbor, GOOD, (Outcome.FAIL, "known"))) == "baseline met"
    assert headline(run_of(harbor, GOOD, (Outcome.FAIL, ""), exit_code=1)) == "deviates"
    assert headline(run_of(harbor, (Outcome.BLOCKED, ""), exit_code=3)) == "not reached"
    assert headline(run_of(harbor, exit_code=4)) == "incomplete run"
    assert headline(run_of(harbor, (Outcome.BLOCKED, ""), exit_code=4)) == "nothing judged"
    assert headline(replace(run_of(harbor, GOOD, exit_code=5), stale=("x",))) == "stale baseline"


def test_what_was_not_judged_is_partial_and_never_conforms(harbor: LoadedRun) -> None:
    def said(outcome: Outcome, baseline: str = "", exit_code: int = 0) -> str:
        return headline(run_of(harbor, GOOD, (outcome, baseline), exit_code=exit_code))

    start = "partial: 0 of 1 requirements judged, "
    assert said(Outcome.BLOCKED, "known") == start + "baseline met"
    assert said(Outcome.INCONCLUSIVE, "unexpected", 1) == start + "not decided"
    assert said(Outcome.BLOCKED, "", 1) == start + "blocked"
    assert said(Outcome.BLOCKED) == said(Outcome.EXCLUDED) == start + "no deviation"
    assert said(Outcome.NOT_APPLICABLE) == "conforms", "left out by rule"
    asked = run_of(harbor, GOOD)
    (id,) = asked.cases[0].requirements
    rows = {id: RequirementRow(id, cases=("0", "1")), "other": RequirementRow("other", excluded="client")}
    missing = replace(asked, requirements=rows)
    assert headline(missing) == start + "no deviation", "a case of the suite that was not asked for"
    assert standing(missing).open == (id,)


def test_a_run_that_judges_clients_owes_no_judgement_of_servers(harbor: LoadedRun) -> None:
    asked = run_of(harbor, GOOD)
    target = replace(asked.meta.target, dialect="amqp-0-9-1-clients")
    (id,) = asked.cases[0].requirements
    rows = {
        id: RequirementRow(id, binds="client", cases=("0",)),
        "server/x": RequirementRow("server/x", binds="server", cases=("server.x", "server.y")),
    }
    clients = replace(asked, meta=replace(asked.meta, target=target), requirements=rows)
    assert headline(clients) == "conforms" and standing(clients).of == 1
    watched = replace(asked.cases[0], id="server.x", requirements=("server/x",))
    both = replace(clients, cases=(*clients.cases, watched))
    assert standing(both).of == 2 and standing(both).open == ("server/x",)
    assert standing(replace(clients, meta=asked.meta)).open == ("server/x",), "a ledger for brokers"


def test_every_case_that_is_not_green_stands_in_one_list_at_most(harbor: LoadedRun) -> None:
    everything = [(outcome, baseline) for outcome in Outcome for baseline in ("", "known", "unexpected")]
    run = run_of(harbor, *everything)
    for strict in (False, True):
        found = Deviations.of_run(replace(run, meta=replace(run.meta, strict=strict)))
        listed: list[CaseRow] = [
            *found.unexpected,
            *found.known,
            *found.undecided,
            *found.nonstrict,
            *found.blocked,
        ]
        assert len({case.id for case in listed}) == len(listed)
        assert {case.verdict for case in listed} == {
            Outcome.FAIL,
            Outcome.NONSTRICT,
            Outcome.INCONCLUSIVE,
            Outcome.ERROR,
            Outcome.BLOCKED,
        }
        known = [case for case in run.cases if case.is_known]
        assert len(listed) == 15 and list(found.known) == known


def test_the_score_hides_nothing(harbor: LoadedRun) -> None:
    run = run_of(harbor, *((outcome, "") for outcome in Outcome))
    assert Score.of_run(run) == Score(green=2, of=7)


def test_every_outcome_has_its_own_look() -> None:
    assert LOOKS.keys() == set(Outcome)
    assert (
        len({look.symbol for look in LOOKS.values()})
        == len({look.word for look in LOOKS.values()})
        == len(LOOKS)
    )


def test_levels_stand_strongest_first() -> None:
    levels = ("statement", "odd", None, "SHOULD", "MUST", "odd", "MAY")
    assert levels_in_order(levels) == ["MUST", "SHOULD", "MAY", "statement", "", "odd"]


def test_dialects_are_written_as_people_do() -> None:
    assert dialect_title("amqp-0-9-1") == "AMQP 0-9-1"
    assert dialect_title("of-another-build") == "of-another-build"


def test_text_is_made_fit() -> None:
    assert visible("a\x00b\r\n\tc\u202e\ud800é🐇") == "a\\x00b\\x0d\n\tc\\u202e\\ud800é🐇"
    assert one_line("  a \n b  ") == "a b" and one_line("abcdef", 4) == "abc…"
    assert [plural(n, "case") for n in (0, 1, 1200)] == ["0 cases", "1 case", "1,200 cases"]
    assert plural(2, "entry") == "2 entries"
