"""A Transformer's stack: blocks that follow a pattern, the norm behind them, and blocks that predict further ahead.

Constants are shared by all of its blocks: masks, RoPE tables, relative positions, score biases.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config, positions
from archcalc.reference.attention import is_flash, relative_table
from archcalc.reference.block import HANDED, Block, attentions_of
from archcalc.reference.layers import Dropout, add, listed, make_norm, one_or_list, recomputed, run
from archcalc.reference.per_layer import of_block
from archcalc.reference.positions import Angles
from archcalc.reference.relative import Distances, distance_rows
from archcalc.reference.scan import Cache
from archcalc.reference.sight import hidden_from_last, hidden_from_sight, needs_mask
from archcalc.reference.windows import window_order


class Stack(nn.Module):
    """Blocks that follow a pattern, and what all of them read: masks, rotations, biases on the scores."""

    def __init__(self, stack: Config, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        self.stack, self.options = stack, options
        self.attentions = attentions_of(stack["parts"].values())
        add_position_table(self, self.attentions, stack["d_model"])
        if stack["once"]:
            words = [stack["parts"][word] for word in stack["once"]]
            self.once = Block(words, {**stack, "parallel": None}, memory_width, options)
        _add_items(self, stack["items"], stack, memory_width, options)
        final = stack["norm"]["final"]
        if final is None:
            final = stack["norm"]["place"] != "post"
        if final:
            add(self, "norm", make_norm(stack["norm"], stack["d_model"]))
        self.dropout = Dropout(stack["dropout"] * bool(final))

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        own_padding: Tensor | None,
        memory_padding: Tensor | None,
        cache: Cache | None,
        start: int,
        vectors: dict[str, Tensor],
    ) -> tuple[Tensor, list[Tensor]]:
        """What comes out, and what entered every block. `vectors` are those that blocks have of their own."""
        read = {"memory": memory, "own padding": own_padding, "memory padding": memory_padding}
        given = {name: tensor for name, tensor in read.items() if tensor is not None} | self.constants(x, start)
        if hasattr(self, "once"):
            (x,) = self.once(list(given), cache, x, *given.values())
        entered: list[Tensor] = []
        turns: dict[str, int] = {}
        for index, block in enumerate(_blocks(self, self.stack["items"])):
            entered.append(x)
            if cache is not None:
                cache.run = index
            given |= of_block(vectors, block.words, turns)
            x = run_block(block, given, cache, x)
        return self.dropout(run(self, "norm", x)), entered

    def constants(self, x: Tensor, start: int) -> dict[str, Tensor]:
        """Made once for all blocks."""
        made = Constants(self, x, start, self.options)
        for part in self.attentions:
            made.add(part)
        return made.given


def add_position_table(parent: nn.Module, attentions: list[Config], width: int) -> None:
    """The one table of distances or angles that all attentions of a stack read, if they do."""
    every = [(part, settings) for part in attentions for settings in part["positions"]]
    for part, settings in every:
        if settings["kind"] == "relative" and settings["per"] == "stack":
            parent.add_module("position", relative_table(part, settings))
        elif settings["kind"] == "disentangled":
            parent.add_module("position", Distances(settings, width))
        elif settings["kind"] == "rope" and settings["stored"]:
            parent.add_module("position", Angles(settings["length"], part["rotated"]))
        elif settings["kind"] == "transformer-xl" and settings["shared"]:
            sizes = part["heads"], part["head_dim"]
            biases = {f"{which}_bias": torch.zeros(sizes) for which in ("content", "position")}
            parent.add_module("position", nn.ParameterDict(biases))


def run_block(block: Block, given: dict[str, Tensor], cache: Cache | None, x: Tensor) -> Tensor:
    """A block, which may be recomputed in the backward pass, whole or op by op. `given` gets what it hands on."""
    needed = {name: one for name, one in given.items() if name in block.reads or not name.startswith(HANDED)}
    again, read = block.options["recompute"], (list(needed), cache, x, *needed.values())
    made = recomputed(block, *read, op_by_op=again == "ops") if again in ("block", "ops") else block(*read)
    given |= dict(zip(block.hands_on, made[1:], strict=True))
    first: Tensor = made[0]
    return first


def _add_items(parent: nn.Module, items: list[Config], stack: Config, memory_width: int, options: Any) -> None:
    """A line of the pattern becomes a block, or a list of equal blocks; a period becomes what holds its lines."""
    for name, item in zip(_names(items), items, strict=True):
        made = [_made(item, stack, memory_width, options) for _ in range(item["times"])]
        parent.add_module(name, one_or_list(made))


def _made(item: Config, stack: Config, memory_width: int, options: Any) -> nn.Module:
    if item["type"] == "line":
        return Block([stack["parts"][word] for word in item["words"]], stack, memory_width, options)
    period = nn.Module()
    _add_items(period, item["items"], stack, memory_width, options)
    return period


def _names(items: list[Config]) -> list[str]:
    """`blocks` if all are equal; else the parts' names, numbered if the same line occurs twice."""
    if len(items) == 1:
        return ["blocks"]
    names = ["-".join(item.get("words", ("period",))) for item in items]
    numbered = [f"{name}-{names[:i].count(name) + 1}" for i, name in enumerate(names)]
    return [name.removesuffix("-1") for name in numbered]


def _blocks(parent: nn.Module, items: list[Config]) -> list[Block]:
    """All blocks in the order they run."""
    found: list[Block] = []
    for name, item in zip(_names(items), items, strict=True):
        for copy in listed(parent.get_submodule(name)):
            calls = [copy] * item.get("calls", 1)
            if item["type"] != "line":
                calls = [block for called in calls for block in _blocks(called, item["items"])]
            found += calls
    return found


class Further(nn.Module):
    """norm(block(projection([norm(hidden); norm(token)]))), and logits by the model's own head or another."""

    def __init__(self, config: Config, stack: Config, options: dict[str, str]) -> None:
        super().__init__()
        self.options, width, settings, norm = options, stack["d_model"], config["head"], stack["norm"]
        if settings["mtp"]["own_tables"]:
            self.tokens = nn.Embedding(stack["vocab"], width)
        for name in ("hidden_norm", "token_norm", *["norm"] * settings["mtp"]["norm"]):
            add(self, name, make_norm(norm, width))
        self.projection = nn.Linear(2 * width, width, bias=False)
        line = settings["mtp"]["line"]
        parts = [stack["parts"][word] for word in (line.split() if line else _last(stack["items"])["words"])]
        self.attentions = attentions_of(parts)
        self.block = Block(parts, stack, width, options)
        add_position_table(self, self.attentions, width)
        if settings["mtp"]["own_tables"] and settings["kind"] != "tied":
            self.head = nn.Linear(width, config["head_vocab"], bias=False)

    def forward(self, x: Tensor, ids: Tensor, table: Tensor, head: Tensor, made: Any) -> tuple[Tensor, Tensor]:
        """What the next one reads, and logits. `made` are the constants that all of them share."""
        if hasattr(self, "tokens"):
            table = self.tokens.weight
        tokens = nn.functional.embedding(ids, table)
        pair = torch.cat((run(self, "hidden_norm", x), run(self, "token_norm", tokens)), dim=-1)
        x = self.projection(pair)
        constants = Constants(self, x, 0, self.options, made)
        for part in self.attentions:
            constants.add(part)
        x = run(self, "norm", run_block(self.block, constants.given, None, x))
        if hasattr(self, "head"):
            return x, self.head(x)
        if hasattr(self, "tokens"):
            head = self.tokens.weight
        return x, nn.functional.linear(x, head)


def make_further(config: Config, stack: Config, options: dict[str, str]) -> nn.Module | None:
    """One, or a list of them."""
    settings = config["head"]["mtp"]
    if not settings:
        return None
    made = [Further(config, stack, options) for _ in range(settings["blocks"])]
    return one_or_list(made)


def predict_further(made: nn.Module, x: Tensor, ids: Tensor, table: Tensor, head: Tensor) -> list[Tensor]:
    """The logits of each: every one reads the token behind the one that the one before it read."""
    found, constants = [], dict[Any, Any]()
    for place, one in enumerate(listed(made), start=1):
        x, logits = one(x, ids.roll(-place, dims=1), table, head, constants)
        found.append(logits)
    return found


def _last(items: list[Config]) -> Config:
    if items[-1]["type"] == "line":
        return items[-1]
    return _last(items[-1]["items"])


class Constants:
    """By name, for every kind of attention; what several kinds share is made once."""

    def __init__(self, stack: nn.Module, x: Tensor, start: int, options: dict[str, str], made: Any = None) -> None:
        self.stack, self.x, self.start, self.length, self.options = stack, x, start, x.shape[1], options
        self.given: dict[str, Tensor] = {}
        self.made: dict[Any, Any] = {} if made is None else made

    def add(self, part: Config) -> None:
        """A mask, and what each of its position encodings needs."""
        sight, device = part["sight"], self.x.device
        if self.start and sight["chunk"]:
            self.given[f"mask {part['name']}"] = hidden_from_last(sight["chunk"], self.start, device)
        elif not self.start and needs_mask(part) and (part.get("indexer") or not is_flash(part, self.options)):
            mask = self._once(str(sight), lambda: hidden_from_sight(sight, self.length, device))
            self.given[f"mask {part['name']}"] = mask
        kinds = {"rope": self._rope, "alibi": self._alibi, "relative": self._relative}
        kinds |= {"disentangled": self._disentangled, "shaw": self._shaw, "transformer-xl": self._segments}
        for settings in part["positions"]:
            kinds[settings["kind"]](part, settings)

    def _once(self, key: Any, make: Any) -> Any:
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _rope(self, part: Config, settings: Config) -> None:
        width, theta = part["rotated"], settings["theta"]
        make: Any = partial(positions.rotations, self.start, self.length, width, theta, self.x)
        if settings["stored"]:
            make = self._looked_up
        elif settings["axes"] > 1:
            make = partial(self._by_side, part, width, theta)
        both = self._once((theta, width, settings["axes"]), make)
        self.given[f"cosines {part['name']}"], self.given[f"sines {part['name']}"] = both

    def _by_side(self, part: Config, width: int, theta: float) -> tuple[Tensor, Tensor]:
        """In the order that the stack's patches stand in."""
        cosines, sines = positions.rotations_by_side(part["patches"], width, theta, self.x)
        of_stack: Any = self.stack
        order = window_order(of_stack.stack, self.x.device)
        if order is None:
            return cosines, sines
        return cosines[order], sines[order]

    def _looked_up(self) -> tuple[Tensor, Tensor]:
        """Both halves of a head alike."""
        sines, cosines = self.stack.get_submodule("position")(self.start, self.length).chunk(2, dim=-1)
        return cosines.repeat(1, 2), sines.repeat(1, 2)

    def _disentangled(self, part: Config, settings: Config) -> None:
        """The stack's table, which is made whether or not a term reads it, and where each distance stands in it."""
        table = self._once("table", self.stack.get_submodule("position"))
        if settings["terms"]:
            rows = self._once("rows", lambda: distance_rows(settings, self.length, self.x.device))
            self.given[f"table {part['name']}"], self.given[f"distances {part['name']}"] = table, rows

    def _shaw(self, part: Config, settings: Config) -> None:
        """The row of every pair's distance, clipped to either side."""
        limit, places = settings["distance"], range(self.start, self.start + self.length)
        make = partial(positions.clipped, places, limit, self.x.device)
        self.given[f"distances {part['name']}"] = self._once(("shaw", limit), make)

    def _segments(self, part: Config, settings: Config) -> None:
        """Sinusoids of all distances, the largest first, and the stack's biases."""
        name, number = part["name"], settings["memory"] + self.start + self.length
        width, make = self.x.shape[-1], positions.sinusoids
        encodings = self._once(("encodings", number), lambda: make(0, number, width, self.x).flip(0))
        self.given[f"encodings {name}"] = encodings
        if settings["shared"]:
            for which in ("content", "position"):
                self.given[f"{which} bias {name}"] = self.stack.get_parameter(f"position.{which}_bias")

    def _alibi(self, part: Config, settings: Config) -> None:
        if not is_flash(part, self.options):
            heads, make = part["heads"], positions.alibi
            bias = self._once(("alibi", heads), lambda: make(heads, self.start, self.length, self.x))
            self.given[f"bias {part['name']}"] = bias

    def _relative(self, part: Config, settings: Config) -> None:
        """In buckets, or on the grid of an image; the stack's table makes a bias of them, or a block's own does."""
        number, causal = settings["buckets"], part["sight"]["causal"]
        sizes = {"causal": causal, "device": self.x.device}
        if number:
            distances = self._once(number, lambda: positions.buckets(self.start, self.length, number, **sizes))
        else:
            distances = self._once("grid", lambda: positions.rows_on_grid(part["patches"], self.x.device))
        if settings["per"] == "block":
            self.given[f"distances {part['name']}"] = distances
        else:
            self.given[f"bias {part['name']}"] = self.stack.get_submodule("position")(distances)
