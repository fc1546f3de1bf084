"""README and docs as pages of the site, by Sphinx: MyST reads their Markdown, Furo is what they look like.

Sphinx reads a copy in which every page stands in one folder, so that links work both there and in the repository.
The navigation is what docs/index.md lists. Nothing is fetched, neither here nor by who reads the pages.
"""

from __future__ import annotations

import re
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import SphinxError
from sphinx.util.console import nocolor

ROOT = Path(__file__).parent.parent
THEME = Path(__file__).parent / "site"  # our style, and our part of the sidebar
BESIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")  # pages that the repository keeps outside of docs
FILES = "repository"  # where other files that pages link to are
OUTWARD = re.compile(r"\]\(\.\./([^)#\s]+)")
LISTED = re.compile(r"^- \[([^\]]+)\]\((?:\.\./)?([\w-]+)\.md\)", re.MULTILINE)
SIDEBAR = ("brand", "search", "scroll-start", "explorer", "navigation", "scroll-end")
SETTINGS: dict[str, Any] = {
    "project": "archcalc",
    "extensions": ["myst_parser", "sphinx_copybutton"],
    "myst_heading_anchors": 4,
    "root_doc": "index",
    "html_theme": "furo",
    "html_title": "archcalc",
    "html_static_path": [str(THEME / "static")],
    "html_css_files": ["archcalc.css"],
    "html_favicon": str(THEME / "static" / "archcalc.svg"),
    "templates_path": [str(THEME / "templates")],
    "html_sidebars": {"**": [f"sidebar/{part}.html" for part in SIDEBAR]},
    "html_copy_source": False,
    "html_use_index": False,
    "html_show_copyright": False,
    "copybutton_prompt_text": "$ ",
}


class Unfit(Exception):
    """What Sphinx says is wrong with the pages."""


def pages(out: Path, work: Path, base: str, *, explorer: bool) -> None:
    """All of them, in `out`; `work` is a folder of our own. A warning counts as an error."""
    settings = SETTINGS | {"html_baseurl": base, "html_context": {"has_explorer": explorer}}
    source, said = gathered(work / "source"), StringIO()
    nocolor()
    try:
        app = Sphinx(source, None, out, work / "read", "html", settings, status=None, warning=said, parallel=1)
        app.connect("source-read", with_navigation)
        app.build()
    except SphinxError as error:
        raise Unfit(str(error)) from None
    if said.getvalue():
        raise Unfit(said.getvalue().replace(f"{source}/", "").strip())


def gathered(folder: Path) -> Path:
    """Docs, the pages beside them, and every other file of the repository that one of them links to."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for name in BESIDE:
        text = (ROOT / name).read_text("utf-8")
        (folder / name).write_text(text.replace("](docs/", "]("), "utf-8")
    for page in folder.glob("*.md"):
        text = page.read_text("utf-8")
        for file in set(OUTWARD.findall(text)) - set(BESIDE):
            (folder / FILES / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / file, folder / FILES / file)
        page.write_text(OUTWARD.sub(inward, text), "utf-8")
    return folder


def inward(link: re.Match[str]) -> str:
    """A link of docs to what is beside docs, as a link within the gathered folder."""
    return f"]({link[1]}" if link[1] in BESIDE else f"]({FILES}/{link[1]}"


def with_navigation(_: Sphinx, page: str, text: list[str]) -> None:
    """Sphinx's tables of contents for each group of pages that docs/index.md lists."""
    if page != "index":
        return
    groups = [part.partition("\n") for part in text[0].split("\n## ")[1:]]
    text[0] += "".join(contents(heading, LISTED.findall(listed)) for heading, _, listed in groups)


def contents(heading: str, listed: list[tuple[str, str]]) -> str:
    entries = "\n".join(f"{title} <{page}>" for title, page in listed)
    return f"\n\n```{{toctree}}\n:hidden:\n:caption: {heading}\n\n{entries}\n```\n"
