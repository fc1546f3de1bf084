"""Models of several parts in plain PyTorch: each the module of its family, under its own name."""

from collections.abc import Callable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import is_flash, misfit
from archcalc.reference.block import attentions_of, parts_of
from archcalc.reference.family import Family, decodes_alike, is_causal
from archcalc.reference.part_kinds import KINDS, Given, loss_of, share
from archcalc.reference.part_signals import Input, Signal
from archcalc.reference.unsaid import worked_out

EAGER = {"attention": "eager", "recompute": "none"}
BESIDE = ("memory", "start", "context")


class Similarity(nn.Module):
    """Cosines of each of the one with each of the other, times a factor that is kept as its logarithm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.zeros(1))
        if config["bias"]:
            self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, one: Tensor, other: Tensor) -> Tensor:
        first, second = (each / each.square().sum(dim=-1, keepdim=True).sqrt() for each in (one, other))
        scores = (first @ second.T) * self.scale.exp()
        if hasattr(self, "bias"):
            scores = scores + self.bias
        return scores


class Parts(nn.Module):
    """`forward` takes a tensor for each input, and gives the answers of each part that no other one reads."""

    def __init__(self, config: Config, options: dict[str, str]) -> None:
        super().__init__()
        self.config, self.inputs, self.missing = config, read_inputs(config), missing(config)
        for part in config["parts"]:
            made = KINDS[part["family"]](part, options)
            self.add_module(part["name"], made)
            if part["links"]["like"]:
                share(self.get_submodule(part["links"]["like"]), made)
        if config["similarity"]:
            self.similarity = Similarity(config["similarity"])
        for path, module in self.named_modules():
            if hasattr(module, "path"):
                module.path = path

    def forward(self, *given: Tensor, kept: dict[str, Any] | None = None) -> list[list[Tensor]]:
        """`kept` is what earlier tokens left behind in each part: with it only the parts run that read the last one."""
        signals = self.entered(given)
        if kept:
            name = last_tokens(self.inputs)
            signals = {name: signals[name]}
        answers = self.run(signals, kept)
        if self.config["similarity"]:
            answers.append([self.similarity(*(signals[name].tensor for name in self.config["similarity"]["of"]))])
        return answers

    def entered(self, given: Any) -> dict[str, Signal]:
        named = zip(self.inputs.items(), given, strict=True)
        return {name: Signal.of(tensor, one) for (name, one), tensor in named if one.number}

    def run(self, signals: dict[str, Signal], kept: dict[str, Any] | None = None) -> list[list[Tensor]]:
        """The parts whose inputs are there; of a later token, those that read anything that it changes."""
        answers, later = [], bool(kept)
        keep = decoding(self.config) if kept is not None else set()
        for part in self.config["parts"]:
            links, module = part["links"], self.get_submodule(part["name"])
            there = {name: signals[name] for name in links["reads"] if name in signals}
            needed = [name for name in links["reads"] if name not in self.missing]
            if part["name"] in self.missing or len(there) < (1 if later else len(needed)):
                continue
            own = kept.setdefault(part["name"], module.empty()) if kept is not None and part["name"] in keep else None
            handed = Given(there, *(signals.get(links[link] or "") for link in BESIDE))
            made = module(handed, own)
            signals[part["name"]] = made.signal(handed)
            if part["is_output"]:
                answers.append(made.answers)
        return answers


def read_inputs(config: Config) -> dict[str, Input]:
    return {name: Input.of(written) for name, written in config["inputs"].items()}


def missing(config: Config) -> set[str]:
    """Inputs of which there are none, and the parts that read nothing else."""
    found = {name for name, one in read_inputs(config).items() if not one.number}
    for part in config["parts"]:
        if set(part["links"]["reads"]) <= found:
            found.add(part["name"])
    return found


def last_tokens(inputs: dict[str, Input]) -> str:
    """The input that is decoded, if any is."""
    return next((name for name, one in reversed(inputs.items()) if one.is_open), "")


def decoding(config: Config) -> set[str]:
    """The parts that run for each further token: those that read it, and what they give."""
    found = {last_tokens(read_inputs(config))}
    for part in config["parts"]:
        if found & set(part["links"]["reads"]):
            found.add(part["name"])
    return found


class Composed(Family):
    """All of them."""

    def __init__(self, config: Config) -> None:
        super().__init__({**config, "parts": [_with_sizes(part) for part in config["parts"]]})

    def build(self, options: dict[str, str]) -> Parts:
        return Parts(self.config, options)

    @cached_property
    def several(self) -> dict[str, Input]:
        return read_inputs(self.config)

    @cached_property
    def _beside(self) -> dict[Any, int]:
        """What was counted already."""
        return {}

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        """Tokens are those of a whole sequence that other parts leave."""
        sizes = {name: one.usual for name, one in self.several.items()}
        named = [name for name, one in self.several.items() if one.is_open]
        for name, length in zip(named, lengths.values(), strict=False):
            sizes[name] = length - self._positions_beside(name, sizes)
        return [one.drawn(batch, sizes[name], self._rows(name), device) for name, one in self.several.items()]

    def _rows(self, name: str) -> int:
        """Of the smallest table in which the ids of an input are looked up."""
        tables = (KINDS[part["family"]].rows(part["resolved"]) for part in self._readers(name))
        return min(chain.from_iterable(tables), default=1)

    def _readers(self, name: str) -> Iterator[Config]:
        yield from (part for part in self.config["parts"] if name in part["links"]["reads"])

    def _positions_beside(self, name: str, sizes: dict[str, int]) -> int:
        """Positions of other parts in one sequence with these tokens: as many as those parts make."""
        joined = [part["links"]["reads"] for part in self._readers(name) if part["family"] == "transformer"]
        if all(len(reads) == 1 for reads in joined):
            return 0
        key = (name, *sizes.values())
        if key not in self._beside:
            signals = self._without(name, sizes)
            each = (sum(_positions(signals[one]) for one in reads if one in signals) for reads in joined)
            self._beside[key] = max(each)
        return self._beside[key]

    def _without(self, name: str, sizes: dict[str, int]) -> dict[str, Signal]:
        """All that is there without these tokens."""
        with torch.device("meta"), torch.no_grad():
            model, meta = Parts(self.config, EAGER).eval(), torch.device("meta")
            signals = model.entered([one.drawn(1, sizes[each], 1, meta) for each, one in self.several.items()])
            del signals[name]
            model.run(signals)
        return signals

    def loss(self, output: list[list[Tensor]], given: list[Tensor]) -> Tensor:
        """Of every output, and of a comparison both ways."""
        said, outputs = self.config["loss"], [part for part in self.config["parts"] if part["is_output"]]
        every = zip(outputs, output, strict=False)
        found = [loss_of(part, answers, said, alone=len(outputs) == 1) for part, answers in every]
        if self.config["similarity"]:
            found.append(_compared(output[-1][0], said))
        return torch.stack(found).sum()

    def _blocks(self) -> list[Config]:
        """What the blocks of all Transformers are made of."""
        stacks = [part["resolved"] for part in self.config["parts"] if part["family"] == "transformer"]
        return [part for stack in stacks for part in parts_of(stack)]

    def broken(self) -> str:
        normed = [part for part in self._blocks() if part.get("qk_norm")]
        return next(filter(None, (misfit(part) for part in normed)), "")

    def attentions(self) -> tuple[str, ...]:
        """The flash kernel too where one of the attentions can take it."""
        looking = attentions_of(self._blocks())
        if any(is_flash(part, {"attention": "flash"}) for part in looking):
            return ("eager", "flash")
        return ("eager" if looking else "",)

    def recomputes(self, attention: str) -> tuple[str, ...]:
        """Blocks, whole or op by op where all are of Transformers, or eager attention's core."""
        families = {part["family"] for part in self.config["parts"]}
        if families == {"recurrent"}:
            return ("none",)
        return ("none", "block", "ops", "core") if attention == "eager" else ("none", "block", "ops")

    def decodes(self) -> bool:
        """Not if a part has to read what follows, and not if none keeps anything."""
        runs = [part for part in self.config["parts"] if part["name"] in decoding(self.config)]
        keeps = any(part["family"] != "network" for part in runs)
        return keeps and all(KINDS[part["family"]].decodes(part["resolved"]) for part in runs)

    def decode_step(self, model: nn.Module, given: list[Tensor]) -> tuple[Callable[[], Any], dict[str, Any]]:
        kept: dict[str, Any] = {}
        place = list(self.several).index(last_tokens(self.several))
        with torch.no_grad():
            model(*given[:place], given[place][:, :-1], *given[place + 1 :], kept=kept)
        last = (*given[:place], given[place][:, -1:], *given[place + 1 :])
        return (lambda: model(*last, kept=kept)), kept

    def kept_tensors(self, kept: dict[str, Any]) -> list[Tensor]:
        families = {part["name"]: KINDS[part["family"]] for part in self.config["parts"]}
        return [tensor for name, own in kept.items() for tensor in families[name].kept(own)]

    def properties(self, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
        with torch.no_grad():
            output = model(*given)
            found = {"finite": all(bool(one.isfinite().all()) for one in chain.from_iterable(output))}
            if self.decodes():
                place = list(self.several).index(last_tokens(self.several))
                inputs = (*given[:place], *given[place + 1 :], given[place])
                whole = self._predicted(output)

                def ask(*inputs: Tensor) -> Tensor:
                    *others, tokens = inputs
                    return self._predicted(model(*others[:place], tokens, *others[place:]))

                found["a later token changes no earlier output"] = is_causal(ask, list(inputs), whole)
                last = self._predicted(self.decode_step(model, given)[0](), later=True)
                found["one token at a time gives the same"] = decodes_alike(last, whole)
        return found

    def _predicted(self, output: list[list[Tensor]], *, later: bool = False) -> Tensor:
        """What is said of each token; of a later one, only the parts that it runs through answer."""
        runs, outputs = decoding(self.config), [part["name"] for part in self.config["parts"] if part["is_output"]]
        named = zip([name for name in outputs if name in runs] if later else outputs, output, strict=False)
        return next(answers[0] for name, answers in named if name in runs)


def _with_sizes(part: Config) -> Config:
    """A Transformer with the sizes that its spec leaves out."""
    if part["family"] != "transformer":
        return part
    return {**part, "resolved": worked_out(part["resolved"])}


def _positions(signal: Signal) -> int:
    """How many it takes in a sequence: a vector is one."""
    return signal.as_positions(signal.samples).shape[1]


def _compared(scores: Tensor, said: str | None) -> Tensor:
    """Each sample's own score is to be the largest of its row, and of its column."""
    if said == "none":
        return scores.sum()
    both = [
        nn.functional.cross_entropy(each, torch.arange(len(each), device=each.device)) for each in (scores, scores.T)
    ]
    return torch.stack(both).sum()


FAMILY = Composed
