"""The cache of `huggingface_hub`: `models--owner--name/snapshots/COMMIT/`, and `refs/` from a branch to its commit.

What other programs downloaded is found there, and a config that was fetched once is kept for a day without a network.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from pathlib import Path

from archcalc.importers.beside import CONFIG
from archcalc.importers.files import WEIGHTS
from archcalc.importers.hub.address import Repository
from archcalc.importers.hub.settings import cache

COMMIT = re.compile(r"[0-9a-f]{40}")


def snapshot(repository: Repository) -> Path | None:
    """The folder of a revision, if it holds a model."""
    home = _home(repository)
    if home is None:
        return None
    revision = repository.revision or "main"
    try:
        commit = revision if COMMIT.fullmatch(revision) else (home / "refs" / revision).read_text("ascii").strip()
        folder = home / "snapshots" / commit
        held = COMMIT.fullmatch(commit) and any((folder / name).is_file() for name in (CONFIG, *WEIGHTS))
    except (OSError, ValueError):
        return None
    return folder if held else None


def keep(repository: Repository, commit: str, files: dict[str, bytes]) -> None:
    """An existing ref to another commit is kept: other programs may have cached its weights."""
    home = _home(repository)
    if home is None or not COMMIT.fullmatch(commit):
        return
    revision = repository.revision or "main"
    with contextlib.suppress(OSError):  # a folder that cannot be written to
        for name, raw in files.items():
            _write(home / "snapshots" / commit / name, raw)
        if revision != commit:
            _write(home / "refs" / revision, commit.encode())


def _home(repository: Repository) -> Path | None:
    root = cache()
    return root / f"models--{repository.name.replace('/', '--')}" if root else None


def _write(file: Path, raw: bytes) -> None:
    """Writes atomically; an existing file is kept."""
    if file.exists():
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    number, name = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(number, "wb") as stream:
        stream.write(raw)
    Path(name).replace(file)
