"""What the explorer of a built site weighs, and what its first answers take, beside those of another build.

    python benchmarks/site.py SITE          the folder of an explorer, as tools/build_site.py writes it: OUT/explorer
    python benchmarks/site.py SITE FORMER   also as a share of another one, all in one run

Bytes are those that a host sends which compresses what is not compressed yet; the files of Pyodide are left out, since
they are the same for every page that uses it. Processor time is that of all of Chromium's processes, from the address
to the first picture of an answer: of the model that the page shows by itself, and of another one, which a link names.
Needs Debian's chromium and chromium-driver, selenium and, for Brotli, the package brotli.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import statistics
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import brotli
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

ROUNDS = 5
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
PATIENCE = 120  # seconds
PAGES = {"the model of the page": "", "another model": "#model=gpt2&batch=3"}
DRAWN = """const done = arguments[arguments.length - 1];
const look = () => document.querySelector("#answers .chart svg") ? done() : setTimeout(look, 20);
look();"""


class Quiet(SimpleHTTPRequestHandler):
    """A browser that is closed takes no more of a file."""

    def log_message(self, *_: Any) -> None:
        pass

    def copyfile(self, source: Any, outputfile: Any) -> None:
        with suppress(ConnectionError):
            super().copyfile(source, outputfile)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the explorer of a built site.")
    parser.add_argument("sites", type=Path, nargs="+", metavar="SITE")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    asked = parser.parse_args()
    rows = [measured_bytes(asked.sites), *measured_seconds(asked.sites, asked.rounds)]
    for label, values, unit in (row for group in rows for row in group):
        shares = [f"{values[0] / other:.0%} of it" for other in values[1:]]
        print(f"{label:<48}", *(f"{value:>12{unit}}" for value in values), *shares)


Row = tuple[str, list[float], str]


def measured_bytes(sites: list[Path]) -> list[Row]:
    sent = [weight(site) for site in sites]
    return [(f"bytes sent without Pyodide, {how}", [one[how] for one in sent], ",.0f") for how in ("gzip", "brotli")]


def weight(site: Path) -> dict[str, int]:
    files = [file for file in site.rglob("*") if file.is_file() and file.relative_to(site).parts[0] != "pyodide"]
    texts = [file.read_bytes() for file in files]
    ways = {"gzip": partial(gzip.compress, compresslevel=9), "brotli": brotli.compress}
    return {name: sum(min(len(text), len(way(text))) for text in texts) for name, way in ways.items()}


def measured_seconds(sites: list[Path], rounds: int) -> Iterator[list[Row]]:
    """Each round asks every site for the same page, one right after the other."""
    for label, fragment in PAGES.items():
        each = [[seconds(site, fragment) for site in sites] for _ in range(rounds)]
        yield [(f"CPU seconds to {label}", [statistics.median(taken) for taken in zip(*each, strict=True)], ".2f")]


def seconds(site: Path, fragment: str) -> float:
    """Of a browser that has never seen the page."""
    with hosted(site) as address, browser() as driver:
        before = processor_time(driver.service.process.pid)
        driver.get(f"{address}/{fragment}")
        driver.execute_async_script(DRAWN)
        return processor_time(driver.service.process.pid) - before


@contextmanager
def hosted(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def browser() -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    with tempfile.TemporaryDirectory() as profile:
        for flag in (*FLAGS, f"--user-data-dir={profile}", "--window-size=1440,900"):
            options.add_argument(flag)
        driver = Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
        driver.set_script_timeout(PATIENCE)
        driver.get("about:blank")
        yield driver
        driver.quit()


def processor_time(process: int) -> float:
    """Of a process and all that it began."""
    parents, ticks = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        parents[int(folder.name)], ticks[int(folder.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    family = {process}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return sum(ticks.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
