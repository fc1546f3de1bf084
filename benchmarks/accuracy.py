"""How far archcalc is from what people measured: `python benchmarks/accuracy.py CASES.json [MORE.json | FOLDER …]`.

A file is a list of cases, each with `id`, `kind`, `model`, `arch`, `measured`, `source` and `trust`: figures from
start-up logs of engines, peaks that training codes report, verdicts, published counts and FLOPs. Every case becomes a
command of archcalc, which is asked twice: with all that its source tells, and as a user of that version would type it
from what the case says: a training code with the release or the month that case or source state, and without one where
they state none.

    --configs PATH  published configs (JSON lines, or a folder of them), for models that cases name
    --format json   every figure as a list: id, class, what, measured, predicted, error (predicted / measured - 1),
                    band, why_not, run (its class), source, and as_typed: command, predicted, error, band or refused;
                    today is the same with the code of today, where as_typed names the version that ran
    --alone         without the second set of the same kinds (measured_more.yaml)
    --all           every figure as typed, the worst first
    --bands         the files of bands, as presets/accuracy has them, from errors as typed
    --processes N   that many at a time (2)

Prints the errors of every class of figures, also by class of devices and by version; what the answers to each class of
runs are worth, claims with their targets, the worst figures, and what is not compared, with the reason. Exit code 1 if
a target is missed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from functools import cache, partial
from multiprocessing import get_context
from typing import Any

from measured_bands import files
from measured_cases import Unreadable, cases, second_set
from measured_claims import claims
from measured_names import Configs
from measured_report import devices, errors, missed, read_otherwise, refusals, runs, versions, worst
from measured_rows import Row, rows

WORST = 20


def main() -> int:
    asked = _parser().parse_args()
    try:
        given = cases(asked.cases)
    except Unreadable as why:
        print(why, file=sys.stderr)
        return 2
    found = _rows(given + ([] if asked.alone or asked.format == "json" else second_set()), asked)
    if asked.format == "json":
        print(json.dumps([row.entry() for row in found], indent=1))
        return 0
    if asked.bands:
        print("\n\n".join(f"# {name}\n{text}" for name, text in files(found).items()))
        return 0
    return _report(found, everything=asked.all)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("cases", metavar="CASES.json", nargs="+")
    parser.add_argument("--configs", metavar="PATH")
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--bands", action="store_true")
    parser.add_argument("--processes", type=int, default=2)
    return parser


def _rows(given: list[Any], asked: Namespace) -> list[Row]:
    """In the order of the cases."""
    of_case = partial(_of_case, path=asked.configs)
    if asked.processes < 2 or len(given) < asked.processes:
        return [row for case in given for row in of_case(case)]
    with get_context("spawn").Pool(asked.processes) as pool:
        return [row for found in pool.map(of_case, given, chunksize=4) for row in found]


def _of_case(case: Any, path: str | None) -> list[Row]:
    return rows(case, _configs(path))


@cache
def _configs(path: str | None) -> Configs:
    return Configs.of(path)


def _report(found: list[Row], *, everything: bool) -> int:
    stated = list(claims(found))
    for part in (errors(found), devices(found), versions(found), runs(found)):
        print("\n".join(part))
    print("\n".join(["", *(f"{'✓' if met else '✗'} {text}" for text, met in stated)]))
    print("\n".join(["\nThe furthest off, as typed:", *worst(found, len(found) if everything else WORST)]))
    for part in (refusals(found), read_otherwise(found)):
        print("\n".join(part))
    return 0 if all(met for _, met in stated) and not missed(found) else 1


if __name__ == "__main__":
    sys.exit(main())
