"""Command lines: any command about a preset, with options of which many make no sense."""

from __future__ import annotations

from archcalc.spec.paths import presets
from fuzz import questions
from fuzz.case import Case
from fuzz.values import WORDS

ODDLY = (0.02, 0.35)
SHARES = {
    "params": 20, "shapes": 12, "diagram": 8, "flops": 18, "memory": 24, "fit": 2, "kernel": 8, "compare": 6, "plot": 2,
    "show": 6, "worksheet": 3, "explain": 3, "gpus": 3, "presets": 2, "report": 1,
}  # fmt: skip
NOT_OF_MODELS = {"explain": "window", "gpus": "h100", "presets": None}  # what is asked in the place of a model


def run(case: Case) -> None:
    model = case.random.choice(sorted(presets()))
    if case.chance(0.05):
        model = case.random.choice(WORDS).replace("\0", "0").encode("utf-8", "replace").decode()
    words = _line(case, model)
    if case.chance(0.1):
        words.insert(case.random.randint(0, len(words)), case.random.choice(words))
    case.command(*words, stdin=b"d_model: 8", **questions.surroundings(case.random))


def _line(case: Case, model: str) -> list[str]:
    command = case.random.choices(list(SHARES), list(SHARES.values()))[0]
    about = NOT_OF_MODELS.get(command, model)
    return questions.line(command, (about,) if about else (), case.random, case.random.choice(ODDLY))
