"""What two sentences have in common: their words, without what differs from run to run.

Knows: texts, octets and numbers as they stand in what a case observed. Must not know: who compares, and what for.
"""

from __future__ import annotations

import re

_TEXT = r"""(?<!\w)b?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
_OWN_NUMBERS = r"(?P<kept>\b(?:close|return|exception|header(?: AMQP)?)(?: \d{1,3})+\b)"
_OCTETS = r"\b[0-9a-f]{2,}(?: [0-9a-f]{2,})+\b|\b(?=\w*\d)[0-9a-f]{8,}\b"
_NUMBER = r"(?<![\w-])-?\d+(?:\.\d+)?\b"
_NOISE = re.compile("|".join((_TEXT, _OWN_NUMBERS, _OCTETS, _NUMBER)))
_LIST = re.compile(r"[\[({][^\[\](){}]*…[^\[\](){}]*[\])}]")
_ENDS = re.compile(r" \((?:FIN|RST)\)")


def shape(observed: str) -> str:
    """The text with the target's own names, texts and numbers as placeholders; lists of them as one."""
    text, before = _NOISE.sub(lambda found: found["kept"] or "…", _ENDS.sub("", observed)), ""
    while text != before:
        text, before = _LIST.sub("(…)", text), text
    return " ".join(text.split())
