"""A terminal of 40 columns for commands to be shown on."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from tests.waiting import PATIENCE_S

PLACING = re.compile(r"\x1b\[\??\d*[A-Za-z]")


def on_a_terminal(line: str) -> str:
    """What a command shows."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with subprocess.Popen(["sh", "-c", line], stdout=child, stderr=child, stdin=child) as running:
        os.close(child)
        said = b""
        while True:
            try:
                octets = os.read(parent, 65_536)
            except OSError:
                break
            if not octets:
                break
            said += octets
        running.wait(PATIENCE_S)
    os.close(parent)
    return said.decode("utf-8", "replace")
