"""The shape of a sentence: its words without the parts that differ from run to run.

Knows: the forms of texts, octets and numbers in observations. Must not know: the purpose of the comparison.
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
    """The text with placeholders for the target's names, texts and numbers; a list of them becomes one placeholder."""
    text, before = _NOISE.sub(lambda found: found["kept"] or "…", _ENDS.sub("", observed)), ""
    while text != before:
        text, before = _LIST.sub("(…)", text), text
    return " ".join(text.split())
