"""Formats by name: what `--weights` and `--kv-dtype` mean.

Plain number formats are in `core.precision`; every other format is a file of `presets/formats`, with its source.
Files of llama.cpp, in `presets/files`, are mixtures: Q4_K_M keeps some layers wider, and so does a file called Q4_0.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.precision import BYTES, SPELLINGS
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read
from archcalc.storage.format import Format, Stored, plain
from archcalc.storage.ggml_types import types
from archcalc.storage.gguf_mixtures import Other

FIELDS = (
    "name",
    "source",
    "quantises",
    "rest",
    "pad",
    "dequantised_copies",
)  # of `Format`, as files say them
PURE = "_pure"  # as llama-quantize calls a file without a mixture
PLAIN = tuple(name for name in BYTES if name != "fp8")
ALIASES = SPELLINGS | dict.fromkeys(("fp8_e4m3", "fp8_e5m2"), "fp8") | dict.fromkeys(("gptq", "awq"), "int4")
ALIASES |= {"q2_k_m": "q2_k"}  # which has no medium size but in logs
LOGGED = {"small": "_s", "medium": "_m", "large": "_l"}  # llama_model_ftype_name in src/llama-model-loader.cpp
LOGGED |= {"mxfp4 moe": "mxfp4_gguf", "iq3_s mix": "iq3_m", "all f32": "fp32"}


@cache
def weight_format(name: str) -> Format:
    """What `--weights` means: a file of llama.cpp's that is called so, else a format; `q4_0_pure` is one format."""
    wanted = spelled(name)
    files = paths.presets("files")
    if wanted in files:
        return _read(files[wanted])
    return uniform_format(wanted.removesuffix(PURE) if wanted.removesuffix(PURE) in files else name)


@cache
def uniform_format(name: str, option: str = "--weights") -> Format:
    """One format for all numbers, by its name, whatever its case."""
    wanted = spelled(name)
    if wanted in PLAIN:
        return plain(wanted)
    formats = paths.presets("formats")
    if wanted not in formats:
        known = names() if option == "--weights" else (*PLAIN, *formats)
        raise InputError(f"no format called {name}", did_you_mean(wanted, known), field=option)
    return _read(formats[wanted])


def spelled(name: str) -> str:
    """As users write it, or as llama.cpp's logs do: `Q4_K - Medium`, `IQ4_XS - 4.25 bpw`, `MXFP4 MoE`."""
    first, _, second = name.lower().partition(" - ")
    word = LOGGED.get(first, first).replace("-", "_") + LOGGED.get(second, "")
    return ALIASES.get(word, word)


def _read(file: Path) -> Format:
    entry = read(file.read_bytes(), f"format {file.stem}").data
    own = {name: entry[name] for name in FIELDS if name in entry}
    if "like" in entry:
        return replace(uniform_format(entry["like"]), **own, others=tuple(map(_other, entry.get("others", ()))))
    instead = uniform_format(entry["instead"]) if "instead" in entry else None
    return Format(stores=tuple(map(_stored, entry["stores"])), **own, instead=instead)


def _stored(entry: dict[str, Any]) -> Stored:
    tile = entry.get("tile")
    return Stored(**{**entry, "tile": (tile[0], tile[1]) if tile else None})


def _other(entry: dict[str, Any]) -> Other:
    when = entry.get("when", "")
    words = tuple(word.strip() for word in when.split(",")) if when else ()
    return Other(tuple(entry["layers"]), uniform_format(entry["as"]), entry.get("in", ""), words)


def names() -> tuple[str, ...]:
    """Every format there is, and every file of llama.cpp."""
    return (*PLAIN, *dict.fromkeys((*paths.presets("formats"), *paths.presets("files"))))


def files() -> tuple[str, ...]:
    """The names of llama.cpp's files."""
    return tuple(paths.presets("files"))


def format_file(name: str) -> Path | None:
    """The file that describes a format; None for a plain number format."""
    return paths.presets("formats").get(spelled(name))


def is_file(name: str) -> bool:
    return spelled(name) in files()


def of_gguf(name: str) -> bool:
    """Whether it is a format of GGUF files alone: a mixture of llama.cpp's, or a type of GGML's in blocks."""
    wanted = spelled(name).removesuffix(PURE)
    blocks = [kind["name"].lower() for kind in types().values() if kind["numbers"] > 1]
    return wanted in (*files(), *blocks)
