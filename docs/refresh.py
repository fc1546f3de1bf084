"""Print every example of README and docs anew: `python docs/refresh.py`, then read the difference.

Pages can be named: `python docs/refresh.py README.md docs/fit.md`. Tables of terms and of fields come from the code.
A line `…` stands for lines left out; as many lines are shown before and after it as were shown before. A
picture is drawn by the command in a comment beside it: `<!-- archcalc plot … -o pictures/context.svg -->`, or with >.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tables import with_tables, with_terms

from archcalc.layers.glossary import DIMS
from archcalc.run.options import options_of
from archcalc.spec.option import other_names

ROOT = Path(__file__).parent.parent
PICTURE = re.compile(r"^<!-- (archcalc [^\n]* (-o|>) \S+) -->$", re.MULTILINE)
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = r"(^\| {} \| {} \|\n\|---\|---\|\n)(?:\|.*\n)*"  # its heads, and the rows beneath


def main() -> None:
    if shutil.which("archcalc") is None:  # the shell's complaint would be written into the pages
        sys.exit("archcalc is not on the PATH: activate the environment that it is installed in")
    named = [Path(page).resolve() for page in sys.argv[1:]]
    for page in named or (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        text = tabulated(text, "dim", "meaning", DIMS)
        text = with_terms(with_tables(tabulated(text, "other name", "here", flags())))
        page.write_text(BLOCK.sub(lambda block: f"```console\n{refreshed(block[1])}```", text), encoding="utf-8")
        for command, how in PICTURE.findall(text):
            overwriting = f"{command} --force" if how == "-o" else command
            subprocess.run(overwriting, shell=True, check=True, cwd=page.parent)


def tabulated(text: str, left: str, right: str, facts: dict[str, str]) -> str:
    """The page with the rows of that table as the code has them."""
    rows = "".join(f"| `{name}` | {meaning} |\n" for name, meaning in facts.items())
    return re.sub(TABLE.format(left, right), lambda table: table[1] + rows, text, flags=re.MULTILINE)


def flags() -> dict[str, str]:
    """Every option by the names of other tools, and what it is called here."""
    names = {**other_names(options_of("flops")), **other_names(options_of("memory"))}
    return {f"--{other.replace('_', '-')}": f"`--{name.replace('_', '-')}`" for other, name in names.items()}


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
