"""The explorer without a server: the built site answers with the digits of the command line, and asks nobody else.

The site needs npm and an index of Python packages to be built; where they are out of reach these tests are skipped,
but in CI that is a failure.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from support.browser import Browser

from archcalc.ui.ask import ask

ROOT = Path(__file__).parents[2]
PRESETS = (
    *("textbook", "gpt2", "bert-base", "t5-small", "llama-3-8b", "gemma-2-2b", "mixtral-8x7b", "deepseek-v3"),
    *("mamba-130m", "jamba-v0.1", "vit-b-16", "resnet-50", "whisper-tiny", "sentiment-lstm", "rnnsearch"),
    *("vae-mnist", "word2vec-cbow", "recursive-autoencoder", "qwen3-8b", "albert-base-v2"),
)
BELOW = "some/path/of/a/host"  # at which the site stands
# A page that is nothing but the connection to archcalc, under the policy of the explorer's own.
PROBE = """<!doctype html><meta charset="utf-8"><title>probe</title><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'self'; connect-src 'self'; worker-src 'self'; img-src data:">
<script type="module" src="probe.js"></script>"""
SCRIPT = """import { connect } from "./backend.js";
connect((text) => (document.title = text)).then((ask) => (window.ask = ask));"""
ASKED = "const done = arguments[arguments.length - 1]; window.ask(arguments[0]).then((answer) => done(answer));"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built once."""
    host = tmp_path_factory.mktemp("host")
    build = [sys.executable, str(ROOT / "tools" / "build_site.py"), str(host / BELOW)]
    done = subprocess.run(build, capture_output=True, text=True, check=False)
    if done.returncode and not os.environ.get("CI"):
        pytest.skip(f"the site cannot be built here: {done.stderr.strip().splitlines()[-1]}")
    assert done.returncode == 0, done.stderr
    (host / BELOW / "probe.html").write_text(PROBE, "utf-8")
    (host / BELOW / "probe.js").write_text(SCRIPT, "utf-8")
    return host


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="session")
def origin(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def asked(browser: Browser, question: Any) -> Any:
    return browser.driver.execute_async_script(ASKED, question)


def test_the_site_answers_with_the_same_digits(browser: Browser, origin: str) -> None:
    """Twenty presets of all families; every text of the answers is compared, and every number in the records."""
    browser.driver.set_script_timeout(300)
    browser.open(f"{origin}/{BELOW}/probe.html")
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


def test_a_search_that_is_given_up_ends(browser: Browser, origin: str) -> None:
    """Its worker with it; the next question is answered by a new one."""
    browser.driver.set_script_timeout(300)
    browser.open(f"{origin}/{BELOW}/probe.html")
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
