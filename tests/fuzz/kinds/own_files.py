"""Files of a user's own beside those that ship: engines, training code, formats, and every other kind of data.

A kind that archcalc keeps for itself changes nothing wherever it lies; any other is read, or refused with its name.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from archcalc.spec.paths import data_root
from fuzz import bytewise, questions, treewise
from fuzz.case import Case
from fuzz.kinds.specs import dumped

ELSEWHERE = ("models", "gpus", "starters")  # specs and devices have kinds of their own
USES = {  # command lines that read files of a kind; {} is the file's name
    "engines": (
        "memory llama-3-8b --engine {} --gpu h100",
        "memory gpt2 --engine {} --gpu rtx-4090",
        "memory llama-3-8b --engine {}@0.5 --gpu h100",
    ),
    "code": ("memory gpt2 --mode train --code {}", "memory textbook --mode train --code {} --precision mixed"),
    "formats": ("memory llama-3-8b --weights {}", "memory gpt2 --weights {} --kv-dtype q8_0"),
    "files": ("memory llama-3-8b --weights {}", "memory mixtral-8x7b --weights {}"),
    "recipes": (
        "memory gpt2 --mode train --precision fp8",
        "memory gpt2 --mode train --precision mixed --zero 3 --dp 2",
    ),
    "methods": ("memory gpt2 --mode train --method {}", "memory gpt2 --mode train --method dpo"),
}
ANY = (
    "memory gpt2 --gpu rtx-4090", "memory llama-3-8b --ngl 10 --weights q4_k_m", "memory gpt2 --mode train",
    "gpus m4-max", "fit textbook --gpu m4-max-64gb --batch 1", "fit textbook --gpu 8GB --batch 1", "params gpt2",
    "memory gpt2 --offload optimizer --mode train", "worksheet lenet-5", "explain hidden_size",
    "memory gpt2 --lora 8 --engine vllm --gpu h100",
)  # fmt: skip


def run(case: Case) -> None:
    kind, file = case.random.choice(_shipped())
    name = case.random.choice((file.stem, file.stem, "mine"))
    root = f"presets-{case.seed}"  # of its own: what was read of a file is kept for as long as a process lives
    case.write(f"{root}/{kind}/{name}.yaml", text(case, file))
    line = case.random.choice(USES.get(kind, ANY) if case.chance(0.8) else ANY).format(name).split()
    formatted = ("--format", case.random.choice(questions.FORMATS)) if line[0] != "worksheet" else ()
    case.command(*line, *formatted, ARCHCALC_PRESETS=str(case.folder / root))


def text(case: Case, file: Path) -> bytes:
    plain = file.read_bytes()
    if case.chance(0.15):
        return bytewise.mutated(plain, case.random)
    return dumped(treewise.mutated(_read(file), case.random, gently=case.chance(0.3)), case.chance(0.2))


@cache
def _shipped() -> list[tuple[str, Path]]:
    """Every kind as often as any other, whatever the number of its files; kinds with uses of their own more often."""
    kinds = sorted(folder for folder in data_root().iterdir() if folder.is_dir() and folder.name not in ELSEWHERE)
    files = {kind.name: sorted(kind.glob("*.yaml")) for kind in kinds}
    often = [kind for kind in files for _ in range(8 if kind in USES else 2)]
    return [(kind, files[kind][number % len(files[kind])]) for number, kind in enumerate(often * 12) if files[kind]]


@cache
def _read(file: Path) -> Any:
    from archcalc.spec.yaml_reader import read

    return read(file.read_bytes(), file.name).data
