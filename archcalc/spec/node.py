"""The base of every spec: strict frozen nodes, scalars as short forms of a node's main field, sizes, and merging.

A spec keeps the fields as written. Every field is optional here, because fields at the top are inherited below;
missing ones are found when a family resolves the spec.
"""

import importlib
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, TypeVar

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
from archcalc.spec.gathering import tell
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
SIZE_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 1}, _AS_TEXT]}
Size = Annotated[int, BeforeValidator(as_size), WithJsonSchema(SIZE_SCHEMA)]


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
    unless: str = "",
    beside: JsonDict | None = None,
    under: str = "",
    words: JsonDict | None = None,
) -> Any:
    """A field of a spec: what it means in a sentence, a value to try, what holds where it is None, the field without
    which it has no effect, the one with which it is refused, other fields that the example is refused without, the only
    node that takes it, and what else it means (None: nothing) behind some of the words that share the node."""
    pairs = (("needs", needs), ("unless", unless), ("beside", beside), ("under", under))
    said = (("unset", unset), *pairs, ("words", words))
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
