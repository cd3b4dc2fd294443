"""targets.yaml: known targets by name; a mistake is reported with file, line and key.

Knows: the file's keys and their shapes (docs/targets.md). Must not know: how a target is started or spoken to.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

import amqpspec
from amqpspec.peer.context import LINKS, Login
from amqpspec.record.reading import compose_yaml
from amqpspec.spec.dialects import features, runnable_dialects
from amqpspec.target.known import KNOWN, is_known
from amqpspec.target.url import AmqpUrl, UrlError, parse_url

_PUBLIC = ("guest", "second", "limited")


class ConfigError(ValueError):
    """The configuration is wrong; the text names file, line and key."""


@dataclass(frozen=True, slots=True)
class Target:
    """One target as configured. ``broker`` names a known broker (or ``reference``) that supplies URL, users and hooks.

    ``not_supported`` maps optional parts of the protocol to the reason that the target's vendor gives, ``supported``
    those that it has without announcing them in the usual place;
    ``ending_s`` is how long it may take to end a connection that it refuses; ``patience`` scales every wait, and
    ``connections`` is how many cases it tolerates at once, where the user does not say. A ``fresh`` one is restarted
    after each case. ``nodes`` says how the queues of AMQP 1.0 are created, where their target does not tell;
    ``memory_limit_mib`` is the limit under which a known broker has to run, if there is one.
    """

    name: str
    dialect: str = "amqp-0-9-1"
    url: AmqpUrl | None = None
    broker: str = ""
    profile: str = ""
    logins: Mapping[str, Login] = field(default_factory=dict)
    vhosts: Mapping[str, str] = field(default_factory=dict)
    not_supported: Mapping[str, str] = field(default_factory=dict)
    supported: Mapping[str, str] = field(default_factory=dict)
    hooks: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    pid: Path | None = None
    baseline: Path | None = None
    ending_s: float = 12.0
    patience: float = 1.0
    connections: int = 16
    fresh: bool = False
    memory_limit_mib: int = 0
    nodes: str = ""
    address: str = ""
    hostname: str = ""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Passwords that must not reach the evidence; the public default is none."""
        known = [login.password for login in self.logins.values()]
        if self.url is not None:
            known.append(self.url.password)
        return secret_passwords(known)


def secret_passwords(passwords: Iterable[str]) -> tuple[str, ...]:
    """Those that are worth hiding, the longest first."""
    return tuple(sorted(set(passwords) - {"", *_PUBLIC}, key=lambda password: (-len(password), password)))


def target_of_url(text: str) -> Target:
    """A target that is nothing but a URL, or ``reference[:DIALECT]``; raises ConfigError."""
    if text == "reference" or text.startswith("reference:"):
        dialect = text.partition(":")[2] or "amqp-0-9-1"
        if dialect not in runnable_dialects():
            raise ConfigError(f"{text}: {_no_dialect(dialect)}")
        # It makes a node when a link first names it.
        return Target("reference", dialect=dialect, broker="reference", address="{name}")
    try:
        url = parse_url(text)
        return Target(f"{url.host}:{url.port}", url=url)
    except UrlError as error:
        raise ConfigError(str(error)) from error


def _no_dialect(actual: str) -> str:
    return f"expected a dialect of {sorted(runnable_dialects())}, actual {actual!r}"


def read_targets(path: Path, wanted: str = "") -> dict[str, Target]:
    """Every target of a file; raises ConfigError. Credentials are looked up for the wanted target only."""
    try:
        text = path.read_text(encoding="utf-8")
        node = compose_yaml(text)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}{yaml_complaint(error)}") from error
    reader = _Reader(path, wanted)
    targets: dict[str, Target] = {}
    for key, value, line in reader.items(node, "the file"):
        if key != "targets":
            raise reader.error(line, key, "expected only the key 'targets'")
        for name, body, at in reader.items(value, "targets"):
            reader.reading = name
            targets[name] = _target(reader, name, body, at, path.parent)
    return targets


def yaml_complaint(error: Exception) -> str:
    """Where a file is no YAML, and why: one line, to be put after the file's name."""
    problem, mark = getattr(error, "problem", None), getattr(error, "problem_mark", None)
    if problem is None or mark is None:
        return f": not YAML: {' '.join(str(error).split())}"
    return f", line {mark.line + 1}: not YAML: {problem}"


class _Reader:
    """Walks YAML nodes so that every complaint has its line."""

    def __init__(self, path: Path, wanted: str) -> None:
        self.path = path
        self.wanted = wanted
        self.reading = ""

    def error(self, line: int, key: str, text: str) -> ConfigError:
        return ConfigError(f"{self.path}, line {line}, key {key!r}: {text}")

    def wrong(self, node: yaml.Node, key: str, text: str) -> ConfigError:
        return self.error(node.start_mark.line + 1, key, text)

    def items(
        self, node: Any, key: str, known: Collection[str] | None = None
    ) -> Iterator[tuple[str, Any, int]]:
        """The entries of a mapping with their lines: each name once, and only known ones if they are given."""
        if not isinstance(node, yaml.MappingNode):
            line = 1 if node is None else node.start_mark.line + 1
            empty = node is None or node.tag == _NULL
            raise self.error(line, key, f"expected a mapping, actual {'nothing' if empty else node.id}")
        seen: set[str] = set()
        for name, value in node.value:
            line, text = name.start_mark.line + 1, str(name.value)
            if not isinstance(name, yaml.ScalarNode):
                raise self.error(line, key, f"expected names as keys, actual {name.id}")
            if text in seen:
                raise self.error(line, text, "is there twice")
            if known is not None and text not in known:
                raise self.error(line, f"{key}.{text}", f"unknown key, expected one of {sorted(known)}")
            seen.add(text)
            yield text, value, line

    def text(self, node: Any, key: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or not node.value:
            raise self.wrong(node, key, f"expected a text, actual {node.id}")
        return str(node.value)

    def number(self, node: Any, key: str) -> float:
        try:
            return float(self.text(node, key))
        except ValueError:
            raise self.wrong(node, key, f"expected a number, actual {node.value!r}") from None

    def positive(self, node: Any, key: str) -> float:
        number = self.number(node, key)
        if not 0 < number < math.inf:
            raise self.wrong(node, key, f"expected a number above 0, actual {node.value!r}")
        return number

    def count(self, node: Any, key: str) -> int:
        number = self.positive(node, key)
        if number != int(number):
            raise self.wrong(node, key, f"expected a whole number, actual {node.value!r}")
        return int(number)

    def flag(self, node: Any, key: str) -> bool:
        text = self.text(node, key)
        if text not in ("true", "false"):
            raise self.wrong(node, key, f"expected true or false, actual {text!r}")
        return text == "true"

    def texts(self, node: Any, key: str, known: Collection[str]) -> dict[str, str]:
        return {name: self.text(value, f"{key}.{name}") for name, value, _ in self.items(node, key, known)}

    def expanded(self, node: Any, key: str) -> str:
        """A text with its environment variables filled in; one that is not set is a mistake of the wanted target."""
        text = os.path.expandvars(self.text(node, key))
        left = _VARIABLE.search(text)
        if left and self.reading == self.wanted:
            raise self.wrong(node, key, f"environment variable {left[0].strip('${}')} is not set")
        return text


_NULL = "tag:yaml.org,2002:null"
_VARIABLE = re.compile(r"\$\w+|\$\{\w+\}")
_HOOKS = ("start", "stop", "restart", "make-node", "delete-node")
_NODES = (LINKS, "management", "amqp-0-9-1")
_USERS = ("default", "second", "limited")
_VHOSTS = ("second", "forbidden")
_LOGIN = ("user_env", "password_env", "user", "mechanism")


def _target(reader: _Reader, name: str, node: Any, at: int, folder: Path) -> Target:
    target = Target(name)
    for key, value, line in reader.items(node, name):
        if key not in _KEYS:
            raise reader.error(line, key, f"unknown key, expected one of {sorted(_KEYS)}")
        target = replace(target, **_KEYS[key](reader, value, key, folder))
    if (target.url is None) == (not target.broker):
        raise reader.error(at, name, "expected either 'url' or 'broker'")
    return _with_credentials(reader, node, target)


def _url(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    try:
        return {"url": parse_url(reader.expanded(node, key))}
    except UrlError as error:
        raise reader.wrong(node, key, str(error)) from error


def _dialect(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    dialect = reader.text(node, key)
    if dialect not in runnable_dialects():
        raise reader.wrong(node, key, _no_dialect(dialect))
    return {"dialect": dialect}


def _plain(name: str) -> Callable[[_Reader, Any, str, Path], dict[str, Any]]:
    return lambda reader, node, key, folder: {name: reader.text(node, key)}


def _template(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    """How the target writes something, with ``{name}`` in the place of the name."""
    text = reader.text(node, key)
    if text.count("{name}") != 1 or text.replace("{name}", "").strip("{}") != text.replace("{name}", ""):
        raise reader.wrong(node, key, f"expected a text with {{name}} in it, actual {text!r}")
    return {key: text}


def _nodes(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    text = reader.expanded(node, key)
    if text not in _NODES:
        try:
            parse_url(text)
        except UrlError as error:
            expected = f"expected {', '.join(_NODES)}, or the URL of where they are declared in 0-9-1"
            raise reader.wrong(node, key, f"{expected}: {error}") from error
    return {key: text}


def _path(name: str) -> Callable[[_Reader, Any, str, Path], dict[str, Any]]:
    return lambda reader, node, key, folder: {name: folder / reader.expanded(node, key)}


def _baseline(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    """A baseline is next to the file, or is shipped with the tool, in a checkout and in a wheel."""
    named = reader.expanded(node, key)
    beside, *packaged = (place / named for place in (folder, *map(Path, amqpspec.__path__)))
    return {"baseline": next(filter(Path.exists, (beside, *packaged)), beside)}


def _parts(name: str) -> Callable[[_Reader, Any, str, Path], dict[str, Any]]:
    """Optional parts of a dialect with a reason each; which ones there are, the ledgers say."""
    return lambda reader, node, key, folder: _texts(name, features())(reader, node, key, folder)


def _texts(name: str, known: Collection[str]) -> Callable[[_Reader, Any, str, Path], dict[str, Any]]:
    return lambda reader, node, key, folder: {name: reader.texts(node, key, known)}


def _broker(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    name, known = reader.text(node, key), ("reference", *KNOWN)
    if name != "reference" and not is_known(name):
        raise reader.wrong(node, key, f"expected one of {sorted(known)}, actual {name!r}")
    return {"broker": name}


def _users(reader: _Reader, node: Any, key: str, folder: Path) -> dict[str, Any]:
    logins: dict[str, Login] = {}
    for role, body, _ in reader.items(node, key, _USERS):
        named = {}
        for field_name, value, line in reader.items(body, f"{key}.{role}", _LOGIN):
            named[field_name] = (reader.text(value, f"{key}.{role}.{field_name}"), line)
        logins[role] = _login(reader, named, f"{key}.{role}", body.start_mark.line + 1)
    return {"logins": logins}


def _login(reader: _Reader, named: Mapping[str, tuple[str, int]], key: str, line: int) -> Login:
    user = named["user"][0] if "user" in named else _environment(reader, named, "user_env", key, line)
    password = _environment(reader, named, "password_env", key, line)
    mechanism = named.get("mechanism", ("PLAIN", 0))[0]
    return Login(user=user, password=password, mechanism=mechanism)


def _environment(
    reader: _Reader, named: Mapping[str, tuple[str, int]], which: str, key: str, line: int
) -> str:
    if which not in named:
        raise reader.error(line, key, f"expected the key {which!r}")
    variable, at = named[which]
    if variable not in os.environ:
        if reader.reading != reader.wanted:
            return ""
        raise reader.error(at, f"{key}.{which}", f"environment variable {variable} is not set")
    return os.environ[variable]


def _with_credentials(reader: _Reader, node: Any, target: Target) -> Target:
    default = target.logins.get("default")
    if default is None or target.url is None:
        return target
    return replace(target, url=replace(target.url, user=default.user, password=default.password))


_KEYS: dict[str, Callable[[_Reader, Any, str, Path], dict[str, Any]]] = {
    "url": _url,
    "broker": _broker,
    "dialect": _dialect,
    "profile": _plain("profile"),
    "users": _users,
    "vhosts": _texts("vhosts", _VHOSTS),
    "not_supported": _parts("not_supported"),
    "supported": _parts("supported"),
    "hooks": _texts("hooks", _HOOKS),
    "log": _path("log"),
    "pid": _path("pid"),
    "baseline": _baseline,
    "ending_s": lambda reader, node, key, folder: {"ending_s": reader.positive(node, key)},
    "patience": lambda reader, node, key, folder: {"patience": reader.positive(node, key)},
    "connections": lambda reader, node, key, folder: {"connections": reader.count(node, key)},
    "fresh": lambda reader, node, key, folder: {"fresh": reader.flag(node, key)},
    "memory_limit_mib": lambda reader, node, key, folder: {"memory_limit_mib": reader.count(node, key)},
    "nodes": _nodes,
    "address": _template,
    "hostname": _template,
}
