"""A real browser for tests of pages: Chromium, with what it says on its console and every request that it makes.

Without Chromium these tests are skipped, with their reason. `.ci/run` installs it and runs them in a step of their own,
behind README's commands: ARCHCALC_BROWSER=later keeps them out of the whole suite until then.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Browser
from support.explorer import Explorer

MISSING = "no Chromium and ChromeDriver: install Debian's packages chromium and chromium-driver"
LAYOUT = ("chromium", "chromedriver")

collect_ignore_glob = ["test_*.py"] if os.environ.get("ARCHCALC_BROWSER") == "later" else []


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests of a worker."""
    program, driver = (shutil.which(name) for name in LAYOUT)
    if not (program and driver):
        pytest.skip(MISSING)
    browser = Browser(Path(program), Path(driver), tmp_path_factory.mktemp("profile"))
    yield browser
    browser.quit()


@pytest.fixture
def browser(chromium: Browser) -> Iterator[Browser]:
    """A blank page, in light, of the size of a laptop's window."""
    chromium.blank()
    yield chromium
    chromium.blank()


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address that `archcalc ui` prints."""
    command = [sys.executable, "-m", "archcalc", "ui", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        found = (re.search(r"http://\S+", line) for line in process.stdout)
        yield next(address.group() for address in found if address)
        process.send_signal(signal.SIGINT)


@pytest.fixture
def page(browser: Browser, server: str) -> Iterator[Explorer]:
    """At the end nothing was complained about, and nobody else was asked for anything."""
    explorer = Explorer(browser, server)
    yield explorer
    assert browser.console() == []
    origin = server.split("?")[0].split("#")[0].rstrip("/")
    assert [address for address in browser.requests() if not address.startswith(origin)] == []
