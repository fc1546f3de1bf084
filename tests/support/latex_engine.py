"""A real LaTeX engine, where one is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

needs_engine = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")


def has_xepersian() -> bool:
    """Whether texts from right to left can be set."""
    if shutil.which("xelatex") is None or shutil.which("kpsewhich") is None:
        return False
    return bool(subprocess.run(["kpsewhich", "xepersian.sty"], capture_output=True, check=False).stdout.strip())


needs_xepersian = pytest.mark.skipif(not has_xepersian(), reason="no xelatex with xepersian is installed")


def compiled(source: str, folder: Path, engine: str = "pdflatex") -> str:
    """What the engine says of it, which must not be an error or a line that sticks out of the page."""
    (folder / "sheet.tex").write_text(source, encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "sheet.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode("latin-1")
    assert done.returncode == 0, said[-2000:]
    assert re.findall(r"Overfull .*|Missing character.*", said) == []
    return said
