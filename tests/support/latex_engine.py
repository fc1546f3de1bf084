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


def compiled(source: str, folder: Path) -> str:
    """What pdflatex says of it, which must not be an error or a line that sticks out of the page."""
    (folder / "sheet.tex").write_text(source, encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "sheet.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode("latin-1")
    assert done.returncode == 0, said[-2000:]
    assert re.findall(r"Overfull .*", said) == []
    return said
