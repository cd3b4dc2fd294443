"""The common part of every exported boofuzz script: it is read as text and copied into each of them.

Knows: boofuzz, frames as far as answers have to be distinguished. Must not know: this project; a script runs alone.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from boofuzz import (
    Block,
    Byte,
    Bytes,
    DWord,
    FuzzLoggerText,
    ProtocolSessionReference,
    QWord,
    Request,
    Session,
    Size,
    String,
    Target,
    TCPSocketConnection,
    Word,
)
from boofuzz.exception import (
    BoofuzzTargetConnectionAborted,
    BoofuzzTargetConnectionFailedError,
    BoofuzzTargetConnectionReset,
)

__all__ = [
    "Block",
    "Byte",
    "Bytes",
    "Count",
    "DWord",
    "Definition",
    "ProtocolSessionReference",
    "QWord",
    "Request",
    "Size",
    "String",
    "Word",
    "main",
    "session_of",
]


_GUEST = {"response": "\0guest\0guest", "user": "guest", "password": "guest"}


class Definition(NamedTuple):
    """A dialect: the layout of its frames, the names of a server's messages, the requests, and the graph between them.

    ``frame`` holds the octets before a payload, the place of the size, and what a size leaves out; ``named_by`` are the
    places of the octets by which ``names`` knows a frame; an edge holds a request, the one after it, and the answers
    that are waited for in between. With ``own_queue``, each case has a separate queue. A size has ``size_octets``.
    """

    dialect: str
    frame: tuple[int, int, int]
    named_by: tuple[tuple[int, int], ...]
    names: dict[bytes, str]
    slots: dict[str, Any]
    requests: dict[str, Callable[[], Any]]
    edges: tuple[tuple[str, str, tuple[str, ...]], ...]
    own_queue: bool
    size_octets: int


class Count(Size):  # type: ignore[misc]  # boofuzz has no types
    """How many children a block has, where a Size says how many octets."""

    def encode(self, value: Any, mutation_context: Any) -> Any:
        """The count if nothing is mutated, else the mutation."""
        if value is not None:
            return super().encode(value, mutation_context)
        block = self.request.resolve_name(self.context_path, self.block_name)
        return (len(block.stack) + self.offset).to_bytes(self.length, "big")


class Case:
    """One test case: what was received but not yet read, the values of slots, and what did not arrive."""

    def __init__(self, definition: Definition, slots: dict[str, Any]) -> None:
        self.definition, self.given = definition, slots
        self.number = 0
        self.begin()

    def begin(self, *args: Any, **kwargs: Any) -> None:
        """A new connection: called before each case."""
        self.number += 1
        self.heard, self.missing = bytearray(), ""
        own = {"container": f"{self.given['container']}-{self.number}"}
        if self.definition.own_queue:
            own["queue"] = f"{self.given['queue']}.{self.number}"
        self.slots = {**self.given, **own}

    def answered(self, *names: str) -> Callable[..., None]:
        """A callback that reads until these answers have arrived, in this order, and fills the next request's slots."""

        def answers(
            target: Any, fuzz_data_logger: Any, session: Any, node: Any, test_case_context: Any, **kwargs: Any
        ) -> None:
            for name in names:
                if not self.missing and not self._comes(target, name):
                    self.missing = name
                    fuzz_data_logger.log_info(f"no {name}: the state was not reached")
            # What is bent is kept and shown: a real login is no part of it.
            login = _GUEST if node is session.fuzz_node else {}
            test_case_context.session_variables.update({**self.slots, **login})

        return answers

    def _comes(self, target: Any, name: str) -> bool:
        while True:
            for said, payload in taken(self.definition, self.heard):
                if said == "connection.tune":
                    self._limits(payload)
                if said == name:
                    return True
            try:
                octets = target.recv()
            except (BoofuzzTargetConnectionReset, BoofuzzTargetConnectionAborted):
                return False
            if not octets:
                return False
            self.heard += octets

    def _limits(self, tune: bytes) -> None:
        self.slots["channel_max"] = int.from_bytes(tune[4:6], "big") or 65_535
        self.slots["frame_max"] = int.from_bytes(tune[6:10], "big") or 131_072


def taken(definition: Definition, heard: bytearray) -> Iterator[tuple[str, bytes]]:
    """Whole frames and protocol headers, by name with their payload, taken out of what was received."""
    before, size_at, left_out = definition.frame
    width = definition.size_octets
    while len(heard) >= 8:
        header = heard[:4] == b"AMQP"
        size = 8 if header else int.from_bytes(heard[size_at : size_at + width], "big") + left_out
        if len(heard) < size or (size < before and not header):
            return
        octets = bytes(heard[:size])
        del heard[:size]
        payload = octets[before:]
        if header:
            yield "header", octets
        else:
            key = b"".join(octets[start:end] for start, end in definition.named_by)
            yield definition.names.get(key, ""), payload


def session_of(
    definition: Definition, target: Any, slots: dict[str, Any] | None = None, **options: Any
) -> tuple[Any, Case]:
    """The session with its graph, and its test case; ``options`` are those of boofuzz' Session."""
    case = Case(definition, {**definition.slots, **(slots or {})})
    begin = [*options.pop("pre_send_callbacks", ()), case.begin]
    usual = {
        "receive_data_after_each_request": False,
        "ignore_connection_reset": True,
        "ignore_connection_aborted": True,
        "keep_web_open": False,
        "web_port": None,
    }
    session = Session(target=target, pre_send_callbacks=begin, **(usual | options))
    made = {name: make() for name, make in definition.requests.items()}
    for after, name, waits in definition.edges:
        session.connect(made[after] if after else session.root, made[name], callback=case.answered(*waits))
    return session, case


def alive(definition: Definition, host: str, port: int, timeout_s: float) -> Callable[..., None]:
    """A callback after each case: another connection has to be answered."""
    header = definition.requests[definition.edges[0][1]]().render()

    def still_alive(target: Any, fuzz_data_logger: Any, **kwargs: Any) -> None:
        another = TCPSocketConnection(host, port, recv_timeout=timeout_s)
        another.open()
        another.send(header)
        if not another.recv(8):
            fuzz_data_logger.log_fail("the target no longer answers a protocol header")
        another.close()

    return still_alive


def reachable(host: str, port: int) -> bool:
    """Whether the target listens; reports it if not, because boofuzz ends silently."""
    another = TCPSocketConnection(host, port)
    try:
        another.open()
    except BoofuzzTargetConnectionFailedError as error:
        print(f"{host}:{port} takes no connection: {error}")
    else:
        another.close()
        return True
    return False


def main(definition: Definition, host: str, port: int) -> int:
    """Fuzz from the command line; 1 where something failed, 3 if no one listens."""
    parser = argparse.ArgumentParser(description=f"boofuzz session for {definition.dialect}")
    parser.add_argument("--host", default=host)
    parser.add_argument("--port", type=int, default=port)
    parser.add_argument("--user", default="guest")
    parser.add_argument("--password", default="guest")
    parser.add_argument("--vhost", default=definition.slots["vhost"])
    parser.add_argument(
        "--queue", default=definition.slots["queue"], help="a queue, or an address in AMQP 1.0"
    )
    parser.add_argument("--timeout", type=float, default=5.0, help="seconds that an answer may take")
    parser.add_argument("--index-start", type=int, default=1)
    parser.add_argument("--index-end", type=int, help="the last test case (default: all)")
    parser.add_argument("--case", help="a request, or a test case, by boofuzz' name for it")
    parser.add_argument("--check", action="store_true", help="send every request once, with nothing bent")
    parser.add_argument("--web-port", type=int, help="boofuzz' web page (default: none)")
    parser.add_argument("--db", help="boofuzz' results (default: below boofuzz-results)")
    parser.add_argument("--quiet", "-q", action="store_true", help="one line at the end")
    args = parser.parse_args()
    slots = {
        "response": f"\0{args.user}\0{args.password}",
        "user": args.user,
        "password": args.password,
        "vhost": args.vhost,
        "queue": args.queue,
        "hostname": args.host,
    }
    session, case = session_of(
        definition,
        Target(connection=TCPSocketConnection(args.host, args.port, recv_timeout=args.timeout)),
        slots,
        index_start=args.index_start,
        index_end=args.index_end,
        web_port=args.web_port,
        db_filename=args.db,
        fuzz_db_keep_only_n_pass_cases=1,
        restart_threshold=3,
        fuzz_loggers=[] if args.quiet else [FuzzLoggerText()],
        post_test_case_callbacks=[alive(definition, args.host, args.port, args.timeout)],
    )
    if args.check:
        session.feature_check()
    else:
        session.fuzz(name=args.case, max_depth=1)
    print(f"{case.number - 1} test cases, {len(session.monitor_results)} failed")
    if session.monitor_results:
        return 1
    return 0 if reachable(args.host, args.port) else 3
