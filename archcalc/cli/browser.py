"""The browser of whoever sits at the terminal, where there is one with windows."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from webbrowser import BaseBrowser


def is_terminal() -> bool:
    """Whether somebody reads what is printed, and no program or file."""
    return bool(sys.stdout) and sys.stdout.isatty()


def window() -> BaseBrowser | None:
    """One with windows, which needs a display; one that takes the terminal, as lynx does, would keep it."""
    import webbrowser

    try:
        found = webbrowser.get()
    except webbrowser.Error:  # there is none
        return None
    in_terminal = isinstance(found, webbrowser.GenericBrowser) and not isinstance(found, webbrowser.BackgroundBrowser)
    return None if in_terminal else found
