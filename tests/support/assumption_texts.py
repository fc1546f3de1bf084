"""The sentences among the assumptions of a JSON record."""

from __future__ import annotations

from typing import Any


def texts(record: dict[str, Any]) -> list[str]:
    return [each["text"] for each in record["assumptions"]]
