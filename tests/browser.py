"""Chromium without a window, told what to do by its own protocol through a pipe: what a page does in a real browser.

Where no Chromium is found, tests that need it are skipped, and say so.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
#: The contrast of every text that is shown with what is behind it, as WCAG counts it: the least, and of which text.
CONTRAST = """
(() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4)
    .reduce((sum, c, place) => sum + c * [.2126, .7152, .0722][place], 0);
  const behind = element => {
    for (; element; element = element.parentElement) {
      const color = channels(getComputedStyle(element).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  let least = [21, ""];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, text = walk.currentNode.data.trim();
    if (!text || !element.checkVisibility({opacityProperty: true, visibilityProperty: true}) || !element.getClientRects().length) continue;
    const pair = [light(channels(getComputedStyle(element).color)), light(behind(element))].sort((a, b) => b - a);
    const contrast = (pair[0] + .05) / (pair[1] + .05);
    if (contrast < least[0]) least = [contrast, text];
  }
  return least;
})()
"""


class Browser:
    """One page; ``messages`` are its errors and warnings, ``requests`` the addresses that it asked for."""

    def __init__(self, profile):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if program is None:
            pytest.skip("needs Chromium, which was not found on PATH")
        there, self._write = os.pipe()
        self._read, back = os.pipe()
        words = [program, *OPTIONS, f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{there} 4>&{back}', "bash", *words],
            pass_fds=(there, back), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(there)
        os.close(back)
        self._left, self._number, self._session, self._events = b"", 0, None, []
        self.messages, self.requests = [], []
        page = next(one for one in self.ask("Target.getTargets")["targetInfos"] if one["type"] == "page")
        self._session = self.ask("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")

    def ask(self, method, **params):
        """Send a command; its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _next(self):
        while b"\0" not in self._left:
            piece = os.read(self._read, 1 << 20)
            assert piece, "the browser has ended"
            self._left += piece
        text, _, self._left = self._left.partition(b"\0")
        message = json.loads(text)
        params = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif message.get("method") == "Log.entryAdded":
            self.messages.append(params["entry"]["text"])
        elif message.get("method") == "Runtime.consoleAPICalled" and params["type"] in {"error", "warning"}:
            self.messages.append(str(params["args"]))
        elif message.get("method") == "Runtime.exceptionThrown":
            self.messages.append(str(params["exceptionDetails"]))
        elif "method" in message:
            self._events.append(message["method"])
        return message

    def open(self, address, width=1280, height=800):
        """Load a page at a size; a telephone's where it is narrow."""
        self.resize(width, height)
        self._events.clear()
        self.ask("Page.navigate", url=str(address))
        while "Page.loadEventFired" not in self._events:
            self._next()

    def resize(self, width, height=800):
        """Give the page another size."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.ask("Emulation.setDeviceMetricsOverride", **size)

    def value(self, expression):
        """The value of an expression of JavaScript, awaited."""
        done = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    def until(self, expression):
        """Wait, frame by frame, until an expression of JavaScript is true."""
        frames = "new Promise(done => { const look = () => (%s) ? done(true) : requestAnimationFrame(look); look(); })"
        return self.value(frames % expression)

    def media(self, medium="screen", scheme="light"):
        """Show the page as on paper, or in dark colours."""
        self.ask(
            "Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}]
        )

    def press(self, key, code=0):
        """Press a key and let it go."""
        named = {"key": key, "code": key, "windowsVirtualKeyCode": code, "nativeVirtualKeyCode": code}
        text = {"text": "\r"} if key == "Enter" else {}
        self.ask("Input.dispatchKeyEvent", type="keyDown", **named, **text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", **named)

    def write(self, text):
        """Type a text where the focus is."""
        self.ask("Input.insertText", text=text)

    def picture(self, path):
        """Write what the page shows as a PNG file."""
        done = self.ask("Page.captureScreenshot")
        Path(path).write_bytes(base64.b64decode(done["data"]))

    def close(self):
        """End the browser and everything that it has started."""
        with contextlib.suppress(OSError, AssertionError):
            self._session = None
            self.ask("Browser.close")
        for end in (self._write, self._read):
            os.close(end)
        self._process.wait(30)


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """One browser for the tests of a module."""
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()
