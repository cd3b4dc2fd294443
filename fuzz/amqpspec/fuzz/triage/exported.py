"""A finding as a case of the suites: into its state with the verbs of a peer, then its octets, then what is expected.

Knows: how peers of both families go into each state, what a case can see of each oracle. Must not know: files.

What only the target's process or its log shows (memory, processor time, log, lateness) no case can see: its case
demands that the target lives on, and says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent

from amqpspec.fuzz.grammar import DIALECTS
from amqpspec.fuzz.inputs.catalogue import FuzzInput
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.states.follow_up import fresh_channel, is_methods, opens, traces, used_channels
from amqpspec.fuzz.states.ways import states
from amqpspec.spec.dialects import deployed_as

_LINE_CHARS = 88
_CHANNELS = 64
_METHODS: Mapping[str, str] = {
    "raw": "peer.connect()",
    "header": "peer.send_header()",
    "start": "peer.greet()",
    "tune": 'peer.greet()\npeer.start_ok()\npeer.expect("connection.tune", channel=0)',
    "open": "peer.handshake()",
    "ready": "peer.open_connection()",
    "channel": "peer.open_channel()",
    "consuming": 'peer.open_channel()\nqueue = peer.queue()\npeer.consume(queue, consumer_tag="amqpspec.fuzz.c")\n'
    'peer.publish(queue, b"01234567")\npeer.delivery()',
    "content": 'peer.open_channel()\npeer.send("basic.publish", routing_key="amqpspec.fuzz.none")',
    "body": 'peer.open_channel()\npublish = peer.method_frame("basic.publish", routing_key="amqpspec.fuzz.none")\n'
    'peer.send_octets(publish + peer.content_frames(b"01234567", body_size=16))',
    "limits": "peer.open_channel(channel_max=8, frame_max=4096)",
    "channel-closed": 'peer.open_channel()\npeer.call("channel.close", reply_code=200, reply_text="bye")',
    "closing": 'peer.open_channel()\npeer.send("connection.close", channel=0, reply_code=200, reply_text="bye")',
}
_ATTACHED = "peer.begin()\nlink = peer.sender()\npeer.credit_for(link)"
_SASL = 'peer.send_header("sasl")'
_TYPED: Mapping[str, str] = {
    "raw": "peer.connect()",
    "sasl-header": _SASL,
    "sasl": f'{_SASL}\npeer.expect_header("sasl")\npeer.expect("sasl-mechanisms", channel=None)',
    "authenticated": "peer.secure()",
    "header": "peer.greet()",
    "open": "peer.open_connection()",
    "session": "peer.begin()",
    "attached": _ATTACHED,
    "consuming": "node = peer.node()\nlink = peer.sender(node)\nreceiver = peer.receiver(node)\n"
    'peer.transfer(link, b"amqpspec", settled=True)\npeer.credit(receiver, 10)\npeer.delivery(receiver)',
    "transfer": f'{_ATTACHED}\npeer.transfer(link, message=bytes.fromhex("005375a00861"), more=True)',
    "session-ended": "peer.begin()\npeer.end()",
    "closing": 'peer.begin()\npeer.send("close")',
}
_BARRIERS = frozenset({"channel", "consuming", "session", "attached"})
"""States in which a round trip behind the octets proves that nothing more comes."""

_ROWS = {
    "amqp-0-9-1": "constant/internal-error",
    "amqp-wire-9-1": "security/invalid-data",
    "amqp-1-0": "definitions/condition/internal-error",
}
"""The row that stands for "lives on", where an input breaks none beyond doubt."""

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

_KEPT = {
    "methods": (
        'keeper = peer.another().open_channel()\nkept = keeper.queue()\nkeeper.publish(kept, b"kept for later")',
        "got = keeper.get(kept)\nbody = None if got is None else got.body\n"
        'return equals(peer, body, b"kept for later", "stored body")',
    ),
    "types": (
        'keeper = peer.another()\nkept = keeper.node()\nkeeper.send_message(kept, b"kept for later")',
        "bodies = [delivery.body for delivery in keeper.fetch(kept, 1)]\n"
        'return equals(peer, bodies, [b"kept for later"], "stored bodies")',
    ),
}
_HEARD = {
    "methods": (
        'other = peer.another("second").open_channel()\nother.consume(other.queue(), no_ack=True)',
        'other.barrier()\nheard = other.pending("basic.deliver")\n'
        'return equals(peer, len(heard), 0, "deliveries to another user")',
    ),
    "types": (
        'other = peer.another("second")\nears = other.receiver(other.node(), credit=10)',
        "other.barrier()\nheard = other.received(ears)\n"
        'return equals(peer, len(heard), 0, "deliveries to another user")',
    ),
}
_ONWARD = {
    "methods": 'peer.call("channel.open", channel={channel})\n'
    'answer = peer.call("basic.qos", channel={channel}, prefetch_count=1)\n'
    'return equals(peer, answer.name, "basic.qos-ok", "answer on a channel of its own")',
    "types": "peer.begin({channel})\n"
    'return equals(peer, peer.end({channel}).name, "end", "answer in a session of its own")',
}
"""What is legally asked behind the octets, on a channel that nobody has used."""
_OVER = """reaction = {wait}
if peer.is_over():
    return holds(peer, True, reaction.describe(peer.dialect))"""
_DEMANDS = {
    Oracle.CONFORMANCE: "The octets are refused as the row says",
    Oracle.CANARY: "A stored message stays as it is",
    Oracle.LEAK: "Another user hears nothing of it",
    Oracle.OBEDIENCE: "The target ends the connection, or goes on with what it is legally asked there",
}
_LIVES_ON = "The target lives on"
_UNSEEN = frozenset({Oracle.MEMORY, Oracle.CPU, Oracle.LOG, Oracle.LATE})


def case_of(name: str, item: FuzzInput, suspicion: Suspicion) -> str:
    """The source of a case; empty for a dialect or a state into which no peer of the suites goes."""
    dialect = next((d for d in DIALECTS if item.dialect in (d, deployed_as(d))), "")
    typed = dialect == "amqp-1-0"
    enter = (_TYPED if typed else _METHODS).get(item.state)
    if not dialect or enter is None:
        return ""
    oracle = suspicion.oracle
    unseen = oracle in _UNSEEN or (oracle is Oracle.OBEDIENCE and not _onward(item))
    if unseen:
        oracle = Oracle.CRASH
    if oracle is Oracle.CONFORMANCE and not item.expectation.requirement:
        return ""
    demand = _DEMANDS.get(oracle, _LIVES_ON)
    remark = "\n\nThe complaint itself is beyond what a case can see: amqpspec fuzz replay asks its oracle."
    return _CASE.format(
        top=_plain(suspicion.top), id=item.id, words=_plain(item.words), state=item.state,
        way=_plain(states(item.dialect)[item.state].words or "nothing sent"),
        remark=remark if unseen else "",
        peer="amqpspec.peer.amqp_1_0.peer" if typed else "amqpspec.peer.methods.peer",
        imports=_imports(oracle, typed=typed),
        steps="\n".join(_step(step) for step in item.steps), name=name.replace("-", "."),
        row=item.expectation.requirement or _ROWS[dialect], dialect=dialect, demand=demand,
        flags='hooks=("second-user",),\n    destructive=True' if oracle is Oracle.LEAK else "destructive=True",
        body=indent(_body(enter, oracle, demand, item, "types" if typed else "methods"), "    "),
    )  # fmt: skip


def _onward(item: FuzzInput) -> str:
    """What may legally be asked behind an input by which the connection stays open; nothing where it is not yet."""
    if not opens(item.dialect, item.state):
        return ""
    used = used_channels(item.dialect, item.state, traces(item.dialect, item.octets))
    channel = fresh_channel(used, states(item.dialect)[item.state].channel_max or _CHANNELS)
    family = "methods" if is_methods(item.dialect) else "types"
    return "" if channel is None else _ONWARD[family].format(channel=channel)


def _body(enter: str, oracle: Oracle, demand: str, item: FuzzInput, family: str) -> str:
    send = f'peer.claim("{demand}")\nfor octets in STEPS:\n    peer.send_octets(bytes.fromhex(octets))'
    barrier = "" if item.state in _BARRIERS else "barrier=False"
    if oracle is Oracle.CONFORMANCE:
        return f"{enter}\n{send}\nreturn rejects_violation({', '.join(filter(None, ('peer', barrier)))})"
    wait = "peer.reaction(barrier=False, within_s=peer.context.patience.quiet_s)"
    if oracle is Oracle.CANARY:
        before, after = _KEPT[family]
        return f"{before}\n{enter}\n{send}\n{wait}\n{after}"
    if oracle is Oracle.LEAK:
        before, after = _HEARD[family]
        return f"{before}\n{_KEPT[family][0]}\n{enter}\n{send}\n{wait}\n{after}"
    if oracle is Oracle.OBEDIENCE:
        return f"{enter}\n{send}\n{_OVER.format(wait=wait)}\n{_onward(item)}"
    return f"{enter}\n{send}\nreturn lives_on(peer, {wait})"


def _imports(oracle: Oracle, *, typed: bool) -> str:
    if oracle is Oracle.CONFORMANCE:
        return f"from amqpspec.run.{'amqp_1_0' if typed else 'methods'}.oracles import rejects_violation"
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
    """Text that can stand in a docstring: what a target wrote is not trusted."""
    return "".join(c if c.isprintable() and c not in "\\" else " " for c in text).replace('"', "'")
