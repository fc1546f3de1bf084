"""Formats by name: what `--weights` and `--kv-dtype` mean.

Plain number formats are in `core.precision`; every other format is a file of `presets/formats`, with its source.
Files of llama.cpp, in `presets/files`, are mixtures: Q4_K_M keeps some layers wider, and so does a file called Q4_0.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.precision import BYTES, SPELLINGS
from archcalc.spec import paths
from archcalc.spec.data_files import node
from archcalc.spec.node import Node, mistake
from archcalc.storage.format import CONDITIONS, Format, Other, Stored, plain
from archcalc.storage.ggml_types import types
from archcalc.storage.typed_formats import Average, Meant, average, average_rule, meant

FIELDS = (
    "name",
    "source",
    "quantises",
    "rest",
    "pad",
    "dequantised_copies",
    "towers",
)  # of `Format`, as files say them
PURE = "_pure"  # as llama-quantize calls a file without a mixture
PLAIN = tuple(name for name in BYTES if name != "fp8")
_WHERE = re.compile(r"middle|more|first [1-9]\d*(/[1-9]\d*)?")
Count = Annotated[int, Field(ge=0, le=10**9)]
Quantised = Literal["everything", "matrices", "linear", "linear and tables", "linear and head", "experts"]
LOGGED = {"small": "_s", "medium": "_m", "large": "_l"}  # llama_model_ftype_name in src/llama-model-loader.cpp
LOGGED |= {"mxfp4 moe": "mxfp4_gguf", "iq3_s mix": "iq3_m", "all f32": "fp32"}


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
    towers: Literal["left", "quantised"] | None = None


def weight_format(name: str) -> Format:
    """What `--weights` means: a file of llama.cpp's that is called so, else a format; `q4_0_pure` is one format."""
    wanted = meaning(name).format
    files, bits = paths.presets("files"), average(wanted)
    if bits:
        return _of_average(bits)
    if wanted in files:
        return _read(files[wanted])
    return uniform_format(wanted.removesuffix(PURE) if wanted.removesuffix(PURE) in files else name)


def uniform_format(name: str, option: str = "--weights") -> Format:
    """One format for all numbers, by its name, whatever its case."""
    wanted = meaning(name, of="weights" if option == "--weights" else "caches").format
    if wanted in PLAIN:
        return plain(wanted)
    formats = paths.presets("formats")
    if wanted not in formats:
        known = names() if option == "--weights" else (*PLAIN, *formats)
        raise InputError(f"no format called {name}", did_you_mean(wanted, known), field=option)
    return _read(formats[wanted])


def meaning(name: str, engine: str = "", *, of: str = "weights") -> Meant:
    """The format of a name, whatever its case and signs, and what is to be said of the choice where it is another name
    that people or the engine have for it; the name as it is if unknown. Names of caches (`of`) are not those of
    weights: q4 is Q4_0 there. llama.cpp's logs write `Q4_K - Medium`, `IQ4_XS - 4.25 bpw`, `MXFP4 MoE`."""
    first, _, second = name.lower().partition(" - ")
    word = LOGGED.get(first, first).replace("-", "_") + LOGGED.get(second, "")
    word = SPELLINGS.get(word, word)
    if not word or word in PLAIN or word in (known := names()):
        return Meant(word)
    return meant(name, known, engine, of=of) or Meant(word)


def _of_average(found: Average) -> Format:
    """Bits of linear layers, scales among them, and those of the head."""
    rule = average_rule(found.format)
    name = f"{rule['title']}, {float(found.bits)} bits per weight"
    head = Format("head", (Stored(rule["head"]),), "linear and head")
    stores = (Stored(found.bits.numerator, found.bits.denominator, "a weight, on average"),)
    return Format(name, stores, "linear and head", source=rule["source"], others=(Other(("head",), format=head),))


@cache
def _read(file: Path) -> Format:
    said = node(file, FormatFile)
    own = {name: getattr(said, name) for name in FIELDS if getattr(said, name) is not None}
    if said.like:
        others = []
        for one in said.others or ():
            words = tuple(word.strip() for word in one.when.split(",")) if one.when else ()
            others.append(Other(tuple(one.layers), one.where or "", words, format=_another(one.format, file)))
        return replace(_another(said.like, file), **own, others=tuple(others))
    if not said.stores:
        raise InputError("a format says what it `stores`, or which other it is `like`", field=str(file))
    instead = _another(said.instead, file) if said.instead else None
    tiles = [(one.tile[0], one.tile[1]) if one.tile else None for one in said.stores]
    stores = (Stored(one.bits, one.per, one.what, tile) for one, tile in zip(said.stores, tiles, strict=True))
    return Format(stores=tuple(stores), **own, instead=instead)


def _another(name: str, file: Path) -> Format:
    """The format that a file names; one that names itself, or another that does, is nowhere said."""
    try:
        return uniform_format(name)
    except RecursionError:
        raise InputError(f"the format {name} is like itself", "say what it `stores`", field=str(file)) from None


def names() -> tuple[str, ...]:
    """Every format there is, and every file of llama.cpp."""
    return (*PLAIN, *dict.fromkeys((*paths.presets("formats"), *paths.presets("files"))))


def files() -> tuple[str, ...]:
    """The names of llama.cpp's files."""
    return tuple(paths.presets("files"))


def format_file(name: str) -> Path | None:
    """The file that describes a format; None for a plain number format."""
    return paths.presets("formats").get(meaning(name).format)


def is_file(name: str) -> bool:
    return meaning(name).format in files()


def of_gguf(name: str) -> bool:
    """Whether it is a format of GGUF files alone: a mixture of llama.cpp's, or a type of GGML's in blocks."""
    wanted = meaning(name).format.removesuffix(PURE)
    blocks = [kind["name"].lower() for kind in types().values() if kind["numbers"] > 1]
    return wanted in (*files(), *blocks)
