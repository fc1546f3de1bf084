"""A recurrent decoder with attention to the encoder's outputs at every step, by any of Luong's or Bahdanau's scores."""

from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.cells import State, make_cell, zeros
from archcalc.reference.layers import Dropout, run, weight_if
from archcalc.reference.recurrent_layers import Made, alike


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
            before = [zeros(self.stack, layer, x.shape[0], x) for layer in self.step.layers]
            if self.handed_over:
                layers = enumerate(self.step.layers)
                before = [start.state_of(index, start.directions_for(layer)) for index, layer in layers]
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


class Scores(nn.Module):
    """Attention scores of the decoder's state with the encoder's states, and the context vector."""

    def __init__(self, settings: Config) -> None:
        super().__init__()
        self.settings = settings
        widths = {"general": settings["key"], "additive": settings["width"]}
        if settings["score"] in widths:
            self.query = nn.Linear(settings["query"], widths[settings["score"]], bias=settings["bias"])
        if settings["score"] == "concat":
            self.pair = nn.Linear(settings["key"] + settings["query"], settings["width"], bias=settings["bias"])
        if settings["score"] in ("additive", "concat"):
            self.scores: nn.Module = Weighing(settings)
        if settings["score"] == "location":
            self.scores = nn.Linear(settings["query"], settings["length"], bias=settings["bias"])

    def forward(self, query: Tensor, keys: Tensor, states: Tensor) -> Tensor:
        weights = self._scores(query, keys).softmax(dim=-1)
        return (weights[:, None] @ states)[:, 0]

    def _scores(self, query: Tensor, keys: Tensor) -> Tensor:
        if self.settings["score"] == "additive":
            return self.scores(keys + self.query(query)[:, None])
        if self.settings["score"] == "concat":
            return self.scores(self.pair(torch.cat((keys, query[:, None].expand(-1, keys.shape[1], -1)), dim=-1)))
        if self.settings["score"] == "location":
            return self.scores(query)
        return (keys @ run(self, "query", query)[:, :, None])[..., 0]


class Weighing(nn.Module):
    """vᵀtanh(…), where v may be kept at the length of a gain."""

    def __init__(self, settings: Config) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.zeros(settings["width"]))
        self.bias = weight_if(settings["normed"], settings["width"])
        self.gain = weight_if(settings["normed"], 1, start=torch.ones)
        self.offset = weight_if(settings["bias"], 1)

    def forward(self, inner: Tensor) -> Tensor:
        v: Tensor = self.v
        if self.gain is not None:
            inner = inner + self.bias
            v = v / v.square().sum().sqrt() * self.gain
        return nn.functional.linear(torch.tanh(inner), v[None], self.offset)[..., 0]
