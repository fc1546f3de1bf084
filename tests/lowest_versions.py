"""Whether archcalc works with the lowest versions that it declares: each plain command prints what it prints here.

    python tests/lowest_versions.py

Makes a virtual environment with exactly the lowest version of every dependency in pyproject.toml, and runs every
command there and with the versions of this Python. Help is framed by typer, in its own way from version to version, so
of help the options are compared; of the JSON Schema, which specs it accepts.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path
from typing import Any

import jsonschema

from archcalc.cli.commands import names
from archcalc.spec.yaml_reader import read

ROOT = Path(__file__).parent.parent
MODELS = ("textbook", "gpt2", "jamba-v0.1", "sentiment-gru", "whisper-tiny")
QUESTIONS = (
    "params {} --explain",
    "shapes {} --symbolic",
    "flops {} --mode train --format json",
    "memory {} --format markdown",
    "memory {} --mode train --timeline",
    "fit {} --format csv",
    "show {}",
)
OTHERS = (
    "--version",
    "compare gpt2 llama-3-8b --by head",
    "compare gpt2 gpt2-medium",
    "kernel gpt2",
    "presets --family moe",
    "gpus",
    "gpus h100 --format json",
    "identities --list",
    "params gpt2 --format html",
    "params gpt2 --set decoder=3 --set d_model=96",
)
MISTAKES = (
    "",
    "parms",
    "params no-such-model",
    "params --no-such-option",
    "params gpt2 --seq many",
    "params gpt2 --set heads=0",
    "params gpt2 --set attention.kind=none",
    "params gpt2 --set widht=3",
    "fit gpt2 --gpu no-such-device",
    "memory gpt2 --zero 9",
    "show",
    "init",
)
WITHOUT_EXTRAS = ("verify gpt2", "identities", "params config.json --trace", "mcp")
BAD_SPECS: tuple[dict[str, Any], ...] = ({"heads": 0}, {"no_such_field": 1}, {"family": "none"}, {"layers": -1})


def lowest() -> list[str]:
    """`typer==0.15.4` for `typer>=0.15.4`; whatever has no lowest version is a mistake in pyproject.toml."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    found = [re.fullmatch(r"([\w-]+)>=([\d.]+)(?:,<[\d.]+)?", each) for each in declared]
    return [f"{match[1]}=={match[2]}" for match in found if match] if all(found) else sys.exit(f"no floor: {declared}")


def installed(folder: Path) -> str:
    """A Python with archcalc and those versions alone."""
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", str(ROOT), *lowest()], check=True)
    return python


def said(python: str, command: str, folder: Path) -> tuple[int, str, str]:
    environment = {**os.environ, "COLUMNS": "100", "PYTHONPATH": ""}
    words = [python, "-m", "archcalc", *command.split()]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout, done.stderr


def options(answer: tuple[int, str, str]) -> tuple[int, list[str], str]:
    """Of a help page."""
    code, out, err = answer
    return code, sorted(set(re.findall(r"--?[a-z][a-z-]*", out))), err


def accepted(answer: tuple[int, str, str]) -> list[bool]:
    """Which specs a schema takes: all presets, and some that are wrong."""
    validator = jsonschema.Draft202012Validator(json.loads(answer[1]))
    presets = [read(file.read_bytes(), file.name).data for file in (ROOT / "presets/models").iterdir()]
    return [validator.is_valid(spec) for spec in (*presets, *BAD_SPECS)]


def differences(low: str, folder: Path) -> list[str]:
    """The commands that another answer is given to."""
    commands = [*(each.format(model) for each in QUESTIONS for model in MODELS), *OTHERS, *MISTAKES]
    found = [each for each in commands if said(low, each, folder) != said(sys.executable, each, folder)]
    pages = ["--help", *(f"{command} --help" for command in names())]
    found += [each for each in pages if options(said(low, each, folder)) != options(said(sys.executable, each, folder))]
    taken = accepted(said(low, "schema", folder))
    wrong = taken != [True] * (len(taken) - len(BAD_SPECS)) + [False] * len(BAD_SPECS)
    return [*found, *(["schema"] if wrong else []), *(each for each in WITHOUT_EXTRAS if not told(low, each, folder))]


def told(low: str, command: str, folder: Path) -> bool:
    """What needs an extra says how to install it."""
    code, _, err = said(low, command, folder)
    return code == 2 and "pip install" in err


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.json").write_text('{"model_type": "unheard_of"}', encoding="utf-8")
        found = differences(installed(folder / "venv"), folder)
    print(f"{', '.join(lowest())}: {len(found)} commands differ")
    for command in found:
        print(f"  archcalc {command}")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
