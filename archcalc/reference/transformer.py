"""Transformers in plain PyTorch: encoder-decoders, encoders, decoders.

`config` is the resolved spec as plain values; `options` choose attention (eager, flash) and recompute (none, core,
block). Modules are named as archcalc names them, with an index where a layer stands more than once.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from archcalc.reference import positions
from archcalc.reference.attention import (
    Attention,
    Cache,
    RelativePositions,
    hidden_from_last,
    hidden_from_sight,
    is_flash,
    needs_mask,
)
from archcalc.reference.embeddings import make_embedding
from archcalc.reference.heads import Head, Pooler
from archcalc.reference.kernel import KernelAttention
from archcalc.reference.layers import Dropout, FeedForward, add, make_norm, run
from archcalc.reference.mla import LatentAttention
from archcalc.reference.moe import Mixture
from archcalc.reference.scans import Mamba, RecurrentUnit

Config = dict[str, Any]
PARTS = {
    "AttentionPart": Attention,
    "LatentPart": LatentAttention,
    "FfnPart": FeedForward,
    "MoePart": Mixture,
    "MambaPart": Mamba,
    "RglruPart": RecurrentUnit,
}
SCANS = ("MambaPart", "RglruPart")
ATTENTIONS = ("AttentionPart", "LatentPart")


class Transformer(nn.Module):
    """`forward` takes one tensor for each stack: ids of shape (batch, seq)."""

    def __init__(self, config: Config, options: dict[str, str]) -> None:
        super().__init__()
        self.stacks = [config[name] for name in ("encoder", "decoder") if config[name]]
        sides = ("source_", "target_") if len(self.stacks) == 2 else ("",)
        self.embeddings = [f"{side}embedding" for side in sides]
        for name, stack in zip(self.embeddings, self.stacks, strict=True):
            self.add_module(name, make_embedding(stack))
            self.add_module(stack["name"], Stack(stack, self.stacks[0]["d_model"], options))
        if self.stacks[-1]["embedding"]["shared"] and len(self.stacks) == 2:
            self.get_submodule("target_embedding.tokens").weight = self.get_submodule("source_embedding.tokens").weight
        tables = self.stacks[-1]["tables"]
        if tables["projects"] and tables["project"] == "tokens":
            self.projection = nn.Linear(self.stacks[-1]["d_model"], tables["width"], bias=tables["project_bias"])
        if config["head"]["kind"] != "none":
            self.head = Head(config, self.stacks[-1])
        elif config["head"]["pooler"]:
            self.pooler = Pooler(config, self.stacks[-1])
        for path, module in self.named_modules():
            if isinstance(module, Attention | LatentAttention | Mamba | RecurrentUnit):
                module.path = path

    def forward(self, *inputs: Tensor, padding: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """Logits. `padding` marks the keys of the first input that are none; `cache` holds what earlier calls kept."""
        start = cache.length if cache is not None else 0
        memory, x = None, inputs[-1]
        for name, stack, given in zip(self.embeddings, self.stacks, inputs, strict=True):
            decodes = stack["name"] == "decoder"
            if start and not decodes:
                continue
            x = self.get_submodule(name)(given, start if decodes else 0)
            own = padding if stack is self.stacks[0] else None
            x = self.get_submodule(stack["name"])(x, memory, own, padding, cache if decodes else None, start)
            memory = x
        if cache is not None:
            cache.length = start + inputs[-1].shape[1]
        return self._head(x)

    def _head(self, x: Tensor) -> Tensor:
        x = run(self, "projection", x)
        if not hasattr(self, "head"):
            return run(self, "pooler", x)
        table = self.get_submodule(self.embeddings[-1])._modules.get("tokens")
        return self.head(x, table.weight if table is not None else None)


def as_attention(part: Config) -> Config:
    """Latent attention has the fields that attention has, under names of its own."""
    if part["type"] != "LatentPart":
        return part
    rope = [part["rope"]] if part["rope"] else []
    said = {"positions": rope, "rotated": part["widths"]["rope"], "softcap": False, "sinks": False, "heads": 0}
    return {**part, **said, "feature": "softmax"}


class Stack(nn.Module):
    """Blocks that follow a pattern, and what all of them read: masks, rotations, biases on the scores."""

    def __init__(self, stack: Config, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        self.stack, self.options = stack, options
        self.attentions = [as_attention(part) for part in stack["parts"].values() if part["type"] in ATTENTIONS]
        relative = [p for part in self.attentions for p in part["positions"] if p["kind"] == "relative"]
        if relative and relative[0]["per"] == "stack":
            heads = next(part["heads"] for part in self.attentions if part["positions"])
            self.position = RelativePositions(relative[0]["buckets"], heads)
        if stack["once"]:
            words = [stack["parts"][word] for word in stack["once"]]
            self.once = Block(words, {**stack, "parallel": None}, memory_width, options)
        _add_items(self, stack["items"], stack, memory_width, options)
        place = stack["norm"]["place"]
        final = stack["norm"]["final"] if stack["norm"]["final"] is not None else place != "post"
        add(self, "norm", make_norm(stack["norm"], stack["d_model"]) if final else None)
        self.dropout = Dropout(stack["dropout"] if final else 0.0)

    def forward(
        self,
        x: Tensor,
        memory: Tensor | None,
        own_padding: Tensor | None,
        memory_padding: Tensor | None,
        cache: Cache | None,
        start: int,
    ) -> Tensor:
        given = {"memory": memory, "own padding": own_padding, "memory padding": memory_padding}
        given |= self._constants(x, start)
        names = [name for name, tensor in given.items() if tensor is not None]
        tensors = [given[name] for name in names]
        x = self.once(names, cache, x, *tensors) if hasattr(self, "once") else x
        for block in _blocks(self, self.stack["items"]):
            if self.options["recompute"] == "block":
                keeps_random = x.device.type != "meta"
                x = checkpoint(block, names, None, x, *tensors, use_reentrant=False, preserve_rng_state=keeps_random)
            else:
                x = block(names, cache, x, *tensors)
        return self.dropout(run(self, "norm", x))

    def _constants(self, x: Tensor, start: int) -> dict[str, Tensor]:
        """Made once for all blocks: a mask, and for each kind of attention its rotations or what is added to scores."""
        given: dict[str, Tensor] = {}
        length = x.shape[1]
        made: dict[Any, Any] = {}
        for part in self.attentions:
            sight, key = part["sight"], str(part["sight"])
            if not start and needs_mask(part) and not is_flash(part, self.options):
                made[key] = made[key] if key in made else hidden_from_sight(sight, length, x.device)
                given[f"mask {part['name']}"] = made[key]
            elif start and sight["chunk"]:
                given[f"mask {part['name']}"] = hidden_from_last(sight["chunk"], start, x.device)
            for said in part["positions"]:
                self._add_positions(given, made, part, said, x, start)
        return given

    def _add_positions(self, given: Any, made: Any, part: Config, said: Config, x: Tensor, start: int) -> None:
        name, length = part["name"], x.shape[1]
        if said["kind"] == "rope":
            key = (said["theta"], part["rotated"])
            made[key] = made.get(key) or positions.rotations(start, length, part["rotated"], said["theta"], x)
            given[f"cosines {name}"], given[f"sines {name}"] = made[key]
        elif said["kind"] == "alibi":
            given[f"bias {name}"] = positions.alibi(part["heads"], start, length, x)
        elif said["kind"] == "relative":
            key = said["buckets"]
            if key not in made:
                causal = part["sight"]["causal"]
                made[key] = positions.buckets(start, length, key, causal=causal, device=x.device)
            if said["per"] == "stack":
                given[f"bias {name}"] = self.position(made[key])
            else:
                given[f"distances {name}"] = made[key]


def _add_items(parent: nn.Module, items: list[Config], stack: Config, memory_width: int, options: Any) -> None:
    """A line of the pattern becomes a block, or a list of equal blocks; a period becomes what holds its lines."""
    for name, item in zip(_names(items), items, strict=True):
        made = [_made(item, stack, memory_width, options) for _ in range(item["times"])]
        parent.add_module(name, made[0] if len(made) == 1 else nn.ModuleList(made))


def _made(item: Config, stack: Config, memory_width: int, options: Any) -> nn.Module:
    if item["type"] == "Line":
        return Block([stack["parts"][word] for word in item["words"]], stack, memory_width, options)
    period = nn.Module()
    _add_items(period, item["items"], stack, memory_width, options)
    return period


def _names(items: list[Config]) -> list[str]:
    """`blocks` where all are equal; else the parts' names, counted where the same line stands twice."""
    if len(items) == 1:
        return ["blocks"]
    names = ["-".join(item["words"]) if item["type"] == "Line" else "period" for item in items]
    return [f"{name}-{names[:i].count(name) + 1}" if name in names[:i] else name for i, name in enumerate(names)]


def _blocks(parent: nn.Module, items: list[Config]) -> list[Block]:
    """All blocks in the order they run."""
    found: list[Block] = []
    for name, item in zip(_names(items), items, strict=True):
        child = parent._modules[name]
        copies = list(child) if isinstance(child, nn.ModuleList) else [child]
        copies = [copy for copy in copies for _ in range(item.get("calls", 1))]
        found += copies if item["type"] == "Line" else [b for copy in copies for b in _blocks(copy, item["items"])]
    return found


class Block(nn.Module):
    """x + part(x) for each part, with norms before, after, or around; or all parts beside each other."""

    def __init__(self, parts: list[Config], stack: Config, memory_width: int, options: dict[str, str]) -> None:
        super().__init__()
        d_model, self.parallel = stack["d_model"], stack["parallel"]
        parallel = self.parallel
        self.steps: list[tuple[str, str]] = []
        for index, part in enumerate(parts):
            earlier = sum(other["name"] == part["name"] for other in parts[:index])
            name = f"{part['name']}_{earlier + 1}" if earlier else part["name"]
            place = part["norm"]["place"]
            self.steps.append((name, place))
            arguments = (memory_width, options) if part["type"] in ATTENTIONS else ()
            kernel = part["type"] == "AttentionPart" and part["feature"] != "softmax"
            kind = KernelAttention if kernel else PARTS[part["type"]]
            self.add_module(name, kind(part, d_model, *arguments))
            own = parallel != "shared" and (parallel == "separate" or place != "out")
            add(self, f"{name}_norm", make_norm(part["norm"], d_model) if own else None)
            add(self, f"{name}_norm_out", make_norm(part["norm"], d_model) if place in ("out", "sandwich") else None)
            add(self, f"{name}_scale", Scale(d_model) if part["layer_scale"] else None)
        add(self, "norm", make_norm(parts[0]["norm"], d_model) if parallel == "shared" else None)
        self.dropout = Dropout(parts[0]["dropout"])

    def forward(self, names: list[str], cache: Cache | None, x: Tensor, *tensors: Tensor) -> Tensor:
        given = dict(zip(names, tensors, strict=True))
        if self.parallel:
            return self._beside_each_other(x, given, cache)
        for name, place in self.steps:
            branch = run(self, f"{name}_norm", x) if place in ("pre", "sandwich") else x
            x = x + self._branch(name, branch, given, cache)
            x = run(self, f"{name}_norm", x) if place == "post" else x
        return x

    def _beside_each_other(self, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> Tensor:
        """Every part reads the same x, through one norm for all or one each."""
        shared = run(self, "norm", x)
        return x + sum(self._branch(name, run(self, f"{name}_norm", shared), given, cache) for name, _ in self.steps)

    def _branch(self, name: str, x: Tensor, given: dict[str, Tensor], cache: Cache | None) -> Tensor:
        branch = run(self, f"{name}_scale", self._modules[name](x, given, cache))
        return run(self, f"{name}_norm_out", self.dropout(branch))


class Scale(nn.Module):
    """A learned vector on a branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def build(config: Config, options: dict[str, str]) -> Transformer:
    """The model of a resolved spec."""
    return Transformer(config, options)


def inputs(config: Config, batch: int, lengths: dict[str, int], device: str) -> list[Tensor]:
    """Random ids or images for each stack."""
    stacks = [config[name] for name in ("encoder", "decoder") if config[name]]
    sizes = zip(stacks, lengths.values(), strict=True)
    return [_random_input(stack, batch, length, device) for stack, length in sizes]


def _random_input(stack: Config, batch: int, length: int, device: str) -> Tensor:
    if stack["audio"]:
        frames = length * math.prod(stack["audio"]["strides"])
        return torch.rand(batch, frames, stack["audio"]["mels"], device=device)
    if not stack["patches"]:
        return torch.randint(stack["vocab"], (batch, length), device=device)
    return torch.rand(batch, stack["patches"]["channels"], *stack["patches"]["image"], device=device)


def loss(config: Config, output: Tensor, given: list[Tensor]) -> Tensor:
    """Cross-entropy with random targets; the sum where there is no head."""
    if config["head"]["kind"] == "none":
        return output.sum()
    targets = torch.randint(output.shape[-1], output.shape[:-1], device=output.device)
    return nn.functional.cross_entropy(output.flatten(0, -2), targets.flatten())


def decode_step(config: Config, model: nn.Module, given: list[Tensor]) -> tuple[Any, Cache]:
    """Run all tokens but the last, then give out what runs the last one, and the cache it fills."""
    cache = Cache()
    with torch.no_grad():
        model(*given[:-1], given[-1][:, :-1], cache=cache)
    return (lambda: model(*given[:-1], given[-1][:, -1:], cache=cache)), cache


def kept_tensors(cache: Cache) -> list[Tensor]:
    """Keys and values of all layers."""
    return list(cache.values())


def properties(config: Config, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
    """What must hold of the numbers themselves, on real data in double precision."""
    with torch.no_grad():
        output = model(*given)
        found = {"finite": bool(output.isfinite().all())}
        by_position = config["head"]["kind"] != "classifier" or config["head"]["pool"] == "each"
        if config["decoder"] and by_position:
            found["a later token changes no earlier output"] = _is_causal(model, given, output)
            step, _ = decode_step(config, model, given)
            found["one token at a time gives the same"] = bool(torch.allclose(step()[:, 0], output[:, -1]))
        pooled = config["head"]["kind"] == "classifier" and config["head"]["pool"] in ("mean", "last")
        takes_padding = config["encoder"] and not (config["encoder"]["patches"] or config["encoder"]["audio"])
        if takes_padding and not (pooled and not config["decoder"]):
            found["padding changes nothing"] = _ignores_padding(model, given, output)
    return found


def _is_causal(model: nn.Module, given: list[Tensor], output: Tensor) -> bool:
    other = given[-1].clone()
    other[:, -1] = (other[:, -1] + 1) % (int(other.max()) + 1)
    return bool(torch.allclose(model(*given[:-1], other)[:, :-1], output[:, :-1]))


def _ignores_padding(model: nn.Module, given: list[Tensor], output: Tensor) -> bool:
    """Two more tokens behind the first sequence, marked as none."""
    padded = torch.cat((given[0], given[0][:, :2]), dim=1)
    hidden = torch.zeros(padded.shape[0], 1, 1, padded.shape[1], dtype=torch.bool)
    hidden[..., given[0].shape[1] :] = True
    found = model(padded, *given[1:], padding=hidden)
    return bool(torch.allclose(found[:, : output.shape[1]] if found.shape != output.shape else found, output))


def recomputes(attention: str) -> tuple[str, ...]:
    """What can be computed again in the backward pass: blocks, or eager attention's core, which flash never stores."""
    return ("none", "block", "core") if attention == "eager" else ("none", "block")


def attentions(config: Config) -> tuple[str, ...]:
    """The ways attention can be computed: the flash kernel too where one of the attentions can take it."""
    parts = _parts(config)
    looking = [as_attention(part) for part in parts if part["type"] in ATTENTIONS]
    flash = any(is_flash(part, {"attention": "flash"}) for part in looking)
    flash = flash and not any(map(_has_uneven_widths, looking))
    return ("eager", "flash") if flash else ("eager",)


def _has_uneven_widths(part: Config) -> bool:
    """PyTorch's flash kernel wants keys and values of one width."""
    widths = part.get("widths")
    return bool(widths) and widths["nope"] + widths["rope"] != widths["value"]


def compared(config: Config) -> tuple[str, ...]:
    """Of training, what PyTorch's reference can be asked: a loop over positions keeps every state, as no kernel would,
    and FlopCounterMode counts too much in the backward pass of a convolution by channel."""
    parts = _parts(config)
    if any(part["type"] in SCANS for part in parts):
        return ("forward",)
    looking = [part for part in parts if part["type"] == "AttentionPart"]
    loops = any(part["feature"] != "softmax" and part["sight"]["causal"] for part in looking)
    return ("forward", "backward") if loops else ("forward", "backward", "saved")


def unknown(config: Config) -> str:
    """A part that has no reference, or nothing."""
    for part in _parts(config):
        second = part["type"] == "MambaPart" and part["layer"]["type"] != "Mamba"
        if part["type"] not in PARTS or second:
            return {"DeltaPart": "delta nets", "ConvPart": "convolutions"}.get(part["type"], str(part["name"]))
        if any(said["kind"] == "disentangled" for said in part.get("positions", ())):
            return "disentangled positions"
    return ""


def _parts(config: Config) -> list[Config]:
    return [part for name in ("encoder", "decoder") if config[name] for part in config[name]["parts"].values()]


def decodes(config: Config) -> bool:
    """Whether it makes tokens one by one."""
    return bool(config["decoder"])


def randomise(model: nn.Module) -> None:
    """Positions and biases start at zero, which would hide mistakes: every parameter gets random values."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.2)
