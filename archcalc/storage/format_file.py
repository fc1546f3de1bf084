"""What a file of `presets/formats` or `presets/files` says: strict nodes, so that a slip of the pen has its line."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from archcalc.core.precision import BYTES
from archcalc.spec.node import Node, mistake
from archcalc.storage.gguf_mixtures import CONDITIONS

_WHERE = re.compile(r"middle|more|first [1-9]\d*(/[1-9]\d*)?")
Count = Annotated[int, Field(ge=0, le=10**9)]
Quantised = Literal["everything", "matrices", "linear", "linear and tables", "linear and head", "experts"]


def _where(said: str) -> str:
    if not _WHERE.fullmatch(said):
        raise mistake(f"expected middle, more, `first 2` or `first 1/8`, found '{said}'")
    return said


def _when(said: str) -> str:
    unknown = [word for word in map(str.strip, said.split(",")) if word not in CONDITIONS]
    if unknown:
        raise mistake(f"expected some of {', '.join(CONDITIONS)}, found '{unknown[0]}'")
    return said


class StoredForm(Node):
    bits: Count
    per: Annotated[int, Field(ge=1, le=10**9)] = 1
    what: str = ""
    tile: Annotated[list[Count], Field(min_length=2, max_length=2)] | None = None


class OtherForm(Node):
    layers: list[str]
    format: str = Field(alias="as")
    where: Annotated[str, AfterValidator(_where)] | None = Field(None, alias="in")
    when: Annotated[str, AfterValidator(_when)] | None = None


class FormatFile(Node):
    """Its own layout (`stores`), or that of another format (`like`) with matrices that have `others`."""

    name: str
    source: str
    kind: str | None = None
    quantises: Quantised | None = None
    rest: Literal[*BYTES] | None = None  # type: ignore[valid-type]
    stores: Annotated[list[StoredForm], Field(min_length=1)] | None = None
    like: str | None = None
    instead: str | None = None
    others: list[OtherForm] | None = None
    pad: dict[Literal["ffn", "in", "out"], Annotated[int, Field(ge=1)]] | None = None
    dequantised_copies: Count | None = None
