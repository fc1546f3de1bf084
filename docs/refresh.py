"""Print every example of README and docs anew: `python docs/refresh.py`, then read the difference.

Pages can be named: `python docs/refresh.py README.md docs/fit.md`. The glossary's table of dims comes from the code.
A line `…` stands for lines left out; as many lines are shown before and after it as were shown before.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from archcalc.layers.glossary import DIMS

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"(^\| dim \| meaning \|\n\|---\|---\|\n)(?:\|.*\n)*", re.MULTILINE)


def main() -> None:
    named = [Path(page).resolve() for page in sys.argv[1:]]
    for page in named or (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        text = TABLE.sub(lambda table: table[1] + dims(), text)
        page.write_text(BLOCK.sub(lambda block: f"```console\n{refreshed(block[1])}```", text), encoding="utf-8")


def dims() -> str:
    """The rows of the glossary's table of dims, from the code's own glossary."""
    return "".join(f"| `{name}` | {meaning} |\n" for name, meaning in DIMS.items())


def refreshed(block: str) -> str:
    examples = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return "".join("$ " + refreshed_example(*example.split("\n", 1)) + "\n" for example in examples)


def refreshed_example(command: str, shown: str = "") -> str:
    printed = output(command)
    lines = shown.strip("\n").splitlines()
    if "…" in lines:
        gap = lines.index("…")
        after = len(lines) - gap - 1
        printed = [*printed[:gap], "…", *(printed[-after:] if after else [])]
    return "\n".join([command, *printed])


def output(command: str) -> list[str]:
    done = subprocess.run(
        command,
        shell=True,
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "80"},
    )
    return [line.rstrip() for line in (done.stdout + done.stderr).strip("\n").splitlines()]


if __name__ == "__main__":
    main()
