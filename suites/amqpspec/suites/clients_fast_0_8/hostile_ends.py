"""Servers that end, and servers that stop sending."""

from __future__ import annotations

from amqpspec.run.clients.provoking import acting
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.hostility import Act

for _act, _how in ((Act.FIN, "FIN"), (Act.RESET, "RST")):
    for _point, _at in {**of.POINTS, **of.FURTHER}.items():
        of.hostile(
            globals(), f"{_how.lower()}.{_point}", "connection/summary/client/physical-close", _at, acting(_act),
            f"A client detects {_how} instead of {_at[0]}",
        )  # fmt: skip
    of.hostile(
        globals(), f"{_how.lower()}.again", "connection/summary/client/physical-close",
        ("connection.challenge", "reconnect"), acting(_act),
        f"A client detects {_how} instead of CHALLENGE on its second connection", connection=2,
    )  # fmt: skip
for _point, _at in (
    ("challenge", of.POINTS["challenge"]),
    ("handle", of.POINTS["handle"]),
    ("notify", of.POINTS["notify"]),
    ("idle", ("channel.reply", "idle")),
):
    of.hostile(
        globals(), f"silence.{_point}", "tuning/heartbeat/other-means", _at, acting(Act.SILENCE),
        f"A client disconnects from a server that stops sending at {_at[0]}",
    )  # fmt: skip
