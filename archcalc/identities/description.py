"""What is said about an identity without measuring it: title, words that find it, derivation, sources."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class About:
    """`words` are what people type beside the name, section and title; `steps` are the derivation."""

    title: str
    words: tuple[str, ...]
    steps: tuple[str, ...]
    sources: tuple[str, ...]
