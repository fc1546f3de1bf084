"""What a Hub answers: statuses, headers, bodies cut short or of another kind, from a server in the same process."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any, ClassVar

from support.safetensors_files import CONFIG, WEIGHTS, file

from fuzz import bytewise, treewise
from fuzz.case import Answer, Case, Wrong
from fuzz.kinds import configs, safetensors
from fuzz.values import WORDS

COMMIT = "c" * 40
STATUSES = (200, 200, 204, 206, 301, 302, 307, 308, 400, 401, 403, 404, 416, 418, 429, 451, 500, 502, 503, 504)
NAMES = (
    "hf:owner/name",
    "hf:owner/name@main",
    "https://huggingface.co/owner/name",
    "huggingface.co/owner/name/tree/main",
)
MODELOPT = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
REASONS = ("RepoNotFound", "EntryNotFound", "RevisionNotFound", "GatedRepo", "DisabledRepo", "x")


@dataclass
class Plan:
    """What one case's Hub says: its files, and by which chance an answer goes wrong."""

    random: Random
    files: dict[str, bytes] = field(default_factory=dict)
    wrong: float = 0.0


class Hub(BaseHTTPRequestHandler):
    """As much of the Hub as a config and a header need, as the plan has it."""

    plan: ClassVar[Plan] = Plan(Random(0))
    protocol_version = "HTTP/1.1"
    timeout = 20

    def do_HEAD(self) -> None:
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        if self.plan.random.random() < self.plan.wrong / 2:
            self._wrongly()
        elif self.path.startswith("/api/models/"):
            listed = [{"rfilename": name} for name in self.plan.files]
            body = json.dumps({"id": "owner/name", "sha": COMMIT, "siblings": listed}).encode()
            self._send(200, body, {})
        else:
            self._file(self.plan.files.get(self.path.rsplit("/", 1)[-1]))

    def _file(self, content: bytes | None) -> None:
        if content is None:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
            return
        first, _, last = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
        part = content[int(first or 0) : int(last) + 1 if last else None] if first or last else content
        headers = {
            "ETag": f'"{hashlib.sha256(content).hexdigest()}"',
            "X-Repo-Commit": COMMIT,
            "Accept-Ranges": "bytes",
        }
        if not (first or last) or not content:
            self._send(416 if first or last else 200, content, headers)
            return
        told = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
        self._send(206, part, {**headers, "Content-Range": self._perhaps(told)})

    def _perhaps(self, told: str) -> str:
        """A length as it is, or as it cannot be."""
        random = self.plan.random
        wrong = ("", "bytes 0-9/*", "bytes 0-9/-1", "bytes 0-9/7", f"bytes 0-9/{9**40}", "items 1")
        return random.choice(wrong) if random.random() < self.plan.wrong else told

    def _wrongly(self) -> None:
        random = self.plan.random
        body = random.choice(
            (
                b"",
                b"{}",
                b"[]",
                b"null",
                b"<html>",
                b"[" * 100_000,
                b"\xff" * 100,
                b'{"a": 1}',
                *self.plan.files.values(),
            )
        )
        headers = {
            "X-Repo-Commit": COMMIT,
            "ETag": '"e"',
            "Location": random.choice((self.path, "/", "http://127.0.0.1:9/", "x:")),
        }
        headers["X-Error-Code"] = random.choice(REASONS)
        if random.random() < 0.3:
            headers[random.choice(list(headers))] = (
                random.choice(WORDS).encode("ascii", "replace").decode().translate(_ONE_LINE)
            )
        self._send(random.choice(STATUSES), body, headers, claimed=random.choice((0, 0, 0, 0, 7, -3, 10**9)))

    def _send(self, code: int, body: bytes, headers: dict[str, str], *, claimed: int = 0) -> None:
        """`claimed` bytes more than there are, and then the connection ends."""
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(max(0, len(body) + claimed))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
        self.close_connection = self.close_connection or bool(claimed)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


_ONE_LINE = dict.fromkeys((*range(32), 127), " ")


@cache
def _endpoint() -> str:
    """Started once in a process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
    os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{server.server_port}"
    return os.environ["HF_ENDPOINT"]


def run(case: Case) -> None:
    _endpoint()
    Hub.plan = Plan(Random(case.random.random()), _files(case), case.random.choice((0, 0.3, 1)))
    for name, content in Hub.plan.files.items():
        case.write(f"hub/{name}", content)
    wanted = case.random.choice(("table", "json"))
    answer = case.command("params", case.random.choice(NAMES), "--format", wanted)
    if not Hub.plan.wrong and Hub.plan.files:
        _as_a_folder(case, wanted, answer)
    shutil.rmtree(Path(os.environ["HF_HOME"]), ignore_errors=True)


def _as_a_folder(case: Case, wanted: str, answer: Answer) -> None:
    """What the Hub serves counts as the same files in a folder, and is refused where they are."""
    local = case.command("params", "hub", "--format", wanted)
    if local.code != answer.code:
        raise Wrong(f"exit code {answer.code} for the repository, {local.code} for a folder with the same files")
    if wanted == "json" and not answer.code:
        there, here = json.loads(answer.out), json.loads(local.out)
        if any(there.get(key) != here.get(key) for key in ("total", "bytes", "parts")):
            raise Wrong(f"{there.get('total')} in the repository, {here.get('total')} in a folder with the same files")


def _files(case: Case) -> dict[str, bytes]:
    """A config, weights in one file or several, both or neither, mutated or not."""
    config: Any = CONFIG if case.chance(0.5) else configs.config(case)
    if case.chance(0.5):
        config = treewise.mutated(config, case.random, gently=case.chance(0.3))
    written = json.dumps(config).encode()
    found = {"config.json": bytewise.mutated(written, case.random) if case.chance(0.3) else written}
    if case.chance(0.1):
        found["hf_quant_config.json"] = json.dumps(treewise.mutated(MODELOPT, case.random)).encode()
    found |= _shards(case) if case.chance(0.25) else {"model.safetensors": _weights(case)}
    return {name: content for name, content in found.items() if case.chance(0.85)}


def _weights(case: Case) -> bytes:
    return file(WEIGHTS) if case.chance(0.4) else safetensors.contents(case)


def _shards(case: Case) -> dict[str, bytes]:
    held = {f"part-{number}.safetensors": list(WEIGHTS)[number::12] for number in range(12)}
    index = {"weight_map": {name: shard for shard, names in held.items() for name in names}}
    said = treewise.mutated(index, case.random) if case.chance(0.4) else index
    found = {shard: safetensors.contents(case, {name: WEIGHTS[name] for name in held[shard]}, 0.05) for shard in held}
    return {**found, safetensors.INDEX: json.dumps(said).encode()}
