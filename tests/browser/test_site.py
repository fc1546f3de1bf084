"""The explorer without a server: its first answers are in the page, the others have the digits of the command line.

The site needs npm and an index of Python packages to be built; where they are out of reach these tests are skipped,
but in CI that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from site_links import dead
from support.browser import Browser
from support.explorer import READY

from archcalc.ui.ask import ask

ROOT = Path(__file__).parents[2]
PRESETS = (
    *("textbook", "gpt2", "bert-base", "t5-small", "llama-3-8b", "gemma-2-2b", "mixtral-8x7b", "deepseek-v3"),
    *("mamba-130m", "jamba-v0.1", "vit-b-16", "resnet-50", "whisper-tiny", "sentiment-lstm", "rnnsearch"),
    *("vae-mnist", "word2vec-cbow", "recursive-autoencoder", "qwen3-8b", "albert-base-v2"),
)
BELOW = "some/path/of/a/host"  # at which the site stands
BASE = "https://example.org/archcalc/"  # at which it says that it does
# A page that is nothing but the connection to archcalc, under the policy of the explorer's own.
PROBE = """<!doctype html><meta charset="utf-8"><title>probe</title><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; img-src data:">
<script type="application/json" id="site">{"pyodide": "pyodide/", "archive": "archcalc.xz"}</script>
<script type="module" src="probe.js"></script>"""
SCRIPT = """import { connect } from "./backend.js";
connect((text) => (document.title = text)).then(({ ask }) => (window.ask = ask));"""
COPIED = "navigator.clipboard.writeText = async (text) => void (window.copied = text)"
ASKED = "const done = arguments[arguments.length - 1]; window.ask(arguments[0]).then((answer) => done(answer));"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once."""
    host = tmp_path_factory.mktemp("host")
    build = [sys.executable, str(ROOT / "tools" / "build_site.py"), str(host / BELOW), "--base", BASE]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"the site cannot be built here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    (host / BELOW / "explorer" / "probe.html").write_text(PROBE, "utf-8")
    (host / BELOW / "explorer" / "probe.js").write_text(SCRIPT, "utf-8")
    return host


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    with hosted(site) as address:
        yield address


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def asked(browser: Browser, question: Any) -> Any:
    return browser.driver.execute_async_script(ASKED, question)


def test_the_site_answers_with_the_same_digits(browser: Browser, origin: str) -> None:
    """Twenty presets of all families; every text of the answers is compared, and every number in the records."""
    browser.driver.set_script_timeout(300)
    browser.open(f"{origin}/{BELOW}/explorer/probe.html")
    browser.until(lambda: browser.script("return Boolean(window.ask)"))
    for name in PRESETS:
        question = {"ask": "exact", "source": {"preset": name}, "settings": {"batch": "3"}, "records": True}
        assert asked(browser, question) == json.loads(json.dumps(ask(question)))
    others: tuple[dict[str, Any], ...] = (
        {"ask": "catalog"},
        {"ask": "memory", "source": {"preset": "gpt2"}, "settings": {"mode": "train"}, "records": True},
        {"ask": "fit", "source": {"preset": "gpt2"}, "gpus": ["rtx-4090"], "records": True},
        {"ask": "exact", "source": {"text": "d_model: 512\nheads: 7\nfoo: 3\n"}},
    )
    for question in others:
        assert asked(browser, question) == json.loads(json.dumps(ask(question)))
    assert browser.console() == []
    assert {address.startswith(f"{origin}/{BELOW}/") for address in browser.requests()} == {True}


@pytest.mark.parametrize("wide", [1440, 1024, 390])
def test_the_first_answers_are_there_without_python(browser: Browser, site: Path, tmp_path: Path, wide: int) -> None:
    """On a host that has none: every figure, table and picture, as the page with Python draws them."""
    bare = shutil.copytree(
        site / BELOW / "explorer", tmp_path / "explorer", ignore=shutil.ignore_patterns("pyodide", "*.xz")
    )
    browser.size(wide, 900)
    with hosted(bare) as address:
        drawn = seen(browser, address)
        browser.until(lambda: "did not start" in browser.one("#loading").text or None)
    with hosted(site / BELOW / "explorer") as address:
        assert seen(browser, address) == drawn
        browser.until(lambda: browser.script("return document.querySelector('#loading').hidden") or None)
        assert shown(browser) == drawn
    assert "201,466,160" in drawn["text"] and drawn["pictures"] > 0 and "fits" in drawn["text"]
    browser.console()


def seen(browser: Browser, address: str) -> dict[str, Any]:
    """What is on the page when nothing of it waits any more."""
    browser.open("about:blank")
    browser.open(address)
    browser.until(lambda: browser.script(READY) or None)
    return shown(browser)


def shown(browser: Browser) -> dict[str, Any]:
    text = browser.script("return document.querySelector('#answers').innerText")
    return {"text": text, "pictures": browser.script("return document.querySelectorAll('#answers .chart svg').length")}


def test_a_change_is_answered_once_python_has_started(browser: Browser, origin: str) -> None:
    """The figures of the page stay until then; the new ones have the digits of the command line."""
    browser.open(f"{origin}/{BELOW}/explorer/#batch=3")
    figures = ask({"ask": "exact", "source": {"preset": "textbook"}, "settings": {"batch": "3", "mode": "infer"}})
    browser.until(lambda: browser.script(READY) or None)
    answer, words = figures["flops"]["answer"].split(" · ")[0], browser.script("return document.body.innerText")
    assert answer.lower() in words.lower()  # a tile begins with a capital
    assert browser.console() == []


def test_a_link_leads_to_where_the_site_says_that_it_stands(browser: Browser, origin: str) -> None:
    browser.open(f"{origin}/{BELOW}/explorer/#model=gpt2")
    browser.until(lambda: browser.script("return !document.querySelector('#page').hidden") or None)
    assert browser.script(COPIED) is None
    browser.one("#copy-link").click()
    copied = browser.until(lambda: browser.script("return window.copied"))
    assert copied == f"{BASE}explorer/#model=gpt2"
    canonical = browser.script("return document.querySelector('link[rel=canonical]').href")
    assert canonical == f"{BASE}explorer/"


def test_no_link_of_the_whole_site_is_dead(site: Path) -> None:
    assert dead(site / BELOW) == []
    assert (site / BELOW / "explorer" / "index.html").is_file() and (site / BELOW / "index.html").is_file()


def test_a_search_that_is_given_up_ends(browser: Browser, origin: str) -> None:
    """Its worker with it; the next question is answered by a new one."""
    browser.driver.set_script_timeout(300)
    browser.open(f"{origin}/{BELOW}/explorer/probe.html")
    browser.until(lambda: browser.script("return Boolean(window.ask)"))
    given_up = """const done = arguments[arguments.length - 1], ended = new AbortController();
        window.ask({ask: "fit", source: {preset: "llama-3-8b"}, settings: {mode: "train"}}, ended.signal).then(done);
        setTimeout(() => ended.abort(), 50);"""
    assert browser.driver.execute_async_script(given_up) == {"ok": False, "stale": True}
    question = {"ask": "fit", "source": {"preset": "gpt2"}, "gpus": ["h100"]}
    assert asked(browser, question)["answer"] == ask(question)["answer"]


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", "utf-8")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build_site.py"), str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "not empty" in done.stderr and "Traceback" not in done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["mine.txt"]
