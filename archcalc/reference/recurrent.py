"""Recurrent nets in plain PyTorch: one stack, or an encoder and a decoder that may attend to it.

The layers step through a sequence in Python, position by position, so that what PyTorch counts and keeps is what the
cells do, on any device.
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference.cells import State, make_cell, zeros
from archcalc.reference.layers import Dropout

Config = dict[str, Any]
ALONE = "layers"


class Recurrent(nn.Module):
    """`forward` takes one tensor for each stack: ids of shape (batch, seq), or vectors."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config, self.stacks = config, config["stacks"]
        sides = ("source_", "target_") if len(self.stacks) == 2 else ("",)
        self.embeddings = [f"{side}embedding" for side in sides]
        for name, stack in zip(self.embeddings, self.stacks, strict=True):
            if stack["embedding"] is not None:
                self.add_module(name, Embedding(stack))
            attends = stack["name"] == "decoder" and config["attention"]
            made = AttendingDecoder(stack, config) if attends else Layers(stack)
            if stack["name"] == ALONE:
                for layer, module in list(made.named_children()):
                    self.add_module(layer, module)
                self.alone = [made]  # in a list, so that its layers are registered once
            else:
                self.add_module(stack["name"], made)
        if len(self.stacks) == 2 and self.stacks[1]["shared"]:
            self.get_submodule("target_embedding.tokens").weight = self.get_submodule("source_embedding.tokens").weight
        if config["head"]["kind"] != "none":
            self.head = Head(config)

    def forward(self, *inputs: Tensor, kept: dict[str, Any] | None = None) -> Tensor:
        """Logits. `kept` is what earlier tokens left behind, and takes what these leave."""
        known = kept is not None and "states" in kept
        made = None
        for index, (stack, given) in enumerate(zip(self.stacks, inputs, strict=True)):
            if known and index < len(self.stacks) - 1:
                continue
            x = self._embedded(index, given)
            layers = self.alone[0] if stack["name"] == ALONE else self.get_submodule(stack["name"])
            made = layers(x, made, kept if index == len(self.stacks) - 1 else None)
        assert made is not None
        return self._head(made)

    def _embedded(self, index: int, given: Tensor) -> Tensor:
        embedding = self._modules.get(self.embeddings[index])
        return embedding(given) if embedding is not None else given

    def _head(self, made: Made) -> Tensor:
        if not hasattr(self, "head"):
            return made.outputs
        table = self._modules.get(self.embeddings[-1])
        return self.head(made, table.tokens.weight if table is not None else None)


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

    def state_of(self, layer: int, directions: int) -> State:
        """Where a decoder's layer starts: the encoder's last states of the same layer, both directions side by side."""
        first, stacked = next(group for group in reversed(self.states) if group[0] <= layer * directions)
        place = layer * directions - first
        if directions == 1:
            return tuple(one[place] for one in stacked)
        return tuple(torch.cat((one[place], one[place + 1]), dim=-1) for one in stacked)


class Tokens(nn.Embedding):
    """Token embeddings, with the textbook's bias if it is asked for."""

    def __init__(self, stack: Config) -> None:
        super().__init__(stack["vocab"], stack["embedding"])
        self.bias = nn.Parameter(torch.zeros(stack["embedding"])) if stack["one_hot_bias"] else None

    def forward(self, ids: Tensor) -> Tensor:
        found = super().forward(ids)
        return found if self.bias is None else found + self.bias


class Embedding(nn.Module):
    """Holds the token table."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.tokens = Tokens(stack)

    def forward(self, ids: Tensor) -> Tensor:
        return self.tokens(ids)


class Direction(nn.Module):
    """A cell that reads a sequence one way."""

    def __init__(self, stack: Config, layer: Config) -> None:
        super().__init__()
        self.stack, self.layer = stack, layer
        self.cell = make_cell(stack, layer)

    def forward(self, x: Tensor, state: State | None, backwards: bool = False) -> tuple[Tensor, State]:
        state = state or zeros(self.stack, self.layer, x.shape[0], x)
        places = range(x.shape[1])
        outputs = []
        for place in reversed(places) if backwards else places:
            state = self.cell([x[:, place]], state)
            outputs.append(state[0])
        return torch.stack(outputs[::-1] if backwards else outputs, dim=1), state


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
        into = self.dropout(x)
        if self.layer["directions"] == 1:
            out, last = self.ways[0](into, state)
            return (out + x if self.layer["residual"] else out), [last]
        forth, back = self.direction
        (one, last), (other, first) = forth(into, None), back(into, None, True)
        out = torch.cat((one, other), dim=-1)
        return (out + x if self.layer["residual"] else out), [last, first]


class Layers(nn.Module):
    """Layer by layer, from zeros, from where an encoder ended, or from what earlier tokens left."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.stack, self.each = stack, list[Layer]()
        for group in stack["layers"]:
            made = [Layer(stack, group["layer"]) for _ in range(group["times"])]
            self.add_module(f"layer_{group['first']}", made[0] if len(made) == 1 else nn.ModuleList(made))
            self.each += made

    def forward(self, x: Tensor, start: Made | None, kept: dict[str, Any] | None) -> Made:
        ends: list[tuple[Config, State]] = []
        before = _before(kept, len(self.each))
        for index, layer in enumerate(self.each):
            state = before[index]
            if state is None and start is not None:
                directions = start.top.shape[-1] and start_directions(start, layer)
                state = start.state_of(index, directions)
            x, last = layer(x, state)
            ends += [(layer.layer, one) for one in last]
        made = Made(x, _top(ends), _alike(ends))
        if kept is not None:
            kept["states"] = [state for _, state in ends]
            kept["tensors"] = [tensor for _, stacked in made.states for tensor in stacked]
        return made


def start_directions(start: Made, layer: Layer) -> int:
    """2 where the encoder's states of one direction are half as wide as the decoder's."""
    wanted = layer.layer["projection"] or layer.layer["hidden"]
    return 2 if start.states[0][1][0].shape[-1] != wanted else 1


def _before(kept: dict[str, Any] | None, number: int) -> list[State | None]:
    return kept["states"] if kept and "states" in kept else [None] * number


def _top(ends: list[tuple[Config, State]]) -> Tensor:
    """The last h of the top layer, of both directions side by side."""
    directions = ends[-1][0]["directions"]
    last = [state[0] for _, state in ends[-directions:]]
    return last[0] if directions == 1 else torch.cat(last, dim=-1)


def _alike(ends: list[tuple[Config, State]]) -> list[list[tuple[Config, State]]]:
    """Layers of one width together, as h_n and c_n stack them."""
    widths = lambda end: (end[0]["projection"] or end[0]["hidden"], end[0]["hidden"], end[0]["directions"])  # noqa: E731
    return [list(group) for _, group in groupby(ends, key=widths)]


class Head(nn.Module):
    """Over the vocabulary at every position, or once over the classes."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.said, top = config["head"], config["stacks"][-1]["layers"][-1]["layer"]
        width = (top["projection"] or top["hidden"]) * top["directions"]
        outputs = self.said["classes"] if self.said["kind"] == "classifier" else config["head_vocab"]
        if self.said["kind"] != "tied":
            self.weight = nn.Parameter(torch.empty(outputs, width).normal_(std=width**-0.5))
        self.bias = nn.Parameter(torch.zeros(outputs)) if self.said["bias"] else None

    def forward(self, made: Made, table: Tensor | None) -> Tensor:
        x = made.top if self.said["kind"] == "classifier" else made.outputs
        return nn.functional.linear(x, table if self.said["kind"] == "tied" else self.weight, self.bias)


class AttendingDecoder(nn.Module):
    """A decoder whose every step holds all its layers and looks at the encoder's outputs."""

    def __init__(self, stack: Config, config: Config) -> None:
        super().__init__()
        self.said, self.stack, self.handed_over = config["attention"], stack, config["handed_over"]
        self.step = DecoderStep(stack, self.said)
        if self.said["score"] == "additive":
            self.keys = nn.Linear(self.said["key"], self.said["width"], bias=self.said["bias"])

    def forward(self, x: Tensor, start: Made | None, kept: dict[str, Any] | None) -> Made:
        known = kept is not None and "states" in kept
        if known:
            states, keys, before, fed = kept["memory"], kept["keys"], list(kept["states"]), kept["fed"]
        else:
            assert start is not None
            states = start.outputs
            keys = self.keys(states) if self.said["score"] == "additive" else states
            before = [self._first(index, layer, x, start) for index, layer in enumerate(self.step.layers)]
            fed = x.new_zeros(x.shape[0], self.said["query"]) if self.said["feed"] else None
        outputs = []
        for place in range(x.shape[1]):
            out, before = self.step(x[:, place], before, keys, states, fed)
            fed = out if self.said["feed"] else None
            outputs.append(out)
        ends = list(zip(self.step.layers, before, strict=True))
        made = Made(torch.stack(outputs, dim=1), outputs[-1], _alike(ends))
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

    def __init__(self, stack: Config, said: Config) -> None:
        super().__init__()
        self.said, self.dropout = said, Dropout(stack["dropout"])
        self.layers = [group["layer"] for group in stack["layers"] for _ in range(group["times"])]
        for index, layer in enumerate(self.layers):
            self.add_module(f"layer_{index + 1}", make_cell(stack, layer))
        self.attention = Scores(said)
        if said["when"] == "after":
            self.combine = nn.Linear(said["key"] + said["query"], said["query"], bias=said["bias"])

    def forward(
        self, x: Tensor, before: list[State], keys: Tensor, states: Tensor, fed: Tensor | None
    ) -> tuple[Tensor, list[State]]:
        when = self.said["when"]
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


class Scores(nn.Module):
    """How well each of the encoder's states answers the decoder's, and the mix of them all."""

    def __init__(self, said: Config) -> None:
        super().__init__()
        self.said = said
        widths = {"general": said["key"], "additive": said["width"]}
        if said["score"] in widths:
            self.query = nn.Linear(said["query"], widths[said["score"]], bias=said["bias"])
        if said["score"] == "concat":
            self.pair = nn.Linear(said["key"] + said["query"], said["width"], bias=said["bias"])
        if said["score"] in ("additive", "concat"):
            self.scores = Weighing(said)

    def forward(self, query: Tensor, keys: Tensor, states: Tensor) -> Tensor:
        weights = self._scores(query, keys).softmax(dim=-1)
        return (weights[:, None] @ states)[:, 0]

    def _scores(self, query: Tensor, keys: Tensor) -> Tensor:
        if self.said["score"] == "additive":
            return self.scores(keys + self.query(query)[:, None])
        if self.said["score"] == "concat":
            return self.scores(self.pair(torch.cat((keys, query[:, None].expand(-1, keys.shape[1], -1)), dim=-1)))
        query = self.query(query) if self.said["score"] == "general" else query
        return (keys @ query[:, :, None])[..., 0]


class Weighing(nn.Module):
    """vᵀtanh(…), where v may be kept at the length of a gain."""

    def __init__(self, said: Config) -> None:
        super().__init__()
        self.v = nn.Parameter(torch.zeros(said["width"]))
        self.bias = nn.Parameter(torch.zeros(said["width"])) if said["normed"] else None
        self.gain = nn.Parameter(torch.ones(1)) if said["normed"] else None
        self.offset = nn.Parameter(torch.zeros(1)) if said["bias"] else None

    def forward(self, inner: Tensor) -> Tensor:
        v: Tensor = self.v
        if self.gain is not None:
            inner = inner + self.bias
            v = v / v.square().sum().sqrt() * self.gain
        return nn.functional.linear(torch.tanh(inner), v[None], self.offset)[..., 0]


def build(config: Config, options: dict[str, str]) -> Recurrent:
    """The model of a resolved spec."""
    return Recurrent(config)


def inputs(config: Config, batch: int, lengths: dict[str, int], device: str) -> list[Tensor]:
    """Random ids or vectors for each stack."""
    sizes = zip(config["stacks"], lengths.values(), strict=True)
    return [
        torch.randint(stack["vocab"], (batch, length), device=device)
        if stack["embedding"] is not None
        else torch.rand(batch, length, stack["input"], device=device)
        for stack, length in sizes
    ]


def loss(config: Config, output: Tensor, given: list[Tensor]) -> Tensor:
    """Cross-entropy with random targets; the sum where there is no head."""
    if config["head"]["kind"] == "none":
        return output.sum()
    targets = torch.randint(output.shape[-1], output.shape[:-1], device=output.device)
    return nn.functional.cross_entropy(output.flatten(0, -2), targets.flatten())


def attentions(config: Config) -> tuple[str, ...]:
    """One way only: no kernel computes these."""
    return ("",)


def recomputes(attention: str) -> tuple[str, ...]:
    """Nothing is recomputed."""
    return ("none",)


def compared(config: Config) -> tuple[str, ...]:
    """Of training, what PyTorch can be asked: everything."""
    return ("forward", "backward", "saved")


def unknown(config: Config) -> str:
    """A part that has no reference: none."""
    return ""


def decodes(config: Config) -> bool:
    """Whether it makes tokens one by one: not if a layer has to read them backwards."""
    last = config["stacks"][-1]
    ahead = any(group["layer"]["directions"] == 2 for group in last["layers"])
    return last["embedding"] is not None and not ahead and config["head"]["kind"] != "classifier"


def decode_step(config: Config, model: nn.Module, given: list[Tensor]) -> tuple[Any, dict[str, Any]]:
    """Run all tokens but the last, then give out what runs the last one, and what it leaves behind."""
    kept: dict[str, Any] = {}
    with torch.no_grad():
        model(*given[:-1], given[-1][:, :-1], kept=kept)
    return (lambda: model(*given[:-1], given[-1][:, -1:], kept=kept)), kept


def kept_tensors(kept: dict[str, Any]) -> list[Tensor]:
    """The last states of all layers; of a decoder that attends also what it looks at."""
    return list(kept["tensors"])


def properties(config: Config, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
    """What must hold of the numbers themselves, on real data in double precision."""
    with torch.no_grad():
        output = model(*given)
        found = {"finite": bool(output.isfinite().all())}
        if decodes(config):
            other = given[-1].clone()
            other[:, -1] = (other[:, -1] + 1) % config["stacks"][-1]["vocab"]
            same = torch.allclose(model(*given[:-1], other)[:, :-1], output[:, :-1])
            found["a later token changes no earlier output"] = bool(same)
            step, _ = decode_step(config, model, given)
            found["one token at a time gives the same"] = bool(torch.allclose(step()[:, 0], output[:, -1]))
    return found


def randomise(model: nn.Module) -> None:
    """Every parameter gets random values: zeros would hide mistakes."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
