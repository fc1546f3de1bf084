"""What a transformers class is given in a training step: what it reads, and the labels of its loss."""

from __future__ import annotations

import inspect
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
        return {self.main_input: self._main(), **self._labels(), **self._memory()}

    def _memory(self) -> dict[str, Tensor]:
        """What a decoder without an encoder of its own attends to."""
        width = self.setting.memory
        return {"encoder_hidden_states": self._numbers(self.setting.seq, width)} if width else {}

    @property
    def main_input(self) -> str:
        """What the class reads first; some inherit a name that they do not take."""
        named, takes = str(self.model.main_input_name), inspect.signature(self.model.forward).parameters
        return named if named in takes else next(iter(takes))

    def _main(self) -> Tensor:
        if self.setting.shape:
            return self._numbers(*self.setting.shape)
        config = getattr(self.model.config, "encoder", self.model.config)
        if self.main_input == "pixel_values":
            size = config.image_size
            height, width = size if isinstance(size, list | tuple) else (size, size)
            return self._numbers(config.num_channels, height, width)
        if self.main_input == "input_features":
            return self._numbers(config.num_mel_bins, self.setting.seq * strides(self.model))
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


def strides(module: Any) -> int:
    """The number of audio frames for each position."""
    together = 1
    for inner in module.modules():
        together *= inner.stride[0] if isinstance(inner, nn.Conv1d) else 1
    return together
