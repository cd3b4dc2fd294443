"""A headless Chromium driven through its debugging pipe: enough of DevTools to use a page as a person does.

Knows: how to start one browser, open a local file, press keys, read the page, take pictures, and end it again.
Must not know: the pages. Only the standard library is needed, no port is opened, and nothing is fetched.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import select
import shutil
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from tests.waiting import PATIENCE_S

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--no-default-browser-check",
    "--no-first-run",
    "--remote-debugging-pipe",
)
_KEYS = {
    "Enter": 13,
    "Escape": 27,
    "ArrowLeft": 37,
    "ArrowUp": 38,
    "ArrowRight": 39,
    "ArrowDown": 40,
    "Tab": 9,
}


@contextmanager
def undisturbed(browser: Browser, width: int) -> Iterator[None]:
    """A fresh window; at its end no word is in the console, and nothing but the page was asked for."""
    browser.call("Page.resetNavigationHistory")  # a long one hinders the way back
    browser.complaints.clear()
    browser.requests.clear()
    browser.size(width, 900)
    browser.prefer("light")
    yield
    assert browser.complaints == []
    assert [url for url in browser.requests if not url.startswith(("file:", "about:", "data:"))] == []


def find_browser() -> str | None:
    """The path of a Chromium, if this machine has one."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next(filter(None, map(shutil.which, names)), None)


class BrowserError(RuntimeError):
    """The browser ended, kept silent for too long, or a script in the page threw."""


class Browser:
    """One browser with one page."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, self._write = _high_pipe()
        self._read, from_browser = _high_pipe()
        log = str(profile.with_suffix(".log"))
        self._pid = os.posix_spawn(
            program,
            [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            os.environ | {"HOME": str(profile.parent)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 2, log, os.O_WRONLY | os.O_CREAT, 0o600),
                (os.POSIX_SPAWN_DUP2, 2, 1),
                (os.POSIX_SPAWN_DUP2, to_browser, 3),
                (os.POSIX_SPAWN_DUP2, from_browser, 4),
            ],
            setpgroup=0,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._attach()

    def _attach(self) -> None:
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **params: Any) -> Mapping[str, Any]:
        """Call a command of the protocol and wait for its answer."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session and not method.startswith("Target."):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']}")
                result: Mapping[str, Any] = answer["result"]
                return result

    def _receive(self) -> Mapping[str, Any]:
        until = monotonic() + PATIENCE_S
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - monotonic()))
            octets = os.read(self._read, 1 << 20) if ready else b""
            if not octets:
                raise BrowserError("the browser ended" if ready else "the browser keeps silent")
            self._buffer += octets
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: Mapping[str, Any] = json.loads(line)
        self._note(message)
        return message

    def _note(self, event: Mapping[str, Any]) -> None:
        """Remember what a person would see in the console, and everything that was asked of the network."""
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                self.complaints.append(str(params["exceptionDetails"]))
            case "Runtime.consoleAPICalled":
                self.complaints.append(str(params["args"]))
            case "Log.entryAdded":
                self.complaints.append(f"{params['entry']['level']}: {params['entry']['text']}")
            case "Network.requestWillBeSent":
                self.requests.append(params["request"]["url"])

    def open(self, file: Path, fragment: str = "") -> None:
        """Load a file afresh and wait until its script has run."""
        self.call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.call("Page.navigate", url=file.resolve().as_uri() + fragment)
        self.wait("document.documentElement?.dataset.ready === 'true'")

    def eval(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise BrowserError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, script: str) -> None:
        """Wait until an expression in the page is true."""
        until = monotonic() + PATIENCE_S
        while (seen := self._seen(script)) is not True:
            if monotonic() > until:
                raise BrowserError(f"never true: {script}: {seen}")
            sleep(0.02)

    def _seen(self, script: str) -> object:
        """Whether an expression is true, or why it cannot be said: a page that is still loading lacks parts."""
        try:
            return bool(self.eval(script))
        except BrowserError as error:
            return error

    def press(self, key: str) -> None:
        """Press and let go one key."""
        code = {"key": key, "code": key, "windowsVirtualKeyCode": _KEYS[key]}
        text = {"text": "\r"} if key == "Enter" else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", **code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)

    def size(self, width: int, height: int, mobile: bool = False, scale: float = 1) -> None:
        """Set the size of the window in CSS pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=scale,
            mobile=mobile,
        )

    def prefer(self, scheme: str) -> None:
        """Ask for the light or the dark colours."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.call("Emulation.setEmulatedMedia", media="", features=[feature])

    def picture(self, path: Path, whole: bool = False) -> None:
        """Save a picture of the window, or of the whole page."""
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        path.write_bytes(base64.b64decode(data))

    def print(self) -> bytes:
        """The page as PDF."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])

    def close(self) -> None:
        """End the browser and the processes that it started."""
        os.close(self._write)
        os.close(self._read)
        until = monotonic() + 5
        while os.waitpid(self._pid, os.WNOHANG) == (0, 0):
            if monotonic() > until:
                os.killpg(self._pid, signal.SIGKILL)
                os.waitpid(self._pid, 0)
                break
            sleep(0.02)


def _high_pipe() -> tuple[int, int]:
    """A pipe whose ends stay clear of the numbers that the browser expects (3 and 4)."""
    low = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 20) for end in low)
    for end in low:
        os.close(end)
    return high[0], high[1]
