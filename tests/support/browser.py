"""Chromium as a test drives it: open a page, look at it, and know what it asked for and complained about."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

T = TypeVar("T")
# A page knows its new size some time after it was set; what it does then takes a frame, and what that moves the next.
AFTER_TWO_FRAMES = """
const [wide, high, done] = arguments;
const ready = () => innerWidth === wide && innerHeight === high;
const later = (step) => requestAnimationFrame(step);
const look = () => (ready() ? later(() => later(() => done())) : later(look));
look();
"""
LAPTOP = (1440, 900)
PATIENCE = 60  # seconds, on a machine that does much else; no test waits as long where all is well
FLAGS = (
    "--headless",
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


class Browser:
    """A window. `console` and `requests` tell what happened since the last `blank`."""

    def __init__(self, program: Path, driver: Path, profile: Path) -> None:
        options = ChromeOptions()
        options.binary_location = str(program)
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = Chrome(options=options, service=Service(str(driver)))

    def quit(self) -> None:
        self.driver.quit()

    def blank(self) -> None:
        self.driver.get("about:blank")
        self.size(*LAPTOP)
        self.dark(False)
        self.console()
        self.requests()

    def open(self, page: Path | str) -> None:
        self.driver.get(page.as_uri() if isinstance(page, Path) else page)

    def size(self, wide: int, high: int) -> None:
        """Of the page itself, narrower than a window can be; returns when the page has been laid out for it."""
        self._emulate("setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=False)
        self.driver.execute_async_script(AFTER_TWO_FRAMES, wide, high)

    def dark(self, wanted: bool) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if wanted else "light"}
        self._emulate("setEmulatedMedia", features=[scheme])

    def _emulate(self, what: str, **values: Any) -> None:
        self.driver.execute_cdp_cmd(f"Emulation.{what}", values)

    def console(self) -> list[str]:
        """Errors and warnings since the last call."""
        entries: list[dict[str, Any]] = self.driver.get_log("browser")  # type: ignore[no-untyped-call]
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Every address that was asked for since the last call, but for data within the page."""
        entries: list[dict[str, Any]] = self.driver.get_log("performance")  # type: ignore[no-untyped-call]
        events = [json.loads(entry["message"])["message"] for entry in entries]
        sent = [event for event in events if event["method"] == "Network.requestWillBeSent"]
        asked = [event["params"]["request"]["url"] for event in sent]
        return [address for address in asked if not address.startswith(("data:", "blob:", "about:"))]

    def one(self, selector: str) -> WebElement:
        """The element of a CSS selector, as soon as there is one."""
        return self.until(lambda: next(iter(self.all(selector)), None))

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def until(self, found: Callable[[], T | None]) -> T:
        """What `found` returns as soon as that is something."""
        return WebDriverWait(self.driver, PATIENCE, 0.05).until(lambda _: found())  # type: ignore[return-value]

    def script(self, code: str, *values: Any) -> Any:
        return self.driver.execute_script(code, *values)

    def shot(self, file: Path) -> None:
        """A picture of the window."""
        self.driver.save_screenshot(str(file))

    def whole(self, file: Path) -> None:
        """A picture of the whole page, however long it is."""
        taken = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
        file.write_bytes(base64.b64decode(taken["data"]))
