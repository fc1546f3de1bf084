"""How long answers take, as a multiple of what archcalc's libraries cost a bare program. All in one run.

    python benchmarks/startup.py            params, and every goal once
    python benchmarks/startup.py --quick    params alone

The bare program imports typer, pydantic and yaml, defines one model and prints one rich table. Processor time is
compared, of which a program has the same on a busy machine, and the bare program is measured anew beside every command.
The script says which goals are missed, and exits 1 where there are some.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
from pathlib import Path

ROUNDS, LONG = 9, 3  # of params, and of all else
CONFIG = '{"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"]}'
PARAMS = {"params": 1.25, "params CONFIG": 2.0}  # of a config.json every key is checked
ANSWER, TRAINING, SEARCH = 3.0, 6.0, 12.0
GOALS = {
    "memory llama-3-8b": ANSWER,
    "memory deepseek-v3": ANSWER,
    "memory llama-3-8b --mode decode --context 8k": ANSWER,
    "memory llama-3-8b --engine vllm": ANSWER,
    "fit llama-3-8b --gpu rtx-4090": ANSWER,
    "fit llama-3-8b": ANSWER,
    "fit deepseek-v3 --gpu h100": ANSWER,
    "fit deepseek-v3": ANSWER,
    "memory llama-3-8b --mode train": TRAINING,
    "memory gpt-3-175b --mode train": TRAINING,
    "memory deepseek-v3 --mode train --zero 3 --dp 64": TRAINING,
    "plot llama-3-8b --mode train --x seq=1k..64k": TRAINING,
    "fit llama-3-8b --mode train": SEARCH,
    "fit llama-3-8b --mode train --gpu a2": SEARCH,
    "fit deepseek-v3 --mode train --gpu h100": SEARCH,
    "fit gpt-3-175b --mode train --tp 2 --seq 2048 --gpu h100": SEARCH,
    "fit --models --gpu rtx-4090": SEARCH,
}

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
    """Of the processor."""
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    child = os.posix_spawn(sys.executable, [sys.executable, *command], ENVIRONMENT, file_actions=silent)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    return used.ru_utime + used.ru_stime


def ratio(command: str, rounds: int) -> float:
    """The median over pairs of a bare program and the command, one right after the other."""
    archcalc = ["-m", "archcalc", *command.split()]
    pairs = [(seconds("-c", BARE), seconds(*archcalc)) for _ in range(rounds)]
    return statistics.median(took / bare for bare, took in pairs)


def met(command: str, limit: float, rounds: int, config: str) -> bool:
    found = ratio(command.replace("CONFIG", config), rounds)
    missed = "" if found <= limit else "   missed"
    print(f"{found:6.2f} ×  goal {limit:5.2f} ×  {command}{missed}", flush=True)
    return found <= limit


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.json"
        config.write_text(CONFIG, encoding="utf-8")
        seconds("-m", "archcalc", "params")  # compiles
        held = [met(command, limit, ROUNDS, str(config)) for command, limit in PARAMS.items()]
        if "--quick" not in sys.argv[1:]:
            held += [met(command, limit, LONG, str(config)) for command, limit in GOALS.items()]
    sys.exit(not all(held))


if __name__ == "__main__":
    main()
