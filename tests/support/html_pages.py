"""What an HTML page holds, for tests: its words, its elements, and what its policy lets through."""

from __future__ import annotations

import base64
import hashlib
import re
from html import unescape
from html.parser import HTMLParser

VOID = {"meta", "br", "link", "hr", "img", "input"}


class Parsed(HTMLParser):
    """Every element with its attributes, every text, and whether each element that was opened is closed."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.raw: dict[str, list[str]] = {"style": [], "script": []}
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        self.raw.get(inside, self.texts).append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def of(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]


def policy(page: str) -> str:
    found = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert found
    return unescape(found[1])


def hashed(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def check_self_contained(page: str) -> Parsed:
    """Nothing is loaded, nothing runs but what the policy names, nothing is named twice."""
    found = Parsed(page)
    assert found.open == []
    allowed = policy(page)
    assert allowed.startswith("default-src 'none'; ")
    for kind, texts in found.raw.items():
        assert all(hashed(text) in allowed for text in texts), kind
    for tag, attributes in found.elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert not {name for name in attributes if name.startswith("on") or name in ("src", "style", "action")}
        assert attributes.get("href", "#").startswith("#")
    names = [attributes["id"] for _, attributes in found.elements if "id" in attributes]
    assert len(names) == len(set(names))
    return found
