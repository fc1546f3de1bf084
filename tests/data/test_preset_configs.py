"""Presets against the config.json of their models: every value that it holds, whether it changes a count or not.

`configs.json` holds what was read, in the places that each preset's source names. A preset may say more than its
config does (a length that a paper gives), but nothing else.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

import archcalc
from archcalc.importers.hf._helpers import imported
from archcalc.model import Model
from archcalc.spec.paths import data_root

CONFIGS: dict[str, dict[str, Any]] = json.loads((data_root() / "configs.json").read_text(encoding="utf-8"))
UNSAID = {"pretrained", "name", "words"}  # no config says them, or they are names of our own


def read(config: dict[str, Any]) -> Model:
    """The model that a config stands for; image classifiers name their classes one by one."""
    classes = config.pop("num_labels", 0)
    labels = {"id2label": {str(label): str(label) for label in range(classes)}} if classes else {}
    return Model.from_document(imported.document({**config, **labels}, "config.json"), "config", ())


def plain(value: Any) -> Any:
    """Nested values by the names of their fields, without those that no config says."""
    if is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    elif hasattr(value, "model_fields_set"):
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, dict):
        return {name: plain(inner) for name, inner in value.items() if name not in UNSAID}
    return [plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def parts(stack: dict[str, Any]) -> dict[str, Any]:
    """A stack whose parts stand in order: what they are called differs."""
    return {**stack, "parts": list(stack["parts"].values())}


def resolved(model: Model) -> dict[str, Any]:
    """Every value of a model, filled in."""
    whole: dict[str, Any] = plain(model.resolved)
    return {
        name: parts(value) if isinstance(value, dict) and "parts" in value else value for name, value in whole.items()
    }


def differences(preset: Any, config: Any, path: str = "") -> list[str]:
    """Where the two differ; a length of the preset's own is none, and rows in front are rows."""
    if isinstance(preset, dict) and isinstance(config, dict):
        if "offset" in preset and preset["length"] and config["length"]:
            rows = {"offset": 0, "length": preset["length"] + preset["offset"]}
            config = {**config, "offset": 0, "length": config["length"] + config["offset"]}
            preset = {**preset, **rows}
        return [one for name in preset for one in differences(preset[name], config[name], f"{path}.{name}")]
    if isinstance(preset, list) and isinstance(config, list) and len(preset) == len(config):
        return [
            one
            for at, pair in enumerate(zip(preset, config, strict=True))
            for one in differences(*pair, f"{path}[{at}]")
        ]
    unsaid = config is None and path.endswith(".length")
    return [] if preset == config or unsaid else [f"{path}: {preset} in the preset, {config} in the config"]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_preset_says_what_its_config_says(name: str) -> None:
    """Positions, windows, activations, experts, layer patterns: all of them."""
    config = dict(CONFIGS[name])
    preset, other = resolved(archcalc.load(name)), resolved(read(dict(config)))
    assert differences(preset, other) == []


def test_a_wrong_value_is_noticed() -> None:
    """A window, a length and an activation that no parameter shows."""
    wrong = archcalc.load("phi-3-mini", set=["attention.window=2048", "position.length=8192", "ffn.act=gelu"])
    found = differences(resolved(wrong), resolved(read(dict(CONFIGS["phi-3-mini"]))))
    assert {path.partition(":")[0].rpartition(".")[2] for path in found} == {"window", "length", "act"}


@pytest.mark.parametrize("name", CONFIGS)
def test_a_preset_names_the_family_of_its_config(name: str) -> None:
    """By which its training code is chosen."""
    assert archcalc.load(name).model_type == CONFIGS[name]["model_type"]
