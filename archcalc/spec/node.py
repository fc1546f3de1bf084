"""The base of every spec: strict frozen nodes, scalars as short forms of a node's main field, sizes, and merging.

A spec keeps the fields as written. Every field is optional here, because fields at the top are inherited below;
missing ones are found when a family resolves the spec.
"""

import importlib
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    WithJsonSchema,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from archcalc.core.errors import InputError, Path
from archcalc.core.precision import PRECISIONS
from archcalc.spec.gathering import tell
from archcalc.spec.release import Month, Repositories
from archcalc.spec.units import LARGEST, parse_size

NOTHING = object()  # `heads:` with nothing behind it: no field takes it, while None would pass for a field left out
MOST_BITS = 1000  # of a number that is worth repeating; Python writes none of more than 4,300 digits


def as_size(value: Any) -> int:
    try:
        number = parse_size(value) if isinstance(value, str) else value
    except ValueError as reason:
        raise mistake(f"{reason}, found {shown(value)}") from None
    if not isinstance(number, int) or isinstance(number, bool):
        raise mistake(f"expected a whole number, found {shown(value)}")
    if not 1 <= number <= LARGEST:
        raise mistake(f"expected a size from 1 to {LARGEST:.0e}, found {shown(value)}")
    return number


def as_tuple(value: Any) -> Any:
    """A list, or a single value as the short form of a list with one element."""
    if isinstance(value, list | tuple):
        return tuple(value)
    return (value,)


def mistake(fact: str) -> PydanticCustomError:
    return PydanticCustomError("mistake", "{fact}", {"fact": fact})


_AS_TEXT = {"type": "string", "pattern": r"^[0-9][0-9_,.]*(e\+?[0-9]+)? ?([kKMGBT]i?)?$"}
_SIZE_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 1}, _AS_TEXT]}
Size = Annotated[int, BeforeValidator(as_size), WithJsonSchema(_SIZE_SCHEMA)]


def _widths(value: Any) -> Any:
    """One width for all layers, or a list with a width for each."""
    if not isinstance(value, list | tuple):
        return as_size(value)
    if not value:
        raise mistake("expected a width, or a list of widths such as [1150, 1150, 400]")
    return tuple(as_size(width) for width in value)


_WIDTH = {"type": "integer", "minimum": 1}
_WIDTHS_SCHEMA = {"anyOf": [_WIDTH, {"type": "array", "items": _WIDTH, "minItems": 1}]}
Widths = Annotated[int | tuple[int, ...], BeforeValidator(_widths), WithJsonSchema(_WIDTHS_SCHEMA)]


def shown(value: Any) -> str:
    """A value as YAML writes it."""
    if value is NOTHING or value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "fields"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        return f"a number of {value.bit_length():,} bits"
    if isinstance(value, str):
        return f"'{value}'"
    return str(value)


def field(
    default: Any,
    about: str,
    *,
    example: Any,
    unset: str = "",
    needs: str = "",
    beside: JsonDict | None = None,
    under: str = "",
    words: JsonDict | None = None,
) -> Any:
    """A field of a spec: what it means in a sentence, a value to try, what holds where it is None, the field without
    which it has no effect, other fields that the example is refused without, the only node that takes it, and what else
    it means (None: nothing) behind some of the words that share the node."""
    said = (("unset", unset), ("needs", needs), ("beside", beside), ("under", under), ("words", words))
    extra: JsonDict = {key: words for key, words in said if words}
    return Field(default, description=about, examples=[example], json_schema_extra=extra or None)


class Node(BaseModel):
    """A mapping of the spec. A scalar in its place stands for its `main` field: `ffn: 512` is `ffn: {width: 512}`."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", defer_build=True)
    main: ClassVar[str] = ""
    fields_of: ClassVar[dict[str, frozenset[str]]] = {}  # by `kind`: the fields that make sense for it
    needed_of: ClassVar[dict[str, tuple[str, ...]]] = {}  # by `kind`, or "" for all: fields it is refused without
    refused: ClassVar[frozenset[str]] = frozenset()  # fields of a base that it refuses

    @classmethod
    def items(cls) -> dict[str, "type[Node]"]:
        """Nodes that stand in its lists, by the word that each starts with: the layers of a network."""
        return {}

    @model_validator(mode="before")
    @classmethod
    def _expand_scalar(cls, data: Any) -> Any:
        if cls.main and not isinstance(data, dict | cls):
            data = {cls.main: data}
        if not isinstance(data, dict) or None not in data.values():
            return data
        return {name: NOTHING if value is None else value for name, value in data.items()}

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return cls.with_scalar(handler.resolve_ref_schema(handler(core_schema)))

    @classmethod
    def with_scalar(cls, schema: dict[str, Any]) -> dict[str, Any]:
        """The JSON Schema of the node, or of the scalar that stands for its main field."""
        if not cls.main or "properties" not in schema:  # that of a node in its second place is made already
            return schema
        return {"title": schema.get("title", cls.__name__), "anyOf": [schema["properties"][cls.main], schema]}

    def check_kind(self, kind: str, *paths: Path) -> None:
        """Refuse a field that this kind does not have; `paths` are the places where the field may be written."""
        for name in sorted(self.model_fields_set - {"kind"} - self.fields_of.get(kind, frozenset())):
            has = ", ".join(sorted(self.fields_of.get(kind, ()))) or "no fields of its own"
            places = [*((*path, name) for path in paths), *paths]
            tell(InputError(f"{kind} has no {name}", f"{kind} has {has}", fields=places))


class OneOrMore:
    """Marks a field that is a list: in the schema too, a single value needs no brackets."""

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: Any) -> dict[str, Any]:
        several = handler(core_schema)
        return {"anyOf": [several["items"], several]}


V = TypeVar("V")


@dataclass(frozen=True)
class Lazy:
    """Marks a field whose node class is imported on first use, which keeps loading a small spec fast."""

    module: str
    name: str

    @property
    def node(self) -> type[Node]:
        node: type[Node] = getattr(importlib.import_module(self.module), self.name)
        return node

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda data: self.node.model_validate(data))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        self.node.model_rebuild()
        return self.node.with_scalar(handler.resolve_ref_schema(handler(self.node.__pydantic_core_schema__)))


@dataclass(frozen=True)
class HasFieldsOf:
    """Marks a field that holds mappings: a node that describes some of their fields."""

    node: type[Node]


def merged(base: Any, nearer: V) -> V:
    """Merge two specs, or values of one: `nearer` wins, field by field in nodes and mappings, also where a list has a
    single node; a new `kind` drops fields only the old kind had."""
    both: Any = nearer
    if isinstance(base, dict) and isinstance(nearer, dict):
        both = {**base, **{key: merged(base.get(key), value) for key, value in nearer.items()}}
    elif isinstance(base, tuple) and isinstance(nearer, tuple) and len(base) == len(nearer) == 1:
        both = (merged(base[0], nearer[0]),) if isinstance(base[0], Node) else nearer
    elif isinstance(base, Node) and isinstance(nearer, Node):
        values = {name: getattr(base, name) for name in base.model_fields_set}
        values |= {name: merged(values.get(name), getattr(nearer, name)) for name in nearer.model_fields_set}
        allowed = base.fields_of.get(str(values.get("kind")))
        if allowed is not None and values.get("kind") != getattr(base, "kind", None):
            kept = allowed | {"kind"} | nearer.model_fields_set
            values = {name: value for name, value in values.items() if name in kept}
        both = type(base).model_construct(_fields_set=set(values), **values)
    found: V = both
    return found


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


Parameters = Annotated[int | str, BeforeValidator(_published_count), WithJsonSchema(_SIZE_SCHEMA)]


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
