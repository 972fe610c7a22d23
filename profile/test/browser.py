# SPDX-License-Identifier: MIT
"""Drives a headless Chromium over its debugging pipe: one page at a time, and what happens in it."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SECONDS = 60

# Asks for nothing by itself: what is requested is the page's doing.
OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)


class Browser:
    """Messages are JSON, each ended by a zero byte, as Chromium's --remote-debugging-pipe has them."""

    def __init__(self, to: int, answers: int) -> None:
        self.to, self.answers = to, answers
        self.rest = b""
        self.number = 0
        self.session: str | None = None
        self.happened: list[dict[str, Any]] = []

    def receive(self, until: float) -> dict[str, Any]:
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.answers], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise TimeoutError("Chromium does not answer")
            part = os.read(self.answers, 1 << 20)
            if not part:
                raise EOFError("Chromium has ended")
            self.rest += part
        line, _, self.rest = self.rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer; what happens meanwhile is kept."""
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        left = json.dumps(message).encode() + b"\0"
        while left:
            left = left[os.write(self.to, left) :]
        until = time.monotonic() + SECONDS
        while True:
            answer = self.receive(until)
            if answer.get("id") != self.number:
                self.happened.append(answer)
                continue
            if "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']}")
            result: dict[str, Any] = answer["result"]
            return result

    def wait(self, method: str) -> None:
        """Until that has happened."""
        until = time.monotonic() + SECONDS
        while not any(one.get("method") == method for one in self.happened):
            self.happened.append(self.receive(until))

    def show(self, url: str, width: int, dark: bool) -> None:
        """Opens a page as on a screen so wide; what happened before is forgotten."""
        self.session = None
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])
        self.happened.clear()
        self.ask("Page.navigate", url=url)
        self.wait("Page.loadEventFired")

    def evaluate(self, expression: str) -> Any:
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def picture(self, to: Path) -> None:
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 16000), "scale": 1}
        shot = self.ask("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        to.write_bytes(base64.b64decode(shot["data"]))


@contextlib.contextmanager
def browser(program: str) -> Iterator[Browser]:
    with tempfile.TemporaryDirectory() as home:
        theirs, to = os.pipe()
        answers, mine = os.pipe()

        def pipes() -> None:
            # Above what is to be 3 and 4, so that neither is overwritten first.
            high = os.dup(theirs), os.dup(mine)
            while min(high) < 5:
                high = os.dup(high[0]), os.dup(high[1])
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        with (
            open(Path(home) / "log", "wb") as log,
            subprocess.Popen(
                [program, *OPTIONS, f"--user-data-dir={home}/data"],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                close_fds=False,
                preexec_fn=pipes,
                env={**os.environ, "HOME": home},
            ) as child,
        ):
            os.close(theirs)
            os.close(mine)
            try:
                yield Browser(to, answers)
            finally:
                os.close(to)
                try:
                    child.wait(20)
                except subprocess.TimeoutExpired:
                    child.kill()
                os.close(answers)
