"""The subject of a campaign: an address, logins, its process, its log and its restart.

Knows: addresses, scope. Must not know: inputs, oracles.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from pathlib import Path
from secrets import token_hex

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.clock import now_s, pause
from amqpspec.fuzz.executor.connections import room_to_wait
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.states.model import Values, with_names
from amqpspec.fuzz.states.ways import states

_AWAKE_S = 60.0
_ROUNDS = 5
_ADDRESS_S = 10.0


class NotAttached(ValueError):
    """The address of the target cannot be attached to; one line says which, and what the target answered."""


class OutOfScope(ValueError):
    """The target may not be fuzzed; one line says why."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The answer to a sentinel: the seconds that it took, and our port."""

    took_s: float
    port: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A target as the fuzzer needs it. ``pid`` is called each time: a restart may change it.

    ``others`` are logins whose queues must not receive anything from us; ``known`` are requirements that the target is
    known to violate; ``hang_s`` is how long a sentinel waits for its answer; ``patience`` scales every wait.

    ``thorough``: the conversation continues after every input that was not refused, not only after some. ``keeping``:
    inputs may share a connection that the target keeps open.

    ``url`` is where a replay finds the target, unless that needs a secret; ``replay`` holds its other options.
    ``make_node`` creates the node of an address for a login, where links do not; raises Unanswered.
    """

    name: str
    dialect: str
    address: Address
    values: Values = field(default_factory=Values)
    others: tuple[Values, ...] = ()
    restart: Callable[[], None] | None = None
    pid: Callable[[], int | None] = lambda: None
    log: Path | None = None
    known: frozenset[str] = frozenset()
    connections: int = 128
    patience: float = 1.0
    hang_s: float = 10.0
    url: str = ""
    thorough: bool = False
    keeping: bool = True
    replay: tuple[str, ...] = ()
    make_node: Callable[[Values, str], None] | None = None

    def filling(self, number: int, tag: str = "") -> Values:
        """The values of connection ``number``, with its own container and, if one is declared, its own queue.

        ``tag`` distinguishes executors: a session of AMQP 0-10 may outlive its connection by its name.
        """
        queue = executor_part(self.dialect).queue_of(number, self.values)
        return with_names(self.values, queue, f"amqpspec-fuzz-{tag}{number}")

    def executor(self, tempo: Tempo) -> Executor:
        """An executor for this target."""
        filling = partial(self.filling, tag=f"{token_hex(3)}-")
        made = Executor(
            self.address, filling, tempo, self.connections, thorough=self.thorough, keeping=self.keeping
        )
        made.most_carried = room_to_wait(self.pid())
        return made

    @property
    def sentinel_state(self) -> str:
        """The state that a sentinel enters."""
        return executor_part(self.dialect).sentinel_state

    def greet(self, timeout_s: float, whole_s: float = inf) -> Greeting:
        """Send a sentinel into its state. Raises Unanswered.

        Each answer may take ``timeout_s``, all of them ``whole_s``.
        """
        begun_s = now_s()
        values = replace(self.values, container=f"amqpspec-sentinel-{begun_s}")
        with Client(self.address, self.dialect, values, timeout_s, begun_s + whole_s) as client:
            client.enter(self.sentinel_state)
        return Greeting(now_s() - begun_s, client.port)

    def round_trip_s(self) -> float:
        """The slowest of a few greetings, in seconds. Raises Unanswered."""
        return max(self.greet(10.0).took_s for _ in range(_ROUNDS))

    def renew(self) -> bool:
        """Restart the target and wait until it answers; returns False if that is impossible or does not help."""
        if self.restart is None:
            return False
        try:
            self.restart()
        except OSError:
            return False
        return self.awake(_AWAKE_S)

    def awake(self, within_s: float) -> bool:
        """Whether the target answers within this many seconds."""
        until_s = now_s() + within_s
        while True:
            try:
                self.greet(5.0)
            except Unanswered:
                if now_s() > until_s:
                    return False
                pause(0.2)
            else:
                return True


def check_address(subject: Subject) -> None:
    """Raises NotAttached if the target refuses the address, Unanswered if it cannot be reached."""
    answer = executor_part(subject.dialect).attached_by
    known = states(subject.dialect).items()
    attached = next((n for n, state in known if any(answer in step.wait_for for step in state.steps)), "")
    if not attached:
        return
    values = replace(subject.values, container=f"amqpspec-address-{now_s()}")
    with Client(subject.address, subject.dialect, values, _ADDRESS_S) as client:
        client.enter(subject.sentinel_state)
    with Client(subject.address, subject.dialect, values, _ADDRESS_S) as client:
        try:
            client.enter(attached)
        except Unanswered as reason:
            if not reason.refused:
                return  # a silent target, or one that closes the connection, is judged by the campaign
            raise NotAttached(
                f"{subject.name}: expected an address that can be attached to (address in targets.yaml), "
                f"actual {values.queue!r}: {reason}"
            ) from reason


def check_scope(host: str, scope: Path | None) -> None:
    """Raises OutOfScope for a host that is neither loopback nor in the scope file."""
    if host == "localhost" or _is_loopback(host):
        return
    if scope is None:
        raise OutOfScope(
            f"{host}: expected a loopback address, actual another one; a file that names it is needed (--scope FILE)"
        )
    lines = {line.partition("#")[0].strip() for line in scope.read_text(encoding="utf-8").splitlines()}
    if host not in lines:
        raise OutOfScope(f"{host}: expected one of the hosts of {scope}, actual: not among them")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
