"""The modules of the families as parts of a larger model: what each reads, gives out, and keeps for the next token."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.family import cross_entropy
from archcalc.reference.network import Sequence
from archcalc.reference.part_signals import Signal
from archcalc.reference.recurrent import Recurrent
from archcalc.reference.recurrent_layers import Made
from archcalc.reference.scan import Cache
from archcalc.reference.transformer import Transformer

FRAMES = len(("samples", "channels", "frames"))


@dataclass
class Given:
    """What a part reads, by name, and what is handed to it beside that."""

    reads: dict[str, Signal]
    memory: Signal | None = None
    start: Signal | None = None
    context: Signal | None = None


@dataclass
class Answered:
    """`outputs` are what the next part reads, `answers` what a loss is taken of."""

    outputs: Tensor
    answers: list[Tensor] = field(default_factory=list)
    number: int = 1
    states: Made | None = None
    is_map: bool = False

    def signal(self, given: Given) -> Signal:
        """Positions of an image remain those of which so many are kept."""
        first = next(iter(given.reads.values()))
        is_sequence = self.outputs.dim() == FRAMES and self.number == first.number and not self.is_map
        kept = first.kept if is_sequence and len(given.reads) == 1 else 0
        return Signal(self.outputs, self.number, states=self.states, kept=kept, is_map=self.is_map)


class TransformerPart(Transformer):
    """Tokens, an image, a recording, or positions of other parts, which stand before the tokens."""

    def __init__(self, part: Config, options: dict[str, str]) -> None:
        super().__init__(part["resolved"], options, part["memory_width"])

    def forward(self, given: Given, kept: Cache | None = None) -> Answered:  # type: ignore[override]
        signals = [one.together() for one in given.reads.values()]
        number = signals[0].number if len(signals) == 1 else 1
        samples = signals[0].tensor.shape[0] // (signals[0].number // number)
        read = self._read(signals, samples)
        memory = [given.memory.as_positions(samples).contiguous()] if given.memory else []
        found = super().forward(*memory, read, cache=kept)
        answers = list(found) if isinstance(found, tuple) else [found]
        return Answered(answers[0], answers, number)

    def _read(self, signals: list[Signal], samples: int) -> Any:
        """Tokens last; of a map the frames of a recording are its positions."""
        if len(signals) > 1:
            ids = tuple(one.tensor for one in signals if one.is_ids)
            return (*(one.as_positions(samples) for one in signals if not one.is_ids), *ids)
        (only,), (stack,) = signals, self.stacks
        if stack["audio"]:
            return only.tensor.transpose(1, 2) if only.tensor.dim() == FRAMES else only.tensor
        if stack["embedding"]["kind"] == "vectors":
            return only.as_positions(samples).contiguous()
        return only.tensor

    @staticmethod
    def rows(resolved: Config) -> Iterator[int]:
        yield from (resolved[name]["vocab"] for name in ("encoder", "decoder") if resolved[name])

    @staticmethod
    def decodes(resolved: Config) -> bool:
        """Each token by itself behind those before it."""
        head = resolved["head"]
        return bool(resolved["decoder"]) and not (head["pooler"] or head["pool"] not in (None, "each"))

    @staticmethod
    def empty() -> Cache:
        return Cache()

    @staticmethod
    def kept(cache: Cache) -> list[Tensor]:
        return cache.tensors()


class RecurrentPart(Recurrent):
    """It may start from another one's last states or from a vector, attend to a memory, and read a vector at each step
    beside its input."""

    def __init__(self, part: Config, options: dict[str, str]) -> None:
        super().__init__(part["resolved"])

    def forward(self, given: Given, kept: dict[str, Any] | None = None) -> Answered:  # type: ignore[override]
        (read,) = (one.together() for one in given.reads.values())
        x = self._embedded(0, read.along_its_side()).contiguous()
        made = self._layers(0)(x, self._start(given), kept, *self._beside(given, kept, read.tensor.shape[0]))
        found = self._answer(made)
        return Answered(found, [found], read.number, made)

    def _start(self, given: Given) -> Any:
        """A recurrent part ends in states; of one that pools, and of any other part, a vector is the first h."""
        if given.start is None:
            return None
        is_vector = given.start.tensor.dim() == len(("samples", "features"))
        return given.start.tensor if is_vector else given.start.states

    def _beside(self, given: Given, kept: dict[str, Any] | None, samples: int) -> list[Tensor]:
        """What is looked at, or read at each step; the first token's for all others."""
        if kept and "beside" in kept:
            return list(kept["beside"])
        found = []
        if given.memory is not None:
            found = [given.memory.as_positions(samples).contiguous()]
        elif given.context is not None:
            found = [given.context.tensor]
        if kept is not None:
            kept["beside"] = found
        return found

    @staticmethod
    def rows(resolved: Config) -> Iterator[int]:
        yield from (stack["vocab"] for stack in resolved["stacks"] if stack["vocab"])

    @staticmethod
    def decodes(resolved: Config) -> bool:
        (stack,) = resolved["stacks"]
        ahead = any(group["layer"]["directions"] > 1 for group in stack["layers"])
        return not ahead and not resolved["head"]["pool"]

    @staticmethod
    def empty() -> dict[str, Any]:
        return {}

    @staticmethod
    def kept(cache: dict[str, Any]) -> list[Tensor]:
        return list(cache["tensors"])


class NetworkPart(Sequence):
    """Layers that read the first signal, and may name all of them."""

    def __init__(self, part: Config, options: dict[str, str]) -> None:
        super().__init__(part["resolved"]["body"], options)
        self.reads_together = part["links"]["together"]
        (self.output,) = part["resolved"]["outputs"]

    def forward(self, given: Given, kept: Any = None) -> Answered:  # type: ignore[override]
        reads = given.reads
        if self.reads_together or len({one.number for one in reads.values()}) > 1:
            reads = {name: one.together() for name, one in reads.items()}
        first = next(iter(reads.values()))
        found = super().forward(first.tensor, {name: one.tensor for name, one in reads.items()})
        is_map = bool(self.output["sides"]) and not self.output["is_sequence"]
        return Answered(found, [found], first.number, is_map=is_map)

    @staticmethod
    def rows(resolved: Config) -> Iterator[int]:
        yield from (each["vocab"] for each in _configs(resolved["body"]) if "vocab" in each)

    @staticmethod
    def decodes(resolved: Config) -> bool:
        """Layers that look at each position by itself need nothing of those before it."""
        return all(_looks_at_one(each) for each in _configs(resolved["body"]) if "type" in each)

    @staticmethod
    def empty() -> dict[str, Any]:
        return {}

    @staticmethod
    def kept(cache: dict[str, Any]) -> list[Tensor]:
        return []


def _looks_at_one(layer: Config) -> bool:
    if layer["type"] == "norm":
        return layer["kind"] == "layer" and not layer["over_all"]
    if layer["type"] == "join":
        return not layer["axis"]
    return layer["type"] in ("sequence", "linear", "act", "dropout", "embedding", "scale", "residual")


def _configs(value: Any) -> Iterator[Config]:
    """Every mapping inside."""
    if isinstance(value, dict):
        yield value
    inner = list(value.values()) if isinstance(value, dict) else value
    for each in inner if isinstance(inner, list) else ():
        yield from _configs(each)


KINDS: dict[str, Any] = {"transformer": TransformerPart, "recurrent": RecurrentPart, "network": NetworkPart}


def loss_of(part: Config, answers: list[Tensor], said: str | None, *, alone: bool) -> Tensor:
    """Of heads; of a list of layers where nothing else is an output; of any output where the spec says so."""
    config = part["resolved"]
    if part["family"] == "network":
        of_list = config["loss"] == "cross_entropy" and (alone or said)
        predicts: Any = {"kind": "lm" if of_list or said == "cross_entropy" else "none"}
    else:
        predicts = config["head"] if said is None or config["head"]["kind"] != "none" else {"kind": "lm"}
    if said == "none":
        predicts = {"kind": "none"}
    return torch.stack([cross_entropy(predicts, _classes_last(part, one)) for one in answers]).sum()


def _classes_last(part: Config, answer: Tensor) -> Tensor:
    """A map has its channels first."""
    return answer.movedim(1, -1) if answer.dim() > FRAMES else answer


def share(first: nn.Module, second: nn.Module) -> None:
    """The second uses the parameters and buffers of the first."""
    for path, module in second.named_modules():
        other = first.get_submodule(path)
        module._parameters.update(other._parameters)
        module._buffers.update(other._buffers)
