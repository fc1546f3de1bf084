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

from archcalc.run.code.library import known

FILE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("measured_codes.yaml").read_text("utf-8"))
DATE = re.compile(r"(?<!\d)(20\d\d)-?(0[1-9]|1[0-2])(?:-?(\d\d))?(?!\d)")  # 202412, 2025-06 and 2024-12-26
REQUEST = re.compile(r"(?:#|/pull/)(\d+)")


def code_of(case: Case) -> str | None:
    """As `--code` takes it; None where the source names no code that is known here."""
    name, version = name_of(case), version_of(case)
    return f"{name}@{version}" if name and version else name


def said_code(case: Case) -> str | None:
    """With a month only where the case says it of its code."""
    name, date = name_of(case), DATE.search(str((case.get("flags") or {}).get("code")))
    return f"{name}@{_month_end(date)}" if name and date else name


def name_of(case: Case) -> str | None:
    """By what the case says of its code, else by the repository of its source, else by its engine."""
    flags = case.get("flags") or {}
    for said in (flags.get("code"), case.get("source"), case.get("engine")):
        for words, names in FILE["repositories"].items():
            if words in str(said).lower():
                return next((name for name in names if name in known()), None)
    return None


def version_of(case: Case) -> str | None:
    """What is known of the source, else the date in it, else the month of its pull request."""
    if version := facts_of(case).get("version"):
        return str(version)
    flags = case.get("flags") or {}
    if date := DATE.search(str(case.get("source"))) or DATE.search(str(flags.get("code"))):
        return _month_end(date)
    request = REQUEST.search(str(case.get("source")))
    months = FILE["pull_requests"].get(name_of(case)) or {}
    begun = [month for first, month in months.items() if request and first <= int(request[1])]
    return str(begun[-1]) if begun else None


def facts_of(case: Case) -> dict[str, Any]:
    """What measured_codes.yaml says of the case's source."""
    return next((known for known in FILE["sources"] if _is_of(case, known)), {})


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
