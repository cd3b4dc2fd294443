"""Current judgements: a line for each connection, and a page with the latest ones.

Knows: HTTP on loopback, rows. Must not know: the source of connections. The server returns the page for any path, one
request at a time; the page shows the last ``MAX_SHOWN`` connections.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

from jinja2 import Template

from amqpspec.record.rows import FROM_BEST, CaseRow, Outcome
from amqpspec.reports.html.template import environment
from amqpspec.reports.text import cut_octets, one_line, plural
from amqpspec.run.clients.watching import Judged

MAX_SHOWN = 200
_REQUEST_S = 5.0
_GREEN = frozenset({Outcome.PASS, Outcome.OBSERVED})


def deviations(rows: Sequence[CaseRow]) -> list[CaseRow]:
    """The rows that are not green, the worst first."""
    found = [row for row in rows if row.verdict not in _GREEN]
    return sorted(found, key=lambda row: -FROM_BEST.index(row.verdict))


def said(judged: Judged) -> str:
    """The result of a connection, in one line."""
    worst = deviations(judged.rows)
    if worst:
        more = f", and {plural(len(worst) - 1, 'other deviation')}" if len(worst) > 1 else ""
        return f"{worst[0].verdict}: {worst[0].id}: {one_line(cut_octets(worst[0].observed), 200)}{more}"
    return f"{plural(len(judged.rows), 'case')} passed" if judged.rows else "nothing to judge"


@dataclass(frozen=True, slots=True)
class _Shown:
    """A row of the page."""

    number: int
    remote: str
    provoked: str
    ended: str
    said: str
    deviations: Sequence[CaseRow]


class LivePage:
    """Serves the page on loopback; safe from several threads."""

    def __init__(self, port: int = 0) -> None:
        self._port, self._lock = port, threading.Lock()
        self._latest: deque[_Shown] = deque(maxlen=MAX_SHOWN)
        self._connections = self._deviating = 0
        self._server: ThreadingHTTPServer | None = None

    def add(self, judged: Judged) -> None:
        """Record the judgement of a connection."""
        worst = deviations(judged.rows)
        shown = _Shown(judged.number, judged.remote, judged.provoked, judged.ended, said(judged), worst)
        with self._lock:
            self._connections += 1
            self._deviating += bool(worst)
            self._latest.appendleft(shown)

    def html(self) -> str:
        """The current page."""
        with self._lock:
            return _template().render(
                connections=self._connections, deviating=self._deviating, latest=list(self._latest)
            )

    def start(self) -> str:
        """Start serving; returns the URL. Raises OSError for a port that is not available."""
        handler = type("_Answering", (_Answer,), {"page": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), handler)
        threading.Thread(target=self._server.serve_forever, name="page", daemon=True).start()
        return f"http://127.0.0.1:{self._server.server_port}/"

    def stop(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Answer(BaseHTTPRequestHandler):
    page: ClassVar[LivePage]
    timeout = _REQUEST_S

    def do_GET(self) -> None:
        """The page, for any path."""
        octets = self.page.html().encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(octets)))
        self.end_headers()
        self.wfile.write(octets)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not logged."""


@cache
def _template() -> Template:
    return environment(Path(__file__).parent).get_template("live.html.j2")
