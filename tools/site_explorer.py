"""The explorer as a part of the site: its page with the first answers in it, and Python to answer what comes after.

The answers are to the questions that the page asks at first, and the page's own scripts draw them: nothing is drawn
twice, and what is seen before Python has started is what is seen after.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import site_python

from archcalc.ui.ask import ask
from archcalc.ui.pages import files

PYTHON, ARCHIVE = "pyodide/", "archcalc.xz"
WIDTHS = (
    "340",
    "640",
    "960",
)  # pixels: of a picture on a phone, beside the settings of a small screen and of a large one
QUESTIONS = Path(__file__).parent / "first_questions.js"
CATALOG = {"ask": "catalog"}


def explorer(into: Path, work: Path, address: str) -> None:
    """All of it; `address` is where others find it, or empty."""
    for path, file in files().items():
        (into / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, into / path)
    about = site_python.pyodide(into / PYTHON, work)
    site_python.archive(into / ARCHIVE, work, about)
    known = {"address": address, "pyodide": PYTHON, "archive": ARCHIVE, "answers": first_answers(into, work)}
    page = into / "index.html"
    page.write_text(page.read_text("utf-8").replace("</head>", f"{head(address, known)}</head>"), "utf-8")


def first_answers(page: Path, work: Path) -> list[dict[str, Any]]:
    """The catalog, and what the page asks with it."""
    scripts = shutil.copytree(page, work / "page")
    (scripts / "package.json").write_text('{"type": "module"}', "utf-8")
    node = (site_python.found("node"), str(shutil.copy(QUESTIONS, scripts)), *WIDTHS)
    asked = json.loads(site_python.run(*node, given=json.dumps(good(CATALOG))))
    return [{"question": one, "answer": good(one)} for one in (CATALOG, *asked)]


def good(question: dict[str, Any]) -> dict[str, Any]:
    answer = ask(question)
    if not answer["ok"]:
        raise OSError(f"{question}: {answer['error']['text']}")
    return answer


def head(address: str, known: dict[str, Any]) -> str:
    """What the page of a site has besides: its address, its scripts all at once, what it knows without asking."""
    canonical = f'<link rel="canonical" href="{address}">\n' if address else ""
    scripts = (path for path in files() if path.endswith(".js") and path not in ("worker.js", "types.js", "report.js"))
    loads = "".join(f'<link rel="modulepreload" href="{path}">\n' for path in scripts)
    data = json.dumps(known, separators=(",", ":")).replace("<", "\\u003c")  # so that no text of it ends the element
    return f'{canonical}{loads}<script type="application/json" id="site">{data}</script>\n'
