"""What an engine's file says, and which engine is usual for what (presets/usual/engines.yaml): strict nodes, so that a
slip of the pen is an error with its line."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from archcalc.run.device.capabilities import Capabilities
from archcalc.run.device.sizes import Bytes
from archcalc.spec.node import Node, Size

Pool = Literal["none", "share", "static", "free"]
Files = Literal["any", "gguf", "safetensors"]
Fraction = Annotated[float, Field(gt=0, le=1)]


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
    except_named: str | None = None  # a word in the names of devices for which the engine makes an exception
    tokens: Size | None = None
    requests: Size


class Sampler(Node):
    """What choosing a token makes of the logits of all requests."""

    bytes_per_logit: Annotated[int, Field(ge=0)]  # besides the logits themselves
    kernel_rows: Annotated[int, Field(ge=0)] = 0  # rows of fp32 logits in which a kernel works
    every_position: bool = False  # logits of every token of a step, and not of one for each request


class Runtime(Node):
    """Memory outside of tensors: CUDA context, libraries, communication."""

    one_gpu: Bytes
    several_gpus: Bytes


class Graphs(Node):
    """CUDA graphs, an estimate: a part of its own and one for each layer."""

    base: Bytes
    each_layer: Bytes


class Headroom(Node):
    """What an engine leaves free for activations and CUDA graphs, by its own rule."""

    base: Bytes
    each_token: Bytes
    each_request: Bytes
    each_gpu: Bytes
    least: Bytes | None = None
    least_from: Bytes | None = None  # memory from which on `least` holds


class CacheRule(Node):
    """The KV cache and the recurrent states of an engine that does not keep them in the model's number format."""

    usual: str  # the format of keys and values where none is asked for
    states: str  # of recurrent states; no option changes it
    apart: bool = False  # whether keys and values may have different formats
    by_flash: bool = False  # whether quantised values need flash attention
    whole_blocks: bool = False  # whether a head has to be whole blocks of a quantised format


class Stores(Node):
    """Number formats of what a kernel of attention keeps in memory besides keys and values; none: nothing."""

    mask: str | None = None
    scores: str | None = None


class EngineRules(Node):
    """Every rule of an engine, of one version.

    `pool` says how the KV cache gets its memory: what a request needs (none); what the engine's share of the device
    leaves (share); what is left beside a headroom (static); a share of what is free once the model is loaded (free)."""

    name: str
    source: str
    version: str | None = None
    pool: Pool = "none"
    share: Fraction = 1.0
    kv_rule: str = "window"
    activations: str | None = None  # number format, if it is not the model's
    steps: list[Step] = Field(default_factory=list)
    held: Annotated[int, Field(ge=0)] = 0  # tensors of the residual stream that calling functions hold
    fuses_experts: bool = False  # experts compute in a workspace that stays
    fuses_indexer: bool = False  # scores of an indexer are summed over heads inside of a kernel
    sampler: Sampler | None = None
    runtime: Runtime | None = None
    graphs: Graphs | None = None
    graphs_in_share: bool = False
    headroom: Headroom | None = None
    host: list[str] = Field(default_factory=list)  # what stays in the host's memory: embedding
    kv_formats: list[str] = Field(default_factory=list)
    cache: CacheRule | None = None
    attention: dict[str, Stores] = Field(default_factory=dict)  # kernels of its own; empty: PyTorch's
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
    tensor_parallel: bool = True
    earlier: Any = None  # rules before changes, which are read for an earlier version alone

    @property
    def title(self) -> str:
        """`vLLM 0.28`."""
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


class UsualEngines(Node):
    """The rules in their order, and the engines that run on most devices."""

    anywhere: list[str]
    rules: list[UsualRule]
