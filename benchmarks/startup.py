"""How long `archcalc params` takes, as a multiple of what its libraries cost a bare program. Both in one run.

    python benchmarks/startup.py

The bare program imports typer, pydantic and yaml, defines one model and prints one rich table. archcalc should take at
most 1.5 times as long; the script says so and exits 1 where it does not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

LIMIT = 1.5
ROUNDS = 15

BARE = """
import typer, yaml
from pydantic import BaseModel
from rich.console import Console
from rich.table import Table

class Model(BaseModel):
    heads: int

def main(heads: int = 4) -> None:
    table = Table("field", "value")
    table.add_row("heads", str(Model(**yaml.safe_load(f"heads: {heads}")).heads))
    Console().print(table)

typer.run(main)
"""


# Both run from compiled files, as installed programs do.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(*command: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, *command], stdout=subprocess.DEVNULL, check=True, env=ENVIRONMENT)
    return time.perf_counter() - start


def main() -> None:
    seconds("-m", "archcalc", "params")  # compiles
    pairs = [(seconds("-c", BARE), seconds("-m", "archcalc", "params")) for _ in range(ROUNDS)]
    bare, archcalc = (statistics.median(pair[i] for pair in pairs) for i in (0, 1))
    ratio = statistics.median(ours / theirs for theirs, ours in pairs)
    print(f"bare program {1000 * bare:.0f} ms, archcalc params {1000 * archcalc:.0f} ms")
    print(f"ratio {ratio:.2f}, limit {LIMIT}")
    sys.exit(ratio > LIMIT)


if __name__ == "__main__":
    main()
