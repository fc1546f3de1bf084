"""A recurrent decoder with attention to the encoder's outputs at every step."""

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.cells import State, make_cell, zeros
from archcalc.reference.layers import Dropout, run
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
            keys, fed = run(self, "keys", states), None
            before = [self._first(index, layer, x, start) for index, layer in enumerate(self.step.layers)]
            if self.settings["feed"]:
                fed = x.new_zeros(x.shape[0], self.settings["query"])
        outputs = []
        for place in range(x.shape[1]):
            out, before = self.step(x[:, place], before, keys, states, fed)
            if self.settings["feed"]:
                fed = out
            outputs.append(out)
        ends = list(zip(self.step.layers, before, strict=True))
        made = Made(torch.stack(outputs, dim=1), outputs[-1], alike(ends))
        if kept is not None:
            kept.update(states=before, memory=states, keys=keys, fed=fed)
            held = [tensor for tensor in (states, keys, fed) if tensor is not None]
            kept["tensors"] = [*held, *(tensor for _, stacked in made.states for tensor in stacked)]
        return made

    def _first(self, index: int, layer: Config, x: Tensor, start: Made) -> State:
        if not self.handed_over:
            return zeros(self.stack, layer, x.shape[0], x)
        return start.state_of(index, start.directions_for(layer))


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
        beside = fed
        if when == "before":
            beside = self.attention(before[-1][0], keys, states)
        out, after = x, []
        for index, (layer, state) in enumerate(zip(self.layers, before, strict=True)):
            inputs = [self.dropout(out)]
            if layer["context"] and beside is not None:
                inputs.append(beside)
            after.append(self.get_submodule(f"layer_{index + 1}")(inputs, state))
            h = after[-1][0]
            if layer["residual"]:
                h = h + out
            out = h
            if when == "between" and index == 0:
                beside = self.attention(out, keys, states)
        if when == "after":
            out = torch.tanh(self.combine(torch.cat((self.attention(out, keys, states), out), dim=1)))
        return out, after
