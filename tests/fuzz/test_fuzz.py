"""A sample of hostile input, kind by kind; `python -m tests.fuzz --cases 100000` runs more of the same.

What a test here finds is shown again by `python -m tests.fuzz --replay KIND:SEED`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.case import Answer, Wrong, check_answer
from fuzz.command import drawn, many
from fuzz.kinds.planted import MISTAKES
from fuzz.pool import Worker

SAMPLE = {
    "specs": 60,
    "families": 150,  # of which one in six is answered
    "networks": 80,
    "configs": 60,
    "safetensors": 80,
    "gguf": 80,
    "devices": 60,
    "own-files": 40,
    "answers": 30,
    "explorer": 30,
    "options": 40,
    "calls": 80,
    "hub": 20,
}


@pytest.mark.wide(len(SAMPLE))
@pytest.mark.parametrize("kind", SAMPLE)
def test_hostile_input_is_answered_or_refused_in_words(kind: str) -> None:
    """A third of the sample in every run, all of it where `.ci/run` asks for the others too."""
    tally = many(SAMPLE[kind] if os.environ.get("ARCHCALC_ALL") else SAMPLE[kind] // 3, 0, [kind])
    assert not tally.findings, "\n".join([*tally.lines(), *tally.told.values()])
    assert tally.words[kind]["answered"], "nothing was read, so nothing was tried"


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_guard_finds_every_planted_mistake(mistake: str) -> None:
    """And the next case runs as if nothing had been."""
    worker = Worker(0.5, spare=0.5)
    try:
        assert worker.run("planted", mistake).word == "wrong"
        assert worker.run("planted", "fine").word == "answered"
    finally:
        worker.close()


@pytest.mark.parametrize(
    "answer",
    [
        Answer(1, "", "a difference"),
        Answer(0, "", ""),
        Answer(0, "a name \x1b]52;c;QQ==\x07", ""),
        Answer(0, "\x1b[1mbold\x1b[0m \x1b[2J", ""),
        Answer(2, "", ""),
        Answer(2, "", "9" * 5000),
        Answer(2, "", "Traceback (most recent call last)"),
    ],
)
def test_an_answer_that_must_not_be_is_wrong(answer: Answer) -> None:
    with pytest.raises(Wrong):
        check_answer(answer)


def test_colour_is_no_control_character() -> None:
    check_answer(Answer(0, "\x1b[1mbold\x1b[0m", ""))


def test_a_case_follows_from_its_kind_and_its_seed(tmp_path: Path) -> None:
    """Not from the cases before it, nor from how Python hashes words in one process."""
    script = "import sys; from fuzz.worker import run; from pathlib import Path; _, folder, *kinds = sys.argv; "
    script += "print(*(ascii(run(kind, '0.7', Path(folder), 30)[0].steps) for kind in kinds), sep='\\n')"
    kinds = ["specs", "configs", "gguf", "safetensors", "options"]
    said = [_printed(script, str(tmp_path), *order, hashed=seed) for seed, order in (("1", kinds), ("2", kinds[::-1]))]
    assert said[0] == said[1][::-1]


def _printed(script: str, *arguments: str, hashed: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONHASHSEED": hashed}
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=True)
    return done.stdout.splitlines()


def test_seeds_are_the_same_for_any_number_of_cases() -> None:
    few, more = list(drawn(50, 1, list(SAMPLE))), list(drawn(500, 1, list(SAMPLE)))
    assert more[:50] == few
    assert len(set(more)) == 500
    assert {kind for kind, _ in more} == set(SAMPLE)
