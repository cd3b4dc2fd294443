"""What the fuzzer's families and oracles are called in a report.

Knows: words. Must not know: anything else.
"""

from __future__ import annotations

FAMILIES = {
    "C01": "arrays of elements without octets",
    "C02": "sizes and counts that ask for memory before data came",
    "C03": "nesting",
    "C04": "frame sizes, offsets, types, end octets",
    "C05": "limits that were agreed on",
    "C06": "names that a target may keep for ever",
    "C07": "ranges that expand",
    "C08": "windows, credit, echo, transfers of a delivery",
    "C09": "frames out of state, on the wrong channel, in the wrong order",
    "C10": "login and permission",
    "C11": "tags, constructors, texts that are none",
    "C12": "order of sections, descriptors, flags, packed bodies",
    "C13": "how many of a thing there are",
    "C14": "patterns, matches, selectors",
    "random": "random mutation",
}
ORACLES = {
    "crash": "the target is gone",
    "hang": "the target does not answer another connection",
    "leak": "something came where it does not belong",
    "canary": "a message was changed or lost",
    "memory": "memory grew far beyond what was sent",
    "cpu": "processor time far beyond the usual",
    "log": "the target's log tells of an error inside",
    "obedience": "no longer does what it is legally asked",
    "late": "an answer came far later than usual",
    "conformance": "a violation was not refused as the specification says",
}
COVERAGES = {
    "covered": "every input was sent in its state",
    "not reachable": "the state was not reached",
    "stopped": "no more is sent: it spoils the target, or its inputs cannot be sent",
    "open": "not finished when the campaign ended",
}
