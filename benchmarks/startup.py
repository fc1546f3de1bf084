"""How long `archcalc params` takes, as a multiple of what its libraries cost a bare program. All in one run.

    python benchmarks/startup.py

The bare program imports typer, pydantic and yaml, defines one model and prints one rich table. archcalc should take at
most 1.5 times as long, and twice as long for a config.json, whose keys are all checked; the script says so and exits 1
where it does not.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 1.5
LIMIT_OF_CONFIG = 2.0
CONFIG = '{"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]}'
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
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        config.write_text(CONFIG, encoding="utf-8")
        commands = (["-c", BARE], ["-m", "archcalc", "params"], ["-m", "archcalc", "params", str(config)])
        for command in commands:
            seconds(*command)  # compiles
        rounds = [[seconds(*command) for command in commands] for _ in range(ROUNDS)]
    bare, plain, imported = (1000 * statistics.median(times) for times in zip(*rounds, strict=True))
    ratio, of_config = (statistics.median(times[i] / times[0] for times in rounds) for i in (1, 2))
    print(f"bare program {bare:.0f} ms, archcalc params {plain:.0f} ms, of a config.json {imported:.0f} ms")
    print(f"ratio {ratio:.2f}, limit {LIMIT}; of a config.json {of_config:.2f}, limit {LIMIT_OF_CONFIG}")
    sys.exit(ratio > LIMIT or of_config > LIMIT_OF_CONFIG)


if __name__ == "__main__":
    main()
