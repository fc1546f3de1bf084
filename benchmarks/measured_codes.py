"""The training code that a measured case comes from, and its version: `code_of(case)` is `torchtitan@2024-12`.

A case says where it was found: a repository, and a commit, a pull request or a document with a date. What such a source
means is in measured_codes.yaml. A version is a month, and means the code as it stood at the end of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml
from measured_cases import Case

from archcalc.run.code.library import known, releases

FILE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("measured_codes.yaml").read_text("utf-8"))
DATE = re.compile(r"(?<!\d)(20\d\d)-?(0[1-9]|1[0-2])(?:-?(\d\d))?(?!\d)")  # 202412, 2025-06 and 2024-12-26
WRITTEN = re.compile(r"\b([A-Z][a-z]{2})[a-z]* (20\d\d)\b")  # March 2024
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
REQUEST = re.compile(r"(?:#|/pull/)(\d+)")


def code_of(case: Case) -> str | None:
    """As `--code` takes it; None where the source names no code that is known here."""
    name, version = name_of(case), version_of(case)
    return f"{name}@{version}" if name and version else name


def name_of(case: Case) -> str | None:
    """By what the case says of its code, else by the repository of its source, else by its engine."""
    flags = case.get("flags") or {}
    for said in (flags.get("code"), case.get("source"), case.get("engine")):
        for words, names in FILE["repositories"].items():
            if words in str(said).lower():
                return next((name for name in names if name in known()), None)
    return None


def version_of(case: Case) -> str | None:
    """What is known of the source, else the release or the date that the case says of its code, else the date of its
    source, else the month of its pull request."""
    if version := facts_of(case).get("version"):
        return str(version)
    said = str((case.get("flags") or {}).get("code"))
    if found := _release(name_of(case), said) or _written(said):
        return found
    if date := DATE.search(str(case.get("source"))) or DATE.search(said):
        return _month_end(date)
    request = REQUEST.search(str(case.get("source")))
    months = FILE["pull_requests"].get(name_of(case)) or {}
    begun = [month for first, month in months.items() if request and first <= int(request[1])]
    return str(begun[-1]) if begun else None


def facts_of(case: Case) -> dict[str, Any]:
    """What measured_codes.yaml says of the case's source."""
    return next((known for known in FILE["sources"] if _is_of(case, known)), {})


def _release(name: str | None, said: str) -> str | None:
    """`transformers 4.48.1`, of a code whose releases are known by their numbers."""
    found = re.search(rf"\b{name} v?(\d+\.\d+)(\.\d+)?", said) if name else None
    return found[1] if found and found[1] in releases(str(name)) else None


def _written(said: str) -> str | None:
    found = WRITTEN.search(said)
    if found is None or found[1] not in MONTHS:
        return None
    return f"{found[2]}-{MONTHS.index(found[1]) + 1:02}"


def _month_end(date: re.Match[str]) -> str:
    """The nearest: that of the month before, in the first half of one."""
    year, month, day = (int(part or 31) for part in date.groups())
    months = 12 * year + month - 1 - (day < 15)
    return f"{months // 12}-{months % 12 + 1:02}"


def _is_of(case: Case, known: dict[str, Any]) -> bool:
    if name_of(case) != known["code"] or not _holds(str(case.get("source")), known["holds"]):
        return False
    return str(case.get("model")).lower().startswith(known.get("model", ""))


def _holds(source: str, words: str) -> bool:
    """A number of a pull request has to end where it ends."""
    return re.search(re.escape(words) + (r"(?!\d)" if words.startswith("#") else ""), source) is not None
