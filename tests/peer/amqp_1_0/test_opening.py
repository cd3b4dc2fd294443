"""Headers, login, open, begin, waiting, politeness, staying alive."""

from __future__ import annotations

from typing import Any

import pytest
from scramp import ScramMechanism

from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.context import Login, OutOfReach, Unmet
from amqpspec.peer.events import Ended, Garbled, Quiet
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import TypedFrame, encode_frame
from amqpspec.wire.amqp_1_0.values import Raw, Value
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.transport import StreamEnd
from tests.peer.amqp_1_0.fake import begun, error, heard, last, names, opened, peer, says

OFFER = HEADERS["sasl"] + says("sasl-mechanisms", sasl_server_mechanisms=["PLAIN", "ANONYMOUS"])
WELCOME = says("sasl-outcome", code="ok")


def test_a_bare_connection_is_opened() -> None:
    made, transport = peer(opened(channel_max=7, max_frame_size=1000, idle_time_out=5000))
    made.open_connection()
    assert names(transport) == ["open"]
    assert last(transport)["container_id"] == made.container_id
    assert (made.channel_max, made.max_frame_octets, made.idle_timeout_ms) == (7, 1000, 5000)


def test_plain_goes_before_the_second_header() -> None:
    made, transport = peer(OFFER + WELCOME + opened(), login=Login("ann", "secret"))
    made.open_connection()
    items = heard(transport)
    assert [i.octets for i in items if isinstance(i, ProtocolHeader)] == [HEADERS["sasl"], HEADERS["amqp"]]
    init = items[1]
    assert isinstance(init, TypedFrame) and init.performative is not None
    assert init.performative["initial_response"] == b"\0ann\0secret"


def test_a_refused_login_is_told() -> None:
    made, _ = peer(OFFER + says("sasl-outcome", code="auth"), login=Login())
    with pytest.raises(Unmet, match="code 1"):
        made.open_connection()


def test_a_mechanism_that_is_not_offered_is_told() -> None:
    made, _ = peer(OFFER, login=Login(mechanism="EXTERNAL"))
    with pytest.raises(Unmet, match="EXTERNAL, observed an offer of PLAIN, ANONYMOUS"):
        made.secure()


def test_scram_proves_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = ScramMechanism("SCRAM-SHA-256")
    server = mechanism.make_server(lambda user: mechanism.make_auth_info("secret", iteration_count=4096))
    offer = HEADERS["sasl"] + says("sasl-mechanisms", sasl_server_mechanisms=["SCRAM-SHA-256"])
    made, transport = peer(offer, login=Login("ann", "secret", mechanism="SCRAM-SHA-256"))
    inner = transport.send

    def send(octets: bytes) -> bool:
        inner(octets)
        said = last(transport) if octets[:4] != b"AMQP" else None
        if said is not None and said.name == "sasl-init":
            server.set_client_first(said["initial_response"].decode())
            transport.script.append(says("sasl-challenge", challenge=server.get_server_first().encode()))
        elif said is not None:
            server.set_client_final(said["response"].decode())
            final = server.get_server_final().encode()
            transport.script.append(says("sasl-outcome", code="ok", additional_data=final))
        return True

    monkeypatch.setattr(transport, "send", send)
    made.secure()
    assert names(transport) == ["sasl-init", "sasl-response"]


def test_another_header_than_the_wanted_one_is_unmet() -> None:
    made, _ = peer(HEADERS["sasl"])
    made.send_header("amqp")
    with pytest.raises(Unmet, match="protocol header AMQP 3 1 0 0"):
        made.expect_header("amqp")


def test_begin_opens_and_maps_the_channels() -> None:
    made, transport = peer(opened() + begun(3, 9, next_outgoing_id=5, handle_max=2))
    session = made.begin(3)
    assert names(transport) == ["open", "begin"]
    assert (session.channel, session.remote_channel, session.next_incoming_id) == (3, 9, 5)
    assert session.is_mapped and session.remote_handle_max == 2


def test_a_channel_beyond_the_limit_is_out_of_reach() -> None:
    made, _ = peer(opened(channel_max=1))
    made.open_connection()
    with pytest.raises(OutOfReach, match="channel-max is 1, the case needs channel 2"):
        made.begin(2)


def test_fields_are_filled_in_left_out_and_overridden() -> None:
    made, transport = peer(opened() + begun())
    made.begin()
    made.send("flow", incoming_window=OMIT, next_outgoing_id=None, outgoing_window=Value("ubyte", 3))
    flow = last(transport)
    assert flow["next_incoming_id"] == 0
    assert set(flow.values) == {"next_incoming_id", "incoming_window", "next_outgoing_id", "outgoing_window"}
    assert flow.values["outgoing_window"] == Value("ubyte", 3)
    assert flow["incoming_window"] is None and flow["next_outgoing_id"] is None


def test_exact_frames_hold_just_what_is_given() -> None:
    made, _ = peer()
    assert made.exact("begin", 1) == bytes.fromhex("0000000c02000001 00531145")
    assert made.exact("close", error=Raw(b"\x40")) == bytes.fromhex("0000000f02000000 005318c0020140")
    assert not made.books.sessions


def test_frames_in_one_write_are_booked() -> None:
    made, _ = peer(opened() + begun() + begun(1, 1))
    made.send_octets(HEADERS["amqp"] + made.frame("open") + made.frame("begin") + made.frame("begin", 1))
    made.expect_header("amqp")
    made.expect("open")
    made.expect("begin", channel=1)
    assert made.session(0).is_mapped and made.session(1).is_mapped
    assert len(made.pending("begin")) == 1


def test_frames_of_another_session_are_kept() -> None:
    made, _ = peer(opened() + begun(0, 7) + begun(1, 6), says("flow", 7, **_WINDOWS), says("end", 6))
    made.begin(0)
    made.begin(1)
    assert made.expect("end", channel=1).wire_channel == 6
    assert made.expect("flow", channel=0).channel == 0


_WINDOWS: dict[str, Any] = {"incoming_window": 1, "next_outgoing_id": 0, "outgoing_window": 1}


def test_an_end_of_the_session_ends_the_wait() -> None:
    made, _ = peer(opened() + begun(), says("end", error=error("amqp:session:errant-link")))
    made.begin()
    with pytest.raises(Unmet, match=r"expected attach, observed end amqp:session:errant-link \('no'\)"):
        made.call("attach", role="sender", source={}, target={})


def test_closes_are_answered_once() -> None:
    made, transport = peer(opened() + begun(), says("end"), says("close", error=error()))
    made.begin()
    assert made.arrival("flow").describe(made.dialect) == "end without error"
    assert made.arrival("flow").describe(made.dialect) == "close amqp:internal-error ('no')"
    assert names(transport) == ["open", "begin", "end", "close"]
    assert made.is_over()


def test_an_impolite_peer_says_nothing() -> None:
    made, transport = peer(opened() + begun(), says("end"))
    made.begin()
    made.polite = False
    made.expect("end")
    assert names(transport) == ["open", "begin"]


def test_the_own_close_is_not_sent_again() -> None:
    made, transport = peer(opened(), says("close"))
    made.open_connection().close()
    made.leave(1.0)
    assert names(transport) == ["open", "close"]


def test_leaving_closes_what_is_open() -> None:
    made, transport = peer(opened(), says("close"))
    made.open_connection().leave(1.0)
    assert names(transport) == ["open", "close"] and transport.clock_s < 0.5


def test_empty_frames_go_out_while_waiting() -> None:
    made, transport = peer(opened(idle_time_out=1000), *[None] * 20)
    made.open_connection()
    assert isinstance(made.arrival("close", within_s=2.0), Quiet)
    assert names(transport).count("empty") in (4, 5)


def test_empty_frames_go_out_after_whole_frames_of_any_content() -> None:
    made, transport = peer(opened(idle_time_out=1000), *[None] * 20)
    made.open_connection()
    made.send_octets(made.exact("begin", next_outgoing_id=0) + made.exact("end"))
    made.arrival("close", within_s=2.0)
    assert names(transport)[:3] == ["open", "begin", "end"] and "empty" in names(transport)


def test_silence_can_be_kept() -> None:
    made, transport = peer(opened(idle_time_out=1000))
    made.open_connection()
    made.keeps_alive = False
    made.arrival("close", within_s=2.0)
    assert names(transport) == ["open"]


def test_nothing_is_put_into_a_frame_that_is_under_way() -> None:
    made, transport = peer(opened(idle_time_out=1000))
    made.open_connection()
    made.send_octets(made.exact("close")[:5])
    made.arrival("close", within_s=2.0)
    assert bytes(transport.sent).endswith(made.exact("close")[:5])


def test_a_body_that_cannot_be_read_is_garbled_and_frames_go_on() -> None:
    made, _ = peer(opened() + encode_frame(b"\x00\x53\x11\x3f") + says("close"))
    made.open_connection()
    assert isinstance(made.arrival("begin"), Garbled)
    assert made.expect("close").condition is None


def test_ill_typed_fields_can_be_read_and_are_told() -> None:
    made, _ = peer(opened() + begun(next_outgoing_id=Value("ubyte", 4)))
    session = made.begin()
    assert session.next_incoming_id == 4
    assert "next-outgoing-id" in str(made.problems[0])
    assert made.pending("begin") == []


def test_the_largest_frame_is_measured() -> None:
    made, _ = peer(opened(), says("begin", payload=bytes(3000), **_WINDOWS), StreamEnd.FIN)
    made.open_connection(max_frame_size=512)
    made.largest_frame_octets = 0
    assert isinstance(made.expect_end(), Ended)
    assert made.largest_frame_octets > 3000
