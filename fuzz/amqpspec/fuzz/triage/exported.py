"""A finding as a case of the suites: the way into its state with the verbs of a peer, its octets, and the expectation.

Knows: what a case can see of each oracle. Must not know: any dialect's peer, files.

What only the target's process or its log shows (memory, processor time, log, lateness) no case can see: its case
requires that the target survives, and says that.
"""

from __future__ import annotations

from textwrap import indent

from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.follow_up import fresh_channel, opens, traces, used_channels
from amqpspec.fuzz.states.ways import states
from amqpspec.fuzz.triage.part import CaseWords, triage_part
from amqpspec.spec.dialects import judged_as

_LINE_CHARS = 88
_CHANNELS = 64

_CASE = '''"""Found by the fuzzer: {top}

Input {id} ({words}), state {state}: {way}{remark}
"""

from __future__ import annotations

from {peer} import Peer
from amqpspec.run.case import case
{imports}
from amqpspec.run.verdict import Verdict

STEPS = (
{steps}
)


@case(
    "fuzz.{name}",
    covers=["{row}"],
    dialect="{dialect}",
    {flags},
)
def found_by_the_fuzzer(peer: Peer) -> Verdict:
    """{demand}."""
{body}
'''

_OVER = """reaction = {wait}
if peer.is_over():
    return holds(peer, True, reaction.describe(peer.dialect))"""
_DEMANDS = {
    Oracle.CONFORMANCE: "The octets are refused as the row requires",
    Oracle.CANARY: "A stored message is not changed",
    Oracle.LEAK: "Another user receives nothing of it",
    Oracle.OBEDIENCE: "The target ends the connection, or continues to answer legal requests on it",
}
_LIVES_ON = "The target continues to run"
_UNSEEN = frozenset({Oracle.MEMORY, Oracle.CPU, Oracle.LOG, Oracle.LATE})


def case_of(name: str, item: FuzzInput, suspicion: Suspicion) -> str:
    """The source of a case; empty for a dialect or a state into which no peer of the suites goes."""
    said = triage_part(item.dialect).case_words
    if said is None or item.state not in said.enter:
        return ""
    oracle = suspicion.oracle
    unseen = oracle in _UNSEEN or (oracle is Oracle.OBEDIENCE and not _follow_up(said, item))
    if unseen:
        oracle = Oracle.CRASH
    if oracle is Oracle.CONFORMANCE and not item.expectation.requirement:
        return ""
    demand = _DEMANDS.get(oracle, _LIVES_ON)
    remark = "\n\nThe complaint itself is beyond what a case can see: amqpspec fuzz replay asks its oracle."
    return _CASE.format(
        top=_plain(suspicion.top), id=item.id, words=_plain(item.words), state=item.state,
        way=_plain(states(item.dialect)[item.state].words or "nothing sent"),
        remark=remark if unseen else "", peer=said.peer, imports=_imports(oracle, said),
        steps="\n".join(_step(step) for step in item.steps), name=name.replace("-", "."),
        row=item.expectation.requirement or said.row, dialect=judged_as(item.dialect), demand=demand,
        flags='hooks=("second-user",),\n    destructive=True' if oracle is Oracle.LEAK else "destructive=True",
        body=indent(_body(said, oracle, demand, item), "    "),
    )  # fmt: skip


def _follow_up(said: CaseWords, item: FuzzInput) -> str:
    """What may legally be asked after an input by which the connection stays open; nothing if it is not yet."""
    if not opens(item.dialect, item.state):
        return ""
    used = used_channels(item.dialect, item.state, traces(item.dialect, item.octets))
    channel = fresh_channel(used, states(item.dialect)[item.state].channel_max or _CHANNELS)
    return "" if channel is None else said.follow_up.format(channel=channel)


def _body(said: CaseWords, oracle: Oracle, demand: str, item: FuzzInput) -> str:
    enter = said.enter[item.state]
    send = f'peer.claim("{demand}")\nfor octets in STEPS:\n    peer.send_octets({said.octets})'
    none = f"barrier={said.no_barrier}"
    barrier = "" if item.state in said.barriers else none
    where = ", ".join(filter(None, (said.channel, none)))
    if oracle is Oracle.CONFORMANCE:
        return f"{enter}\n{send}\nreturn rejects_violation({', '.join(filter(None, ('peer', said.channel, barrier)))})"
    wait = f"peer.reaction({where}, within_s=peer.context.patience.quiet_s)"
    if oracle is Oracle.CANARY:
        return f"{said.store}\n{enter}\n{send}\n{wait}\n{said.fetch}"
    if oracle is Oracle.LEAK:
        return f"{said.listen}\n{said.store}\n{enter}\n{send}\n{wait}\n{said.heard}"
    if oracle is Oracle.OBEDIENCE:
        return f"{enter}\n{send}\n{_OVER.format(wait=wait)}\n{_follow_up(said, item)}"
    return f"{enter}\n{send}\nreturn lives_on(peer, {wait})"


def _imports(oracle: Oracle, said: CaseWords) -> str:
    if oracle is Oracle.CONFORMANCE:
        return f"from {said.oracles} import rejects_violation"
    if oracle is Oracle.OBEDIENCE:
        return "from amqpspec.run.oracles import equals, holds"
    return f"from amqpspec.run.oracles import {'equals' if oracle in _DEMANDS else 'lives_on'}"


def _step(octets: bytes) -> str:
    """A step as hex, on as many lines as it takes."""
    text = octets.hex()
    lines = [text[at : at + _LINE_CHARS] for at in range(0, len(text), _LINE_CHARS)] or [""]
    if len(lines) == 1:
        return f'    "{text}",'
    return "\n".join(("    (", *(f'        "{line}"' for line in lines), "    ),"))


def _plain(text: str) -> str:
    """Text that can be in a docstring: what a target wrote is not trusted."""
    return "".join(c if c.isprintable() and c not in "\\" else " " for c in text).replace('"', "'")
