"""The layers of a transformers class that archcalc's adapters stand beside by default: queries and values."""

from __future__ import annotations

from typing import Any

from archcalc.analyze.memory.states import ParameterMemory
from archcalc.core.errors import InputError
from archcalc.run.lora import is_adapter
from archcalc.verify.hf.built import class_named
from archcalc.verify.hf.setting import Setting
from archcalc.verify.hf.training import Training

NAMES = (  # of queries and values, or of one matrix that makes both
    ("q_proj", "v_proj"),
    ("q", "v"),
    ("query", "value"),
    ("q_lin", "v_lin"),
    ("c_attn",),
    ("query_key_value",),
    ("qkv_proj",),
    ("Wqkv",),
    ("qkv",),
)


def adapted_layers(config: dict[str, Any]) -> tuple[str, ...]:
    """By their names in the class."""
    names = {name.rpartition(".")[2] for name, _ in Training(config, Setting(1, 1)).model.named_modules()}
    found = next((layers for layers in NAMES if names >= set(layers)), ())
    if not found:
        fact = f"archcalc does not know which layers of {class_named(config)} make queries and values"
        raise InputError(fact, "leave LoRA out")
    return found


def adapted_elements(parameters: ParameterMemory, training: Training) -> None:
    """Refuse to compare adapters that are not of the same layers."""
    ours = sum(one.copies * one.elements for one in parameters.held if is_adapter(one.param))
    theirs = sum(one.numel() for one in training.model.parameters() if one.requires_grad)
    if ours != theirs:
        fact = f"peft's adapters have {theirs:,} weights, and archcalc's {ours:,}"
        raise InputError(fact, "leave LoRA out")
