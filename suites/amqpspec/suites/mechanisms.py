"""Which cases about a login apply: no specification obliges a server to offer a certain SASL mechanism.

Knows: names of mechanisms. Must not know: dialects, single cases.
"""

from __future__ import annotations

from collections.abc import Collection

from amqpspec.peer.context import OutOfReach


def needs_mechanism(mechanism: str, offered: Collection[str]) -> None:
    """Raises OutOfReach if a mechanism is not offered: a login by it would be refused for that alone."""
    if mechanism not in offered:
        raise OutOfReach(f"the target offers {', '.join(offered) or 'nothing'}, the case needs {mechanism}")
