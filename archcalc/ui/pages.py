"""The files of the page, by the path at which a browser asks for them: those of the server and of the built site."""

from __future__ import annotations

from pathlib import Path

import archcalc.render.html

FOLDER = Path(__file__).parent / "static"
PAGES = Path(archcalc.render.html.__file__).parent
# what opens and closes the cells of the icicle, the fit matrix, and the scrubber of memory over a step
SHARED = [PAGES / "report.js", PAGES / "matrix.js", *sorted(PAGES.glob("timeline*.*s"))]
KINDS = {  # by suffix, whatever the system thinks of it
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def files() -> dict[str, Path]:
    """Every file of the page, and those that it shares with reports; none that an editor left behind."""
    found = (file for file in sorted(FOLDER.rglob("*")) if file.suffix in KINDS and file.is_file())
    own = {file.relative_to(FOLDER).as_posix(): file for file in found if not file.name.startswith(".")}
    return own | {file.name: file for file in SHARED}
