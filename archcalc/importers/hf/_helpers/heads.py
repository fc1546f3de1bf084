"""The output head after the last block, chosen by the task of the class in `architectures`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers.reading import Config, Fields

Table = Mapping[str, Callable[[], Any]]  # a task, and what makes its head


def task(c: Config, usual: str) -> str:
    """The task of the class in `architectures`; without one the family's default, with a note."""
    named = c.given("architectures")
    names = {task: name for name, task in reversed(c.classes.items())}
    if not named:
        if usual not in names:
            usual = next(iter(names), usual)
        c.notes.append(f"the config names no class: counted as {names.get(usual, usual)}")
        return usual
    if not isinstance(named, list) or not all(isinstance(name, str) for name in named):
        raise c.wrong("architectures", "a list of class names")
    known = [each for name in named if (each := _of_transformers(name, c))]
    if not known:
        hint = f"archcalc counts {', '.join(c.classes)}; --trace counts others with transformers"
        fact = f"{', '.join(named)} is not a class that archcalc knows for {c.type}"
        raise InputError(fact, hint, field="architectures")
    if len(named) > 1:
        c.notes.append(f"of {', '.join(named)} the first, {known[0]}, is counted")
    return c.classes[known[0]]


def _of_transformers(name: str, c: Config) -> str:
    """A class by its name, or by what code beside the weights calls it: KimiK25Model is Kimi_K25Model here."""
    plain = name.replace("_", "")
    return next((known for known in c.classes if known.replace("_", "") == plain), "")


def class_for(c: Config, task: str) -> str:
    """The class of transformers that is for a task."""
    return next((name for name, meant in c.classes.items() if meant == task), "")


def for_task(c: Config, table: Table) -> Any:
    """The head for the task from a family's table; other tasks are refused."""
    only(c, *table)
    return table[c.task]()


def refuse(c: Config) -> InputError:
    """The error for a class whose head is not supported."""
    fact = f"the head of {class_for(c, c.task) or c.task} is not counted"
    return InputError(fact, "--trace counts it with transformers", field="architectures")


def only(c: Config, *counted: str) -> None:
    """Refuse every other task."""
    if c.task not in counted:
        raise refuse(c)


def labels(c: Config) -> int:
    """The number of classes: num_labels, or the length of id2label."""
    named, number = c.given("id2label"), c.given("num_labels")
    if number is not None and not isinstance(number, int):
        raise c.wrong("num_labels", "a whole number")
    if number is not None:
        return int(number)  # set last, so that it wins over names; true is one
    if isinstance(named, dict):
        return len(named)
    return c.labels


SPAN = 2  # scores of each token: an answer starts here, an answer ends here


def none() -> str:
    """The bare model has no head: its output is the last hidden state."""
    return "none"


def classifier(classes: int, **more: Any) -> Fields:
    """A linear classifier with bias: on every token, or on the pooled vector."""
    return {"kind": "classifier", "classes": classes, "bias": True, **more}


def tied_or_own(c: Config) -> str:
    """An LM head, tied to the token embedding or separate."""
    return c.choose("tie_word_embeddings", "tied", "lm")


def of_decoder(c: Config, *, bias: bool = False, answers: int = SPAN) -> Any:
    """A language model's head, or what a decoder is given in its place."""
    c.skip("tie_word_embeddings")
    table: Table = {
        "causal": lambda: language(c, bias),
        "sequence": lambda: {"kind": "classifier", "classes": labels(c), "bias": False, "pool": "last"},
        "token": lambda: classifier(labels(c)),
        "answer": lambda: classifier(answers),
        "base": none,
    }
    return for_task(c, table)


def language(c: Config, bias: bool = False) -> Any:
    """A head that is tied where the file says so, whether or not the class declares it."""
    kind = {True: "tied", False: "lm"}[c.given_flag("tie_word_embeddings")]
    if bias:
        return {"kind": kind, "bias": True}
    return kind
