from __future__ import annotations

import os
import subprocess
import sys

from tests.environment import neutralise


def test_what_a_caller_sets_is_gone_and_what_programs_need_stays() -> None:
    needed = {
        "PATH": "/usr/bin",
        "HOME": "/root",
        "JAVA_HOME": "/java",
        "AMQPSPEC_XML": "/xml",
        "PIP_INDEX_URL": "x",
    }
    running = {"PYTEST_XDIST_WORKER": "gw0", "PYTEST_CURRENT_TEST": "test"}
    set_by_a_caller = {
        "PYTEST_ADDOPTS": "-q", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": "/there", "NO_COLOR": "1",
        "FORCE_COLOR": "1", "COLUMNS": "20", "TERM": "vt100", "CI": "true", "GITHUB_ACTIONS": "true",
        "LANG": "de_DE", "TZ": "Asia/Tokyo", "RABBITMQ_NODENAME": "mine", "MAKEFLAGS": "-j4",
    }  # fmt: skip
    environment = needed | running | set_by_a_caller
    neutralise(environment)
    assert environment == needed | running | {"LC_ALL": "C.UTF-8", "TERM": "xterm", "TZ": "UTC"}


def test_processes_of_the_tests_inherit_what_is_left() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "import os; print(*os.environ)"], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"PYTEST_ADDOPTS", "PYTHONPATH", "NO_COLOR", "COLUMNS", "CI"} & {*said}
    assert os.environ["LC_ALL"] == "C.UTF-8"
