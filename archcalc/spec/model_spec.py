"""The fields of every family: names, sources, published counts, what a partial spec leaves out, precision, notes."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from archcalc.core.precision import PRECISIONS
from archcalc.spec.node import SIZE_SCHEMA, Node, OneOrMore, Size, as_size, as_tuple, field
from archcalc.spec.release import Month, Repositories


def _as_method(value: Any) -> Any:
    if isinstance(value, str):
        return {"quant_method": value}
    return value


_METHOD_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "object"}]}
Quantization = Annotated[dict[str, Any], BeforeValidator(_as_method), WithJsonSchema(_METHOD_SCHEMA)]


def _published_count(value: Any) -> Any:
    """An exact count, or as many digits as the source prints: `124M`, which stays a text."""
    as_size(value)
    return value


Parameters = Annotated[int | str, BeforeValidator(_published_count), WithJsonSchema(SIZE_SCHEMA)]


_SENTENCES_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Sentences = Annotated[tuple[str, ...], BeforeValidator(as_tuple), WithJsonSchema(_SENTENCES_SCHEMA)]


Precision = Literal[*PRECISIONS]  # type: ignore[valid-type]


class PublishedElsewhere(Node):
    """A number that was published for a model and is no count of its parameters."""

    main: ClassVar[str] = "parameters"
    parameters: Parameters = field(..., "The number, with the digits that were printed.", example="117M")
    of: str = field(..., "Where it was published, and what is known of it.", example="the paper's table 2")


class Published(Node):
    """The parameter count that the source publishes: exact, or rounded to the digits it prints."""

    main: ClassVar[str] = "parameters"
    parameters: Parameters | None = field(
        None,
        "Parameters that the source publishes: an exact number, or as many digits as it prints (`124M`).",
        example=124_439_808,
    )
    of: str | None = field(
        None, "What was counted: the class or checkpoint, with or without its head.", example="GPT2LMHeadModel"
    )
    differs: str | None = field(
        None, "Why archcalc counts another number than the source publishes.", example="the paper leaves the head out"
    )
    elsewhere: Annotated[tuple[PublishedElsewhere, ...], BeforeValidator(as_tuple)] = field(
        (),
        "Other numbers that were published for it and that no count of archcalc comes to.",
        example=[{"parameters": "117M", "of": "the paper's table 2"}],
    )


class Further(Node):
    """Blocks for multi-token prediction."""

    main: ClassVar[str] = "blocks"
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {"": ("blocks",)}
    blocks: Size | None = field(None, "How many blocks predict further tokens.", example=1, unset="needed")
    line: str | None = field(
        None, "The parts of each, as a line of a pattern.", example="attention ffn", unset="those of the last block"
    )
    norm: bool = field(True, "A norm behind each.", example=False)


class LeftOutPart(Node):
    """A part of the model that the spec does not describe."""

    main: ClassVar[str] = "part"
    part: str = field(..., "What the part is called.", example="vision encoder")
    parameters: Size | None = field(None, "How many parameters it has.", example=400_000_000, unset="unknown")
    mtp: Further | None = field(
        None,
        "How many blocks for multi-token prediction it is, or more fields; each is like the last block of the spec, "
        "unless it says another line of parts. Their parameters follow from that.",
        example=1,
        unset="none",
    )
    needed: Literal["always", "images", "audio", "drafts"] = field(
        "always",
        "What it is needed for: engines do not load what only images, audio or drafted tokens need, unless asked to.",
        example="images",
    )


class Partial(Node):
    """A spec that describes a part of a model: which one, of what, and what it leaves out."""

    part: str = field(..., "Which part of the model the spec describes.", example="text model")
    of: str | None = field(None, "The model that it is a part of.", example="qwen3_vl")
    left_out: Annotated[tuple[LeftOutPart, ...], BeforeValidator(as_tuple), Field(min_length=1), OneOrMore()] = field(
        ..., "The parts of the model that the spec does not describe.", example=["vision encoder"]
    )


class ModelSpec(Node):
    """The fields of every family."""

    is_computed: ClassVar[bool] = True  # whether it says what is computed; a list of tensors does not
    family: str = field(
        "transformer", "The family of architectures, which decides what other fields there are.", example="recurrent"
    )
    name: str | None = field(
        None, "What the model is called in reports.", example="my model", unset="the name of the file"
    )
    about: str | None = field(
        None, "A sentence about the model, for whoever reads the spec.", example="a small model to try things out"
    )
    source: str | None = field(
        None, "Where the sizes come from: a paper, a config.json, an exercise.", example="Vaswani et al. 2017, table 3"
    )
    transformers: str | None = field(
        None,
        "The model's family in transformers, as its config.json names it: whose code is assumed to train it.",
        example="llama",
        unset="nobody's: archcalc's own layers",
    )
    hub: Repositories | None = field(
        None, "Names on the Hugging Face Hub of models with exactly these shapes.", example=["Qwen/Qwen3-8B"]
    )
    released: Month | None = field(None, "The year or the month of its release.", example="2025-04")
    published: Published | None = field(
        None, "The parameter count that the source publishes, which archcalc compares its own with.", example="124M"
    )
    scope: Partial | None = field(
        None,
        "Says that the spec describes only a part of a model, and which parts it leaves out.",
        example={"part": "text model", "left_out": "vision encoder"},
    )
    precision: Precision | None = field(
        None, "The number format of weights and activations.", example="bf16", unset="fp32"
    )
    quantization: Quantization | None = field(
        None,
        "How the checkpoint stores its weights, in the words of a config's `quantization_config`.",
        example="mxfp4",
        unset="the precision",
    )
    notes: Sentences = field(
        (), "Sentences that every report repeats.", example=["trained on sequences of 4,096 tokens"]
    )
    doubts: Sentences = field(
        (),
        "What the counts take for granted, and nobody has checked: every report says so.",
        example=["the activation is taken to have no parameters"],
    )
    batch: Size | None = field(None, "How many samples are computed at once.", example=32, unset="1")
    seq: Size | None = field(
        None,
        "How many positions a sequence has.",
        example=1024,
        unset="the longest that the positions allow, or 2,048",
    )
