"""What the environment of the tests holds, whatever process calls them, and from any folder.

Knows: which variables change what Python, pytest, terminals, tools and brokers say or do. Must not know: any test.
"""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping

_FOREIGN = re.compile(
    r"""
    PY(TEST|THON|SPARK)\w* | HYPOTHESIS\w* | SLIPCOVER\w*           # Python and what runs the tests
    | \w*COLORS? | CLICOLOR\w* | COLUMNS | LINES | TERM\w* | TTY\w*  # terminals
    | CI | CONTINUOUS_INTEGRATION | BUILD_\w+ | TF_BUILD | (GITHUB|GITLAB|JENKINS|TRAVIS|CIRCLE)\w*
    | LANG | LANGUAGE | LC_\w+ | TZ | PAGER | LESS
    | GIT_\w+ | MAKE\w* | MFLAGS
    | (RABBITMQ|ERL|QPID|GMQ|SPARK|HADOOP)_\w+ | JDK_JAVA_OPTIONS | _?JAVA_(TOOL_)?OPTIONS
    """,
    re.VERBOSE,
)
_OURS = re.compile(r"PYTEST_(XDIST\w*|CURRENT_TEST|VERSION)")
"""What pytest tells its own processes in the middle of a run."""
_FIXED = {"LC_ALL": "C.UTF-8", "TERM": "xterm", "TZ": "UTC"}


_SET_BY_READLINE = ("COLUMNS", "LINES")
"""GNU readline, which pytest loads, sets these below Python: ``os.environ`` lacks them, and children inherit them."""


def neutralise(environment: MutableMapping[str, str]) -> None:
    """Take out what the caller may have set, and fix what differs from machine to machine."""
    for name in [*environment]:
        if _FOREIGN.fullmatch(name) and not _OURS.fullmatch(name):
            del environment[name]
    environment.update(_FIXED)
    if environment is os.environ:
        for name in _SET_BY_READLINE:
            os.unsetenv(name)
