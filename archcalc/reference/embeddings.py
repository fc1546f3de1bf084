"""The input of a Transformer's stack: token or patch embeddings, and positions."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from archcalc.reference import Config, positions
from archcalc.reference.audio import ConvolvedPositions, Listening
from archcalc.reference.layers import Dropout, Weight, add, make_norm, plus, run, side_by_side, weight_if
from archcalc.reference.windows import window_order


def make_embedding(stack: Config) -> nn.Module:
    """By what the stack reads."""
    if stack["embedding"]["kind"] == "vectors":
        return VectorEmbedding(stack)
    if stack["patches"]:
        return ImageEmbedding(stack)
    if stack["audio"]:
        return AudioEmbedding(stack)
    return Embedding(stack)


def placed(stack: Config) -> Config | None:
    """What is said of positions that are added here, if any are."""
    return next((each for each in stack["positions"] if each["kind"] in ("learned", "sinusoidal", "convolved")), None)


def make_positions(settings: Config, width: int) -> nn.Module:
    """A table, or a convolution over the embedding itself."""
    if settings["kind"] == "convolved":
        return ConvolvedPositions(settings, width)
    return Positions(settings, width)


class Tokens(nn.Embedding):
    """Token embeddings, with the textbook's bias if it is asked for."""

    def __init__(self, vocab: int, width: int, bias: bool) -> None:
        super().__init__(vocab, width)
        self.bias = weight_if(bias, width)

    def forward(self, ids: Tensor) -> Tensor:
        return plus(super().forward(ids), self.bias)


class Positions(nn.Module):
    """Learned positions, or sinusoids: computed, kept as a buffer, or kept as a frozen parameter."""

    def __init__(self, settings: Config, width: int) -> None:
        super().__init__()
        self.settings, self.width = settings, width
        if settings["kind"] == "learned":
            self.weight = nn.Parameter(torch.zeros(settings["length"] + settings["offset"], width))
        elif settings["length"]:
            table = positions.sinusoids(0, settings["length"], width, torch.zeros(0))
            if settings["stored"]:
                self.weight = nn.Parameter(table, requires_grad=False)
            else:
                self.register_buffer("weight", table)

    def forward(self, x: Tensor, start: int) -> Tensor:
        length = x.shape[1]
        if self.settings["kind"] == "learned":
            places = torch.arange(start, start + length, device=x.device) + self.settings["offset"]
            return x + nn.functional.embedding(places, self.weight)
        if self.settings["length"]:
            return x + self.weight[start : start + length]
        return x + positions.sinusoids(start, length, self.width, x)


class Embedding(nn.Module):
    """What enters a stack: tokens, types, positions, a norm, dropout."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        settings, tables, d_model = stack["embedding"], stack["tables"], stack["d_model"]
        self.tokens = Tokens(stack["vocab"], tables["width"], bool(settings["bias"]))
        self.beside = [f"joined_{number + 1}" for number in range(len(settings["joined"] or ()))]
        for name, (rows, wide) in zip(self.beside, settings["joined"] or (), strict=True):
            self.add_module(name, nn.Embedding(rows, wide))
        if self.beside:
            self.joined = nn.Linear(d_model + sum(wide for _, wide in settings["joined"]), d_model)
        if settings["spare"]:
            self.spare = nn.Embedding(stack["vocab"], tables["width"])
        self.where = ""
        if tables["projects"]:
            self.where = tables["project"]
            self.projection = nn.Linear(tables["width"], d_model, bias=tables["project_bias"])
        width = {"tokens": d_model}.get(self.where, tables["width"])
        rows = settings["types"] or 0  # of a table of token types, or of several
        types = [nn.Embedding(number, width) for number in (rows if isinstance(rows, list) else [rows]) if number]
        self.kinds = ["types", *(f"types_{index + 2}" for index in range(len(types)))][: len(types)]
        for name, table in zip(self.kinds, types, strict=True):
            self.add_module(name, table)
        if found := placed(stack):
            self.positions = make_positions(found, width)
        if settings["norm"]:
            add(self, "norm", make_norm(stack["norm"], {"sum": d_model}.get(self.where, width)))
        self.dropout = Dropout(stack["dropout"])

    def forward(self, read: Tensor | tuple[Tensor, ...], start: int = 0) -> Tensor:
        """Ids; in a model of several parts behind the positions of others, which come as vectors."""
        *before, ids = read if isinstance(read, tuple) else (read,)
        x = self.tokens(ids)
        if self.beside:  # rows of other tables beside it, projected together
            others = [self.get_submodule(name)(torch.zeros_like(ids)) for name in self.beside]
            x = self.joined(torch.cat((x, *others), dim=-1))
        x = self._projected(x, "tokens")
        for name in self.kinds:
            x = x + self.get_submodule(name)(torch.zeros_like(ids))
        x = side_by_side((*before, x), dim=1)
        if hasattr(self, "positions"):
            x = self.positions(x, start)
        x = run(self, "norm", self._projected(x, "sum"))
        return self.dropout(self._projected(x, "norm"))

    def _projected(self, x: Tensor, where: str) -> Tensor:
        """From the tables' width to the model's, at the one place that is said."""
        if self.where != where:
            return x
        return self.projection(x)


class VectorEmbedding(nn.Module):
    """Vectors as they come, those of several parts one behind the other; then positions, a norm, dropout."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        if found := placed(stack):
            self.positions = make_positions(found, stack["d_model"])
        if stack["embedding"]["norm"]:
            add(self, "norm", make_norm(stack["norm"], stack["d_model"]))
        self.dropout = Dropout(stack["dropout"])

    def forward(self, read: Tensor | tuple[Tensor, ...], start: int = 0) -> Tensor:
        x = side_by_side(read, dim=1) if isinstance(read, tuple) else read
        if hasattr(self, "positions"):
            x = self.positions(x, start)
        return self.dropout(run(self, "norm", x))


class AudioEmbedding(Listening):
    """A recording, then positions, a norm, dropout."""

    def __init__(self, stack: Config) -> None:
        super().__init__(stack)
        if found := placed(stack):
            self.positions = make_positions(found, stack["d_model"])
        if stack["embedding"]["norm"]:
            add(self, "norm", make_norm(stack["norm"], stack["d_model"]))
        self.dropout = Dropout(stack["dropout"])

    def forward(self, recording: Tensor, start: int = 0) -> Tensor:
        x = self.heard(recording)
        if hasattr(self, "positions"):
            x = self.positions(x, 0)
        return self.dropout(run(self, "norm", x))


class Projection(nn.Conv2d):
    """Patches, cut and projected by a convolution whose stride is its kernel, as rows of a sequence: each patch's
    numbers side by side, as in towers that read patches of an image processor, or else later layers would copy them."""

    def forward(self, image: Tensor) -> Tensor:
        return super().forward(image).flatten(2).transpose(1, 2).contiguous()


class ClipProjection(nn.Conv3d):
    """The same of a clip: patches that are some frames long."""

    def forward(self, clip: Tensor) -> Tensor:
        return super().forward(clip).flatten(2).transpose(1, 2).contiguous()


def both_sides(sides: int | list[int]) -> tuple[int, int]:
    """Rows and columns; one number is both."""
    rows, columns = (sides, sides) if isinstance(sides, int) else sides
    return rows, columns


class Vectors(Weight):
    """Learned vectors, put in front of a sequence."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat((self.weight.expand(x.shape[0], -1, -1), x), dim=1)


class AddedVectors(Weight):
    """Learned positions of an image's patches."""

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        return x + self.weight


class SideVectors(Weight):
    """Learned positions of an image's rows and of its columns, one of each for a patch."""

    def __init__(self, rows: int, patches: Config, width: int) -> None:
        super().__init__(2, rows, width)
        self.grid = positions.grid(patches)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        places = torch.cartesian_prod(*(torch.arange(side, device=x.device) for side in self.grid))
        found = [nn.functional.embedding(places[:, side].clone(), self.weight[side]) for side in range(2)]
        return x + (found[0] + found[1])


class InterpolatedVectors(Weight):
    """Learned positions of a grid, interpolated to that of the patches; tokens in front have theirs before them."""

    def __init__(self, table: tuple[int, int], patches: Config, width: int) -> None:
        self.tokens: int = patches["tokens"]
        super().__init__(self.tokens + math.prod(table), width)
        self.table, self.grid = table, positions.grid(patches)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        table = self.weight[self.tokens :].unflatten(0, self.table).permute(2, 0, 1)[None]
        made = nn.functional.interpolate(table, self.grid, mode="bilinear").flatten(2).transpose(1, 2)
        return x + torch.cat((self.weight[None, : self.tokens], made), dim=1)


class ImageEmbedding(nn.Module):
    """An image in patches, tokens in front, positions on all of them, then registers, which have none."""

    def __init__(self, stack: Config) -> None:
        super().__init__()
        self.stack, patches, width = stack, stack["patches"], stack["d_model"]
        made: Callable[..., nn.Module] = Projection
        size = tuple(patches["patch"])
        if patches["frames"] > 1:
            size, made = (patches["frames"], *size), ClipProjection
        self.projection = made(patches["channels"], width, size, stride=size, bias=patches["bias"])
        found, number = placed(stack), math.prod(positions.grid(patches)) + patches["tokens"]
        if patches["tokens"]:
            self.tokens = Vectors(patches["tokens"], width)
        if found and found.get("interpolated"):
            self.positions: nn.Module = InterpolatedVectors(both_sides(found["interpolated"]), patches, width)
        elif found and found.get("per_side"):
            self.positions = SideVectors(found["per_side"], patches, width)
        elif found and found["kind"] == "learned":
            self.positions = AddedVectors(number, width)
        elif found:
            self.positions = make_positions(found, width)
        if patches["mask"]:
            self.mask_token = Vectors(1, width)
        if patches["registers"]:
            self.registers = Vectors(patches["registers"], width)
        if stack["embedding"]["norm"]:
            add(self, "norm", make_norm(stack["norm"], width))
        self.dropout = Dropout(stack["dropout"])

    def forward(self, image: Tensor, start: int = 0) -> Tensor:
        x = run(self, "tokens", self.projection(image)).contiguous()  # whatever reads it would copy it otherwise
        if hasattr(self, "positions"):
            x = self.positions(x, 0)
        x = run(self, "registers", x)
        order = window_order(self.stack, x.device)
        if order is not None:
            x = x.index_select(1, order)
        return self.dropout(run(self, "norm", x))
