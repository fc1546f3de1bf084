"""Builds the transformers class that a config names on the meta device, and its inputs."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import nn

from archcalc.importers.hf import Family, translator
from archcalc.importers.hf._helpers.reading import described
from archcalc.importers.hf._helpers.weights import Weights
from archcalc.importers.meta import build
from archcalc.importers.meta.cleaned import cleaned
from archcalc.model import Model
from archcalc.spec.workload import Workload

PLAIN = {  # how a class is run, whatever the file says: attention step by step, nothing beside the answer
    "_attn_implementation": "eager",
    "_experts_implementation": "batched_mm",  # the grouped kernel has no fp32 on the meta device
    "use_cache": False,
    "return_dict": True,
    "output_hidden_states": False,
    "output_attentions": False,
    "output_router_logits": False,
}


@dataclass(frozen=True)
class Built:
    """A class of transformers for the config that a model was read from."""

    model: Model
    config: dict[str, Any]

    @cached_property
    def name(self) -> str:
        return class_named(self.config)

    @cached_property
    def module(self) -> Any:
        """Built on the meta device: shapes without memory."""
        kept, transformers = cleaned(self.config), needed("transformers")
        made = build.built(kept, torch=torch, transformers=transformers, name=self.name, prepare=_as_run)
        if self.model.document.head_in_checkpoint:
            untie(made)
        return made.eval().requires_grad_(False)

    def inputs(self, work: Workload, device: str) -> dict[str, Any]:
        """Token ids, an image or audio frames, plus decoder ids and encoder states for a decoder."""
        if not work.lengths:
            sample = self.model.resolved.sample  # type: ignore[attr-defined]  # of a network
            sizes = (work.batch, sample.channels, *sample.sides)
            return {main_input(self.module): torch.zeros(*sizes, device=device)}
        first, *others = work.lengths.values()
        takes = inspect.signature(self.module.forward).parameters
        sizes = sizes_read(self.module, first)
        read = torch.zeros(work.batch, *sizes, device=device) if sizes else self._ids(work.batch, first, device)
        if not sizes and self.name.endswith("MultipleChoice"):  # one choice for each question
            read = read[:, None]
        given = {main_input(self.module): read}
        if others and "decoder_input_ids" in takes:
            given["decoder_input_ids"] = self._ids(work.batch, others[0], device)
        memory = memory_width(self.model)
        if not memory:
            return given
        states = torch.zeros(work.batch, first, memory, device=device)  # for cross-attention of a class without encoder
        if "encoder_hidden_states" in takes:
            return {**given, "encoder_hidden_states": states}
        if "encoder_outputs" in takes:
            return {**given, "encoder_outputs": (states,)}
        raise ValueError(f"{self.name} does not accept encoder states for its cross-attention")

    def _ids(self, batch: int, length: int, device: str) -> Any:
        """Token ids without padding, ending in the EOS token, which some heads look for."""
        config, ids = self.module.config, torch.zeros(batch, length, dtype=torch.long, device=device)
        special = [getattr(config, name, None) for name in ("pad_token_id", "eos_token_id", "bos_token_id")]
        ids += next(number for number in range(4) if number not in special)
        if isinstance(special[1], int) and special[1] < getattr(config, "vocab_size", 0):
            ids[:, -1] = special[1]
        return ids


def main_input(model: Any) -> str:
    """What a class reads first; some inherit a name that they do not take."""
    takes = list(inspect.signature(model.forward).parameters)
    return next((name for name in takes if name == model.main_input_name), takes[0])


def sizes_read(model: Any, length: int) -> tuple[int, ...]:
    """Sizes of an image, or of a recording with samples or frames for that many positions; none where a class reads
    tokens."""
    config, reads = getattr(model.config, "encoder", model.config), main_input(model)
    convolutions = [inner for inner in model.modules() if isinstance(inner, nn.Conv1d)]
    if reads == "input_values":
        return (_samples([inner for inner in convolutions if inner.padding == (0,)], length),)
    if reads == "input_features":
        return config.num_mel_bins, length * math.prod(inner.stride[0] for inner in convolutions)
    if reads != "pixel_values":
        return ()
    sides = config.image_size
    if not isinstance(sides, list | tuple):
        sides = (sides, sides)
    return config.num_channels, *sides


def _samples(convolutions: list[nn.Conv1d], positions: int) -> int:
    """Of a recording that convolutions without padding make that many positions of."""
    for one in reversed(convolutions):
        positions = (positions - 1) * one.stride[0] + one.kernel_size[0]
    return positions


def families(module: Any) -> list[Family]:
    """The translators of a class and of the models inside it, such as an encoder before a decoder."""
    configs = (getattr(inner, "config", None) for inner in module.modules())
    types = {str(getattr(config, "model_type", "")) for config in configs}
    return [family for model_type in sorted(types) if (family := translator(model_type))]


def weights_of(module: Any) -> list[Weights]:
    """How its weights are kept, where families say something about that."""
    return [family.weights for family in families(module) if family.weights]


def memory_width(model: Model) -> int | None:
    """The width of the encoder states that a decoder without an encoder attends to."""
    decoder, encoder = (getattr(model.resolved, name, None) for name in ("decoder", "encoder"))
    if decoder is None or encoder is not None:
        return None
    widths = (part.memory for part in decoder.parts.values() if getattr(part, "memory", None))
    return next(widths, None)


def class_named(config: dict[str, Any]) -> str:
    """The class that archcalc counts: the first known one in `architectures`, else the default."""
    model_type = config["model_type"]
    classes: dict[str, str] = described(model_type)["classes"]
    family = translator(model_type)
    named = [str(name) for name in config.get("architectures") or () if name in classes]
    usual = [name for name, task in classes.items() if family and task == family.usual]
    return (*named, *usual)[0]


def untie(module: Any) -> None:
    """The head that a checkpoint would load into a class that starts tied."""
    head = module.get_output_embeddings()
    head.weight = nn.Parameter(torch.empty_like(head.weight))


def _as_run(config: Any) -> None:
    for key, value in PLAIN.items():
        setattr(config, key, value)
    if getattr(config, "pad_token_id", None) is None:
        config.pad_token_id = 0  # classes for sequences ask for one


def needed(name: str) -> Any:
    """transformers, or a part of it, of the `verify` extra."""
    return build.needed(name, "verify compares a config with", "verify")
