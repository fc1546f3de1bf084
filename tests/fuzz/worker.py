"""A worker process: reads `kind seed` from its input, runs that case in an empty folder, and writes what came of it."""

from __future__ import annotations

import faulthandler
import json
import os
import shutil
import sys
from pathlib import Path

from fuzz.case import Case
from fuzz.guard import Outcome, guarded, limit_memory
from fuzz.kinds import KINDS


def run(kind: str, seed: str, folder: Path, seconds: float) -> tuple[Case, Outcome]:
    """One case, in a folder that is empty at first."""
    case = Case(kind, seed, folder)
    os.chdir(folder)

    def trial() -> bool:
        KINDS[kind].run(case)
        return case.refused

    return case, guarded(trial, seconds)


def settle(home: Path) -> None:
    """Nothing of the user's own may change what comes out."""
    for name in [name for name in os.environ if name.startswith(("HF_", "HUGGINGFACE", "ARCHCALC", "FORCE_COLOR"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home / "config"), "HF_HOME": str(home / "hub")}
    os.environ |= {"HF_HUB_DISABLE_TELEMETRY": "1", "COLUMNS": "80", "NO_PROXY": "127.0.0.1"}


def serve(seconds: float, home: Path) -> None:
    """Answers leave by a copy of standard output, so that nothing else can be taken for one."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        kind, seed = line.split()
        folder = home / "case"
        folder.mkdir()
        _, outcome = run(kind, seed, folder, seconds)
        os.chdir(home)
        shutil.rmtree(folder, ignore_errors=True)
        print(json.dumps(outcome), file=answers, flush=True)


if __name__ == "__main__":
    faulthandler.enable()
    settle(Path(sys.argv[2]))
    limit_memory()
    serve(float(sys.argv[1]), Path(sys.argv[2]))
