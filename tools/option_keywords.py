"""Write archcalc/run/keywords.py: the declared options as Python's keywords, which editors complete.

    python tools/option_keywords.py

Type checkers read no class that is made while a program runs, so the file is written out; a test holds it equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from archcalc.run.all_options import AllOptions
from archcalc.run.commands import (
    BYTES,
    CAPACITY,
    COMPARE,
    DEVICE,
    FIT,
    FLOPS,
    MEASURED,
    MEMORY,
    OOM,
    PARAMETERS,
    PARAMS,
    PLOT,
    WORK,
)
from archcalc.run.options import options_of
from archcalc.spec.option import RUN, declared
from archcalc.spec.sizes import Sizes

FILE = Path(__file__).parents[1] / "archcalc/run/keywords.py"
HEAD = '''"""The options of `archcalc.run.all_options` as Python's keywords: an editor completes `model.memory(`.

Written by tools/option_keywords.py: one class for each question that options bear on, one for each command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

Size = int | str | None  # a whole number, or as people write it: 8k
Names = str | Sequence[str] | None  # q,v or a list of names
Limits = str | Mapping[str, int] | Sequence[tuple[str, int]] | None  # image=4,video=0, by kind
'''
WRITTEN = {
    "int": "Size",
    "tuple[str, ...]": "Names",
    "float": "float | str | None",
    "tuple[str, int]": "Size",
    "tuple[tuple[str, int], ...]": "Limits",
}  # by what is computed with
QUESTIONS = {
    PARAMETERS: "which parameters there are and which are trained",
    RUN: "how a model is run, whatever is counted",
    WORK: "what is computed",
    BYTES: "what is held in memory",
    CAPACITY: "what a device has",
    DEVICE: "the device that it runs on",
    MEASURED: "what a run took",
}
COMMANDS = {
    PARAMS: "`model.params`",
    FLOPS: "`model.flops`",
    MEMORY: "`model.memory`",
    FIT: "`archcalc.fit`, and of `model.report` too",
    OOM: "`model.oom`",
    PLOT: "`archcalc.plot`",
    COMPARE: "`archcalc.compare`",
}


def text() -> str:
    types = {name: each.type for holder in (Sizes, AllOptions) for name, each in holder.__dataclass_fields__.items()}
    every = {name: one for command in COMMANDS for name, one in options_of(command)}
    mode, *own = declared(AllOptions)
    ordered = [name for name, _ in (mode, *declared(Sizes), *own)]
    fields_of = {question: [name for name in ordered if question in every[name].about] for question in QUESTIONS}
    classes = [HEAD]
    for question, about in QUESTIONS.items():
        names = fields_of[question]
        fields = "".join(f"    {name}: {_written(str(types[name]))}\n" for name in names)
        classes.append(f'class {_of(question)}(TypedDict, total=False):\n    """About {about}."""\n\n{fields}')
    for command, of in COMMANDS.items():
        others = {
            one: [name for other in command.asks if other != one for name in fields_of[other]] for one in command.asks
        }
        # a field has one base: a question whose fields all are others' is left out
        bases = ", ".join(_of(one) for one in command.asks if not {*fields_of[one]} <= {*others[one]})
        classes.append(f'class {_of(command.name)}({bases}, total=False):\n    """Keywords of {of}."""\n')
    return "\n\n".join(classes)


def _is_covered(question: str, asked: Iterable[str], fields_of: Mapping[str, Sequence[str]]) -> bool:
    """Whether other questions have all of its fields, none of which may come twice."""
    others = {name for other in asked if other != question for name in fields_of[other]}
    return others.issuperset(fields_of[question])


def _of(name: str) -> str:
    return f"{name.capitalize()}Keywords"


def _written(type_: str) -> str:
    kind = type_.removesuffix(" | None")
    return WRITTEN.get(kind, f"{kind} | None")


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
