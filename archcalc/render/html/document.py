"""The shell of a document: its head, its policy, its style and its script, all in one file.

The policy forbids everything but the style and the script that stand in the file, which it knows by their hashes. So no
text from a spec can run or load anything, however it got there.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files

from archcalc.render.chart.drawing import CLASS
from archcalc.render.inks import BAD, FAIR, GOOD, INK, MUTED, PAGE, PANEL, RULE, SERIES, Ink, rules, variables
from archcalc.version import __version__

PAGE_INKS = (INK, MUTED, PAGE, PANEL, RULE, GOOD, FAIR, BAD, *SERIES)


@dataclass(frozen=True)
class Body:
    """What stands on a page, and what its drawings are coloured with."""

    title: str
    main: str
    inks: Iterable[Ink] = ()
    style: str = ""  # besides that of every page
    scripts: Sequence[str] = ()  # files of this package
    foot: str = ""


def document(body: Body) -> str:
    script = "\n".join(map(packaged, body.scripts))
    sheets = map(packaged, ("report.css", "timeline.css"))
    parts = (variables(PAGE_INKS), *sheets, rules(body.inks, CLASS), body.style)
    style = "\n".join(part.strip() for part in parts if part)
    # By their hashes it knows the style and the script that stand in the file.
    inside = {kind: text for kind, text in (("style", style), ("script", script)) if text}
    digests = {kind: base64.b64encode(hashlib.sha256(text.encode()).digest()) for kind, text in inside.items()}
    allowed = [f"{kind}-src 'sha256-{digest.decode()}'" for kind, digest in digests.items()]
    policy = "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])
    lines = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
        f'<meta name="generator" content="archcalc {__version__}">',
        f"<title>{escape(body.title)}</title>",
        f"<style>{style}</style>\n</head>\n<body>",
        body.main,
        f"<footer>\n{body.foot}\n<p>archcalc {__version__}</p>\n</footer>",
        script and f"<script>{script}</script>",
        "</body>\n</html>",
    ]
    return "\n".join(filter(None, lines))


def packaged(name: str) -> str:
    """A style sheet or a script of this package."""
    return files(__package__).joinpath(name).read_text("utf-8")
