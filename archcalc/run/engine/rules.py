"""What an engine's file says, and which engine is usual for what (presets/usual/engines.yaml): strict nodes, so that a
slip of the pen is an error with its line."""

from __future__ import annotations

from string import Formatter
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from archcalc.run.device.capabilities import Capabilities
from archcalc.run.device.sizes import Bytes
from archcalc.run.engine.static_share import Fraction, Headrooms, Vision
from archcalc.spec.node import Node, Size

Pool = Literal["none", "share", "static", "free", "loaded"]
Files = Literal["any", "gguf", "safetensors"]


class Requirement(Node):
    """Of the devices of one maker, for the engine itself, a weight format or a KV cache format. Nothing said: any of
    them. Facts that are not known of a device rule nothing out."""

    least: str | None = None  # compute capability
    targets: list[str] = Field(default_factory=list)  # compute capabilities or ROCm's targets, where only some do
    generations: list[str] = Field(default_factory=list)  # likewise
    without: list[str] = Field(default_factory=list)  # generations on which it does not run
    native: str | None = None  # compute capability from which on products are computed in the format itself
    otherwise: str = ""  # how they are computed on other devices
    loaded_as: str = ""  # the format that weights are turned into on devices that do not meet the requirement
    needs: str = ""  # what has to be installed
    older: str = ""  # the last version of the engine that needed less


def _by_maker(value: Any) -> Any:
    """A list of makers stands for makers of which any device will do."""
    is_names = isinstance(value, list) and all(isinstance(name, str) for name in value)
    return {name: {} for name in value} if is_names else value


ByMaker = Annotated[dict[str, Requirement], BeforeValidator(_by_maker)]


def is_below(device: Capabilities, least: str | None) -> bool:
    """Whether the device's compute capability is known and lower; 10.0 comes behind 9.0."""
    if least is None or device.compute is None or not device.compute[0].isdigit():
        return False
    has, needed = ([int(part) for part in version.split(".")] for version in (device.compute, least))
    return has < needed


class Step(Node):
    """Tokens and requests that are computed at once, on devices of so much memory. Without tokens: a whole prompt."""

    memory_from: Bytes | None = None
    tp_from: int = 1  # GPUs of a tensor-parallel group
    named: list[str] = Field(default_factory=list)  # words, one of which is in the names of devices; empty: of any
    except_named: str | None = None  # a word in the names of devices for which the engine makes an exception
    except_kinds: list[str] = Field(default_factory=list)  # of devices whose driver does not tell their memory
    whole_up_to: Size | None = None  # prompts of up to so many tokens are computed at once
    tokens: Size | None = None
    requests: Size
    graphs: int = 0  # requests of the largest batch that has a CUDA graph, where that is a number of its own


class Sampler(Node):
    """What choosing a token makes of the logits of all requests, on devices of some makers or of any."""

    makers: list[str] = Field(default_factory=list)
    bytes_per_logit: Annotated[int, Field(ge=0)]  # besides the logits themselves
    kernel_rows: Annotated[int, Field(ge=0)] = 0  # rows of fp32 logits in which a kernel works
    kept_bits: Annotated[int, Field(ge=0)] = 0  # for each token of the vocabulary and each request, all the time
    every_position: bool = False  # logits of every token of a step, and not of one for each request


def _listed(value: Any) -> Any:
    """A single rule is a list of one."""
    return [value] if isinstance(value, dict) else value


class Runtime(Node):
    """Memory outside of tensors: CUDA context, libraries, communication."""

    one_gpu: Bytes
    several_gpus: Bytes  # with what communicators keep on each
    links: dict[str, Bytes] = Field(default_factory=dict)  # likewise, where such a link joins them
    besides: dict[str, Bytes] = Field(default_factory=dict)  # on devices of a maker or of a kind


class Captures(Node):
    """The batches that CUDA graphs are captured for: of 1, 2 and 4 tokens, of every 8, and from 256 on of every 16."""

    most: Size
    most_by_compute: dict[str, Size] = Field(default_factory=dict)  # by the compute capability's first number
    each_request: Size = 2  # tokens in the largest of them
    modes: Size = 2  # graphs between attention layers, and such of whole decoding steps

    def limit(self, device: Capabilities) -> int:
        """Tokens that the largest batch has at most."""
        return self.most_by_compute.get((device.compute or "").partition(".")[0], self.most)

    def graphs(self, tokens: int, requests: int, limit: int) -> tuple[int, int]:
        """The tokens of the largest batch, and the number of graphs in all modes; a decoding step has a token of each
        request."""
        largest, number = min(limit, self.each_request * requests, tokens), 0
        for most in (largest, min(requests, limit))[: self.modes]:
            number += min(most, 2) + (most >= 4) + min(most, 255) // 8 + max(most - 240, 0) // 16
        return largest, number


class Graphs(Node):
    """CUDA graphs, an estimate: a part of its own, one for each layer, one for each token of the largest batch, and
    one for each layer of each graph."""

    base: Bytes | None = None
    each_layer: Bytes | None = None
    each_token: Bytes | None = None
    each_graph: Bytes | None = None
    makers: dict[str, Bytes] = Field(default_factory=dict)  # the last, on devices of a maker
    captures: Captures = Captures(most=512)


class StatesPool(Node):
    """A pool of recurrent states beside that of keys and values."""

    share: float = Field(gt=0)  # of the bytes of keys and values
    slots: Size  # states that one request takes


class CacheRule(Node):
    """The KV cache and the recurrent states of an engine that does not keep them in the model's number format."""

    usual: str  # the format of keys and values where none is asked for
    states: str  # of recurrent states; no option changes it
    apart: bool = False  # whether keys and values may have different formats
    by_flash: bool = False  # whether quantised values need flash attention
    whole_blocks: bool = False  # whether a head has to be whole blocks of a quantised format


class Blocks(Node):
    """How an engine that caches in blocks of tokens counts them, where layers are of several kinds."""

    in_flight: Size = 2  # batches of a sequence that are scheduled and not yet computed: a window keeps them too
    states: Size = 2  # blocks of a recurrent layer beside attention
    log_by_group: bool = False  # whether its log counts tokens as if every group of layers held all of them


class LatentWorkspace(Node):
    """Tokens of a context whose keys and values latent attention expands at once. An engine that tries a step before
    its pool gets a size sets them aside for so many whole requests, or for some tokens of every request where that is
    more, and `most` at most; what attention makes of them is not tried."""

    requests: Size
    each_request: Size
    most: Annotated[int, Field(ge=0)]

    def tokens(self, positions: int, requests: int) -> int:
        """Of requests of so many positions, so many of which run at once."""
        return min(max(self.requests * positions, self.each_request * requests), self.most)


class Stores(Node):
    """Number formats of what a kernel of attention keeps in memory besides keys and values; none: nothing."""

    mask: str | None = None
    copied: str | None = None  # of the mask as it comes from the host, beside the mask that is cast from it
    scores: str | None = None
    fused_heads: list[int] = Field(default_factory=list)  # widths of heads for which no scores are stored


class HostBuffer(Node):
    """What the scheduler of an engine keeps in host RAM to feed its device: the mask of attention, and tensors of the
    residual stream of one step."""

    mask: str
    tensors: Size


class Videos(Node):
    """Models of some types that see videos: the largest one has so many frames, of which so many are an image."""

    types: list[str]
    frames: Size = 1
    of_image: Size = 1


class Encoders(Node):
    """How an engine runs what reads images and audio, apart from the text."""

    tries: bool = False  # before its pool gets a size: as many of the largest items as a step holds
    alone: bool = False  # one image after the other, in memory of their own that stays allocated
    videos: list[Videos] = Field(default_factory=list)  # of types that are not listed none is tried
    switches: list[str] = Field(default_factory=list)  # options that keep a model's encoders from being loaded

    def videos_of(self, model_type: str) -> Videos | None:
        return next((one for one in self.videos if model_type in one.types), None)


class ForModels(Node):
    """Rules that hold instead for models of some types, for those without experts and recurrent layers, or on devices
    of some generations; what is left out does not matter, or stays."""

    types: list[str] = Field(default_factory=list)
    dense: bool = False
    generations: list[str] = Field(default_factory=list)
    sampler: Annotated[list[Sampler] | None, BeforeValidator(_listed)] = None
    graphs_in_share: list[str] | None = None
    blocks: Blocks | None = None

    @property
    def changed(self) -> dict[str, Any]:
        """The rules, by their names in the engine's file."""
        found = {"sampler": self.sampler, "graphs_in_share": self.graphs_in_share, "blocks": self.blocks}
        return {name: rule for name, rule in found.items() if rule is not None}


PRINTED = {f"{size}_{unit}" for size in ("weights", "cache", "state", "compute") for unit in ("gib", "mib")}
PRINTED |= {"keys_gib", "values_gib", "tokens", "concurrency", "length"}


def fields_of(line: str) -> set[str]:
    """The figures that a line of a log has places for: `took {weights_gib:.2f} GiB`."""
    return {field for _, field, _, _ in Formatter().parse(line) if field is not None}


def _with_known_figures(line: str) -> str:
    unknown = fields_of(line) - PRINTED
    if unknown:
        raise ValueError(f"no figure is called {min(unknown)}; those that are: {', '.join(sorted(PRINTED))}")
    return line


LogLine = Annotated[str, AfterValidator(_with_known_figures)]


class EngineRules(Node):
    """Every rule of an engine, of one version.

    `pool` says how the KV cache gets its memory: what a request needs (none); what the engine's share of the device
    leaves (share); a share of what is free before the model is loaded, less its weights (static); a share of what is
    free once it is loaded, with room for a step (free) or without (loaded)."""

    name: str
    source: str
    version: str | None = None
    read_up_to: str = ""  # the newest version whose source was read, where a newer one is asked for
    pool: Pool = "none"
    share: Fraction = 1.0
    kv_rule: str = "window"
    kv_rules: dict[str, list[str]] = Field(default_factory=dict)  # others, and the model types that they are for
    activations: str | None = None  # number format, if it is not the model's
    steps: list[Step] = Field(default_factory=list)
    held: Annotated[int, Field(ge=0)] = 0  # tensors of the residual stream that calling functions hold
    fuses_experts: bool = False  # experts compute in a workspace that stays
    answers_once: list[str] = Field(default_factory=list)  # kinds of weights for which one buffer alone has answers
    fuses_indexer: bool = False  # scores of an indexer are summed over heads inside of a kernel
    scales_indexer: bool = False  # keys of an indexer are cached in fp8 with scales
    sampler: Annotated[list[Sampler], BeforeValidator(_listed)] = Field(default_factory=list)  # the first that holds
    runtime: Runtime | None = None
    graphs: Graphs | None = None
    graphs_in_share: list[str] = Field(default_factory=list)  # makers on whose devices the share has room for graphs
    request_table: Annotated[int, Field(ge=0)] = 0  # bytes for each position of each request, outside of the cache
    headroom: Headrooms = Field(default_factory=list)  # the first rule for the memory of a device
    graphs_up_to_requests: bool = False  # no batch that has a CUDA graph is larger than the requests at once
    vision: Vision | None = None
    prefill_graphs: list[str] = Field(default_factory=list)  # makers of devices on which prefill has CUDA graphs
    host: list[str] = Field(default_factory=list)  # what stays in the host's memory: embedding
    states: str | None = None  # the format of recurrent states where none is asked for, if not the activations'
    states_pool: StatesPool | None = None
    host_buffer: HostBuffer | None = None
    input_copies: Size = 1  # of what comes to a device of several that compute one after the other: masks, the stream
    kv_formats: list[str] = Field(default_factory=list)
    cache: CacheRule | None = None
    blocks: Blocks = Blocks()
    latent_workspace: LatentWorkspace | None = None
    for_models: list[ForModels] = Field(default_factory=list)  # each that holds, one after the other
    attention: dict[str, Stores] = Field(default_factory=dict)  # kernels of its own; empty: PyTorch's
    leaves_out: dict[str, str] = Field(default_factory=dict)  # parts by what needs them, and why they are not loaded
    weight_files: Files = "any"  # the files that it loads weights from
    layouts: dict[str, dict[str, str]] = Field(default_factory=dict)  # of a format, by the generation of the device
    devices: ByMaker = Field(default_factory=dict)  # on which it runs, by maker; empty: any
    weights: dict[str, ByMaker] = Field(default_factory=dict)  # kinds of weight formats; one that is not listed: any
    kv: dict[str, ByMaker] = Field(default_factory=dict)  # formats of the KV cache, likewise
    converts: list[str] = Field(default_factory=list)  # number formats that it takes on devices without them too
    narrows: Literal["bf16", "fp16"] | None = None  # what it loads fp32 checkpoints in, if not as they are
    no_fp16: list[str] = Field(default_factory=list)  # model types that it refuses to run in fp16
    torch_attention: bool = False  # whether attention is PyTorch's
    families: list[str] = Field(default_factory=list)  # of specs that it runs; empty: any
    encoders: Encoders = Encoders()
    tensor_parallel: bool = True
    prints: list[LogLine] = Field(default_factory=list)  # of its memory when it starts
    earlier: Any = None  # rules before changes, which are read for an earlier version alone

    def window_rule(self, model_type: str) -> str:
        """How it caches sliding-window layers of such a model."""
        return next((rule for rule, types in self.kv_rules.items() if model_type in types), self.kv_rule)

    @property
    def title(self) -> str:
        """`vLLM 0.33`."""
        return f"{self.name} {self.version}" if self.version else self.name


class UsualRule(Node):
    """An engine, why it is usual, and what must hold for that; what is left out does not matter."""

    engine: str
    why: str
    options: list[str] = Field(default_factory=list)  # of which one was given
    weights: list[str] = Field(default_factory=list)  # kinds of formats of which some layer has one
    makers: list[str] = Field(default_factory=list)
    kinds: list[str] = Field(default_factory=list)  # of devices
    families_without: list[str] = Field(default_factory=list)  # the spec's family is none of these
    named: bool | None = None  # whether the spec names a model type of transformers
    generates: bool | None = None
    encodes: bool | None = None  # whether the model is an encoder-decoder
    unequal: bool | None = None
    unknown: bool | None = None  # whether nothing is known of the device but its memory
    runs: bool = False  # whether the engine has to run on the device, with these weights


class Nearest(Node):
    """Of an engine that has no file: the one whose memory is most like its own, and why."""

    engine: str
    why: str


class UsualEngines(Node):
    """The rules in their order, the engines that run on most devices, and engines that have no file."""

    anywhere: list[str]
    others: dict[str, Nearest] = Field(default_factory=dict)
    rules: list[UsualRule]
