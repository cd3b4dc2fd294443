"""What a target did in a case, in words that two targets have in common: the reaction that the lake compares.

Knows: how observed texts are written. Must not know: cases, brokers, the lake.

A case's text is written for one reader of one run: names of queues, texts of errors, tags and payloads stand in it,
which differ between any two targets and mean nothing. They become placeholders; the verdict stands in front, so that
two targets that were judged otherwise did not react alike. Reply codes and protocol headers are the protocol's own
numbers and stay. How TCP ended (FIN or RST) is no part of it: no specification asks for one or the other, and brokers
differ in it all the time; ``end_state`` has it. A case that was never judged has no reaction: nothing follows from it.
"""

from __future__ import annotations

import re

from amqpspec.record.rows import Outcome

_WITHOUT = frozenset({
    Outcome.NOT_APPLICABLE, Outcome.EXCLUDED, Outcome.BLOCKED, Outcome.INCONCLUSIVE, Outcome.ERROR,
})  # fmt: skip
_TEXT = r"""(?<!\w)b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_OWN_NUMBERS = r"(?P<kept>\b(?:close|return|exception|header(?: AMQP)?)(?: \d{1,3})+\b)"
_OCTETS = r"\b[0-9a-f]{2,}(?: [0-9a-f]{2,})+\b|\b(?=\w*\d)[0-9a-f]{8,}\b"
_NUMBER = r"(?<![\w-])-?\d+(?:\.\d+)?\b"
_NOISE = re.compile("|".join((_TEXT, _OWN_NUMBERS, _OCTETS, _NUMBER)))
_LIST = re.compile(r"[\[({][^\[\](){}]*…[^\[\](){}]*[\])}]")
_ENDS = re.compile(r" \((?:FIN|RST)\)")
_LONGEST = 300


def case_reaction(verdict: Outcome, observed: str) -> str | None:
    """Verdict and shape of what was observed; None where nothing was judged."""
    if verdict in _WITHOUT:
        return None
    return f"{verdict.value}: {shape(observed)}"[:_LONGEST]


def shape(observed: str) -> str:
    """The text with the target's own names, texts and numbers as placeholders; lists of them as one."""
    text, before = _NOISE.sub(lambda found: found["kept"] or "…", _ENDS.sub("", observed)), ""
    while text != before:
        text, before = _LIST.sub("(…)", text), text
    return " ".join(text.split())
