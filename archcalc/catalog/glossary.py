"""The words of the field: what each means, a formula or figure, and where there is more of it (`presets/glossary`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from archcalc.spec.paths import data_root
from archcalc.spec.yaml_reader import read

SHORTEST = 3  # letters of a name that may end in the s of several


@dataclass(frozen=True)
class Term:
    """`shown` is what the command `example` prints among other things."""

    section: str
    names: tuple[str, ...]
    means: str
    worked: str = ""
    fields: tuple[str, ...] = ()
    see: tuple[str, ...] = ()
    example: str = ""
    shown: str = ""

    @property
    def name(self) -> str:
        return self.names[0]

    def record(self) -> dict[str, Any]:
        listed = {"names": list(self.names), "fields": list(self.fields), "see": list(self.see)}
        texts = {"term": self.name, "section": self.section, "meaning": self.means, "worked": self.worked}
        return {**texts, **listed, "example": self.example, "shows": self.shown}


@cache
def terms() -> tuple[Term, ...]:
    """All of them, section by section."""
    sections = [read(file.read_bytes(), str(file)).data for file in (data_root() / "glossary").glob("*.yaml")]
    ordered = sorted(sections, key=lambda section: int(section["place"]))
    found = []
    for title, said in ((section["title"], each) for section in ordered for each in section["terms"]):
        names, fields, see = (tuple(said.get(key, ())) for key in ("names", "fields", "see"))
        worked, example, shown = (str(said.get(key, "")) for key in ("worked", "try", "shows"))
        found.append(Term(title, names, said["means"], worked, fields, see, example, shown))
    return tuple(found)


def found(typed: str) -> tuple[Term, ...]:
    """Those with this name, in any case, as one or several, with or without spaces and hyphens."""
    wanted = plain(typed)
    return tuple(term for term in terms() if wanted and any(plain(name) == wanted for name in term.names))


def plain(name: str) -> str:
    """`KV caches` as `kvcache`, `quantization` as `quantisation`."""
    joined = "".join(re.findall(r"[^\W_]+", name.casefold())).replace("iz", "is")
    if joined.endswith("ss") or len(joined) < SHORTEST:
        return joined
    return joined.removesuffix("s")


def all_names() -> list[str]:
    return [name for term in terms() for name in term.names]
