# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the EventSpace authors
"""Drives a headless Chromium over its debugging pipe, with the standard library only.

    with Browser() as browser:
        page = browser.open("http://127.0.0.1:8080/")
        page.wait("document.readyState == 'complete'")
        page.press("a")

Messages are JSON objects that end with a NUL byte.  Tests wait for states of the page
and never sleep for a fixed time.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time

PROGRAM = "chromium-headless-shell"
TIMEOUT_S = 60
ANSWER_S = 120  # longer than any wait for a state
KEYS = {
    "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40,
    "Enter": 13, "Escape": 27, "Tab": 9, "Home": 36, "End": 35, "PageDown": 34,
    "PageUp": 33, " ": 32,
}
SHIFT = 8

# Evaluates a condition until it is true; runs in the page.
WAIT = """(async () => {
    const end = Date.now() + %d;
    for (;;) {
        let value = false;
        try { value = (%s); } catch (error) { if (Date.now() > end) throw error; }
        if (value) return value;
        if (Date.now() > end) return null;
        await new Promise((resolve) => setTimeout(resolve, 10));
    }
})()"""


class BrowserError(Exception):
    """The browser or the page did not do what was requested."""


def find():
    """The path of the browser, or None."""
    return shutil.which(PROGRAM)


class Browser:
    """A browser process with a profile of its own."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="eventspace-page-")
        self.number = 0
        self.rest = b""
        self.pages = {}
        self._start()

    def _start(self):
        there, self.output = (_above(fd) for fd in os.pipe())
        self.input, back = (_above(fd) for fd in os.pipe())
        command = [
            find(), "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--hide-scrollbars", "--no-first-run", "--disable-dev-shm-usage",
            "--user-data-dir=" + self.profile, "about:blank",
        ]
        null = (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)
        self.process = os.posix_spawn(command[0], command, os.environ, file_actions=[
            null, (os.POSIX_SPAWN_DUP2, 1, 2),
            (os.POSIX_SPAWN_DUP2, there, 3), (os.POSIX_SPAWN_DUP2, back, 4)])
        os.close(there)
        os.close(back)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """End the browser and remove its profile."""
        try:
            self.call("Browser.close")
        except (BrowserError, OSError):
            os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        """Send a command and return its result."""
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            reply = self._read()
            if reply.get("id") == number:
                break
            self._dispatch(reply)
        if "error" in reply:
            raise BrowserError(f"{method}: {reply['error'].get('message')}")
        return reply.get("result", {})

    def _read(self):
        end = time.monotonic() + ANSWER_S
        while b"\0" not in self.rest:
            left = max(0, end - time.monotonic())
            if not select.select([self.input], [], [], left)[0]:
                raise BrowserError("the browser does not answer")
            part = os.read(self.input, 1 << 20)
            if not part:
                raise BrowserError("the browser has ended")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def _dispatch(self, message):
        page = self.pages.get(message.get("sessionId"))
        if page:
            page.on_event(message["method"], message["params"])

    def open(self, url, width=1400, height=900, **media):
        """Open a new tab that shows `url`."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, target, session["sessionId"], url)
        self.pages[page.session] = page
        page.prepare(width, height, **media)
        page.navigate(url)
        return page


class Page:
    """A tab."""

    def __init__(self, browser, target, session, url):
        self.browser = browser
        self.target = target
        self.session = session
        self.origin = "/".join(url.split("/")[:3])
        self.errors = []   # errors on the console and uncaught exceptions
        self.foreign = []  # requests to other hosts

    def call(self, method, **parameters):
        """Send a command for this tab and return its result."""
        return self.browser.call(method, self.session, **parameters)

    def prepare(self, width, height, **media):
        """Observe all activities of the page, and set the size of its window."""
        for domain in ("Runtime", "Network", "Page", "Log"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.emulate(**media)

    def on_event(self, method, parameters):
        """Store events that must not happen."""
        if method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            what = details.get("exception", {}).get("description")
            self.errors.append(what or details.get("text"))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] == "error":
            words = [str(a.get("value", a.get("description"))) for a in parameters["args"]]
            self.errors.append(" ".join(words))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            entry = parameters["entry"]
            self.errors.append(entry["text"] + " " + entry.get("url", ""))
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith((self.origin + "/", "data:", "blob:" + self.origin)):
                self.foreign.append(url)

    def navigate(self, url):
        """Show another page."""
        self.call("Page.navigate", url=url)

    def evaluate(self, expression):
        """The value of an expression; of a promise its result."""
        reply = self.call("Runtime.evaluate", expression=expression,
                          returnByValue=True, awaitPromise=True, userGesture=True)
        if "exceptionDetails" in reply:
            details = reply["exceptionDetails"]
            what = details.get("exception", {}).get("description", details["text"])
            raise BrowserError(f"{expression}: {what}")
        return reply["result"].get("value")

    def wait(self, condition, timeout_s=TIMEOUT_S):
        """Wait until an expression is true, and return its value."""
        value = self.evaluate(WAIT % (timeout_s * 1000, condition))
        if not value:
            raise BrowserError(f"did not become true: {condition}")
        return value

    def mouse(self, kind, x, y, **more):
        """Send a mouse event: Pressed, Moved, Released, Wheel."""
        self.call("Input.dispatchMouseEvent", type="mouse" + kind, x=x, y=y, **more)

    def click(self, x, y, shift=False):
        """Press and release the left button."""
        more = {"button": "left", "clickCount": 1, "modifiers": SHIFT if shift else 0}
        self.mouse("Pressed", x, y, **more)
        self.mouse("Released", x, y, **more)

    def drag(self, start, end, shift=False):
        """Press at one place, move in steps, release at another one."""
        more = {"button": "left", "buttons": 1, "modifiers": SHIFT if shift else 0}
        self.mouse("Pressed", *start, clickCount=1, **more)
        for step in (1, 2, 3):
            self.mouse("Moved", start[0] + (end[0] - start[0]) * step / 3,
                       start[1] + (end[1] - start[1]) * step / 3, **more)
        self.mouse("Released", *end, clickCount=1, **more)

    def wheel(self, x, y, delta):
        """Turn the wheel; a negative delta is away from the user."""
        self.mouse("Wheel", x, y, deltaX=0, deltaY=delta)

    def press(self, key, shift=False):
        """Press a key, given by its name or its character."""
        more = {"key": key, "modifiers": SHIFT if shift else 0}
        if key in KEYS:
            more["windowsVirtualKeyCode"] = KEYS[key]
        if len(key) == 1:
            more["text"] = key
        elif key == "Enter":
            more["text"] = "\r"
        self.call("Input.dispatchKeyEvent", type="keyDown", **more)
        more.pop("text", None)
        self.call("Input.dispatchKeyEvent", type="keyUp", **more)

    def type(self, text):
        """Insert text at the focus."""
        self.call("Input.insertText", text=text)

    def emulate(self, dark=False, reduced_motion=False):
        """Set the preferences of the user."""
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion",
             "value": "reduce" if reduced_motion else "no-preference"}])

    def resize(self, width, height, zoom=1):
        """Set the size of the window in CSS pixels at 100 %."""
        self.call("Emulation.setDeviceMetricsOverride", width=width // zoom,
                  height=height // zoom, deviceScaleFactor=zoom, mobile=False)

    def screenshot(self, path=None):
        """Return a PNG of the window; write it to `path` if that is given."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def close(self):
        """Close the tab."""
        self.browser.call("Target.closeTarget", targetId=self.target)


def _above(descriptor):
    """Duplicate a descriptor to a number above 9, so that 3 and 4 stay free."""
    number = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 10)
    os.close(descriptor)
    return number
