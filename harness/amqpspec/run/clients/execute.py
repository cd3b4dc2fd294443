"""Cases of clients from beginning to end: many at once, each verdict in the journal as soon as it is there.

Knows: how exceptions become outcomes, threads, the journal. Must not know: what a case does, reports.
Our fault is never the client's: whatever the harness raises by itself is ``error``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from amqpspec.net.clock import monotonic_ns, utc_instant
from amqpspec.record.journal import Journal
from amqpspec.record.rows import BlockedBy, CaseRow, Outcome
from amqpspec.record.transcript import TranscriptError
from amqpspec.run.case import Case
from amqpspec.run.clients.agent import AgentError
from amqpspec.run.clients.client import Arena, CannotDo, Client
from amqpspec.run.execute import last_line, row_of
from amqpspec.run.plan import Planned
from amqpspec.run.verdict import Verdict

Observer = Callable[[CaseRow], None]


def run_clients(
    plan: Sequence[Planned], arena: Arena, journal: Journal, at_once: int, observers: Iterable[Observer] = ()
) -> bool:
    """Run a plan; whether it finished. Raises JournalError, AgentError."""
    told = tuple(observers)

    def one(planned: Planned) -> None:
        if arena.stop.is_set():
            return
        row = planned.row() if planned.outcome is not None else execute(planned.case, arena)
        journal.case(row)
        for observer in told:
            observer(row)

    with ThreadPoolExecutor(at_once, "client") as pool:
        for future in [pool.submit(one, planned) for planned in plan]:
            try:
                future.result()
            except BaseException:
                arena.stop.set()
                raise
    return not arena.stop.is_set()


def execute(case: Case, arena: Arena) -> CaseRow:
    """Run one case; raises TranscriptError, AgentError."""
    client = Client(arena, case.id, case.requirements)
    started_ns = monotonic_ns()
    verdict = judged(case, client)
    duration_ms = round((monotonic_ns() - started_ns) / 1e6, 3)
    evidence = client.met[-1].evidence if client.met else ""
    ended = ", ".join(c.talk.ended or "open" for met in client.met[-1:] for c in met.conversations)
    row = replace(row_of(case, verdict), evidence=evidence, ended=ended)
    return replace(row, ended_at=utc_instant(), duration_ms=duration_ms)


def judged(case: Case, client: Client) -> Verdict:
    """What a case says of a client; raises TranscriptError, AgentError."""
    try:
        return case.body(client)
    except CannotDo as why:
        return Verdict(
            Outcome.NOT_APPLICABLE, "a client that does this", str(why), blocked_by=BlockedBy.PROFILE
        )
    except (TranscriptError, AgentError):
        raise
    except OSError as error:
        raise AgentError(
            f"{error.filename or 'the agent'}: cannot be run: {error.strerror or error}"
        ) from error
    except Exception as error:
        return Verdict(Outcome.ERROR, "a verdict", last_line(error))
