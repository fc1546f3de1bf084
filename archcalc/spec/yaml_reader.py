"""Reading YAML safely: plain data, and the line number of each field.

The reader keeps to YAML 1.2's plain scalars: `true` is a bool but `yes`, `on` and `010` are words, so no value
changes its type unexpectedly. Duplicate keys, tags, deep nesting and exploding aliases are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from archcalc.core.budget import Budget
from archcalc.core.errors import InputError, Path, dotted

MAX_BYTES = 1_000_000
MAX_VALUES = 20_000  # with every alias expanded; the largest real spec has a few hundred
MAX_DEPTH = 40
DIGITS = 50  # of the longest whole number that may be written with an exponent

_INT = re.compile(r"[-+]?(0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|(0|[1-9][0-9]*)(\.[0-9]*)?)(e[-+]?[0-9]{1,3})?", re.IGNORECASE)
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", "+.inf", ".Inf"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf"), float("-inf")),
}


@dataclass
class Document:
    """Where a spec came from: its text, its data, and the line of every field. Compared by what it says."""

    file: str = field(compare=False)
    text: str = field(default="", compare=False)
    data: dict[str, Any] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict, compare=False)
    notes: tuple[
        str, ...
    ] = ()  # of an importer: what a reader of any report must know, whatever is changed in the spec
    file_notes: tuple[str, ...] = ()  # of an importer: what holds for the file as it is, and for no changed spec
    weights: Any = None  # of an importer: how its file stores them, a `StoredWeights` of archcalc.storage
    config: dict[str, Any] = field(default_factory=dict)  # the config.json that it was translated from
    whole: dict[str, Any] = field(default_factory=dict)  # the config that transformers builds more of than was read
    shipped: bool = False  # a preset of archcalc's own, which is checked against its source
    head_in_checkpoint: bool = False  # transformers' class gets its own head from a checkpoint, and is tied without one

    @property
    def is_written_by_hand(self) -> bool:
        """A person's own spec, which may leave choices to defaults without knowing."""
        return not (self.shipped or self.config or self.whole or self.weights)

    def line_of(self, path: Path) -> int:
        """The line of the field, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 0)

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Add file, line and the line's text to a mistake found in this document."""
        try:
            yield
        except InputError as error:
            for mistake in (error, *error.also):
                if not mistake.file:
                    self._locate(mistake)
            raise

    def _locate(self, error: InputError) -> None:
        error.file = self.file
        written = next((path for path in map(self._as_written, error.fields) if path in self.lines), None)
        lines = self.text.splitlines()
        error.line = min(self.line_of(written or (error.fields[0] if error.fields else ())), len(lines))
        if written and not error.is_missing:
            error.field = dotted(written)
        error.excerpt = lines[error.line - 1][:100] if error.line else ""

    def _as_written(self, path: Path) -> Path:
        """A list of one may be written without brackets: `position[0].theta` is then found at `position.theta`."""
        if path in self.lines:
            return path
        return tuple(key for key in path if not isinstance(key, int))


def read(raw: bytes, file: str) -> Document:
    """Parse one YAML document, or raise an InputError that says where and why not."""
    document = Document(file, _decoded(raw, file))
    with document.locating():
        _Reader(document).read()
    return document


def _decoded(raw: bytes, file: str) -> str:
    error: InputError | None = None
    if len(raw) > MAX_BYTES:
        error = InputError(f"{len(raw):,} bytes is too long for a spec", "a spec is a YAML file of a few dozen lines")
    elif b"\0" in raw:
        error = InputError("this is a binary file", "give a YAML spec; `archcalc init FILE` writes one to start from")
    elif not raw.strip():
        error = InputError("the file is empty", "`archcalc init FILE` writes a spec to start from")
    if error is None:
        try:
            return raw.decode("utf-8-sig")
        except UnicodeDecodeError as reason:
            line = raw[: reason.start].count(b"\n") + 1
            error = InputError(f"line {line} is not UTF-8 text", "save the file as UTF-8")
    error.file = file
    raise error


class _Reader:
    """Builds the data from YAML's events, one by one, so that depth and size are bounded before anything is built."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.values = Budget("values once aliases are expanded", MAX_VALUES, "a spec has a few hundred")
        self.events: Iterator[Any] = iter(())

    def read(self) -> None:
        import yaml

        self.events = yaml.parse(self.document.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        try:
            self._expect("no document in the file", "StreamStartEvent", "DocumentStartEvent")
            data = self._value(next(self.events), (), 0)
            self._expect("more than one document in the file", "DocumentEndEvent", "StreamEndEvent")
        except yaml.YAMLError as reason:
            raise self._malformed(reason) from None
        if not isinstance(data, dict):
            raise InputError(f"expected fields such as `d_model: 512`, found {_kind(data)}")
        self.document.data = data

    def _expect(self, otherwise: str, *kinds: str) -> None:
        for kind in kinds:
            event = next(self.events)
            if type(event).__name__ != kind:
                self._stands_at(event.start_mark)
                raise InputError(otherwise, "put one spec into one file")

    def _malformed(self, reason: Any) -> InputError:
        mark = getattr(reason, "problem_mark", None) or getattr(reason, "context_mark", None)
        problem = getattr(reason, "problem", None) or str(reason).splitlines()[0]
        error = InputError(f"not valid YAML: {problem}", "check indentation, brackets and quotes on this line")
        if mark is not None:
            self._stands_at(mark)
        return error

    def _stands_at(self, mark: Any) -> None:
        """Report an error of the whole document at this line."""
        self.document.lines[()] = min(mark.line + 1, max(1, len(self.document.text.splitlines())))

    def _value(self, event: Any, path: Path, depth: int) -> Any:
        """What begins with this event."""
        self.document.lines.setdefault(path, event.start_mark.line + 1)
        kind = type(event).__name__
        if depth > MAX_DEPTH:
            raise InputError(f"nested more than {MAX_DEPTH} deep", fields=[path])
        if kind == "AliasEvent":
            return self._alias(event.anchor, path)
        if event.tag is not None and not (kind == "ScalarEvent" and event.tag == "!"):
            raise InputError(f"the tag {event.tag} is not allowed", "write the plain value", fields=[path])
        before = self.values.spent
        self.values.spend(fields=[path])
        value: Any = event.value if kind == "ScalarEvent" else None
        if kind == "ScalarEvent" and event.implicit[0]:
            value = scalar(event.value)
        elif kind == "SequenceStartEvent":
            value = self._sequence(path, depth + 1)
        elif kind == "MappingStartEvent":
            value = self._mapping(path, depth + 1)
        if event.anchor:
            self.anchors[event.anchor] = (value, self.values.spent - before)
        return value

    def _alias(self, anchor: str, path: Path) -> Any:
        if anchor not in self.anchors:
            raise InputError(f"the alias *{anchor} refers to itself or to nothing above it", fields=[path])
        value, size = self.anchors[anchor]
        self.values.spend(size, [path])
        return value

    def _sequence(self, path: Path, depth: int) -> list[Any]:
        items: list[Any] = []
        while type(event := next(self.events)).__name__ != "SequenceEndEvent":
            items.append(self._value(event, (*path, len(items)), depth))
        return items

    def _mapping(self, path: Path, depth: int) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        lines = self.document.lines
        while type(name := next(self.events)).__name__ != "MappingEndEvent":
            line = name.start_mark.line + 1
            if type(name).__name__ != "ScalarEvent":
                lines[path] = line
                raise InputError("a field's name is a plain word", "write `name: value`", fields=[path])
            key = str(name.value)
            if key in fields:
                first, lines[(*path, key)] = lines[(*path, key)], line
                raise InputError(f"given twice, first on line {first}", "keep one of the two", fields=[(*path, key)])
            lines[(*path, key)] = line
            fields[key] = self._value(next(self.events), (*path, key), depth)
        return fields


def scalar(text: str) -> Any:
    """The value of a plain scalar. `3e4` is the int 30,000, but `4.0` stays a float, which no size accepts."""
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text) and len(text) < 60:
        return int(text.replace("_", ""))
    if _FLOAT.fullmatch(text) and len(text) < 60:
        number = Decimal(text)
        whole = "e" in text.lower() and abs(number.adjusted()) < DIGITS and number == int(number)
        if whole:
            return int(number)
        return float(text)
    return text


def _kind(value: Any) -> str:
    return {list: "a list", type(None): "nothing", str: "text"}.get(type(value), "a single value")
