"""The descriptions of the fuzzer's families and oracles in reports.

Knows: words. Must not know: anything else.
"""

from __future__ import annotations

FAMILIES = {
    "C01": "arrays of elements without octets",
    "C02": "sizes and counts that cause allocation before data arrived",
    "C03": "nesting",
    "C04": "frame sizes, offsets, types, end octets",
    "C05": "negotiated limits",
    "C06": "names that a target may never free",
    "C07": "ranges that expand",
    "C08": "windows, credit, echo, transfers of a delivery",
    "C09": "frames in the wrong state, on the wrong channel, in the wrong order",
    "C10": "login and permission",
    "C11": "invalid tags, constructors and texts",
    "C12": "order of sections, descriptors, flags, packed bodies",
    "C13": "numbers of resources on a connection or channel",
    "C14": "patterns, matches, selectors",
    "random": "random mutation",
}
ORACLES = {
    "crash": "the target is gone",
    "hang": "the target does not answer another connection",
    "leak": "a message or an answer arrived in the wrong place",
    "canary": "a message was changed or lost",
    "memory": "memory grew far more than the data sent",
    "cpu": "processor time far above the usual value",
    "log": "the target's log reports an internal error",
    "obedience": "the target no longer answers legal requests",
    "late": "an answer arrived far later than usual",
    "conformance": "a violation was not refused as the specification requires",
}
COVERAGES = {
    "covered": "every input was sent in its state",
    "not reachable": "the state was not reached",
    "stopped": "nothing more is sent: the state damages the target, or its inputs cannot be sent",
    "open": "not finished when the campaign ended",
}
