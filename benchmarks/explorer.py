"""How long the explorer's parameters and FLOPs take, as multiples of a file of the page: one run of `archcalc ui`.

    python benchmarks/explorer.py                   a few presets, DeepSeek-V3 among them
    python benchmarks/explorer.py MODEL …           these presets instead

They follow every key and every slider, so each question asks for another batch, for which the model is traced anew. The
least of many times counts, from the connection to the last byte. The script exits 1 where parameters, which are asked
for first, take more than four times as long as the file; FLOPs are a question of their own.
"""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import parse_qs, urlsplit

LIMIT = 4
OFTEN = 60  # times; the least counts
MODELS = ("textbook", "gpt2", "llama-3-8b", "deepseek-v3")
FILE = "/main.js"
ASKED: tuple[tuple[str, ...], ...] = ((), ("work",))  # parts of the exact answer


class Page:
    """What a browser asks of the server at this address."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        assert parts.hostname
        self.host, self.port, self.token = parts.hostname, parts.port, parse_qs(parts.query)["token"][0]

    def file(self) -> None:
        self._asked("GET", FILE)

    def figures(self, model: str, parts: tuple[str, ...], batch: int) -> None:
        settings = {"mode": "infer", "batch": str(batch)}
        question = {"ask": "exact", "source": {"preset": model}, "settings": settings, "show": parts}
        answer = json.loads(self._asked("POST", "/ask", json.dumps(question)))
        assert answer["ok"], answer

    def _asked(self, method: str, path: str, body: str | None = None) -> bytes:
        connection = http.client.HTTPConnection(self.host, self.port)
        headers = {"Content-Type": "application/json", "X-Archcalc-Token": self.token}
        connection.request(method, path, body, headers if body else {})
        answer = connection.getresponse()
        assert answer.status == http.client.OK, answer.status
        found = answer.read()
        connection.close()
        return found


@contextmanager
def served() -> Iterator[Page]:
    """The explorer on any free port."""
    command = [sys.executable, "-m", "archcalc", "ui", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        found = (re.search(r"http://\S+", line) for line in process.stdout)
        yield Page(next(address.group() for address in found if address))
        process.send_signal(signal.SIGINT)


def least(ask: Callable[[int], Any]) -> float:
    """Seconds; the first call, which loads what is needed, is not counted."""
    ask(1)
    times = []
    for turn in range(OFTEN):
        start = time.perf_counter()
        ask(turn + 2)
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    worst = 0.0
    with served() as page:
        print("parameters    FLOPs      file  model")
        for model in sys.argv[1:] or MODELS:
            file = least(lambda _: page.file())
            counted, worked = (least(partial(page.figures, model, parts)) for parts in ASKED)
            worst = max(worst, counted / file)
            print(f"{counted / file:8.1f} × {worked / file:6.1f} × {1000 * file:6.2f} ms  {model}")
    print(f"the worst of parameters: {worst:.1f} times a file of the page; {LIMIT} are allowed")
    sys.exit(worst > LIMIT)


if __name__ == "__main__":
    main()
