"""An engine with every choice made: the options that were given, or what it chooses on a device."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError
from archcalc.run.cache_types import cache_types, check_engine
from archcalc.run.engine.catalog import PLAIN, engine
from archcalc.run.engine.on_device import UNKNOWN, DeviceFacts
from archcalc.run.engine.rules import EngineRules, Sampler, Step, is_below
from archcalc.run.engine.static_share import Start, encoder_of, is_latent, static_share
from archcalc.run.engine.supports import refusal
from archcalc.run.offload import Offload
from archcalc.spec.encoders import KINDS, UNLIMITED
from archcalc.spec.option import flag_of
from archcalc.spec.units import binary_bytes
from archcalc.storage.named_formats import of_gguf, weight_format
from archcalc.storage.weight_kinds import GGUF, kind_of_format

if TYPE_CHECKING:
    from archcalc.run.options import Options
    from archcalc.storage.weight_storage import StoredWeights

NVIDIA = "NVIDIA"
LOADED = "what is free once the model is loaded"
OF_MEMORY = {"free": LOADED, "loaded": LOADED, "static": "what is free before the model is loaded"}


@dataclass(frozen=True)
class Running:
    """A step computes so many `tokens`, or where that is None a whole prompt, of so many `requests` at most; an engine
    that has no steps computes all at once."""

    rules: EngineRules
    device: DeviceFacts
    has_steps: bool = False
    tokens: int | None = None
    requests: int = 1
    share: float = 1.0
    has_graphs: bool = False
    fills_device: bool = False  # takes a share of the device for its KV cache, whatever a request needs
    chosen: frozenset[str] = frozenset()  # the options that were given
    weights: tuple[str, ...] = ()  # kinds of their formats
    whole_up_to: int = 0  # tokens of a prompt that is computed at once, however few a step has
    limits: Mapping[str, int] = field(default_factory=dict)  # on inputs of a request, by kind
    copies: int = 1  # of what comes to each of several devices, while the next batch is on its way

    def loads(self, medium: str, model_type: str, is_asked: bool) -> bool:
        """Whether it loads a model's towers for images, or for audio: where its rules leave them out only if they are
        asked for, else unless a request may have none of what they read.

        Source: vLLM, _mark_tower_model in vllm/model_executor/models/interfaces.py."""
        if medium in self.rules.leaves_out and not is_asked:
            return False
        videos = ["video"] if self.rules.encoders.videos_of(model_type) else []
        kinds = {"images": ["image", *videos], "audio": ["audio"]}[medium]
        return any(self.limits.get(kind, UNLIMITED) for kind in kinds)

    def layout(self, stored: StoredWeights) -> str | None:
        """How its kernels want a stored format laid out on devices of this generation; None as it is stored."""
        if not self.device.name:
            return None
        ways = self.rules.layouts.get(stored.layout, {})
        return ways.get(self.device.generation, ways.get("other"))

    def runtime(self, gpus: int) -> int | None:
        """Bytes outside of tensors; None where the engine's file does not say."""
        rule = self.rules.runtime
        if rule is None:
            return None
        found = rule.one_gpu if gpus == 1 else rule.links.get(self.device.link, rule.several_gpus)
        return found + sum(rule.besides.get(name, 0) for name in (self.device.maker, self.device.kind))

    @property
    def sampler(self) -> Sampler | None:
        """What chooses tokens on this device."""
        return next((one for one in self.rules.sampler if not one.makers or self._maker in one.makers), None)

    @property
    def _maker(self) -> str:
        """NVIDIA, if no device is named."""
        return self.device.maker or NVIDIA

    def graphs(self, layers: int) -> int:
        """Bytes of CUDA graphs, an estimate."""
        rule = self.rules.graphs
        if not (rule and self.has_graphs):
            return 0
        limit = rule.captures.limit(self.device.capabilities)
        largest, number = rule.captures.graphs(self.tokens or limit, self.requests, limit)
        of_layer = (rule.each_layer or 0) + rule.makers.get(self._maker, rule.each_graph or 0) * number
        return (rule.base or 0) + (rule.each_token or 0) * largest + layers * of_layer

    def graphs_outside(self, layers: int) -> int:
        """Those that the engine's share has no room for."""
        if self._maker in self.rules.graphs_in_share:
            return 0
        return self.graphs(layers)

    def assumptions(self) -> Iterator[Assumption]:
        """What the engine chooses, and the options that change it; weights that run in another way than their format
        promises, or with something that has to be installed."""
        if self.rules.read_up_to:
            text = f"{self.rules.title}: by the rules of {self.rules.read_up_to}, the newest that was read"
            yield Assumption(Topic.ENGINE, text, option="--engine")
        for kind in self.weights:
            found = self.rules.weights.get(kind, {}).get(self.device.maker)
            if found and is_below(self.device.capabilities, found.native):
                why = f"since {self.device.words} does not compute in {kind}"
                yield Assumption(Topic.WEIGHTS, f"{kind} weights: {found.otherwise}, {why}")
            if found and found.needs:
                yield Assumption(Topic.WEIGHTS, f"{kind} weights: {self.rules.title} needs {found.needs}")
        if self.has_steps and "prefill" not in self.chosen:
            text = f"{self.rules.name} computes a whole prompt in a step"
            if self.tokens:
                text = f"{self.rules.name} computes {self.tokens:,} tokens in a step"
                if not self.device.name and len(self.rules.steps) > 1:
                    text += ", as on a device of 80 GB"
            yield Assumption(Topic.ENGINE, text, self.tokens, "--max-num-batched-tokens")
        if self.fills_device and self.share < 1 and "gpu_memory_utilization" not in self.chosen and self.device.name:
            digits = 1 if self.rules.headroom else 0
            text = f"{self.rules.name} takes {self.share:.{digits}%} of {OF_MEMORY.get(self.rules.pool, 'the device')}"
            yield Assumption(Topic.ENGINE, text, option="--gpu-memory-utilization")
        if self.sampler and self.requests > 1 and "max_num_seqs" not in self.chosen:
            text = f"{self.rules.name} computes at most {self.requests:,} requests at once"
            yield Assumption(Topic.ENGINE, text, self.requests, "--max-num-seqs")
        if self.has_graphs and self.rules.graphs:
            text = f"CUDA graphs: {binary_bytes(self.graphs(0))} and {binary_bytes(self.graphs(1) - self.graphs(0))} a "
            text += "layer, an estimate from start-up logs"
            if self._maker not in self.rules.graphs_in_share:
                text += "; outside of the engine's share"
            yield Assumption(Topic.ENGINE, text, option="--enforce-eager")


PLAIN_RUNNING = Running(EngineRules(name=PLAIN, source=PLAIN), UNKNOWN)


def running(
    asked: Options, family: str, stored: tuple[str, ...] = (), config: Callable[[], Mapping[str, Any]] = dict
) -> Running:
    """The engine that was asked for, or none; refuses what it does not have, and what the device does not run. `stored`
    are the kinds of formats that the model's files have, where no other is asked for; `config` is its config.json."""
    rules = engine(asked.engine or PLAIN)
    named = asked.weights or ("fp8" if asked.precision == "fp8" else "")  # in inference fp8 is a weight format
    weights = tuple(filter(None, [kind_of_format(named)])) if named else stored
    _check(rules, asked, weights)
    if rules.families and family not in rules.families:
        fact = f"{rules.name} runs models of the family {rules.families[0]}, and this is one of {family}"
        raise InputError(fact, "leave --engine out, or choose transformers", field="--engine")
    chooses_by_device = rules.layouts or rules.pool != "none" or len(rules.steps) > 1
    device = asked.device if asked.device and chooses_by_device else UNKNOWN
    step = next((one for one in rules.steps if _has_step(device, asked.tp or 1, one)), None)
    tokens, requests = (asked.prefill or step.tokens, asked.max_num_seqs or step.requests) if step else (None, 1)
    share, whole_up_to = asked.gpu_memory_utilization or rules.share, 0
    if rules.headroom and step and not asked.gpu_memory_utilization:
        graphs = min(step.graphs, requests) if rules.graphs_up_to_requests else step.graphs
        share = _chosen_share(rules, device, asked, tokens or 0, graphs, config())
    if step and not asked.prefill:
        whole_up_to = step.whole_up_to or 0
    return Running(
        rules,
        device,
        step is not None,
        tokens,
        min(requests, tokens or requests),
        share,
        not asked.enforce_eager,
        rules.pool != "none",
        frozenset(asked.given),
        weights,
        whole_up_to,
        dict.fromkeys(KINDS, 0) if asked.language_model_only else dict(asked.limit_mm_per_prompt or ()),
        _copies(rules, asked),
    )


def _copies(rules: EngineRules, asked: Options) -> int:
    """Where several devices have all layers between them, one begins with a batch while the next is still busy."""
    group = (asked.device or UNKNOWN).group
    if group and group.count > 1 and not Offload.of(asked):
        return rules.input_copies
    return 1


def _has_step(device: DeviceFacts, tp: int, step: Step) -> bool:
    """Whether the engine takes these steps there."""
    name = device.name.lower()
    is_excepted = device.kind in step.except_kinds or (step.except_named or "?") in name
    is_excepted |= bool(step.named) and not any(word in name for word in step.named)
    return device.memory >= (step.memory_from or 0) and tp >= step.tp_from and not is_excepted


def _chosen_share(
    rules: EngineRules, device: DeviceFacts, asked: Options, tokens: int, graphs: int, config: Mapping[str, Any]
) -> float:
    """The static fraction that the engine chooses itself."""
    encoder, latent, pp = encoder_of(config), is_latent(config), asked.pp or 1
    if asked.language_model_only:
        encoder = None
    start = Start(
        device.memory,
        tokens,
        0 if asked.enforce_eager else graphs,
        (asked.tp or 1) * pp,
        prefill_graphs=(device.maker or NVIDIA) in rules.prefill_graphs
        and not (asked.enforce_eager or pp > 1 or encoder is not None),
        is_latent=latent,
        drafts=bool(asked.draft),
        encoder=encoder,
        maker=device.maker,
    )
    return static_share(rules.headroom, start, rules.vision)


OWN_OPTIONS = {  # options that say something of an engine that serves
    "gpu_memory_utilization": "takes a share of the device",
    "max_num_seqs": "computes many requests at once",
    "enforce_eager": "has CUDA graphs",
}
SWITCHES = ("limit_mm_per_prompt", "language_model_only")


def _check(rules: EngineRules, asked: Options, weights: tuple[str, ...]) -> None:
    for name, what in OWN_OPTIONS.items():
        if name in asked.given and rules.pool == "none":
            flag = flag_of(name)
            hint = f"add --engine vllm, or leave {flag} out"
            raise InputError(f"only an engine that serves {what}", hint, field=flag)
    for name in SWITCHES:
        if name in asked.given and name not in rules.encoders.switches:
            fact, flag = f"{rules.title} has no such option, or loads all towers the same", flag_of(name)
            raise InputError(fact, "add --engine vllm, or use --images 0 for a text alone", field=flag)
    if asked.enforce_eager and rules.graphs is None and not rules.headroom:
        fact = f"what {rules.name} takes without CUDA graphs is not known here"
        raise InputError(fact, "leave --enforce-eager out", field="--enforce-eager")
    caches = cache_types(asked)
    check_engine(rules, caches, asked.attention)
    _check_files(rules, asked.weights, weights)
    precision, attention = (word or "" for word in (asked.precision, asked.attention))
    device, kv = asked.device or UNKNOWN, tuple(one.format for one in caches)
    if refused := refusal(rules, device, weights=weights, kv=kv, precision=precision, attention=attention):
        raise refused
    if not rules.tensor_parallel and (asked.tp or 1) > 1:
        fact = f"{rules.name} splits layers between devices, and no matrices"
        raise InputError(fact, "leave --tp out, and name the devices together: --gpu 2xrtx-3090", field="--tp")


def _check_files(rules: EngineRules, named: str | None, weights: tuple[str, ...]) -> None:
    quantised = named is not None and weight_format(named).is_quantised
    if named and quantised and rules.weight_files == "gguf" and not of_gguf(named):
        fact = f"{rules.name} reads GGUF files, which hold no {named}"
        raise InputError(fact, "choose a type that they have, such as q8_0, q6_k or q4_k_m", field="--weights")
    if rules.weight_files == "safetensors" and GGUF in weights:
        which = f"{named} is a type of theirs" if named else "these weights are in one"
        hint = "choose another format, such as int8 or int4"
        raise InputError(f"{rules.name} reads no GGUF files, and {which}", hint, field="--weights")
