"""`hf:owner/name` asks a Hub for a config and for headers, never for weights. The Hub here answers on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, ClassVar

import pytest
from support.loopback_hub import COMMIT, Quiet, serving
from support.safetensors_files import CONFIG, COUNTED, WEIGHTS, file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILES = {"config.json": json.dumps(CONFIG).encode(), "model.safetensors": file(WEIGHTS)}
REPOSITORIES = {
    "owner/whole": FILES,
    "owner/config-only": {"config.json": FILES["config.json"]},
    "owner/weights-only": {"model.safetensors": FILES["model.safetensors"]},
    "owner/empty": {"README.md": b"nothing"},
}


class Hub(Quiet):
    """As much of the Hub as a config and a header need; it keeps a record of what was asked."""

    asked: ClassVar[list[tuple[str, str, str]]] = []

    def answer(self) -> None:
        self.asked.append((self.command, self.path, self.headers.get("Range", "")))
        owner, name, rest = [*self.path.removeprefix("/api/models").strip("/").split("/", 2), ""][:3]
        files = REPOSITORIES.get(f"{owner}/{name}")
        if files is None:
            self.send(404, {"X-Error-Code": "RepoNotFound"}, b"{}")
        elif self.path.startswith("/api/models/"):
            listed = [{"rfilename": file} for file in files]
            self.send(200, {}, json.dumps({"id": f"{owner}/{name}", "sha": COMMIT, "siblings": listed}).encode())
        else:
            self.send_file(files.get(rest.split("/", 2)[-1]))

    def send_file(self, content: bytes | None) -> None:
        if content is None:
            self.send(404, {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT}, b"")
            return
        etag = hashlib.sha256(content).hexdigest()
        start, _, end = self.headers.get("Range", "").removeprefix("bytes=").partition("-")
        part = content[int(start) : int(end) + 1] if start else content
        headers = {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        self.send(206 if start else 200, headers, part)


@pytest.fixture
def endpoint() -> Iterator[str]:
    Hub.asked.clear()
    with serving(Hub) as address:
        yield address


def archcalc(*arguments: str, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real program, with no setting of whoever runs the tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGINGFACE"))}
    environ = {**kept, "HF_HOME": str(home), "HF_HUB_DISABLE_TELEMETRY": "1", "COLUMNS": "80", **environment}
    command = [sys.executable, "-m", "archcalc", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environ, check=False, timeout=120)


def test_config_and_header_are_fetched_and_compared(endpoint: str, tmp_path: Path) -> None:
    """The weights themselves are never asked for: each range ends within the header."""
    answer = archcalc("params", "hf:owner/whole", home=tmp_path, HF_ENDPOINT=endpoint)
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("owner/whole")
    assert f"the repository holds {COUNTED:,} weights, as the config says" in " ".join(answer.stdout.split())
    header = 8 + int.from_bytes(FILES["model.safetensors"][:8], "little")
    fetched = [span for method, path, span in Hub.asked if method == "GET" and path.endswith("model.safetensors")]
    assert fetched
    assert all(
        span.startswith("bytes=0-") or int(span.split("-")[0].removeprefix("bytes=")) < header for span in fetched
    )


def test_a_config_alone_is_enough(endpoint: str, tmp_path: Path) -> None:
    answer = archcalc("params", "hf:owner/config-only@main", "--format", "json", home=tmp_path, HF_ENDPOINT=endpoint)
    assert json.loads(answer.stdout)["total"] == COUNTED


def test_weights_alone_are_their_tensors(endpoint: str, tmp_path: Path) -> None:
    answer = archcalc("params", "hf:owner/weights-only", "--format", "json", home=tmp_path, HF_ENDPOINT=endpoint)
    found = json.loads(answer.stdout)
    assert (found["total"], found["bytes"]) == (COUNTED, 2 * COUNTED)


def test_offline_the_cache_answers(endpoint: str, tmp_path: Path) -> None:
    """What was fetched once needs no network; what was not says so."""
    archcalc("params", "hf:owner/whole", home=tmp_path, HF_ENDPOINT=endpoint)
    asked = len(Hub.asked)
    offline = {"HF_ENDPOINT": endpoint, "HF_HUB_OFFLINE": "1"}
    answer = archcalc("params", "hf:owner/whole", "--format", "json", home=tmp_path, **offline)
    assert json.loads(answer.stdout)["total"] == COUNTED
    missing = archcalc("params", "hf:owner/config-only", home=tmp_path, **offline)
    assert missing.returncode == 2
    assert "cache" in missing.stderr
    assert len(Hub.asked) == asked


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("hf:owner/nothing", "there is no such repository, or it is private"),
        ("hf:owner/empty", "owner/empty has neither a config.json nor safetensors"),
        ("hf:a b", "is not a repository"),
    ],
)
def test_what_the_hub_does_not_have_is_told(endpoint: str, tmp_path: Path, name: str, fact: str) -> None:
    answer = archcalc("params", name, home=tmp_path, HF_ENDPOINT=endpoint)
    assert answer.returncode == 2
    assert fact in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_hub_that_is_not_there_is_told(tmp_path: Path) -> None:
    """Nothing listens on port 9."""
    answer = archcalc("params", "hf:owner/whole", home=tmp_path, HF_ENDPOINT="http://127.0.0.1:9")
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: ")
    assert "the Hub cannot be reached" in answer.stderr
    assert "Traceback" not in answer.stderr
