"""Transformers in plain PyTorch: encoder-decoders, encoders, decoders.

Modules are named as archcalc names them, with an index where a layer stands more than once.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.attention import is_flash, misfit
from archcalc.reference.audio import samples_for
from archcalc.reference.block import attentions_of, parts_of
from archcalc.reference.embeddings import make_embedding
from archcalc.reference.family import Family, cross_entropy, decodes_alike, is_causal
from archcalc.reference.heads import Head, Probe, make_pooler
from archcalc.reference.layers import add, run
from archcalc.reference.per_layer import add_tables, vectors_of
from archcalc.reference.scan import Cache
from archcalc.reference.stack import Stack, make_further, predict_further
from archcalc.reference.unsaid import worked_out

EMBEDDINGS = {1: ("embedding",), 2: ("source_embedding", "target_embedding")}  # by the number of stacks


class Transformer(nn.Module):
    """`forward` takes one tensor for each stack: ids of shape (batch, seq). A lone decoder may attend to a memory of
    another width."""

    def __init__(self, config: Config, options: dict[str, str], memory_width: int = 0) -> None:
        super().__init__()
        config = worked_out(config)
        self.stacks = [config[name] for name in ("encoder", "decoder") if config[name]]
        self.embeddings = EMBEDDINGS[len(self.stacks)]
        for name, stack in zip(self.embeddings, self.stacks, strict=True):
            self.add_module(name, make_embedding(stack))
            add_tables(self, name, stack)
            self.add_module(stack["name"], Stack(stack, memory_width or self.stacks[0]["d_model"], options))
        spares = [made for made in map(self.get_submodule, self.embeddings) if hasattr(made, "spare")]
        for second in spares[1:]:  # one for the whole model
            del second.spare
        if self.stacks[-1]["embedding"]["shared"] and len(self.stacks) == 2:
            self.get_submodule("target_embedding.tokens").weight = self.get_submodule("source_embedding.tokens").weight
        tables = self.stacks[-1]["tables"]
        if tables["projects"] and tables["project"] == "tokens":
            self.projection = nn.Linear(self.stacks[-1]["d_model"], tables["width"], bias=tables["project_bias"])
        first, second = config["head"], config["head"]["beside"]
        pools = second if second and second["kind"] == "none" else first  # a second head may be a pooler alone
        add(self, "pooler", make_pooler(pools, self.stacks[-1], options))
        for name, settings in (("head", first), ("second_head", second)):
            if settings and settings["kind"] != "none":
                self.add_module(name, Head(settings, self.stacks[-1], config["head_vocab"]))
        add(self, "mtp", make_further(config, self.stacks[-1], options))
        if config["spare"]:
            self.spare = nn.ParameterDict({name: torch.zeros(sizes) for name, sizes in config["spare"].items()})
        for path, module in self.named_modules():
            if hasattr(module, "path"):
                module.path = path

    def forward(self, *inputs: Tensor, padding: Tensor | None = None, cache: Cache | None = None) -> Any:
        """Logits, of each head where there are two, in training those of tokens further ahead too.

        `padding` marks the keys of the first input that are none; `cache` holds what earlier calls kept. A memory that
        is no encoder's stands in front of the inputs.
        """
        start = cache.length if cache is not None else 0
        x, entered = self._through_stacks(inputs, padding, cache, start)
        if cache is not None:
            cache.length = start + x.shape[1]
        table = getattr(self.get_submodule(self.embeddings[-1])._modules.get("tokens"), "weight", None)
        answers = self._answers(entered, x, table)
        if self.training and hasattr(self, "mtp"):
            assert table is not None
            head: Any = self.get_submodule("head")
            matrix = table
            if head.settings["kind"] != "tied":
                matrix = head.weight
            answers += predict_further(self.get_submodule("mtp"), x, inputs[-1], table, matrix)
        if len(answers) == 1:
            return answers[0]
        return tuple(answers)

    def _through_stacks(
        self, inputs: tuple[Tensor, ...], padding: Tensor | None, cache: Cache | None, start: int
    ) -> tuple[Tensor, list[Tensor]]:
        """What the last stack gives out, and what entered each of its blocks."""
        *memories, x = (None, *inputs[: -len(self.stacks)], inputs[-1])
        memory, entered = memories[-1], []
        for name, stack, given in zip(self.embeddings, self.stacks, inputs[-len(self.stacks) :], strict=True):
            decodes = stack["name"] == "decoder"
            if start and not decodes:
                continue
            x = self.get_submodule(name)(given, start * decodes)
            vectors = vectors_of(self, name, stack, given, x)
            own = padding if stack is self.stacks[0] else None
            kept = cache if decodes else None
            x, entered = self.get_submodule(stack["name"])(x, memory, own, padding, kept, start, vectors)
            memory = x
        return x, entered

    def _answers(self, entered: list[Tensor], x: Tensor, table: Tensor | None) -> list[Tensor]:
        """A pooler beside a head is run and not asked; one that looks by itself pools for the head."""
        x = run(self, "projection", x)
        pooled = run(self, "pooler", x)
        if isinstance(self._modules.get("pooler"), Probe):
            x = pooled
        heads = [module for name in ("head", "second_head") if (module := self._modules.get(name))]
        return [head([*entered, x], table) for head in heads] or [pooled]


class Transformers(Family):
    """All of them."""

    def __init__(self, config: Config) -> None:
        super().__init__(worked_out(config))

    def build(self, options: dict[str, str]) -> Transformer:
        return Transformer(self.config, options)

    @property
    def stacks(self) -> list[Config]:
        """An encoder, a decoder, or both."""
        return [self.config[name] for name in ("encoder", "decoder") if self.config[name]]

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        sizes = list(zip(self.stacks, lengths.values(), strict=True))
        memory = {part["memory"] for part in parts_of(self.config) if part.get("memory")}
        read = [torch.rand(batch, sizes[-1][1], width, device=device) for width in memory]
        for stack, length in sizes:
            audio, patches = stack["audio"], stack["patches"]
            if audio:
                channels = [] if audio["samples"] else [audio["mels"]]
                read.append(torch.rand(batch, samples_for(audio["convs"], length), *channels, device=device))
            elif patches:
                clip = [patches["frames"]] * (patches["frames"] > 1)
                read.append(torch.rand(batch, patches["channels"], *clip, *patches["image"], device=device))
            elif stack["embedding"]["kind"] == "vectors":
                read.append(torch.rand(batch, length, stack["d_model"], device=device))
            else:
                read.append(torch.randint(stack["vocab"], (batch, length), device=device))
        return read

    def loss(self, output: Any, given: list[Tensor]) -> Tensor:
        """Of every head, and of tokens further ahead, added up."""
        return torch.stack([cross_entropy(self.config["head"], one) for one in _each(output)]).sum()

    def broken(self) -> str:
        """Norms of queries and keys that some classes make of another width than what they norm."""
        normed = [part for part in parts_of(self.config) if part.get("qk_norm")]
        return next(filter(None, (misfit(part) for part in normed)), "")

    def attentions(self) -> tuple[str, ...]:
        """The flash kernel too where one of the attentions can take it."""
        looking = attentions_of(parts_of(self.config))
        if any(is_flash(part, {"attention": "flash"}) for part in looking):
            return ("eager", "flash")
        return ("eager" if looking else "",)

    def recomputes(self, attention: str) -> tuple[str, ...]:
        """Blocks, whole or op by op, or eager attention's core, which flash never stores."""
        if attention == "eager":
            return ("none", "block", "ops", "core")
        return ("none", "block", "ops")

    def decodes(self) -> bool:
        return bool(self.config["decoder"])

    def decode_step(
        self, model: nn.Module, given: list[Tensor], *, forgets: bool = True
    ) -> tuple[Callable[[], Tensor], Cache]:
        cache = Cache(forgets=forgets)
        with torch.no_grad():
            model(*given[:-1], given[-1][:, :-1], cache=cache)
        return (lambda: model(*given[:-1], given[-1][:, -1:], cache=cache)), cache

    def kept_tensors(self, kept: Cache) -> list[Tensor]:
        """Keys, values and states of all layers."""
        return kept.tensors()

    def properties(self, model: nn.Module, given: list[Tensor]) -> dict[str, bool]:
        """Of every answer that must have it."""
        with torch.no_grad():
            output = model(*given)
            found = {"finite": all(bool(one.isfinite().all()) for one in _each(output))}
            if places := [place for place, head in enumerate(self.heads) if self.decodes() and _answers_each(head)]:
                step = self.decode_step(model, given, forgets=False)[0]
                whole = _together(output, places)
                causal = is_causal(lambda *inputs: _together(model(*inputs), places), given, whole)
                found["a later token changes no earlier output"] = causal
                found["one token at a time gives the same"] = decodes_alike(_together(step(), places), whole)
            if places := [place for place, head in enumerate(self.heads) if self._takes_padding(head)]:
                found["padding changes nothing"] = _ignores_padding(model, given, _each(output), places)
        return found

    @property
    def heads(self) -> list[Config]:
        """Those that answer."""
        first, second = self.config["head"], self.config["head"]["beside"]
        if second and second["kind"] != "none":
            return [first, second]
        return [first]

    def _takes_padding(self, head: Config) -> bool:
        """Tokens can be marked as none, unless all that are there are pooled."""
        encoder = self.config["encoder"]
        pooled = head["pool"] in ("mean", "last", "probe") and not self.decodes()
        return bool(encoder and not (encoder["patches"] or encoder["audio"])) and not pooled


FAMILY = Transformers


def _answers_each(head: Config) -> bool:
    """Whether there is an answer for each position, and not one for all."""
    if head["kind"] == "none":
        return not (head["pooler"] or head["pool"])
    return head["kind"] != "classifier" or (head["pool"] == "each" and not head["pooler"])


def _each(output: Any) -> tuple[Tensor, ...]:
    if isinstance(output, tuple):
        return output
    return (output,)


def _ignores_padding(model: nn.Module, given: list[Tensor], outputs: tuple[Tensor, ...], places: list[int]) -> bool:
    """Whether these answers stay, with two more tokens behind the first sequence, marked as none."""
    padded = torch.cat((given[0], given[0][:, :2]), dim=1)
    hidden = torch.zeros(padded.shape[0], 1, 1, padded.shape[1], dtype=torch.bool)
    hidden[..., given[0].shape[1] :] = True
    answers = _each(model(padded, *given[1:], padding=hidden))
    for found, output in ((answers[place], outputs[place]) for place in places):
        if not torch.allclose(found[:, : output.shape[1]] if found.shape != output.shape else found, output):
            return False
    return True


def _together(output: Any, places: list[int]) -> Tensor:
    """Answers for each position, side by side."""
    return torch.cat([_each(output)[place] for place in places], dim=-1)
