"""An option, declared once: a field of a dataclass with its sentence, its group, its check and its aliases.

    batch: int | None = option("Sequences computed together.", size, metavar="SIZE", also=("batch_size",))

The command line, Python's keywords, the explorer's form and shell completion are all derived from these fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from archcalc.spec.option_checks import Check, chosen, flag, memory_size, number, size, word

DECLARED = "option"
VALUES = "{values}"  # where a sentence lists the names that there are
GROUPS = {  # the question that an option is about, and its heading in help
    "model": "Model",
    "workload": "Workload",
    "training": "Training",
    "methods": "Preference and reinforcement learning",
    "serving": "Inference and serving",
    "parallel": "Parallelism",
    "offload": "Offloading to host RAM",
    "output": "Output",
}
USUAL: dict[Check, dict[str, Any]] = {  # of options with a check: what help calls a value, and one of them
    size: {"metavar": "N"},
    number: {"metavar": "N"},
    memory_size: {"metavar": "BYTES", "example": "1GiB"},
    flag: {"example": True},
    word: {"example": "bf16"},
}
RUN = "run"  # the question that most options are about: how a model is run, whatever is counted


@dataclass(frozen=True)
class Option:
    """The properties of an option besides its name; its default is always None, which means not given."""

    text: str
    check: Check
    group: str = "workload"
    first: bool = False  # one of the few that --help shows; --help-all shows all of them
    metavar: str = ""
    choices: tuple[str, ...] = ()  # every value that there is; empty: `check` alone decides
    values: Callable[[], Iterable[str]] | None = None  # the names that there are, where files say so
    spellings: Mapping[str, str] = field(default_factory=dict)  # other words for a value, such as PyTorch's
    modes: tuple[str, ...] = ()  # in which it has an effect; empty: in all of them
    about: tuple[str, ...] = (RUN,)  # the questions that it bears on: commands that ask one of them take it
    also: tuple[str, ...] = ()  # what other tools call it, accepted as well
    repeatable: bool = False  # on the command line
    one_dash: tuple[str, ...] = ()  # how other tools write it there: -ngl
    example: Any = "2"  # a value that it takes, as people write it
    unset: str = ""  # what holds without it, whatever the model is

    @property
    def help(self) -> str:
        """Its sentence, with the names that there are."""
        if self.values is None or VALUES not in self.text:
            return self.text
        return self.text.replace(VALUES, ", ".join(self.values()))

    def read(self, value: Any, written: str) -> Any:
        """A value as it is computed with; None if nothing is given. `written` is the option in messages."""
        found = self.check(value, written)
        if self.choices and found is not None:
            return chosen(found, self.choices, written)
        return self.spellings.get(found, found)

    def completed(self, incomplete: str) -> list[str]:
        """The values that begin so, for a shell."""
        return [each for each in self.known() if each.startswith(incomplete)]

    def known(self) -> Iterable[str]:
        """The values that can be listed."""
        return self.choices or (self.values() if self.values else ())


def option(text: str, check: Check, **more: Any) -> Any:
    """Declare a dataclass field as an option with the default None."""
    usual = dict(USUAL.get(check, {}))
    if "choices" in more:
        usual = {"metavar": "|".join(more["choices"]), "example": more["choices"][-1]}
    return field(default=None, metadata={DECLARED: Option(text, check, **usual | more)})


@cache
def declared(holder: type) -> tuple[tuple[str, Option], ...]:
    """The options that a dataclass declares, in their order, by name."""
    return tuple((each.name, each.metadata[DECLARED]) for each in fields(holder) if DECLARED in each.metadata)


def other_names(options: Iterable[tuple[str, Option]]) -> dict[str, str]:
    """The names that other tools use for an option, and its name here."""
    return {other: name for name, one in options for other in one.also}


def flag_of(name: str) -> str:
    """As it is written on the command line: `--src-seq`."""
    return f"--{name.replace('_', '-')}"
