"""Weight, shade and colour of terminal text.

Styled text carries marks that no font has; `unstyled` takes them out for a pipe, `on_terminal` turns them into what a
terminal shows. Only the latter needs rich, which is slow to load.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {"\ue000": "bold", "\ue001": "dim", "\ue002": "cyan"}
_END = "\ue003"
_STYLED = re.compile(f"([{''.join(_STYLES)}])([^{_END}]*){_END}")


def bold(text: str) -> str:
    return f"\ue000{text}{_END}"


def dim(text: str) -> str:
    return f"\ue001{text}{_END}"


def coloured(text: str) -> str:
    return f"\ue002{text}{_END}"


def unstyled(text: str) -> str:
    return text.translate(dict.fromkeys(map(ord, (*_STYLES, _END))))


def on_terminal(text: str) -> Text:
    """The text as rich prints it."""
    from rich.text import Text

    shown, end = Text(), 0
    for found in _STYLED.finditer(text):
        shown.append(text[end : found.start()]).append(found[2], _STYLES[found[1]])
        end = found.end()
    return shown.append(text[end:])
