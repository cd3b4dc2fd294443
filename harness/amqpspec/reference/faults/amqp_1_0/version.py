"""Faults of protocol headers.

Knows: names, what they break, one sentence each. Must not know: how a fault is acted out.
"""

from __future__ import annotations

from amqpspec.reference.faults.fault import Fault

FAULTS = (
    Fault(
        "own-header-first",
        ("version/server-may-wait",),
        "the broker sends its header without waiting for the client's",
    ),
    Fault(
        "unspoken-header-answered",
        (
            "version/highest-not-above",
            "version/highest-otherwise",
            "version/unparseable",
            "version/unsupported",
            "version/example-minor",
            "version/example-http",
            "version/protocol-id-is-no-version",
        ),
        "a header that is refused is answered by a version that is not spoken",
    ),
    Fault(
        "refused-header-answered-by-tls",
        ("version/protocol-id/choice", "version/protocol-id/unacceptable", "version/example-minor"),
        "a header that is refused is answered by the one of TLS",
    ),
    Fault(
        "own-header-without-revision",
        ("version/supported", "version/header-layout"),
        "the broker's own header names another revision",
    ),
    Fault(
        "open-before-own-header",
        ("version/header-first",),
        "the broker's open goes out before its header",
    ),
    Fault("version-one-refused", ("version/supported",), "the broker refuses the version that it speaks"),
    Fault("single-layer-only", ("version/supported",), "after the login, the second header is not answered"),
)
