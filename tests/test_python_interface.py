"""Python has the questions of the command line, with the same answers; docs/python.md shows them, typed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import archcalc

if TYPE_CHECKING:
    from conftest import Run

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "python.md"
ASKED: dict[str, Any] = {
    "fit gpt2 --gpu rtx-4090 --seq 512": lambda: archcalc.load("gpt2").fit("rtx-4090", seq=512),
    "verify textbook --quick": lambda: archcalc.load("textbook").verify(quick=True),
    "compare gpt2 gpt2-medium --metric flops --mode forward": lambda: archcalc.compare(
        [(name, archcalc.load(name)) for name in ("gpt2", "gpt2-medium")], metric="flops", mode="forward"
    ),
    "gpus --maker amd --min-memory 24GB": lambda: archcalc.gpus(maker="amd", min_memory="24GB"),
    "presets --family lstm": lambda: archcalc.presets("lstm"),
}


@pytest.mark.parametrize("command", ASKED)
def test_an_answer_is_the_commands(run: Run, command: str) -> None:
    assert ASKED[command]().record() == json.loads(run(*command.split(), "--format", "json").out)


def test_models_are_compared_by_their_names() -> None:
    tiny = archcalc.load({"name": "tiny", "vocab": 8, "d_model": 4, "heads": 2, "ffn": 8, "decoder": 1})
    assert archcalc.compare([tiny, archcalc.load("gpt2")]).labels == ("tiny", "GPT-2 small")


@pytest.mark.parametrize("models", [[3, 4], "gpt2", 3, [("a", "gpt2"), ("b", "gpt2")]])
def test_what_is_no_model_is_refused(models: Any) -> None:
    with pytest.raises(archcalc.InputError, match="expected"):
        archcalc.compare(models)


def test_a_misspelt_option_is_refused_as_on_the_command_line() -> None:
    with pytest.raises(archcalc.InputError, match="no option called bach"):
        archcalc.load("gpt2").fit("rtx-4090", bach=2)  # type: ignore[call-arg]
    with pytest.raises(archcalc.InputError, match="no option called qick"):
        archcalc.load("gpt2").verify(qick=True)  # type: ignore[call-arg]


def test_a_text_is_a_spec_with_its_lines() -> None:
    text = "vocab: 8\nd_model: 4\nheads: 2\nffn: 8\ndecoder: 1\n"
    assert archcalc.load(text).params().total == archcalc.load({"decoder": 1, **_fields(text)}).params().total
    assert archcalc.load('{"vocab": 8, "d_model": 4, "heads": 2, "ffn": 8, "decoder": 1}').params().total
    with pytest.raises(archcalc.InputError, match=r":6: haeds: no such field"):
        archcalc.load(f"{text}haeds: 2\n")


def _fields(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in (line.split(": ") for line in text.splitlines())}


def test_the_page_is_typed(tmp_path: Path) -> None:
    """By mypy in its strict mode, as somebody's own code would be."""
    programs = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for number, program in enumerate(programs):
        (tmp_path / f"program_{number}.py").write_text(program, encoding="utf-8")
    wrong = tmp_path / "wrong.py"
    wrong.write_text('import archcalc\n\narchcalc.load("gpt2").fit("rtx-4090", bach=2)\n', encoding="utf-8")
    words = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run([*words, *map(str, tmp_path.iterdir())], capture_output=True, text=True, cwd=ROOT)
    found = [line for line in done.stdout.splitlines() if ": error: " in line and str(tmp_path) in line]
    assert len(programs) >= 3
    assert len(found) == 1 and "wrong.py:3" in found[0] and "bach" in found[0], done.stdout
