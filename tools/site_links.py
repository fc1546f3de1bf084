"""Links of a built site that lead nowhere: to no file of it, or to no place on a page."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places on a page, and the addresses that it links to or loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places = {""}
        self.addresses = set[str]()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        is_link = given.get("rel") != "canonical"
        self.addresses |= {given[name] for name in ("href", "src") if name in given and is_link}


def dead(site: Path) -> list[str]:
    """Each as `page: address`. Addresses of other hosts are not asked."""
    read = {file.resolve(): Page(file.read_text("utf-8")) for file in site.rglob("*.html")}
    return [
        f"{file.relative_to(site.resolve())}: {address}"
        for file, page in sorted(read.items())
        for address in sorted(page.addresses)
        if not leads(file, address, read)
    ]


def leads(file: Path, address: str, read: dict[Path, Page]) -> bool:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return True
    target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
    if target.is_dir():
        target /= "index.html"
    if not parts.fragment or target not in read:
        return target.is_file()
    return unquote(parts.fragment) in read[target].places
