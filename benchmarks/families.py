"""How many of the model families that people download are read whole, in part, or not at all.

    python benchmarks/families.py            # a table in Markdown, as docs/importers.md has it
    python benchmarks/families.py --refused  # and why, of each that is not read whole

A family is tried with its model_type and a field or two, so that its sizes are the defaults of its class; what they
make is not counted, since those of a tower and a language model seldom fit.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import archcalc
from archcalc.core.errors import InputError
from archcalc.spec.yaml_reader import read

LISTED = Path(__file__).with_suffix(".yaml")
OUTCOMES = ("whole", "in part", "refused")


def outcome(said: str | dict[str, Any]) -> tuple[str, str]:
    """What becomes of a family, and what is missing of it."""
    try:
        model = archcalc.load(said if isinstance(said, dict) else {"model_type": said})
    except InputError as error:
        return "refused", error.fact
    left_out = ", ".join(part.part for part in model.scope.left_out)
    return ("in part", f"without {left_out}") if left_out else ("whole", "")


def table(told: bool) -> Iterator[str]:
    kinds = read(LISTED.read_bytes(), str(LISTED)).data
    total: Counter[str] = Counter()
    yield f"| families | {' | '.join(OUTCOMES)} |"
    yield "|---|" + "--:|" * len(OUTCOMES)
    for kind, families in kinds.items():
        found = {name: outcome(said) for name, said in families.items()}
        tally = Counter(each for each, _ in found.values())
        total += tally
        yield _row(kind, tally)
        for name, (each, why) in found.items() if told else ():
            if why:
                yield f"  {each}: {name}: {why}"
    yield _row(f"all {total.total()}", total)


def _row(kind: str, tally: Counter[str]) -> str:
    return f"| {kind} | {' | '.join(str(tally[each]) for each in OUTCOMES)} |"


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--refused", action="store_true", help="say what is not read whole, and why")
    for line in table(asked.parse_args().refused):
        print(line)


if __name__ == "__main__":
    main()
