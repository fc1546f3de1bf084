"""Command lines: any command about a preset, with options of which many make no sense."""

from __future__ import annotations

from fuzz import questions
from fuzz.case import Case
from fuzz.values import WORDS

MODELS = (
    "textbook", "gpt2", "bert-base", "t5-small", "llama-3-8b", "mamba-130m", "mixtral-8x7b", "whisper-tiny", "vit-base",
    "deepseek-v2-lite", "gemma-2-9b", "lstm-lm",
)  # fmt: skip
ODDLY = 0.35


def run(case: Case) -> None:
    model = case.random.choice(_presets())
    if case.chance(0.05):
        model = case.random.choice(WORDS).replace("\0", "0").encode("utf-8", "replace").decode()
    words = _line(case, model)
    if case.chance(0.1):
        words.insert(case.random.randint(0, len(words)), case.random.choice(words))
    case.command(*words, stdin=b"d_model: 8", **questions.surroundings(case.random))


def _line(case: Case, model: str) -> list[str]:
    command = case.random.choices(list(questions.COMMANDS), (20, 12, 8, 18, 24, 1, 10, 6, 2, 9))[0]
    return questions.line(command, (model,), case.random, ODDLY)


def _presets() -> list[str]:
    from archcalc.spec.paths import presets

    return [name for name in MODELS if name in presets()]
