"""What a transformers class is given in a training step: what it reads, and the labels of its loss."""

from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.core.errors import InputError
from archcalc.verify.hf.setting import TYPES, Setting

FOR_EACH_TOKEN = ("causal", "masked", "token", "pixels")  # tasks by where their labels stand
FOR_THE_WHOLE = ("sequence", "image", "audio")
FOR_EACH_TARGET = ("seq2seq", "speech")
WITHOUT_LABELS = ("base", "encoder", "projection")  # classes whose output a loss of one's own reads


@dataclass(frozen=True)
class Batch:
    """Of zeros: their values change nothing."""

    model: Any
    task: str
    setting: Setting
    device: str

    def inputs(self) -> dict[str, Tensor]:
        given = {main_input(self.model): self._main(), **self._labels()}
        if self.setting.memory:  # what a decoder without an encoder of its own attends to
            given["encoder_hidden_states"] = self._numbers(self.setting.seq, self.setting.memory)
        return given

    def _main(self) -> Tensor:
        sizes = self.setting.shape or sizes_read(self.model, self.setting.seq)
        if sizes:
            return self._numbers(*sizes)
        return self._ids(self.setting.seq)

    def _labels(self) -> dict[str, Tensor]:
        setting = self.setting
        if self.task in WITHOUT_LABELS:
            return {}
        if self.task in FOR_THE_WHOLE:
            return {"labels": self._ids()}
        if self.task in FOR_EACH_TOKEN:
            return {"labels": self._ids(setting.seq)}
        if self.task in FOR_EACH_TARGET:
            return {"labels": self._ids(setting.target_seq or setting.seq)}
        if self.task == "answer":
            return {"start_positions": self._ids(), "end_positions": self._ids()}
        fact = f"{type(self.model).__name__} computes no loss that archcalc knows the labels of"
        raise InputError(fact, "name a class with a head in architectures")

    def _numbers(self, *shape: int) -> Tensor:
        return torch.zeros(self.setting.batch, *shape, dtype=TYPES[self.setting.precision], device=self.device)

    def _ids(self, *length: int) -> Tensor:
        return torch.zeros(self.setting.batch, *length, dtype=torch.long, device=self.device)


def main_input(model: Any) -> str:
    """What a class reads first; some inherit a name that they do not take."""
    takes = list(inspect.signature(model.forward).parameters)
    return next((name for name in takes if name == model.main_input_name), takes[0])


def sizes_read(model: Any, length: int) -> tuple[int, ...]:
    """Sizes of an image, or of a recording with frames for that many positions; none where a class reads tokens."""
    config, reads = getattr(model.config, "encoder", model.config), main_input(model)
    if reads == "input_features":
        convolutions = [inner for inner in model.modules() if isinstance(inner, nn.Conv1d)]
        return config.num_mel_bins, length * math.prod(inner.stride[0] for inner in convolutions)
    if reads != "pixel_values":
        return ()
    sides = config.image_size
    if not isinstance(sides, list | tuple):
        sides = (sides, sides)
    return config.num_channels, *sides
