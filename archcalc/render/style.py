"""Weight, shade and colour of terminal text, as rich markup that is safe for any content."""

from __future__ import annotations

from rich.markup import escape


def plain(text: str) -> str:
    return escape(text)


def bold(text: str) -> str:
    return f"[bold]{escape(text)}[/bold]" if text.strip() else text


def dim(text: str) -> str:
    return f"[dim]{escape(text)}[/dim]" if text.strip() else text


def coloured(text: str) -> str:
    return f"[cyan]{escape(text)}[/cyan]" if text.strip() else text
