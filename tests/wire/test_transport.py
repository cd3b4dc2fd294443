from __future__ import annotations

import pytest

from amqpspec.wire.transport import StreamEnd, StreamEnded


@pytest.mark.parametrize("how", list(StreamEnd))
def test_the_end_of_a_stream_says_how(how: StreamEnd) -> None:
    ended = StreamEnded(how)
    assert (ended.how, str(ended)) == (how, f"stream ended: {how}")
