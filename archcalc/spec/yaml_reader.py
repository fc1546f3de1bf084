"""Reading YAML safely: plain data, and the line number of each field.

The reader keeps to YAML 1.2's plain scalars: `true` is a bool but `yes`, `on` and `010` are words, so no value
changes its type unexpectedly. Duplicate keys, tags, deep nesting and exploding aliases are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
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
_STARTS: dict[str, Callable[[], Any]] = {"SequenceStartEvent": list, "MappingStartEvent": dict}
_ENDS = ("SequenceEndEvent", "MappingEndEvent")
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
        # a list of one may be written without brackets: `position[0].theta` is then found at `position.theta`
        plain = (tuple(key for key in path if path in self.lines or not isinstance(key, int)) for path in error.fields)
        written = next((path for path in plain if path in self.lines), None)
        nearest = written or next(iter(error.fields), ())
        while nearest and nearest not in self.lines:  # then the line of what is around it
            nearest = nearest[:-1]
        lines = self.text.splitlines()
        error.line = min(self.lines.get(nearest, 0), len(lines))
        if written and not error.is_missing:
            error.field = dotted(written)
        error.excerpt = lines[error.line - 1][:100] if error.line else ""


def read(raw: bytes, file: str) -> Document:
    """Parse one YAML document, or raise an InputError that says where and why not."""
    import yaml

    document = Document(file)
    with document.locating():
        document.text = _decoded(raw)
        reader = _Reader(document, yaml.parse(document.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        try:
            reader.expect("no document in the file", "StreamStartEvent", "DocumentStartEvent")
            data = reader.data()
            reader.expect("more than one document in the file", "DocumentEndEvent", "StreamEndEvent")
        except yaml.YAMLError as reason:
            raise reader.malformed(reason) from None
        if not isinstance(data, dict):
            kinds = {list: "a list", type(None): "nothing", str: "text"}
            found = kinds.get(type(data), "a single value")
            raise InputError(f"expected fields such as `d_model: 512`, found {found}")
    document.data = data
    return document


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise InputError(f"{len(raw):,} bytes is too long for a spec", "a spec is a YAML file of a few dozen lines")
    if b"\0" in raw:
        raise InputError("this is a binary file", "give a YAML spec; `archcalc init FILE` writes one to start from")
    if not raw.strip():
        raise InputError("the file is empty", "`archcalc init FILE` writes a spec to start from")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        line = raw[: reason.start].count(b"\n") + 1
        raise InputError(f"line {line} is not UTF-8 text", "save the file as UTF-8") from None


@dataclass
class _Open:
    """A list or mapping whose end is still to come."""

    value: Any
    path: Path
    anchor: str | None
    before: int  # values that were read before it


@dataclass
class _Reader:
    """Builds the data from YAML's events, one by one, so that depth and size are bounded before anything is built."""

    document: Document
    events: Iterator[Any]
    anchors: dict[str, tuple[Any, int]] = field(default_factory=dict)
    values: Budget = field(
        default_factory=lambda: Budget("values once aliases are expanded", MAX_VALUES, "a spec has a few hundred")
    )

    def expect(self, otherwise: str, *kinds: str) -> None:
        for kind in kinds:
            event = next(self.events)
            if type(event).__name__ != kind:
                self._stands_at(event.start_mark)
                raise InputError(otherwise, "put one spec into one file")

    def malformed(self, reason: Any) -> InputError:
        mark = getattr(reason, "problem_mark", None) or getattr(reason, "context_mark", None)
        problem = getattr(reason, "problem", None) or str(reason).splitlines()[0]
        if mark is not None:
            self._stands_at(mark)
        return InputError(f"not valid YAML: {problem}", "check indentation, brackets and quotes on this line")

    def _stands_at(self, mark: Any) -> None:
        """Report an error of the whole document at this line."""
        self.document.lines[()] = min(mark.line + 1, max(1, len(self.document.text.splitlines())))

    def data(self) -> Any:
        """The next value, with all that is inside it. `around` are the lists and mappings that an event stands in."""
        around: list[_Open] = []
        path: Path = ()
        event = next(self.events)
        data = value = self._value(event, path)
        while True:
            if type(event).__name__ in _STARTS:
                around.append(_Open(value, path, event.anchor, self.values.spent - 1))
            while around and type(event := next(self.events)).__name__ in _ENDS:
                closed = around.pop()
                if closed.anchor:
                    self.anchors[closed.anchor] = (closed.value, self.values.spent - closed.before)
            if not around:
                return data
            inside = around[-1]
            if isinstance(inside.value, list):
                path = (*inside.path, len(inside.value))
                value = self._value(event, path)
                inside.value.append(value)
            else:
                path = self._named(event, inside)
                event = next(self.events)
                value = inside.value[path[-1]] = self._value(event, path)

    def _value(self, event: Any, path: Path) -> Any:
        """What begins with this event: a list or mapping is empty as yet."""
        self.document.lines.setdefault(path, event.start_mark.line + 1)
        kind = type(event).__name__
        if len(path) > MAX_DEPTH:
            raise InputError(f"nested more than {MAX_DEPTH} deep", fields=[path])
        if kind == "AliasEvent":
            if event.anchor not in self.anchors:
                raise InputError(f"the alias *{event.anchor} refers to itself or to nothing above it", fields=[path])
            value, size = self.anchors[event.anchor]
            self.values.spend(size, [path])
            return value
        if event.tag is not None and not (kind == "ScalarEvent" and event.tag == "!"):
            raise InputError(f"the tag {event.tag} is not allowed", "write the plain value", fields=[path])
        self.values.spend(fields=[path])
        if kind in _STARTS:
            return _STARTS[kind]()
        value = scalar(event.value) if event.implicit[0] else event.value
        if event.anchor:
            self.anchors[event.anchor] = (value, 1)
        return value

    def _named(self, name: Any, inside: _Open) -> Path:
        """The path of the field of a mapping that this event names."""
        lines, line = self.document.lines, name.start_mark.line + 1
        if type(name).__name__ != "ScalarEvent":
            lines[inside.path] = line
            raise InputError("a field's name is a plain word", "write `name: value`", fields=[inside.path])
        path = (*inside.path, str(name.value))
        if path[-1] in inside.value:
            first, lines[path] = lines[path], line
            raise InputError(f"given twice, first on line {first}", "keep one of the two", fields=[path])
        lines[path] = line
        return path


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
