"""A preset made of a config: the file of presets/models, and the config's line in presets/configs.json."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import archcalc
from archcalc.core.errors import InputError
from archcalc.model import Model
from archcalc.spec.preset_names import trained
from archcalc.spec.yaml_writer import field_text, plain

FRONT = ("name", "transformers", "scope", "source", "hub", "released", "published")
UNKEPT = frozenset({"quantization_config", "auto_map", "_name_or_path", "transformers_version"})  # of a config


@dataclass(frozen=True)
class Release:
    """A model's config, and what is said of the model besides."""

    config: dict[str, Any]
    title: str
    source: str
    hub: tuple[str, ...] = ()
    called: str = ""  # the preset, where that does not follow from the title
    released: str = ""
    published: str = ""  # a count, or as many digits of it as somebody prints
    index: Path | None = None  # of the checkpoint's tensors
    precision: str = ""  # where the config names none

    @property
    def preset(self) -> str:
        """Without words of how it was trained: MiniMax-M2.5 is minimax-m2.5."""
        words = re.split(r"[-_ ]", self.title.lower())
        return self.called or "-".join(word for word in words if word and word not in trained())

    @cached_property
    def read(self) -> Model:
        """As archcalc reads the config; raises where a type, a class, a field or a value is not read."""
        return archcalc.load(self.config)

    @property
    def total(self) -> int:
        return int(self.read.params().total)

    @property
    def as_read(self) -> dict[str, Any]:
        """The config, under the model type by which it was read; that of the whole where no class has the part."""
        return self.read.document.config or self.config

    @property
    def entry(self) -> dict[str, Any]:
        """The config as presets/configs.json keeps it: without what says nothing of the layers."""
        kept = {key: value for key, value in self.as_read.items() if key not in UNKEPT}
        first = (key for key in ("model_type", "architectures") if key in kept)
        return {**{key: kept[key] for key in first}, **kept}


def text_of(release: Release) -> str:
    """What `archcalc show` prints of the config, below what is said of the model; without notes on the file."""
    model, fields = release.read, plain(release.read.spec)
    order = [name for name in (*model.document.data, *fields) if name in fields and name not in (*FRONT, "notes")]
    said = {name: value for name, value in _said(release, fields.get("scope")).items() if value}
    spec = {name: fields[name] for name in order}
    if release.precision:
        spec |= {"precision": release.precision}
    text = "".join(field_text(name, value) for name, value in {**said, **spec}.items())
    if archcalc.load(text).resolved != model.resolved:
        raise InputError("what was written is another model than the config's", field=release.preset)
    return text


def _said(release: Release, scope: dict[str, Any] | None) -> dict[str, Any]:
    """The fields in front, in their order; what is not known is empty."""
    alone = ", text alone" if scope and scope["part"] == "text model" else ""
    return {
        "name": release.title + alone,
        "transformers": release.read.document.config.get("model_type"),
        "scope": scope and {**scope, "of": release.title},
        "source": release.source,
        "hub": list(release.hub),
        "released": release.released,
        "published": {"parameters": release.total, "of": class_of(release)},
    }


def class_of(release: Release) -> str:
    """The class whose parameters are counted; of a part that no class builds alone, whose count it is."""
    from archcalc.verify.hf.built import class_named

    config = release.read.document.config
    return class_named(config) if config else f"the language model of {release.title}"


def with_entry(text: str, name: str, entry: dict[str, Any]) -> str:
    """presets/configs.json with one more config: a line for each, in the order of their names."""
    configs = {**json.loads(text), name: entry}
    lines = [f"{json.dumps(each)}: {json.dumps(configs[each])}" for each in sorted(configs)]
    return "{\n" + ",\n".join(lines) + "\n}\n"
