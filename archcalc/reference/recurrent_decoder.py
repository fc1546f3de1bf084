"""A recurrent decoder with attention to the encoder's outputs at every step."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.cells import State, make_cell, zeros
from archcalc.reference.layers import Dropout
from archcalc.reference.recurrent_layers import Made, alike
from archcalc.reference.recurrent_scores import Scores


class AttendingDecoder(nn.Module):
    """A decoder whose every step runs all layers and attends to the encoder's outputs."""

    def __init__(self, stack: Config, config: Config) -> None:
        super().__init__()
        self.settings, self.stack, self.handed_over = config["attention"], stack, config["handed_over"]
        self.step = DecoderStep(stack, self.settings)
        if self.settings["score"] == "additive":
            self.keys = nn.Linear(self.settings["key"], self.settings["width"], bias=self.settings["bias"])

    def forward(self, x: Tensor, start: Made | None, kept: dict[str, Any] | None) -> Made:
        if kept is not None and "states" in kept:
            states, keys, before, fed = kept["memory"], kept["keys"], list(kept["states"]), kept["fed"]
        else:
            assert start is not None
            states = start.outputs
            keys = self.keys(states) if self.settings["score"] == "additive" else states
            before = [self._first(index, layer, x, start) for index, layer in enumerate(self.step.layers)]
            fed = x.new_zeros(x.shape[0], self.settings["query"]) if self.settings["feed"] else None
        outputs = []
        for place in range(x.shape[1]):
            out, before = self.step(x[:, place], before, keys, states, fed)
            fed = out if self.settings["feed"] else None
            outputs.append(out)
        ends = list(zip(self.step.layers, before, strict=True))
        made = Made(torch.stack(outputs, dim=1), outputs[-1], alike(ends))
        if kept is not None:
            kept.update(states=before, memory=states, keys=keys, fed=fed)
            held = [states, keys, *([fed] if fed is not None else [])]
            kept["tensors"] = [*held, *(tensor for _, stacked in made.states for tensor in stacked)]
        return made

    def _first(self, index: int, layer: Config, x: Tensor, start: Made) -> State:
        if not self.handed_over:
            return zeros(self.stack, layer, x.shape[0], x)
        wanted = layer["projection"] or layer["hidden"]
        return start.state_of(index, 2 if start.states[0][1][0].shape[-1] != wanted else 1)


class DecoderStep(nn.Module):
    """One token: the layers, and attention before them, between the first and the others, or after them."""

    def __init__(self, stack: Config, settings: Config) -> None:
        super().__init__()
        self.settings, self.dropout = settings, Dropout(stack["dropout"])
        self.layers = [group["layer"] for group in stack["layers"] for _ in range(group["times"])]
        for index, layer in enumerate(self.layers):
            self.add_module(f"layer_{index + 1}", make_cell(stack, layer))
        self.attention = Scores(settings)
        if settings["when"] == "after":
            self.combine = nn.Linear(settings["key"] + settings["query"], settings["query"], bias=settings["bias"])

    def forward(
        self, x: Tensor, before: list[State], keys: Tensor, states: Tensor, fed: Tensor | None
    ) -> tuple[Tensor, list[State]]:
        when = self.settings["when"]
        beside = self.attention(before[-1][0], keys, states) if when == "before" else fed
        out, after = x, []
        for index, (layer, state) in enumerate(zip(self.layers, before, strict=True)):
            reads = self.dropout(out)
            inputs = [reads, beside] if layer["context"] and beside is not None else [reads]
            after.append(self.get_submodule(f"layer_{index + 1}")(inputs, state))
            h = after[-1][0]
            out = h + out if layer["residual"] else h
            if when == "between" and index == 0:
                beside = self.attention(out, keys, states)
        if when == "after":
            out = torch.tanh(self.combine(torch.cat((self.attention(out, keys, states), out), dim=1)))
        return out, after
