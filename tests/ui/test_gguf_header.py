"""A GGUF file in the explorer: a start of it that grows until its header is whole, and no more of it."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from support.gguf_files import FACTS, TENSORS, file

from archcalc.ui.ask import ask

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from conftest import Run

WHOLE = file(FACTS, TENSORS)


def asked(question: str, start: bytes, size: int = len(WHOLE), **more: Any) -> dict[str, Any]:
    source = {"header": base64.b64encode(start).decode(), "file": "model.gguf", "bytes": size}
    return ask({"ask": question, "source": source, **more})


def test_the_start_grows_until_the_header_is_whole() -> None:
    """Whatever of it is at hand, it is read, or more is asked for; never is it called broken."""
    lengths = [2**power for power in range(5, len(WHOLE).bit_length())]
    answers = [asked("open", WHOLE[:length]) for length in lengths]
    assert [answer for answer in answers if not answer["ok"]] == [{"ok": False, "more": True}] * sum(
        not answer["ok"] for answer in answers
    )
    assert not answers[0]["ok"] and answers[-1]["ok"]


def test_a_file_that_ends_within_its_header_is_broken() -> None:
    answer = asked("open", WHOLE[:100], size=100)
    assert "not a whole GGUF file" in answer["error"]["fact"]


def test_a_header_is_answered_as_its_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.gguf").write_bytes(WHOLE)
    answer = asked("memory", WHOLE[: len(WHOLE) // 2], records=True)
    assert answer["records"]["memory"] == run("memory", "model.gguf", "--format", "json").out.rstrip("\n")


def test_one_shard_of_several_is_refused() -> None:
    start = file({**FACTS, "split.count": 3}, TENSORS)
    answer = asked("open", start, len(start))
    assert "one shard of 3" in answer["error"]["fact"]
