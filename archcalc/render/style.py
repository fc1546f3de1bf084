"""Weight and shade of terminal text, as rich markup that is safe for any content."""

from __future__ import annotations

from rich.markup import escape


def bold(text: str) -> str:
    return f"[bold]{escape(text)}[/bold]" if text.strip() else text


def dim(text: str) -> str:
    return f"[dim]{escape(text)}[/dim]" if text.strip() else text
