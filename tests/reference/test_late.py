"""The late broker: what it says by itself comes after its cause, in order; answers do not wait for it."""

from __future__ import annotations

import asyncio

from amqpspec.reference.late import Lateness


def order_of(delay_s: float, *, catch_up: bool) -> list[str]:
    seen: list[str] = []

    async def scene() -> None:
        later = Lateness(delay_s, lambda: seen.append("flush"))
        done = asyncio.Event()
        later(lambda: seen.append("first"))
        later(lambda: seen.append("second"))
        later(done.set)
        seen.append("answer")
        if catch_up:
            later.catch_up()
            later(lambda: seen.append("third"))
        await asyncio.wait_for(done.wait(), 5)

    asyncio.run(scene())
    return seen


def test_late_actions_come_in_order_behind_the_answer_and_are_followed_by_a_flush() -> None:
    seen = order_of(0.01, catch_up=False)
    assert [what for what in seen if what != "flush"] == ["answer", "first", "second"]
    assert seen.index("first") < seen.index("flush") and seen[-1] == "flush"


def test_a_prompt_broker_puts_nothing_off() -> None:
    assert order_of(0.0, catch_up=False) == ["first", "second", "answer"]


def test_a_broker_can_catch_up() -> None:
    assert order_of(10.0, catch_up=True) == ["answer", "first", "second"]
