"""Recurrent layers that step through a sequence in Python, position by position.

So what PyTorch counts and keeps is what the cells do, on any device.
"""

from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.cells import State, make_cell, zeros
from archcalc.reference.layers import Dropout, one_or_list, side_by_side


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


class Direction(nn.Module):
    """A cell that reads a sequence one way."""

    def __init__(self, stack: Config, layer: Config) -> None:
        super().__init__()
        self.stack, self.layer = stack, layer
        self.cell = make_cell(stack, layer)

    def forward(self, x: Tensor, state: State | None, backwards: bool = False) -> tuple[Tensor, State]:
        state = state or zeros(self.stack, self.layer, x.shape[0], x)
        order = slice(None, None, {True: -1, False: 1}[backwards])
        outputs = []
        for place in range(x.shape[1])[order]:
            state = self.cell([x[:, place]], state)
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

    def forward(self, x: Tensor, state: State | None = None) -> tuple[Tensor, list[State]]:
        read = self.dropout(x)
        if self.layer["directions"] == 1:
            out, *ends = self.ways[0](read, state)
        else:
            (one, last), (other, first) = self.direction[0](read, None), self.direction[1](read, None, True)
            out, ends = torch.cat((one, other), dim=-1), [last, first]
        if self.layer["residual"]:
            out = out + x
        return out, ends


class Layers(nn.Module):
    """Layer by layer, from zeros, from where an encoder ended, or from what earlier tokens left."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.stack, self.each = stack, list[Layer]()
        for group in stack["layers"]:
            made = [Layer(stack, group["layer"]) for _ in range(group["times"])]
            self.add_module(f"layer_{group['first']}", one_or_list(made))
            self.each += made

    def forward(self, x: Tensor, start: Made | None, kept: dict[str, Any] | None) -> Made:
        ends: list[tuple[Config, State]] = []
        before = (kept or {}).get("states") or [None] * len(self.each)
        for index, layer in enumerate(self.each):
            state = before[index]
            if state is None and start is not None:
                state = start.state_of(index, start.directions_for(layer.layer))
            x, last = layer(x, state)
            ends += [(layer.layer, one) for one in last]
        top = [state[0] for _, state in ends[-self.each[-1].layer["directions"] :]]  # of both directions side by side
        made = Made(x, side_by_side(top), alike(ends))
        if kept is not None:
            kept["states"] = [state for _, state in ends]
            kept["tensors"] = [tensor for _, stacked in made.states for tensor in stacked]
        return made


def alike(ends: list[tuple[Config, State]]) -> list[list[tuple[Config, State]]]:
    """Layers of one width together, as h_n and c_n stack them."""
    widths = lambda end: (end[0]["projection"] or end[0]["hidden"], end[0]["hidden"], end[0]["directions"])  # noqa: E731
    return [list(group) for _, group in groupby(ends, key=widths)]
