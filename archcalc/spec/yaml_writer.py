"""A spec as the YAML a person would write: short mappings on one line, a scalar where one field says it all.

Every text is written so that `yaml_reader` reads the same text back, whatever is in it: plain where it is a few
ordinary words, else between quotes, and with escapes where a character breaks a line or cannot be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from math import isfinite
from typing import Any

from archcalc.core.errors import InputError
from archcalc.core.visible import SURROGATES, UNSEEN, visible
from archcalc.spec.node import Node
from archcalc.spec.yaml_reader import DIGITS, scalar

LINE = 100  # a mapping that is longer than this is written out below its name
SENTENCE = 40  # characters; a list of longer texts has a line for each
LONGEST_KEY = 900  # YAML wants a question mark before a longer one
EXACT = 10.0**DIGITS  # a whole float below this is written digit by digit, since 1e20 would be read as an int

_PLAIN = re.compile(r"[A-Za-z_][\w./()+*·–×-]*(?: [\w./()+*·–×-]+)*")
_WORDS = {None: "null", True: "true", False: "false"}
_OTHER_WORDS = frozenset({"y", "n", "yes", "no", "on", "off"})  # booleans to readers of YAML 1.1, though not to ours


def to_yaml(spec: Node, order: Iterable[str] = (), comments: Iterable[str] = ()) -> str:
    """The fields that were set, those in `order` first, as in the source file."""
    fields = plain(spec)
    keys = [*(key for key in order if key in fields), *(key for key in fields if key not in set(order))]
    return "".join([*(f"# {visible(words)}\n" for words in comments), *(field_text(key, fields[key]) for key in keys)])


def plain(value: Any) -> Any:
    """A node as data: its fields that were set, or the one that stands for all."""
    if isinstance(value, Node):
        fields = {
            name: plain(getattr(value, name))
            for name in type(value).model_fields
            if name in value.model_fields_set and getattr(value, name) is not None
        }
        return fields[value.main] if list(fields) == [value.main] else fields
    if isinstance(value, tuple | list):
        items = [plain(item) for item in value]
        return items[0] if len(items) == 1 and isinstance(value[0], Node) else items
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    return value


def field_text(key: str, value: Any) -> str:
    """A field on one line, or below its name where that is too long."""
    short = _pair(key, flow(value))
    if len(short) <= LINE or not value or not isinstance(value, dict | list):
        return f"{short}\n"
    # sentences, and mappings or lists such as a network's layers, stand on a line of their own each
    has_lines = any(isinstance(item, dict | list) or (isinstance(item, str) and len(item) > SENTENCE) for item in value)
    if isinstance(value, list) and not has_lines:
        return f"{short}\n"
    return f"{_pair(key, '')}\n{_indented(_written_out(value))}"


def _written_out(value: dict[str, Any] | list[Any]) -> str:
    """A line for each field or item at least."""
    if isinstance(value, dict):
        return "".join(field_text(name, item) for name, item in value.items())
    lines = [f"- {flow(item)}\n" for item in value]
    for index, (item, short) in enumerate(zip(value, lines, strict=True)):
        if isinstance(item, dict | list) and len(short) > LINE:
            lines[index] = f"- {_indented(_written_out(item)).lstrip()}"
    return "".join(lines)


def _indented(inner: str) -> str:
    return "".join(f"  {line}\n" for line in inner.rstrip("\n").split("\n"))


def _pair(key: str, value: str) -> str:
    name = _scalar(key)
    if len(name) <= LONGEST_KEY:
        return f"{name}: {value}".rstrip(" ")
    return f"? {name}\n: {value}"


def flow(value: Any) -> str:
    if isinstance(value, dict):
        pairs = ((_scalar(key), flow(inner)) for key, inner in value.items())
        written = (f"{key}: {inner}" if len(key) <= LONGEST_KEY else f"? {key} : {inner}" for key, inner in pairs)
        return "{" + ", ".join(written) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(flow, value))}]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if not isinstance(value, float):
        return str(value)
    if not isfinite(value):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}[str(value)]
    return f"{value:.1f}" if value.is_integer() and abs(value) < EXACT else repr(value)


def _text(text: str) -> str:
    """Between double quotes where something cannot be seen. YAML has no text with half a pair of surrogates, and no
    file can hold one."""
    if UNSEEN.search(text):
        if SURROGATES.search(text):
            fact = f"'{visible(text)[:40]}' contains an unpaired surrogate, which YAML cannot represent"
            raise InputError(fact, "correct the text in the file that it comes from")
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{visible(quoted)}"'
    usual = _PLAIN.fullmatch(text) and isinstance(scalar(text), str) and text.lower() not in _OTHER_WORDS
    return text if usual else "'" + text.replace("'", "''") + "'"
