"""What is done with a file that holds a model, whatever its kind."""

from __future__ import annotations

from fuzz import properties, questions
from fuzz.case import Case

PROPERTY, QUESTION, REFUSED = 0.08, 0.35, 0.05
BY_COMMAND = 0.9


def examine(case: Case, name: str) -> None:
    """Load it and count it; some are asked more, by command, and of some a property is checked."""
    model = case.load(name)
    if model is None:
        if case.chance(REFUSED):
            questions.ask(case, name)
        return
    chosen = case.random.random()
    if chosen < PROPERTY:
        properties.check(case, model)
    elif chosen < PROPERTY + QUESTION:
        questions.ask(case, name)
    else:
        case.call("params()", model.params)


def asked(case: Case, name: str) -> None:
    """By command, nearly always: what is true of models is known of most of them by then."""
    if case.chance(BY_COMMAND):
        questions.ask(case, name)
    else:
        examine(case, name)
