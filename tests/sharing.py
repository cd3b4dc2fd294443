"""Which tests keep to one worker when several run at once, so that what they share is made once.

Knows: what is dear, and in which files it is used. Must not know: what the tests are about.
"""

from __future__ import annotations

from typing import Any

from xdist.scheduler import LoadScopeScheduling

SHARED = {
    "master": ("tests/pipeline/test_elsewhere.py",),
    "spark": (
        "tests/pipeline/test_bench.py", "tests/pipeline/test_build.py", "tests/pipeline/test_lake.py",
        "tests/pipeline/test_marts_", "tests/pipeline/test_notebook.py", "tests/pipeline/test_rollups.py",
        "tests/pipeline/test_session.py",
    ),
    "wheel": ("tests/test_wheel.py",),
    "browser": (
        "tests/reports/test_browser.py", "tests/reports/test_campaign_page.py", "tests/site/test_kept.py",
        "tests/site/test_site_browser.py",
    ),
    "documentation": ("tests/test_documentation.py",),
    "npm": ("tests/reference/test_clients.py", "tests/reference/amqp_1_0/test_clients.py"),
    "jms": ("tests/reference/test_jms.py",),
    "sources": ("tests/test_cycles.py", "tests/test_project.py"),
}  # fmt: skip
"""The files of each dear fixture, the longest first: a cluster, a session of Spark, a wheel, a browser, the
documentation, clients, the sources parsed."""


def shares(nodeid: str) -> str | None:
    """The fixture that a test shares with others, by its file."""
    return next((name for name, files in SHARED.items() if nodeid.startswith(files)), None)


REAL = "tests/target/test_known_real"
LONG = "tests/brokers/"
"""Each test of it takes minutes."""


def place(nodeid: str) -> int:
    """What takes long begins early: else one worker would still be busy with it when all others have ended."""
    if nodeid.startswith(LONG):
        return 0
    shared = shares(nodeid)
    return [*SHARED].index(shared) + 1 if shared else len(SHARED) + 1


def scope(nodeid: str) -> str:
    """What keeps to one worker: tests that share something dear, or a real broker, which starts once for a file."""
    file, _, _ = nodeid.partition("::")
    return shares(nodeid) or (f"{file}[{nodeid.partition('[')[2]}" if file.startswith(REAL) else nodeid)


def scheduler(config: Any, log: Any) -> Any:
    """Each test goes to a free worker, and those that share something to one worker; in the order of collection."""
    config.option.loadscopereorder = False
    made = LoadScopeScheduling(config, log)
    made._split_scope = scope
    return made
