"""A Debian release in a separate folder, and commands that run inside it, as root and without a container engine.

Knows: debootstrap, mount namespaces, chroot.
Must not know: brokers.

What a command inside has mounted (proc, the state directory, a table of hosts) is in a mount namespace of its own
and is gone when its processes are, however they ended. So several brokers run in one folder at once.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from amqpspec.target.known.base import BrokerError
from amqpspec.target.known.install import apt_mirror, install_package, run

STATE = Path("/srv")
"""Where the state directory stands, seen from inside."""
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_PRIVATE = ("unshare", "--mount", "--propagation", "private")
_ENTER = """
mount --bind "$1" "$0/srv" && mount --bind "$1/hosts" "$0/etc/hosts" && mount -t proc proc "$0/proc" || exit
root=$0; shift; exec chroot "$root" "$@"
"""
# Archives that were unpacked, and what no one reads inside: a third of the folder.
_SPARE = ("var/cache/apt", "var/lib/apt/lists", "usr/share/doc", "usr/share/man", "usr/share/locale")


@dataclass(frozen=True, slots=True)
class DebianFolder:
    """The folder of a release, installed or not."""

    path: Path
    release: str

    def install(self, package: str) -> None:
        """Puts the least of the release there with a package, all or nothing; BrokerError if it is not available."""
        require_root(f"{package} of Debian's {self.release}")
        if shutil.which("debootstrap", path=PATH) is None:
            install_package("debootstrap")
        partial = self.path.with_name(self.path.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.parent.mkdir(parents=True, exist_ok=True)
        try:
            which = (f"--include={package}", self.release, str(partial), *apt_mirror())
            run([*_PRIVATE, "debootstrap", "--variant=minbase", *which])
        except BrokerError:
            shutil.rmtree(partial, ignore_errors=True)
            raise
        for spare in _SPARE:
            shutil.rmtree(partial / spare, ignore_errors=True)
        shutil.rmtree(self.path, ignore_errors=True)
        partial.rename(self.path)

    def command(self, argv: Sequence[str], state_dir: Path) -> tuple[str, ...]:
        """What to execute so that a command runs inside, with the state directory at ``STATE``.

        Host names are those of this machine and of localhost: runtimes look up their own, and wait for an answer.
        """
        require_root(f"{argv[0]} in {self.path}")
        (state_dir / "hosts").write_text(f"127.0.0.1 localhost {platform.node()}\n::1 localhost\n")
        (self.path / "etc" / "hosts").touch()
        return (*_PRIVATE, "/bin/sh", "-c", _ENTER, str(self.path), str(state_dir), *argv)


def require_root(what: str) -> None:
    """Raises BrokerError for any user except root: debootstrap, mount and chroot are root's."""
    if os.geteuid() != 0:
        raise BrokerError(
            f"{what}: expected to be root, for debootstrap and chroot; actual: user {os.geteuid()}"
        )
