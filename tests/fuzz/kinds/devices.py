"""Device files and presets of the user's own, mutated, in a folder that ARCHCALC_PRESETS names."""

from __future__ import annotations

from functools import cache
from typing import Any

from archcalc.spec.paths import data_root
from fuzz import bytewise, treewise
from fuzz.case import Case
from fuzz.kinds.specs import dumped

NAMES = ("mine.yaml", "mine.yaml", "h100.yaml", "Über card.yaml", "a b.yaml", "24GiB.yaml", "x\ny.yaml")


def run(case: Case) -> None:
    """Whatever one file says, the other devices stay."""
    folder = f"presets-{case.seed}"  # of its own: what was read of a file is kept for as long as a process lives
    file = case.random.choice(NAMES)
    case.write(f"{folder}/gpus/{file}", text(case))
    name = file.removesuffix(".yaml")
    line = case.random.choices(
        (
            ("gpus", name),
            ("gpus",),
            ("gpus", "h200"),
            ("fit", "textbook", "--gpu", name, "--batch", "1"),
            ("gpus", "--min-memory", "24GiB", "--maker", "nvidia"),
            ("memory", "gpt2"),
        ),
        (50, 20, 10, 3, 10, 7),
    )[0]
    formatted = ("--format", case.random.choice(("table", "json", "csv", "markdown")))
    case.command(*line, *formatted, ARCHCALC_PRESETS=str(case.folder / folder))


def text(case: Case) -> bytes:
    plain = case.random.choice(_devices())
    if case.chance(0.3):
        return bytewise.mutated(plain, case.random)
    return dumped(treewise.mutated(_read(plain), case.random, gently=case.chance(0.3)), case.chance(0.2))


@cache
def _devices() -> list[bytes]:
    return [file.read_bytes() for file in sorted((data_root() / "gpus").glob("*.yaml"))]


@cache
def _read(text: bytes) -> Any:
    from archcalc.spec.yaml_reader import read

    return read(text, "a device").data
