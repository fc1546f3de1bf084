"""Takes the screenshots of docs/screens anew: `python tools/screenshots.py [NAME …]`, then look at them.

Needs Chromium and its driver. A page is drawn by the command that README and docs name; the explorer is served by
`archcalc ui` for as long as its pictures take.
"""

from __future__ import annotations

import base64
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

SCREENS = Path(__file__).parent.parent / "docs" / "screens"
PAGES = {  # by name: the command that prints the page
    "matrix": "archcalc fit llama-3.1-8b --table weights,gpu --format html",
    "timeline": "archcalc memory gpt2 --mode train --timeline --format html",
    "walk": "archcalc walk textbook --format html",
}
PLACES = {"walk": "#encoder.blocks.attention.scores"}  # on a page
EXPLORER, MODEL, CARD = "explorer", "llama-3.1-8b", "&gpu=rtx-4090"  # as its address names what is seen
SIZES = {"1440": (1440, 900), "1024": (1024, 768), "390": (390, 844)}
KEPT = ("1440", "390")  # of these widths pictures are kept; the other is to look at
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
DRAWN = """
const waits = [...document.querySelectorAll(".tile-value")].some((value) => value.textContent === "…");
const hidden = document.querySelector("#page")?.hidden;
return document.readyState === "complete" && !document.querySelector("[aria-busy=true]") && !waits && !hidden;
"""
QUALITY, PATIENCE = 80, 60


def main() -> None:
    names = sys.argv[1:] or [EXPLORER, *PAGES]
    SCREENS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder) / "profile") as driver:
        for name in names:
            with page(name, Path(folder)) as address:
                for file in taken(driver, name, address):
                    print(f"wrote {file}")


@contextmanager
def browser(profile: Path) -> Iterator[Chrome]:
    options = ChromeOptions()
    for flag in (*FLAGS, "--hide-scrollbars", f"--user-data-dir={profile}"):
        options.add_argument(flag)
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def page(name: str, folder: Path) -> Iterator[str]:
    """The address of a page that is there meanwhile."""
    if name != EXPLORER:
        file = folder / f"{name}.html"
        file.write_bytes(subprocess.run(PAGES[name].split(), check=True, capture_output=True).stdout)
        yield file.as_uri() + PLACES.get(name, "")
        return
    serving = subprocess.Popen(["archcalc", "ui", MODEL, "--no-browser"], stdout=subprocess.PIPE, text=True)
    try:
        assert serving.stdout is not None
        yield next(word for line in serving.stdout for word in line.split() if word.startswith("http://")) + CARD
    finally:
        serving.terminate()


def taken(driver: Chrome, name: str, address: str) -> Iterator[Path]:
    """In light and dark, at every width."""
    for width, (wide, high) in SIZES.items():
        command(driver, "setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1, mobile=False)
        for scheme in ("light", "dark"):
            command(driver, "setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            driver.get("about:blank")
            driver.get(address)
            WebDriverWait(driver, PATIENCE, poll_frequency=0.5).until(lambda one: one.execute_script(DRAWN))
            shot = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
            folder = SCREENS if width in KEPT else Path(tempfile.gettempdir())
            file = folder / f"{name}-{width}-{scheme}.webp"
            file.write_bytes(base64.b64decode(shot["data"]))
            yield file


def command(driver: Chrome, what: str, **values: Any) -> None:
    driver.execute_cdp_cmd(f"Emulation.{what}", values)


if __name__ == "__main__":
    main()
