"""The command: many cases and what came of them, or one case again with all there is to see."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.guard import SECONDS, Outcome, limit_memory
from fuzz.kinds import KINDS
from fuzz.pool import Worker

EVERY = 20.0  # seconds between two lines that say how far it is
SHOWN = 3  # cases of one finding


@dataclass
class Tally:
    """What came of the cases so far."""

    words: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: Counter[str] = field(default_factory=Counter)
    slowest: dict[str, tuple[float, str]] = field(default_factory=dict)
    findings: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    told: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, seed: str, outcome: Outcome) -> None:
        self.words[kind][outcome.word] += 1
        self.seconds[kind] += outcome.seconds  # type: ignore[assignment]  # a Counter adds up floats as well
        self.slowest[kind] = max(self.slowest.get(kind, (0.0, "")), (outcome.seconds, f"{kind}:{seed}"))
        if outcome.word == "wrong":
            if outcome.place not in self.findings:
                print(f"{outcome.place}\n  --replay {kind}:{seed}", file=sys.stderr)
            self.findings[outcome.place].append(f"{kind}:{seed}")
            self.told.setdefault(outcome.place, outcome.words)

    @property
    def cases(self) -> int:
        return sum(sum(words.values()) for words in self.words.values())

    def lines(self) -> Iterator[str]:
        yield f"{'kind':<12}{'cases':>8}{'answered':>10}{'refused':>9}{'wrong':>7}{'a second':>10}  slowest"
        for kind, words in self.words.items():
            cases, (slowest, seed) = sum(words.values()), self.slowest[kind]
            counts = f"{cases:>8}{words['answered']:>10}{words['refused']:>9}{words['wrong']:>7}"
            yield f"{kind:<12}{counts}{cases / max(self.seconds[kind], 1e-9):>10.1f}  {slowest:.1f} s {seed}"
        for place, seeds in sorted(self.findings.items(), key=lambda item: -len(item[1])):
            yield f"\n{len(seeds)} × {place}\n  --replay {'  '.join(seeds[:SHOWN])}"


def drawn(cases: int, seed: int, kinds: list[str]) -> Iterator[tuple[str, str]]:
    """Kinds in turn by their shares, each with seeds of its own: the same for every number of cases."""
    due = dict.fromkeys(kinds, 0.0)
    made = dict.fromkeys(kinds, 0)
    for _ in range(cases):
        for kind in kinds:
            due[kind] += KINDS[kind].share
        kind = max(due, key=lambda each: due[each])
        due[kind] -= sum(KINDS[each].share for each in kinds)
        yield kind, f"{seed}.{made[kind]}"
        made[kind] += 1


def many(cases: int, seed: int, kinds: list[str], seconds: float = SECONDS) -> Tally:
    """Run them one after another."""
    tally, worker, last = Tally(), Worker(seconds), time.monotonic()
    try:
        for kind, number in drawn(cases, seed, kinds):
            tally.add(kind, number, worker.run(kind, number))
            if time.monotonic() - last > EVERY:
                last = time.monotonic()
                print(f"{tally.cases:,} cases, {len(tally.findings)} findings", file=sys.stderr)
    finally:
        worker.close()
    return tally


def replay(kind: str, seed: str) -> bool:
    """One case in this process: its files are kept, its steps and its traceback shown."""
    from fuzz.worker import run, settle

    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    settle(folder)
    limit_memory()
    (folder / "case").mkdir()
    case, outcome = run(kind, seed, folder / "case", SECONDS)
    for file in sorted(path for path in case.folder.rglob("*") if path.is_file()):
        with file.open("rb") as stream:
            print(f"{file} · {file.stat().st_size:,} bytes\n{stream.read(2000)!r}\n")
    print("\n".join(case.steps))
    print(f"{outcome.word} after {outcome.seconds:.2f} s\n{outcome.words}")
    return outcome.word != "wrong"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Hostile input by the thousand.")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", action="append", choices=[kind for kind, (_, share) in KINDS.items() if share])
    parser.add_argument("--replay", metavar="KIND:SEED", help="run one case again and show all of it")
    parser.add_argument("--verbose", action="store_true", help="show the first traceback of each finding")
    asked = parser.parse_args()
    if asked.replay:
        kind, _, seed = asked.replay.partition(":")
        return 0 if replay(kind, seed) else 1
    kinds = asked.kind or [kind for kind, (_, share) in KINDS.items() if share]
    tally = many(asked.cases, asked.seed, kinds)
    print("\n".join(tally.lines()))
    if asked.verbose:
        print("\n".join(f"\n== {place}\n{words}" for place, words in tally.told.items()))
    return 1 if tally.findings else 0
