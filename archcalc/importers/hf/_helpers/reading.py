"""Reads a config.json as its class in transformers does: aliases, class defaults, and a record of the keys read.

A file leaves defaults out, spells fields in old and new ways, and may say things that nothing reads. So every value is
asked for by name, never guessed; what was given and not asked for is refused or noted in the end.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers.inert import Inert, is_inert, keys_of, listed
from archcalc.spec.model_types import described as described
from archcalc.spec.units import LARGEST

Value = Any  # of a field of a spec: a word, a number, a list, a mapping
Fields = dict[str, Value]
Choice = TypeVar("Choice")

SHOWN = 8  # keys in a note
OF_THE_TEXT = ("vocab_size", "projection_dim", "num_image_tokens")  # of a language model, which files repeat in towers
MOST_LAYERS = 100_000  # a translator lists the layers one by one
MATTERS = (  # though no class of the type declares them
    *("per_layer_config", "block_configs", "layer_config", "text_config", "vision_config", "audio_config"),
    *("routed_expert_hidden_size", "attn_res_block_size"),  # of Kimi K3, which goes by kimi_linear
)


def when(there: Any, **fields: Any) -> Fields:
    """Fields that a spec has on a condition, such as `**when(c.flag("use_qk_norm"), qk_norm="head")`."""
    if there:
        return fields
    return {}


class Config:
    """The values of one config, read by `size`, `flag`, `text`, `get`; `given` is for keys that no class declares."""

    def __init__(self, model_type: str, said: dict[str, Any], task: str = "") -> None:
        about = described(model_type)
        self.type = model_type
        self.task = task  # of the class that is translated: causal, masked, sequence …
        self.config_class: str = about["config"]
        self.classes: dict[str, str] = about["classes"]
        self.theta: float = about["theta"]
        self.rope: dict[str, Any] = about.get("rope", {})
        self.inner: dict[str, dict[str, Any]] = about.get("inner", {})  # defaults of configs inside this one
        self.parts: dict[str, dict[str, Any]] = about.get("parts", {})  # types of configs inside it that are models
        self.labels: int = about.get("labels", 2)
        self.softmax: str = about["softmax"]
        self.aliases: dict[str, str] = about["aliases"]
        self.defaults = {self.named(key): value for key, value in about["defaults"].items()}
        self.defaults = {**described("base")["defaults"], **self.defaults}
        # as transformers does, which sets declared fields first and all others after them, so that the latter win
        ordered = sorted(said.items(), key=lambda field: field[0] not in about["defaults"])
        self.said = {self.named(key): value for key, value in ordered}
        self.declared = frozenset((*self.defaults, *self.aliases))
        self.spelled = said
        self.was_read: set[str] = set()
        self.used: set[str] = set()  # those that were not merely skipped
        self.notes: list[str] = []
        self.left_out: list[Fields] = []  # parts of the model that are not counted
        self.doubts: list[str] = []  # what every count takes for granted, and nobody has checked
        self.ignored: list[str] = []  # keys of the file that the class does not declare, and nothing reads
        self.unsure = ""  # who may read such keys, where that is not known
        self.further: Callable[[Config], None] = _nothing  # a check when all is read
        # how blocks for multi-token prediction differ from the last one, as fields of `head.mtp`; None: nobody knows.
        # `once`: several share a projection, which no spec says
        self.mtp: Fields | None = {}
        self.inside = False  # of a larger model, whose processor says how large its images are
        self.head_in_checkpoint = False  # a head of its own, which the class has only once a checkpoint is loaded

    def inside_of(self, outer: Config) -> None:
        """What is taken for granted of a part is so of the whole."""
        self.doubts, self.unsure, self.further = outer.doubts, outer.unsure, outer.further

    def named(self, key: str) -> str:
        """The class's own name for a key, resolving aliases."""
        return self.aliases.get(key, key)

    def get(self, key: str) -> Any:
        """The file's value, else the class's default; only for keys that the class declares."""
        key = self.named(key)
        self.was_read.add(key)
        self.used.add(key)
        if key in self.said:
            return self.said[key]
        return self.defaults[key]

    def own(self, key: str) -> Any:
        """What the class derives other fields from: the value under the field's own name, as aliases are set later."""
        return self.spelled.get(key, self.defaults[key])

    def given(self, key: str) -> Any:
        """The file's value of a key that the class may not declare, or None."""
        key = self.named(key)
        self.was_read.add(key)
        self.used.add(key)
        return self.said.get(key, self.defaults.get(key))

    def given_or(self, key: str, otherwise: Any) -> Any:
        """The file's value of a key that the class may not declare, or a default in the place of null."""
        value = self.given(key)
        if value is None:
            return otherwise
        return value

    def usual_rope(self, layer: str) -> dict[str, Any]:
        """The class's default RoPE parameters for a layer type."""
        by_layer: dict[str, Any] = self.rope.get(layer, {})
        if any(isinstance(said, dict) for said in self.rope.values()):
            return by_layer
        return self.rope

    def skip(self, *keys: str) -> None:
        """Marks keys as read, since they change nothing here."""
        self.was_read.update(map(self.named, keys))

    def size(self, key: str) -> int:
        return self._whole(key, self.get(key), least=1)

    def count(self, key: str) -> int:
        return self._whole(key, self.get(key), least=0)

    def size_or(self, key: str, otherwise: int) -> int:
        """A size, or the given default if it is null or undeclared."""
        value = self.given(key)
        if value is None:
            return otherwise
        return self._whole(key, value, least=1)

    def _whole(self, key: str, value: Any, least: int) -> int:
        most = LARGEST
        if "layer" in key and "per_layer" not in key:
            most = MOST_LAYERS
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(key, f"a whole number from {least} to {most:,}")
        return value

    def predict_by(self, line: str | None, **more: Any) -> None:
        """Blocks for multi-token prediction are such a line; None where no block of the model has its parts."""
        self.mtp = {"line": line, **more} if line else None

    def flag(self, key: str) -> bool:
        """A switch. One that the class does not declare is off, whatever the file says."""
        return self.named(key) in self.declared and self.given_flag(key)

    def choose(self, key: str, on: Choice, off: Choice) -> Choice:
        """One of two values, by a switch."""
        if self.flag(key):
            return on
        return off

    def given_flag(self, key: str) -> bool:
        """A switch that is read even where no class declares it."""
        value = self.given(key)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return bool(value)

    def text(self, key: str) -> str:
        value = self.get(key)
        if not isinstance(value, str):
            raise self.wrong(key, "a word")
        return value

    def words(self, key: str) -> list[str] | None:
        """A list of words, or None where it is left to the class."""
        value = self.given(key)
        if value is not None and not (isinstance(value, list) and all(isinstance(word, str) for word in value)):
            raise self.wrong(key, "a list of words")
        return value

    def wrong(self, key: str, wanted: str) -> InputError:
        found = json.dumps(self.said.get(self.named(key), self.defaults.get(self.named(key))))
        return InputError(f"expected {wanted}, found {found[:60]}", field=key)

    def refused(self, key: str, why: str = "") -> InputError:
        """A value that archcalc cannot count."""
        value = json.dumps(self.said.get(self.named(key), self.defaults.get(self.named(key))))
        fact = f"{key}: {value[:60]} is not counted for {self.type}"
        return InputError(fact, why or "archcalc would have to guess; --trace counts it with transformers")

    def check_all_read(self, inert: Inert) -> None:
        """Refuses declared keys that the translator did not read, and notes undeclared ones as ignored."""
        self.skip(*keys_of(inert), *listed("uncounted"))
        self.skip(*(key for key in listed("undeclared") if key not in self.declared))
        left = {key: value for key, value in self.said.items() if key not in self.was_read and not is_inert(key)}
        for key, value in left.items():
            if key in MATTERS and value:
                raise self.refused(key)
            usual = self.defaults.get(key)
            if key in self.declared and (value != usual or isinstance(value, bool) != isinstance(usual, bool)):
                raise self.refused(key)
        self.ignored = sorted(key for key in left if key not in self.declared)
        if self.ignored:
            more = f" and {len(self.ignored) - SHOWN} more" if len(self.ignored) > SHOWN else ""
            shown = ", ".join(self.ignored[:SHOWN]) + more
            said = f"ignored, as {self.config_class} declares no such field: {shown}"
            matters = self.unsure and any(self.spelled[key] for key in self.ignored if key not in OF_THE_TEXT)
            (self.doubts if matters else self.notes).append(f"{said}{self.unsure}")
        self.further(self)


def _nothing(c: Config) -> None:
    """Of most configs all is checked."""
