"""Connections judged without scenarios: by a server, a proxy, a capture; whole, broken off, and hostile ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.net.relay import Listening, pass_on
from amqpspec.net.stream import Endpoint
from amqpspec.record.evidence import transcripts
from amqpspec.record.journal import Journal
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import Manners, tapped
from amqpspec.run.case import load_suite
from amqpspec.run.clients.client import CannotDo, Encounter
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.run.clients.scenario import ScenarioError
from amqpspec.run.clients.watching import Judged, Seen, Watch
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_10 import EVERY as EVERY_0_10
from amqpspec.wire.capture import Segment, write_pcapng
from amqpspec.wire.conversation import Recorder, Talk
from amqpspec.wire.flows import tell_capture
from amqpspec.wire.methods.conversations import MethodReading
from tests.run.clients.recorded import UNSEEN, Talks, act, broken_off, conversation, served, verdicts
from tests.waiting import PATIENCE_S

_DIALECT, _SERVED = "amqp-0-9-1-clients", "rabbitmq-0-9-1"
_READING = MethodReading(_SERVED)
_SCENARIOS = ("connect", "publish", "publish-transactional", "consume", "get", "large", "return", "refused")


@contextmanager
def _served(recorder: Recorder, by_place: Mapping[str, object] | None = None) -> Iterator[ReferenceBroker]:
    places = {case: deed for case, deed in provocations_of(_DIALECT).items() if case in (by_place or {})}
    through = tapped(recorder, Manners(_READING, by_place=places))
    with ReferenceBroker(_SERVED, through=through, vhosts=tuple(places)) as broker:
        yield broker


def _act(host: str, port: int, scenario: str, *faults: str, place: str = "/") -> None:
    with suppress(ScenarioError):
        act(_DIALECT, host, port, scenario, *faults, place=place)


_conversation = partial(conversation, _DIALECT)


def _verdicts(talk: Talk) -> dict[str, Outcome]:
    return {
        id: verdict.outcome for id, verdict in verdicts(_DIALECT, talk, load_suite(_DIALECT).values()).items()
    }


@contextmanager
def _watching(
    folder: Path, journal: Journal, dialect: str = _DIALECT
) -> Iterator[tuple[Watch, list[Judged], Callable[[], None]]]:
    """A watch, what it reported, and a way to wait until it reports again."""
    told: list[Judged] = []
    more = threading.Semaphore(0)

    def tell(judged: Judged) -> None:
        told.append(judged)
        more.release()

    def wait() -> None:
        assert more.acquire(timeout=PATIENCE_S)

    with Watch(dialect, folder, load_suite(dialect), journal, tell) as watch:
        known = provocations_of(dialect)
        watch.provoked = lambda talk: found if (found := watch.reading.place(talk) or "") in known else ""
        yield watch, told, wait


def _by_id(rows: tuple[CaseRow, ...]) -> dict[str, CaseRow]:
    return {row.id: row for row in rows}


# --- a server


def test_a_careful_client_passes_whatever_it_does_and_a_careless_one_is_found(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal, _watching(tmp_path, journal) as (watch, told, wait):
        with _served(watch) as broker:
            for scenario in (*_SCENARIOS, *_SCENARIOS):
                _act(broker.host, broker.port, scenario)
                wait()
            assert {row.verdict for one in told for row in one.rows} == {Outcome.PASS}
            kept = len(list(transcripts(tmp_path)))
            assert 0 < kept <= len(_SCENARIOS), "what shows nothing new is not kept"
            _act(broker.host, broker.port, "publish", "content-with-weight")
            wait()
        worst = told[-1].worst
        assert worst is not None and (worst.id, worst.verdict) == ("client.content.weight", Outcome.FAIL)
        assert (tmp_path / worst.evidence).exists()
        row = next(row for row in watch.rows() if row.id == worst.id)
    assert row.verdict is Outcome.FAIL and row.observed.endswith("; 1 of 13 connections")


@pytest.mark.parametrize(
    ("faults", "verdict"), [((), Outcome.PASS), (("ignores-every-violation",), Outcome.INCONCLUSIVE)]
)
def test_a_virtual_host_chooses_a_hostile_server(
    tmp_path: Path, faults: tuple[str, ...], verdict: Outcome
) -> None:
    case = "client.hostile.unasked-ack.declare-ok"
    with (
        Journal(tmp_path) as journal,
        _watching(tmp_path, journal) as (watch, told, wait),
        _served(watch, {case: None}) as broker,
    ):
        _act(broker.host, broker.port, "publish", *faults, place=case)
        wait()
        _act(broker.host, broker.port, "publish")
        wait()
    assert {row.id: row.verdict for row in told[0].rows} == {case: verdict}
    assert case not in _by_id(told[1].rows) and told[1].rows


def test_what_is_still_open_is_judged_when_the_watch_ends(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal, _watching(tmp_path, journal) as (watch, told, _):
        talk = Talk(7)
        watch.began(talk)
        for chunk in _conversation("publish").chunks[:-2]:
            talk.add(chunk.sender, chunk.at_ns, chunk.octets)
            watch.octets(talk, chunk.sender, chunk.at_ns, chunk.octets)
    assert told[0].ended == "open" and {row.verdict for row in told[0].rows} == {Outcome.PASS}


@pytest.mark.parametrize("octets", [b"AMQP\0\1\0\0", b"AMQP\3\1\0\0", b"AMQP\1\1\0\x0a"])
def test_another_version_is_none_of_this_suites_business(tmp_path: Path, octets: bytes) -> None:
    with Journal(tmp_path) as journal, _watching(tmp_path, journal) as (watch, told, wait):
        talk = Talk(1)
        watch.began(talk)
        talk.add(Side.CLIENT, 0, octets)
        watch.lost(talk)
        wait()
    assert told[0].rows == ()


# --- every dialect

_WATCHED_1_0 = ("connect", "send", "send-settled", "receive", "reject", "large", "refused", "reconnect")


@pytest.mark.parametrize(
    ("dialect", "scenarios", "fewer"),
    [
        ("amqp-0-10-clients", tuple(scenario for scenario in EVERY_0_10 if scenario != "idle"), 40),
        ("amqp-1-0-clients", _WATCHED_1_0, 50),
    ],
)
def test_connections_are_judged_as_they_end(
    tmp_path: Path, dialect: str, scenarios: tuple[str, ...], fewer: int
) -> None:
    told: list[Judged] = []
    with (
        Journal(tmp_path) as journal,
        Watch(dialect, tmp_path, load_suite(dialect), journal, told.append) as watch,
        ReferenceBroker(served(dialect), through=tapped(watch, Manners(watch.reading))) as broker,
    ):
        for scenario in scenarios:
            act(dialect, broker.host, broker.port, scenario)
    assert len(told) == len(scenarios) + 1
    assert {row.verdict for judged in told for row in judged.rows} == {Outcome.PASS}
    assert len(watch.rows()) > fewer


@pytest.mark.parametrize(
    ("dialect", "chosen", "scenario", "noticed"),
    [
        ("amqp-0-10-clients", "client.hostile.command-of-clients.attached", "publish", "which servers do not send"),
        ("amqp-1-0-clients", "client.hostile.attach-twice", "send", "attach with handle"),
        ("amqp-fast-0-8-clients", "client.hostile.notify-unasked.handle", "send", "which consumes nothing"),
    ],
)  # fmt: skip
def test_a_hostile_server_is_chosen_by_the_place(
    tmp_path: Path, dialect: str, chosen: str, scenario: str, noticed: str
) -> None:
    load_suite(dialect)  # which declares the provocations
    known = {chosen: provocations_of(dialect)[chosen]}
    with (
        Journal(tmp_path) as journal,
        _watching(tmp_path, journal, dialect) as (watch, told, wait),
    ):
        through = tapped(watch, Manners(watch.reading, None, known))
        with (
            ReferenceBroker(served(dialect), through=through, vhosts=tuple(known)) as broker,
            pytest.raises(ScenarioError, match=noticed),
        ):
            act(dialect, broker.host, broker.port, scenario, place=chosen)
        wait()
    assert [(judged.provoked, [row.id for row in judged.rows]) for judged in told] == [(chosen, [chosen])]
    assert told[0].rows[0].verdict is Outcome.PASS


# --- broken off


@given(data=st.data())
def test_a_conversation_that_breaks_off_anywhere_is_no_deviation(data: st.DataObject) -> None:
    whole = _conversation(data.draw(st.sampled_from(_SCENARIOS)))
    cut = broken_off(data, whole)
    cut.ended = ""  # An end of the connection would be the client's, and judged.
    wrong = {id for id, verdict in _verdicts(cut).items() if verdict in (Outcome.FAIL, Outcome.NONSTRICT)}
    assert not wrong


def test_a_frame_of_an_unknown_type_is_a_deviation() -> None:
    whole, talk = _conversation("connect"), Talk(1, ended="FIN")
    talk.chunks += whole.chunks[:-2]
    assert _verdicts(talk)["client.frames.readable"] is Outcome.PASS
    talk.add(Side.CLIENT, whole.chunks[-1].at_ns, b"\x4d\0\0\0\0\0\0\xce")
    assert _verdicts(talk)["client.frames.readable"] is Outcome.FAIL


# --- captures


def _segments(talk: Talk, conn: int = 1) -> list[Segment]:
    here, there = ("127.0.0.1", 40_000 + conn), ("127.0.0.1", 5672)
    return [
        Segment(c.at_ns, conn, "out" if c.sender is Side.CLIENT else "in", c.octets, here, there)
        for c in talk.chunks
    ]


def _octets(talk: Talk, sender: Side) -> bytes:
    return b"".join(chunk.octets for chunk in talk.chunks if chunk.sender is sender)


def test_a_capture_tells_what_was_said(tmp_path: Path) -> None:
    # Either may have been kept first, by another test; the capture is in the order of time.
    originals = sorted(map(_conversation, ("publish", "large")), key=lambda talk: talk.chunks[0].at_ns)
    segments = [s for n, talk in enumerate(originals, 1) for s in _segments(talk, n)]
    write_pcapng(tmp_path / "two.pcapng", sorted(segments, key=lambda s: s.t_ns))
    kept = Talks()
    assert not tell_capture(tmp_path / "two.pcapng", kept).begun_before
    for original, talk in zip(originals, kept.talks, strict=True):
        for side in (Side.CLIENT, Side.SERVER):
            assert _octets(talk, side) == _octets(original, side)


# --- a proxy


@contextmanager
def _proxied(to: Endpoint, recorder: Recorder) -> Iterator[Listening]:
    stop, ready, places = threading.Event(), threading.Event(), list[Listening]()

    def told(place: Listening) -> None:
        places.append(place)
        ready.set()

    thread = threading.Thread(target=pass_on, args=(Listening("127.0.0.1", 0), to, recorder, stop, told))
    thread.start()
    try:
        assert ready.wait(PATIENCE_S)
        yield places[0]
    finally:
        stop.set()
        thread.join(PATIENCE_S)
    assert not thread.is_alive()


def test_a_proxy_passes_everything_on_and_judges_it(tmp_path: Path) -> None:
    with (
        Journal(tmp_path) as journal,
        _watching(tmp_path, journal) as (watch, told, wait),
        ReferenceBroker(_SERVED) as broker,
        _proxied(Endpoint(broker.host, broker.port), watch) as place,
    ):
        for scenario in ("consume", "large"):
            _act(place.host, place.port, scenario)
            wait()
        _act(place.host, place.port, "consume", "acknowledges-twice")
        wait()
    assert {row.verdict for one in told[:2] for row in one.rows} == {Outcome.PASS}
    assert "client.ack.once" in _by_id(told[0].rows)
    assert _by_id(told[2].rows)["client.ack.once"].verdict is Outcome.FAIL


def test_a_proxy_without_a_broker_behind_it_ends_what_connects(tmp_path: Path) -> None:
    with ReferenceBroker(_SERVED) as gone:
        nowhere = Endpoint(gone.host, gone.port)
    kept = Talks()
    with _proxied(nowhere, kept) as place:
        _act(place.host, place.port, "connect")
        assert kept.lost_one.wait(PATIENCE_S)
    assert kept.talks[0].is_left


def test_a_case_that_no_connection_asked_for_cannot_be_met() -> None:
    seen = Seen(Encounter([], UNSEEN, "x"))
    with pytest.raises(CannotDo):
        seen.meet("client.hostile.fin.start", "connect")
