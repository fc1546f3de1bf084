"""The explorer's questions: plain data in, plain data out. Nothing is written, printed or fetched.

    ask({"ask": "exact", "source": {"preset": "gpt2"}, "settings": {"batch": "8"}})

The same function stands behind the local server and, in the browser, behind Pyodide. docs/explorer.md lists the
questions and what they are answered with.
"""

from __future__ import annotations

import importlib
import json
import traceback
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.visible import shortened, visible
from archcalc.ui.reading import Answer, Question
from archcalc.version import __version__

SMALLER = "ask for fewer devices or smaller sizes, or ask archcalc in a terminal"
QUESTIONS = {  # the file that has the function of that name
    "catalog": "catalog",
    "open": "sources",
    "exact": "exact",
    "memory": "peaks",
    "fit": "peaks",
    "timeline": "timeline",
    "matrix": "fields",
    "compare": "exact",
    "command": "command",
    "schema": "catalog",
    "plot": "drawn",
    "walk": "stepwise",
    "report": "drawn",
}


def ask(question: Any) -> Answer:
    """The answer, or in the same form what is wrong with the question."""
    from archcalc.importers.starts import Short

    try:
        return {"ok": True, **_answered(question)}
    except Short:
        return {"ok": False, "more": True}
    except InputError as error:
        return {"ok": False, **mistakes(error)}
    except MemoryError:
        return {"ok": False, **mistakes(InputError("the answer takes more memory than the explorer has", SMALLER))}
    except Exception as error:  # as on the command line: a message, and no page that waits for ever
        return {"ok": False, **bug(error)}


def ask_json(text: str) -> str:
    """The same in JSON. Escaped to ASCII, since halves of surrogate pairs have no other form."""
    try:
        question = json.loads(text)
    except (ValueError, RecursionError):
        return json.dumps({"ok": False, **mistakes(InputError("the question is not JSON"))})
    return json.dumps(ask(question))


def _answered(question: Any) -> Answer:
    asked = Question(question)
    name = asked.text("ask")
    if name not in QUESTIONS:
        raise InputError(f"no question is called {name}", did_you_mean(name, QUESTIONS), field="ask")
    answer: Answer = getattr(importlib.import_module(f"archcalc.ui.{QUESTIONS[name]}"), f"{name}_answer")(asked)
    return answer


def mistakes(error: InputError) -> dict[str, Any]:
    """The first mistake, and all of them in the order of their lines."""
    every = [
        {
            "fact": _shown(one.fact),
            "hint": "\n".join(_shown(line) for line in (one.hint, one.more) if line),
            "where": _shown(one.file),
            "line": one.line or None,
            "field": _shown(one.field),
            "text": one.told(),
        }
        for one in error.each()
    ]
    return {"error": every[0], "errors": every}


def _shown(text: str) -> str:
    return visible(shortened(text))


def bug(error: Exception) -> dict[str, Any]:
    """An error of archcalc's own, with what a report of it needs."""
    fact = f"this is a bug in archcalc {__version__}, not a mistake of yours"
    hint = "please report it where you got archcalc from, with the model, the settings and the lines below"
    lines = "".join(traceback.format_exception(error)).splitlines()
    text = "\n".join([fact, f"  {hint}", *(visible(line) for line in lines)])
    told = {"fact": fact, "hint": hint, "where": "", "line": None, "field": "", "text": text}
    return {"error": told, "errors": [told]}
