"""The header of a GGUF file as the config.json of the model type that is built the same.

`presets/gguf/architectures.yaml` says for each architecture which model type that is, and where every field of its
config stands: in a fact of the header (`expert_count`), in the size of a tensor (`attn_k.weight[0]`), in whether a
tensor is there at all (`attn_q.bias?`), or in what follows from those (`ssm.inner_size // ssm.time_step_rank`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, cached_property
from operator import add, floordiv, mul, sub, truediv
from typing import Any

from archcalc.importers import gguf
from archcalc.importers.hf._helpers.reading import described
from archcalc.spec import yaml_reader
from archcalc.spec.paths import data_root
from archcalc.spec.stored_tensors import Stored

Fields = dict[str, Any]

_LAYER = re.compile(r"(?:enc\.|dec\.)?blk\.(\d{1,9})\.(.+)")
_SIZE = re.compile(r"(.+)\[(\d)\]")
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {"+": add, "-": sub, "*": mul, "//": floordiv, "/": truediv}
NEXT = "nextn."  # tensors of a layer that predicts one token further


@cache
def table() -> Fields:
    """The table of all known architectures, and the fields that they share."""
    file = data_root() / "gguf" / "architectures.yaml"
    return yaml_reader.read(file.read_bytes(), "GGUF architectures").data


class Facts:
    """Looks up a header's metadata and tensors by the expressions of the table."""

    def __init__(self, header: gguf.Header) -> None:
        self.header = header
        self.architecture = str(header.facts.get("general.architecture", ""))

    @cached_property
    def entry(self) -> Fields:
        """The table's entry for the architecture: the first variant that fits the file, or None."""
        ways = table()["architectures"].get(self.architecture, [])
        return next((way for way in ways if self.value(way.get("when", True))), {})

    @cached_property
    def layers(self) -> list[dict[str, Stored]]:
        """The tensors of each layer by their name within it, without multi-token prediction layers."""
        return [tensors for _, tensors in self._numbered if not _predicts_further(tensors)]

    @cached_property
    def further(self) -> list[int]:
        """The indices of multi-token prediction layers."""
        return [number for number, tensors in self._numbered if _predicts_further(tensors)]

    @cached_property
    def has_two_stacks(self) -> bool:
        """Whether layer names contain an encoder or decoder prefix."""
        return any(name.startswith(("enc.", "dec.")) for name in self.header.tensors)

    @cached_property
    def _numbered(self) -> list[tuple[int, dict[str, Stored]]]:
        found: dict[int, dict[str, Stored]] = {}
        for name, stored in self.header.tensors.items():
            if match := _LAYER.fullmatch(name):
                found.setdefault(int(match[1]), {})[match[2]] = stored
        return sorted(found.items())

    def raw(self, key: str) -> Any:
        """A metadata value of this architecture, as written in the file."""
        return self.header.facts.get(f"{self.architecture}.{key}")

    def fact(self, key: str) -> Any:
        """A metadata value; for a list with one number per layer, the only value that is not 0."""
        found = self.raw(key)
        if not isinstance(found, list):
            return found
        several = sorted({one for one in found if one})
        if not several:
            return 0
        return several[0] if len(several) == 1 else found

    def tensor(self, name: str) -> Stored | None:
        """A tensor of the model, or of the first layer that has one of this name."""
        return self.header.tensors.get(name) or next((one[name] for one in self.layers if name in one), None)

    def value(self, said: Any) -> Any:
        """The value of a table entry; None if the file does not contain it."""
        if isinstance(said, dict):
            (kind, inner), *more = said.items()
            return _KINDS[kind](self, inner, dict(more))
        if not isinstance(said, str):
            return said
        found = None
        for way in said.split(" or "):
            found = found or self._computed(way.split())
        return found

    def _computed(self, words: list[str]) -> Any:
        """Evaluates `a - b * c` from left to right; None if one of them is missing."""
        found = self._word(words[0])
        for sign, word in zip(words[1::2], words[2::2], strict=True):
            other = self._word(word)
            if not _is_number(found) or not _is_number(other) or (sign in ("/", "//") and not other):
                return None
            found = _OPERATORS[sign](found, other)
        return found

    def _word(self, word: str) -> Any:
        if word.isdecimal():
            return int(word)
        if word.endswith("?"):
            absent = word.startswith("!")
            return (self.tensor(word.strip("!?")) is not None) != absent
        if match := _SIZE.fullmatch(word):
            stored = self.tensor(match[1])
            found = stored.shape if stored else self.raw(match[1])
            return found[int(match[2])] if isinstance(found, tuple | list) and len(found) > int(match[2]) else None
        return len(self.layers) if word == "layers" else self.fact(word)

    def _by_layer(self, words: dict[str, str], _: Fields) -> list[str] | None:
        """One word per layer: the word of the first listed tensor that the layer has."""
        found = [next((word for name, word in words.items() if name in layer), None) for layer in self.layers]
        return None if None in found else found  # type: ignore[return-value]

    def _by_flag(self, key: str, words: Fields) -> list[str] | None:
        """One word per layer, from a list of booleans in the header."""
        flags = self.raw(key)
        if not isinstance(flags, list) or len(flags) < len(self.layers):
            return None
        return [words["yes" if flag else "no"] for flag in flags[: len(self.layers)]]

    def _each(self, key: str, _: Fields) -> Any:
        """One number per layer, if layers differ."""
        found = self.raw(key)
        return found[: len(self.layers)] if isinstance(found, list) and len(set(found)) > 1 else None

    def _by_truth(self, said: str, words: Fields) -> Any:
        """One of two words."""
        found = self.value(said)
        if found is None:
            return None
        return words["yes"] if found else words["no"]

    def _first(self, name: str, _: Fields) -> int:
        """The index of the first layer that has a tensor; the number of layers if none has it."""
        return next(iter(self._which(name, {})), len(self.layers))

    def _which(self, name: str, _: Fields) -> list[int]:
        """All layers that have a tensor."""
        return [number for number, layer in enumerate(self.layers) if name in layer]

    def _period(self, name: str, _: Fields) -> int:
        """The interval between layers that have a tensor; the number of layers if only one has it."""
        first, *later = *self._which(name, {}), None
        return later[0] - first if later and later[0] else len(self.layers) + 1

    def _group(self, inner: Fields, _: Fields) -> Fields:
        """Fields that the config has in a nested mapping."""
        return {name: found for name, said in inner.items() if (found := self.value(said)) is not None}


_KINDS: dict[str, Callable[[Facts, Any, Fields], Any]] = {
    "is": lambda facts, inner, more: inner,
    "layers": Facts._by_layer,
    "flags": Facts._by_flag,
    "each": Facts._each,
    "words": Facts._by_truth,
    "first": Facts._first,
    "which": Facts._which,
    "period": Facts._period,
    "group": Facts._group,
}


def config(facts: Facts) -> Fields:
    """The config.json equivalent to a file whose architecture is in the table."""
    entry, shared = facts.entry, table()
    model_type = entry["type"]
    about = described(model_type)
    declared = {*about["defaults"], *about["aliases"]}
    wanted = {name: said for name, said in shared["fields"].items() if name in declared}
    wanted |= shared["rope"] if "rope_parameters" in declared else {}
    wanted |= entry.get("config", {})
    found = {name: facts.value(said) for name, said in wanted.items()}
    texts = (name for name, task in about["classes"].items() if task == "causal")  # as nearly all files hold
    unsaid = {name for name in shared["unsaid"] if name in found and found[name] is None}
    return {
        **{name: value for name, value in found.items() if value is not None or name in unsaid},
        "torch_dtype": "float16",  # llama.cpp's own choice for the cache
        "model_type": model_type,
        "architectures": [entry.get("class") or next(iter(texts), next(iter(about["classes"])))],
    }


def _predicts_further(tensors: dict[str, Stored]) -> bool:
    return any(name.startswith(NEXT) for name in tensors)


def _is_number(value: Any) -> bool:
    """A header value of any other type is treated as missing."""
    return isinstance(value, int | float) and not isinstance(value, bool)
