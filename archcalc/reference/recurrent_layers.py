"""Recurrent layers that step through a sequence in Python, position by position, and a decoder that attends.

So what PyTorch counts and keeps is what the cells do, on any device.
"""

from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.cells import State, make_cell, zeros
from archcalc.reference.layers import Dropout, one_or_list, run, side_by_side, weight_if


class Made:
    """What a stack leaves: outputs at every position, the top layer's last h, and the last states of all layers."""

    def __init__(self, outputs: Tensor, top: Tensor, groups: list[list[tuple[Config, State]]]) -> None:
        self.outputs, self.top = outputs, top
        self.states: list[tuple[int, list[Tensor]]] = []  # of equally wide layers: the first one's index, h_n and c_n
        first = 0
        for group in groups:
            kinds = zip(*(state for _, state in group), strict=True)
            self.states.append((first, [torch.stack(one) for one in kinds]))
            first += len(group)

    def directions_for(self, layer: Config) -> int:
        """2 where the encoder's states of one direction are half as wide as the decoder's."""
        wanted = layer["projection"] or layer["hidden"]
        return 1 + (self.states[0][1][0].shape[-1] != wanted)

    def state_of(self, layer: int, directions: int) -> State:
        """Where a decoder's layer starts: the encoder's last states of the same layer, both directions side by side."""
        first, stacked = next(group for group in reversed(self.states) if group[0] <= layer * directions)
        place = layer * directions - first
        if directions == 1:
            return tuple(one[place] for one in stacked)
        return tuple(torch.cat((one[place], one[place + 1]), dim=-1) for one in stacked)


Start = Made | Tensor | None


def begun(start: Start, index: int, stack: Config, layer: Config, x: Tensor) -> State | None:
    """The state that a layer starts from: where another stack ended, or a vector as h; nothing are zeros."""
    if isinstance(start, Tensor):
        return (start, *zeros(stack, layer, x.shape[0], x)[1:])
    if start is None:
        return None
    return start.state_of(index, start.directions_for(layer))


class Direction(nn.Module):
    """A cell that reads a sequence one way."""

    def __init__(self, stack: Config, layer: Config) -> None:
        super().__init__()
        self.stack, self.layer = stack, layer
        self.cell = make_cell(stack, layer)

    def forward(
        self, x: Tensor, state: State | None, context: list[Tensor], backwards: bool = False
    ) -> tuple[Tensor, State]:
        state = state or zeros(self.stack, self.layer, x.shape[0], x)
        order = slice(None, None, {True: -1, False: 1}[backwards])
        outputs = []
        for place in range(x.shape[1])[order]:
            state = self.cell([x[:, place], *context], state)
            outputs.append(state[0])
        return torch.stack(outputs[order], dim=1), state


class Layer(nn.Module):
    """One layer over a whole sequence, in one direction or both."""

    def __init__(self, stack: Config, layer: Config) -> None:
        super().__init__()
        self.layer, self.dropout = layer, Dropout(stack["dropout"])
        both = [Direction(stack, layer) for _ in range(layer["directions"])]
        if len(both) == 2:
            self.direction = nn.ModuleList(both)
        else:
            self.cell = both[0].cell
            self.ways = both

    def forward(self, x: Tensor, state: State | None = None, *context: Tensor) -> tuple[Tensor, list[State]]:
        read, beside = self.dropout(x), list(context[: bool(self.layer["context"])])
        if self.layer["directions"] == 1:
            out, *ends = self.ways[0](read, state, beside)
        else:
            (one, last), (other, first) = (self.direction[way](read, state, beside, bool(way)) for way in range(2))
            out, ends = torch.cat((one, other), dim=-1), [last, first]
        if self.layer["residual"]:
            out = out + x
        return out, ends


class Layers(nn.Module):
    """Layer by layer, from zeros, from where an encoder ended, a vector, or from what earlier tokens left. The first
    layer may read a context at every step."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.stack, self.each = stack, list[Layer]()
        for group in stack["layers"]:
            made = [Layer(stack, group["layer"]) for _ in range(group["times"])]
            self.add_module(f"layer_{group['first']}", one_or_list(made))
            self.each += made

    def forward(self, x: Tensor, start: Start, kept: dict[str, Any] | None, *context: Tensor) -> Made:
        ends: list[tuple[Config, State]] = []
        before = (kept or {}).get("states") or [None] * len(self.each)
        for index, layer in enumerate(self.each):
            state = before[index]
            if state is None:
                state = begun(start, index, self.stack, layer.layer, x)
            x, last = layer(x, state, *context)
            ends += [(layer.layer, one) for one in last]
        top = [state[0] for _, state in ends[-self.each[-1].layer["directions"] :]]  # of both directions side by side
        made = Made(x, side_by_side(top), alike(ends))
        if kept is not None:
            kept["states"] = [state for _, state in ends]
            kept["tensors"] = [*context, *(tensor for _, stacked in made.states for tensor in stacked)]
        return made


def alike(ends: list[tuple[Config, State]]) -> list[list[tuple[Config, State]]]:
    """Layers of one width together, as h_n and c_n stack them."""
    widths = lambda end: (end[0]["projection"] or end[0]["hidden"], end[0]["hidden"], end[0]["directions"])  # noqa: E731
    return [list(group) for _, group in groupby(ends, key=widths)]


class AttendingDecoder(nn.Module):
    """A decoder whose every step runs all layers and attends to the encoder's outputs."""

    def __init__(self, stack: Config, config: Config) -> None:
        super().__init__()
        self.settings, self.stack, self.handed_over = config["attention"], stack, config["handed_over"]
        self.step = DecoderStep(stack, self.settings)
        if self.settings["score"] == "additive":
            self.keys = nn.Linear(self.settings["key"], self.settings["width"], bias=self.settings["bias"])

    def forward(self, x: Tensor, start: Start, kept: dict[str, Any] | None, memory: Tensor | None = None) -> Made:
        """It attends to the outputs of the stack that it starts from, or to a memory."""
        if kept is not None and "states" in kept:
            states, keys, before, fed = kept["memory"], kept["keys"], list(kept["states"]), kept["fed"]
        else:
            states = memory
            if isinstance(start, Made) and memory is None:
                states, start = start.outputs, start if self.handed_over else None
            keys, fed = run(self, "keys", states), None
            before = [
                begun(start, index, self.stack, layer, x) or zeros(self.stack, layer, x.shape[0], x)
                for index, layer in enumerate(self.step.layers)
            ]
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
