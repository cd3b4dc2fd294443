"""A target that refuses what is too large, or invalid, and is gone for every client then, fails the case."""

from __future__ import annotations

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference.core import Core
from amqpspec.run.case import load_suite
from amqpspec.run.memory import Conditions, judged_in_memory

METHODS, DRAFT, FAST = "amqp-0-9-1", "amqp-wire-9-1", "amqp-fast-0-8"


@pytest.mark.parametrize(
    ("dialect", "fault", "name"),
    [
        (METHODS, "dies-of-oversized-frames", "amq_wlp_frame_03"),
        (METHODS, "dies-of-oversized-frames", "framing.frame.oversized-method"),
        (METHODS, "dies-of-oversized-frames", "framing.frame.four-gibibytes"),
        (METHODS, "dies-of-oversized-frames", "connection.tune-ok.frame-max.far-over"),
        (METHODS, "dies-of-oversized-frames", "connection.tune-ok.frame-max.method"),
        (METHODS, "dies-of-channels-above-the-limit", "connection.tune.channel-max.number-above"),
        (METHODS, "dies-of-channels-above-the-limit", "connection.tune.channel-max.one-too-many"),
        (DRAFT, "dies-of-channels-above-the-limit", "channels.down-to-one"),
        (DRAFT, "dies-of-channels-above-the-limit", "channels.maximum"),
        (FAST, "dies-beyond-its-limits", "tuning.channel-max"),
        (FAST, "dies-beyond-its-limits", "tuning.handle-max"),
        (DRAFT, "dies-of-oversized-frames", "amq_wlp_frame_03"),
        (DRAFT, "dies-of-oversized-frames", "wlp.frame_03.method"),
        (DRAFT, "dies-of-oversized-frames", "wlp.frame_03.four-gibibytes"),
        (DRAFT, "dies-of-oversized-frames", "security.negotiation-errors.oversized"),
        (DRAFT, "dies-of-invalid-data", "security.invalid-data"),
        (DRAFT, "dies-of-invalid-data", "security.invalid-data.others-work-on"),
        (FAST, "dies-of-large-frames", "frames.escape.too-large"),
        (FAST, "dies-of-large-frames", "response.size"),
        (FAST, "dies-of-large-frames", "tune.size"),
        (FAST, "dies-of-large-messages", "messages.head.maximum"),
        (FAST, "dies-of-large-messages", "handle.ready.too-large"),
        (FAST, "dies-of-high-ids", "ids.checked"),
    ],
)
def test_a_target_that_dies_of_it_fails(dialect: str, fault: str, name: str) -> None:
    verdict = judged_in_memory(load_suite(dialect)[name], Conditions((fault,)))
    assert verdict.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("dialect", "name"),
    [(DRAFT, "security.negotiation-errors.oversized"), (FAST, "response.size"), (FAST, "tune.size")],
)
def test_a_client_with_failed_logins_may_be_blocked(
    dialect: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New connections are refused after the hostile one, and those that are open are served."""
    monkeypatch.setattr(Core, "_crash", lambda core: setattr(core, "crashed", True))
    fault = "dies-of-large-frames" if dialect == FAST else "dies-of-oversized-frames"
    assert judged_in_memory(load_suite(dialect)[name], Conditions((fault,))).outcome is Outcome.PASS
