"""Exact, wrong, refused: every model type of the installed transformers, with default and with random configs.

    python benchmarks/coverage.py                  # the whole registry, a few random configs of each type
    python benchmarks/coverage.py --random 50      # fifty, as the promise is kept
    python benchmarks/coverage.py llama t5         # these types
    python benchmarks/coverage.py --seed other     # other random configs than usual
    python benchmarks/coverage.py --keys           # does every key that is called inert change nothing?

It imports from tests/ and tools/: set PYTHONPATH=tests:tools.
Wrong must be zero. Refused is what archcalc says it cannot count; invalid is what transformers cannot build.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from hf_defaults import classes
from support.hf_random import files, random_fields
from support.hf_truth import Verdict, build, judge, tensors_in
from transformers import CONFIG_MAPPING

from archcalc.importers.hf import translators
from archcalc.importers.hf._helpers.inert import changes_no_count, keys_of
from archcalc.importers.hf._helpers.reading import described

Said = dict[str, Any]
OUTCOMES = ("exact", "wrong", "refused", "invalid")


def default_files(model_type: str, names: dict[str, str]) -> Iterator[Said]:
    """The class's own defaults, for every class that a config may name."""
    for name in names:
        yield {"model_type": model_type, "architectures": [name]}


def random_files(model_type: str, names: dict[str, str], number: int, seed: str) -> Iterator[Said]:
    for index in range(number if names else 0):
        yield from files(model_type, random.Random(f"{seed}{model_type} {index}"), names)


def verdict_on(said: Said) -> Verdict:
    if said["model_type"] not in translators():
        return Verdict("refused", "no translator")
    return judge(said)


def coverage(types: list[str], number: int, seed: str, told: bool) -> bool:
    total: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    print(f"{'model type':24}" + "".join(f"{outcome:>9}" for outcome in OUTCOMES))
    for model_type in types:
        names = classes(model_type)
        tally: Counter[str] = Counter()
        reasons: Counter[str] = Counter()
        for said in (*default_files(model_type, names), *random_files(model_type, names, number, seed)):
            verdict = verdict_on(said)
            tally[verdict.outcome] += 1
            if verdict.outcome in ("refused", "invalid"):
                reasons[f"{verdict.outcome}: {verdict.why}"] += 1
            if verdict.outcome == "wrong":
                print(f"wrong: {verdict.why}\n{json.dumps(said)}")
        total.update(tally)
        whole["exact" if tally["exact"] and not tally["wrong"] else "refused"] += bool(names)
        if model_type in translators():
            print(f"{model_type:24}" + "".join(f"{tally[outcome]:9,}" for outcome in OUTCOMES), flush=True)
        for reason, times in reasons.most_common() if told else ():
            print(f"{times:9,} {reason}")
    print(f"{'all configs':24}" + "".join(f"{total[outcome]:9,}" for outcome in OUTCOMES))
    print(f"{whole['exact']} model types are read, {whole['refused']} are refused")
    return total["wrong"] == 0


def changed_keys(model_type: str) -> Iterator[str]:
    """Keys that are called inert, and whose change changes what transformers builds."""
    about, family = described(model_type), translators()[model_type]
    inert = {about["aliases"].get(key, key) for key in keys_of(family.inert)}
    said = _small(model_type, about["classes"])
    plain = tensors_in(build(said))
    for key, value in about["defaults"].items():
        if (key in inert or changes_no_count(key)) and (other := _other(value)) is not None:
            try:
                found = tensors_in(build({**said, key: other}))
            except Exception:  # a value that the class refuses changes nothing
                continue
            if found != plain:
                yield key


def _small(model_type: str, names: dict[str, str]) -> Said:
    for seed in range(100):
        chosen = random_fields(model_type, random.Random(f"{model_type} {seed}"))
        said = {**chosen, "model_type": model_type, "architectures": [list(reversed(names))[seed % len(names)]]}
        if judge(said).outcome == "exact":
            return said
    raise RuntimeError(f"no small config of {model_type} is exact")


def _other(value: Any) -> Any:
    """Another value of the same kind, where one can be made up."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    return value + 0.25 if isinstance(value, float) and abs(value) < 1e6 else None


def keys(types: list[str]) -> bool:
    bad = {model_type: sorted(changed_keys(model_type)) for model_type in types if model_type in translators()}
    for model_type, names in bad.items():
        print(f"{model_type:24}{', '.join(names) or 'inert keys change nothing'}", flush=True)
    return not any(bad.values())


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("types", nargs="*", help="model types; all of the registry if none is named")
    asked.add_argument("--random", type=int, default=3, metavar="N", help="random configs of each type")
    asked.add_argument("--seed", default="", metavar="WORD", help="draw other random configs")
    asked.add_argument("--refused", action="store_true", help="print why configs are refused, or invalid")
    asked.add_argument("--keys", action="store_true", help="check the keys that are called inert")
    said = asked.parse_args()
    types = said.types or sorted(CONFIG_MAPPING.keys())
    sys.exit(0 if (keys(types) if said.keys else coverage(types, said.random, said.seed, said.refused)) else 1)


if __name__ == "__main__":
    main()
