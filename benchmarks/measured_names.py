"""The model of a case as a user would type it: by its name if archcalc knows it, else its config.json or a spec.

    model_of(case)    the name or the path, and whether its weights are stored as that name says

Names are those of presets; configs those of a file of published ones (`--configs`). What no name finds is written from
the shapes that the case gives.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import yaml
from measured_cases import Case
from measured_command import FOLDER, Command, Refused
from measured_shapes import shaped
from measured_units import Inexpressible
from measured_words import unstored

from archcalc.core.errors import InputError
from archcalc.loading import preset_called
from archcalc.spec import paths
from archcalc.spec.preset_names import trained

SPECS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("measured_configs.yaml").read_text("utf-8"))
CUT = re.compile(r"(?P<preset>.+)-(?P<layers>\d+)l")  # deepseek-v2-4l: a published model with so many layers
DENSE = re.compile(r"first (?:(?P<number>\d+) )?layers? dense")
PRINTED = re.compile(r"([\d.,]+) ([BT])")
DIFFERENT = 0.02  # by which the parameters of another model differ, at least
STORED = ("quantization_config", "compression_config")


@dataclass(frozen=True)
class Typed:
    """A model on the command line; `whole` says that the name tells how its weights are stored, too."""

    model: str
    whole: bool = True
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Configs:
    """Published configs by name, from a folder or file of JSON lines."""

    entries: dict[str, dict[str, Any]]

    @classmethod
    def of(cls, path: str | None) -> Configs:
        """Of a file, or of every such file in a folder; none where no path is given."""
        if path is None:
            return cls({})
        found = [Path(path)] if Path(path).is_file() else sorted(Path(path).glob("*.jsonl.gz"))
        lines = [line for file in found for line in gzip.decompress(file.read_bytes()).splitlines()]
        return cls({entry["name"]: entry for entry in map(json.loads, lines)})

    def found(self, name: str, *, stored: bool) -> dict[str, Any] | None:
        """By its name, but for the owner and words of training; without words of storage, too, unless `stored`."""
        if name in self.entries:
            return self.entries[name]
        return self._spelled.get(_letters(name)) if stored else self._unstored.get(_letters(unstored(name)))

    @cached_property
    def _spelled(self) -> dict[str, dict[str, Any]]:
        return {_letters(name): entry for name, entry in self.entries.items()}

    @cached_property
    def _unstored(self) -> dict[str, dict[str, Any]]:
        """Of several by one name one that is not quantised, where there is any."""
        ordered = sorted(self.entries.items(), key=lambda entry: not any(key in entry[1]["config"] for key in STORED))
        return {_letters(unstored(name)): entry for name, entry in ordered}


def model_of(case: Case, configs: Configs) -> Typed:
    """By its name first; from its shapes if no name is known, or if it has other parameters than that model."""
    if case["model"] in SPECS:
        spec = SPECS[case["model"]]
        return Typed(_file("config.json" if "model_type" in spec else "spec.yaml", spec))
    named = next((typed for typed in _named(case, configs) if _is_as_large(case, typed)), None)
    if named:
        return replace(named, changes=(*named.changes, *case.get("set", ())))
    if not case["arch"] or set(case["arch"]) <= {"hf", "timm", "note"}:
        raise Inexpressible(f"{unstored(case['model'])} is no model that archcalc knows, and no shapes are given")
    typed = Typed(_file(*shaped(case)), whole=False)
    if not _is_as_large(case, typed):
        raise Inexpressible("the shapes that the case gives make another number of parameters than it says")
    return typed


def _named(case: Case, configs: Configs) -> Iterator[Typed]:
    """As it stands, then without words of storage; presets before configs, but a quantised model's own config first."""
    for name in dict.fromkeys((str(case["arch"].get("hf") or case["model"]), case["model"])):
        bare = unstored(name)
        if _preset(name):
            yield Typed(name)
        if entry := configs.found(name, stored=True):
            yield Typed(_folder(entry))
        if bare != name and _preset(bare):
            yield Typed(bare, whole=False)
        if entry := configs.found(name, stored=False):
            yield Typed(_folder(entry, stored=False), whole=False)
        if cut := CUT.fullmatch(name):
            yield from _cut(case, cut)


def _preset(name: str) -> bool:
    try:
        return preset_called(name, paths.presets()) is not None
    except InputError:  # a name of quantised weights
        return False


def _cut(case: Case, cut: re.Match[str]) -> Iterator[Typed]:
    """A preset with fewer layers, of which the first are dense as the note tells."""
    if not _preset(cut["preset"]) or case["arch"]:
        return
    found = DENSE.search(str(case.get("note", "")))
    layers, dense = int(cut["layers"]), int(found["number"] or 1) if found else 0
    experts = [f"{layers - dense} × attention moe"] if layers > dense else []
    pattern = ", ".join([*([f"{dense} × attention ffn"] if dense else []), *experts])
    yield Typed(cut["preset"], changes=(f"decoder.pattern=[{pattern}]",))


def _is_as_large(case: Case, typed: Typed) -> bool:
    """Whether a model has the parameters that the case gives, where it gives any."""
    said = _said_parameters(case)
    if not said or typed.changes:
        return True
    try:
        found = int(Command.of("params", typed.model, {}).record()["total"])
    except Refused:
        return True
    return abs(found / said - 1) < DIFFERENT


def _said_parameters(case: Case) -> float:
    """As a number, or as llama.cpp prints them: `27.009 B`, `1.027 T`."""
    if isinstance(said := case["arch"].get("params"), (int, float)):
        return float(said)
    found = PRINTED.match(str(case["measured"].get("model_params_str") or ""))
    return float(found[1].replace(",", ".")) * {"B": 10**9, "T": 10**12}[found[2]] if found else 0.0


def _letters(name: str) -> str:
    """`meta-llama/Llama-3.1-8B-Instruct` and `llama 3.1 8b` are one name."""
    words = re.split(r"[-_ ]+", name.rpartition("/")[2].lower())
    return "".join(word for word in words if word not in trained())


def _folder(entry: dict[str, Any], *, stored: bool = True) -> str:
    """A published config as people have it on disk; without how its weights are stored, if the case's are not so."""
    config = {key: value for key, value in entry["config"].items() if stored or key not in STORED}
    quantised = entry.get("hf_quant_config") if stored else None
    return _written(f"{entry['name']} {stored}", json.dumps(config), json.dumps(quantised) if quantised else "")


def _file(name: str, data: dict[str, Any]) -> str:
    text = json.dumps(data) if name.endswith(".json") else yaml.safe_dump(data, sort_keys=False, allow_unicode=True)
    return _written(name, text, "")


@cache
def _written(name: str, text: str, quantised: str) -> str:
    """A folder with a config.json, or the path of a spec."""
    folder = Path(mkdtemp(prefix=FOLDER)) / re.sub(r"[^\w.-]+", "-", name.rpartition("/")[2].split(" ")[0])
    if name.endswith(".yaml"):
        folder.parent.joinpath(name).write_text(text, encoding="utf-8")
        return str(folder.parent / name)
    folder.mkdir()
    folder.joinpath("config.json").write_text(text, encoding="utf-8")
    if quantised:
        folder.joinpath("hf_quant_config.json").write_text(quantised, encoding="utf-8")
    return str(folder)
