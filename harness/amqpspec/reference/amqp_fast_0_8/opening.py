"""Commands on the connection: the login, tuning, OPEN, PING.

Knows: their fields, and which rules they can violate. Must not know: channels, handles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.reference.amqp_fast_0_8 import limits
from amqpspec.reference.amqp_fast_0_8.connection import CODES, Connection
from amqpspec.reference.amqp_fast_0_8.fields import numbers
from amqpspec.reference.amqp_fast_0_8.phases import Phase
from amqpspec.reference.fault import fault_table
from amqpspec.reference.handlers import Handlers
from amqpspec.reference.model import User
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.amqp_fast_0_8.types import MECHANISMS, PROTOCOL_VERSION

Args = Mapping[str, Any]
COMMANDS = Handlers[Callable[[Connection, Args], None]]()


def challenge(connection: Connection, version: int) -> None:
    """Answer a valid greeting, or ask for more."""
    spoken = min(version, PROTOCOL_VERSION) or PROTOCOL_VERSION
    if connection.faulty("challenge-with-a-higher-version"):
        spoken += 1
    mechanisms = " ".join(MECHANISMS)
    if connection.faulty("mechanisms-by-comma"):
        mechanisms += ",NONE"
    if connection.faulty("plain-not-offered"):
        mechanisms = "TLS"
    if connection.faulty("challenge-of-many-octets"):
        mechanisms += " " + " ".join(f"X{n}" for n in range(40))
    connection.phase = Phase.LOGIN
    challenges: Any = {"REALM": "x" * 5000} if connection.faulty("challenge-of-many-octets") else {}
    if connection.faulty("predefined-names-in-small-letters"):
        challenges = {"login": "", "password": ""}
    if not connection.faulty("challenge-not-sent"):
        connection.reply("connection.challenge", version=spoken, mechanisms=mechanisms, challenges=challenges)


@COMMANDS.register("connection.response")
def _response(connection: Connection, args: Args) -> None:
    if _is_late(connection):
        return
    mechanism, given = args["mechanism"], args["responses"]
    if connection.faulty("one-more-challenge") and not connection.asked_twice:
        connection.asked_twice = True
        connection.reply("connection.challenge", version=PROTOCOL_VERSION, mechanisms=" ".join(MECHANISMS))
        return
    if mechanism == "NONE":
        connection.refuse("changes/no-anonymous-login", "mechanism NONE")
        connection.user = connection.core.users["guest"]
        _propose(connection)
        return
    if mechanism not in MECHANISMS:
        connection.refuse("connection/response/mechanism", f"mechanism {mechanism!r}")
    user = _user(connection, given)
    if user is None and {name.upper() for name in given} >= set(MECHANISMS["PLAIN"]) - set(given):
        rule = "plain/case" if not set(MECHANISMS["PLAIN"]) <= set(given) else "connection/response/rejected"
        connection.refuse(rule, "no user of this name has this password")
    elif user is None:
        connection.refuse("connection/response/rejected", "no LOGIN, or no PASSWORD")
    connection.user = user or connection.core.users["guest"]
    _propose(connection)


def _is_late(connection: Connection) -> bool:
    """Whether the login is over, where its commands are refused."""
    if connection.phase is not Phase.OPEN:
        return False
    connection.refuse("errors/connection", "a command of the login once more", CODES["command-invalid"])
    return True


def _user(connection: Connection, given: Mapping[str, tuple[str, Any]]) -> User | None:
    login, password = (given.get(name, ("", None)) for name in MECHANISMS["PLAIN"])
    if "S" not in login[0] or "S" not in password[0]:
        return None
    user = connection.core.users.get(login[1].decode("utf-8", "replace"))
    return user if user is not None and user.password.encode() == password[1] else None


# --- tuning


def _propose(connection: Connection) -> None:
    options: dict[str, int | str] = {
        "FRAME_MAX": 512 if connection.faulty("frame-max-too-small") else limits.FRAME_MAX_OCTETS,
        "CHANNEL_MAX": limits.CHANNEL_MAX,
        "HANDLE_MAX": limits.HANDLE_MAX,
        "HEARTBEAT": 0,
        "TXN_LIMIT": limits.TXN_LIMIT,
    }
    if connection.faulty("frame-max-zero"):
        options["FRAME_MAX"] = 0
    if connection.faulty("tune-option-as-text"):
        options["CHANNEL_MAX"] = str(limits.CHANNEL_MAX)
    if connection.faulty("tune-option-nobody-knows"):
        options["SPEED_MAX"] = 1
    if connection.faulty("tune-options-in-small-letters"):
        options = {name.lower(): value for name, value in options.items()}
    connection.phase = Phase.TUNING
    dictionary = {"ET": "Expiration-Time"} if connection.faulty("dictionary-of-the-server") else {}
    if connection.faulty("tune-not-sent"):
        return
    connection.reply("connection.tune", options=options, dictionary=dictionary)
    if connection.faulty("tune-sent-twice"):
        connection.reply("connection.tune", options=options, dictionary=dictionary)


@COMMANDS.register("connection.tune")
def _tune(connection: Connection, args: Args) -> None:
    if _is_late(connection):
        return
    options = numbers(args["options"])
    frame_max = options.get("FRAME_MAX", connection.frame_max_octets)
    if frame_max > limits.FRAME_MAX_OCTETS:
        connection.refuse("tuning/frame-max/client-maximum", f"FRAME_MAX {frame_max}")
    if frame_max < DIALECT.layout.min_frame_max_octets + connection.faulty("least-frame-max-refused"):
        connection.refuse("tuning/frame-max/client-minimum", f"FRAME_MAX {frame_max}")
        frame_max = DIALECT.layout.min_frame_max_octets
    if not connection.faulty("first-tune-only") or connection.frame_max_octets == limits.FRAME_MAX_OCTETS:
        connection.frame_max_octets = frame_max
    connection.pings.interval_s = max(0, options.get("HEARTBEAT", connection.pings.interval_s))
    aliases = {
        name: value.decode("latin-1") for name, (tag, value) in args["dictionary"].items() if tag == "S"
    }
    if connection.faulty("last-dictionary-only"):
        connection.aliases.clear()
    connection.aliases |= aliases
    if aliases and connection.faulty("dictionaries-refused"):
        connection.refuse("tuning/frame-max/client-minimum", "a dictionary")
    if connection.faulty("tune-answered"):
        connection.reply("connection.tune")


# --- OPEN and PING


@COMMANDS.register("connection.open")
def _open(connection: Connection, args: Args) -> None:
    if connection.phase is Phase.OPEN:
        connection.refuse("errors/connection", "a second OPEN", CODES["command-invalid"])
        return
    connection.phase = Phase.OPEN
    connection.established()
    connection.vhost = connection.core.vhosts.get(args["virtual_path"])
    if connection.faulty("one-virtual-host-for-a-login") and args["virtual_path"] != "/":
        connection.vhost = None
    user = connection.user
    if connection.vhost is None or user is None or args["virtual_path"] not in user.vhosts:
        connection.refuse("errors/connection", f"no virtual host {args['virtual_path']!r}")
        connection.vhost = connection.core.vhosts["/"]
    _check_name(connection, args["client_name"])
    connection.pings.start()
    _confirm(connection, args["confirm_tag"])


def _check_name(connection: Connection, name: str) -> None:
    others = (c for c in connection.core.connections if isinstance(c, Connection) and c is not connection)
    if name and any(other.client_name == name for other in others):
        connection.refuse("connection/open/client-name", f"client {name!r} is active")
    connection.client_name = name


def _confirm(connection: Connection, tag: int) -> None:
    if not tag and not connection.faulty("open-confirmed-unasked"):
        return
    if connection.faulty("open-not-confirmed"):
        return
    if connection.faulty("open-confirmed-by-another-tag"):
        tag = tag % 0xFFFF + 1
    code = 700 if connection.faulty("open-confirmed-by-no-code") else 200
    connection.reply("connection.reply", confirm_tag=tag, reply_code=code)
    if connection.faulty("open-confirmed-twice"):
        connection.reply("connection.reply", confirm_tag=tag, reply_code=code)


@COMMANDS.register("connection.ping")
def _ping(connection: Connection, args: Args) -> None:
    waits = any(channel.arriving for channel in connection.channels.values())
    if waits and connection.faulty("ping-waits-for-messages"):
        return
    if args["respond"] and not connection.faulty("ping-not-answered"):
        connection.reply("connection.ping", respond=connection.faulty("ping-asks-back"))


FAULTS = fault_table("""
challenge-not-sent: a valid greeting is not answered
    [initiation/valid scenarios/preparing/challenge initiation/version]
challenge-with-a-higher-version: CHALLENGE names a version above the client's
    [connection/challenge/version initiation/version]
mechanisms-by-comma: the mechanisms in CHALLENGE are separated by commas
    [connection/challenge/mechanisms connection/challenge/plain]
plain-not-offered: PLAIN is not among the mechanisms [connection/challenge/plain]
challenge-of-many-octets: CHALLENGE has more than 4096 octets [connection/challenge/size]
predefined-names-in-small-letters: names in CHALLENGE are in small letters [plain/uppercase]
frame-max-too-small: the broker's FRAME_MAX is below 1024 [tuning/frame-max/minimum]
frame-max-zero: the broker's FRAME_MAX is zero [tuning/frame-max/not-zero tuning/frame-max/minimum]
tune-option-nobody-knows: the broker's TUNE has an undefined option [tuning/server-options]
tune-option-as-text: an option of the broker's TUNE is a string [tuning/server-options]
tune-options-in-small-letters: options of the broker's TUNE are in small letters
    [plain/uppercase tuning/server-options]
dictionary-of-the-server: the broker's TUNE has a dictionary [connection/tune/dictionary]
tune-not-sent: a login that is right is not answered
    [scenarios/preparing/tune connection/response/accepted connection/summary/server/response]
tune-sent-twice: the broker sends two TUNEs [connection/tune/exchange]
least-frame-max-refused: a client's FRAME_MAX of 1024 is refused [tuning/frame-max/client-minimum]
first-tune-only: of several TUNEs the first counts [changes/tune-any-number connection/tune/exchange]
last-dictionary-only: of several dictionaries the last counts [dictionaries/merged]
dictionaries-refused: a dictionary is refused [dictionaries/unused dictionaries/any-number]
tune-answered: a client's TUNE is answered by TUNE [connection/summary/server/tune]
open-confirmed-unasked: an OPEN without confirm-tag is confirmed
    [connection/confirmation/zero connection/summary/server/open]
open-not-confirmed: an OPEN with a confirm-tag is not confirmed
    [connection/open/confirmed connection/confirmation/non-zero connection/reply/open
    connection/summary/server/open]
open-confirmed-by-another-tag: the confirmation of OPEN has another confirm-tag [connection/reply/confirm-tag]
open-confirmed-by-no-code: the confirmation of OPEN has a code that is none [connection/reply/reply-code]
open-confirmed-twice: an OPEN is confirmed twice [connection/reply/open connection/confirmation/non-zero]
one-more-challenge: the first RESPONSE is answered by another CHALLENGE
    [scenarios/preparing/rounds connection/response/more]
one-virtual-host-for-a-login: a login opens one virtual host only [virtual-hosts/after-security]
ping-waits-for-messages: a PING within a message is not answered
    [priorities/ping priorities/connection connection/summary/server/ping]
ping-not-answered: a PING that requests an answer gets none
    [connection/ping/respond connection/summary/server/ping]
ping-asks-back: the PING that answers requests an answer [connection/ping/no-loop]
""")
