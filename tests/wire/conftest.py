from __future__ import annotations

import pytest

from amqpspec.wire.methods.codec import Codec, codec_for
from tests.wire.strategies import DIALECTS


@pytest.fixture(params=DIALECTS)
def codec(request: pytest.FixtureRequest) -> Codec:
    return codec_for(str(request.param))


@pytest.fixture
def base() -> Codec:
    return codec_for("amqp-0-9-1")


@pytest.fixture
def overlay() -> Codec:
    return codec_for("rabbitmq-0-9-1")
