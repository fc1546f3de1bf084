"""Compares the weights beside a config with it, and takes their bytes for memory.

What a checkpoint holds beyond the model is told apart first: a copy of a tied head, layers that predict further tokens,
encoders that the count leaves out. A difference that is left is a difference.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from archcalc.core.roles import Role
from archcalc.importers.gguf_layers import places
from archcalc.model import Model
from archcalc.run.options import Options
from archcalc.spec.stored_tensors import Stored
from archcalc.spec.yaml_reader import Document
from archcalc.storage.format import plain
from archcalc.storage.packed_tensors import BUFFER, PARAMETER, UNKNOWN, Use, uses
from archcalc.storage.quantization_config.on_disk import OnDisk, shared_out

Tensors = dict[str, Stored]
PRECISIONS = ("bf16", "fp16", "fp32", "fp64")
HEAD_COPY = "a copy of the tied head"
FURTHER = "layers that predict further tokens"
OTHER_PARTS = "the parts that the count leaves out"
_HEAD = re.compile(r"(^|\.)(lm_head|output|embed_out|head|proj_out|decoder|output_projection|embed_tokens)(\.|$)")
_FURTHER = re.compile(r"(^|\.)(mtp|nextn|mtp_\w+)(\.|$)")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.([0-9]{1,9})\.")
_OTHER = re.compile(
    r"(^|\.)(visual|vit|v?q?vae|\w*(vision|image|audio|speech|projector|resampler)\w*|connector|merger|mm_\w+|aligner"
    r"|talker|token2wav|code2wav|conformer\w*|perceiver\w*)(\.|$)"
)


def with_weights(found: Document, tensors: Tensors, file: str) -> Document:
    """The config's document, with what its weights say; `file` is what they are called."""
    if found.data.get("family") == "weights":  # of transformers' own list of tensors
        return found
    used = uses(tensors)
    _name_precision(found, tensors, used)
    model = Model.from_document(found, "model")
    others = _surplus(model, tensors, used)
    beyond = {name for parts in others.values() for name in parts}
    held = Held(model, {name: one for name, one in tensors.items() if name not in beyond}, used, others, file)
    found.file_notes = (*found.file_notes, *held.notes())
    if held.differs:
        found.weights = held.on_disk()
    return found


@dataclass(frozen=True)
class Held:
    """A model, and the tensors that its files hold for it; `others` is what else they hold, by its name."""

    model: Model
    tensors: Tensors
    used: dict[str, Use]
    others: dict[str, Tensors]
    file: str

    @cached_property
    def bytes(self) -> int:
        """Of parameters with their scales, and of what steers routers; other buffers are made anew when it runs."""
        held = sum(one.bytes for name, one in self.tensors.items() if self.used[name].role != BUFFER)
        return held + self._steering

    @property
    def _steering(self) -> int:
        return sum(one.bytes for name, one in self.tensors.items() if name.endswith(_STEERING))

    @cached_property
    def expected(self) -> int | None:
        """What memory counts by the config; None where it cannot."""
        from archcalc.analyze.memory.deployment import deploy

        stored = self.model.stored
        if stored and stored.unknown:
            return None
        parameters = deploy(self.model, Options.of("memory", {})).parameters
        return parameters.states["weights"] + (parameters.buffers if self._steering else 0)

    @property
    def differs(self) -> bool:
        return self.bytes != self.expected

    def notes(self) -> list[str]:
        told = [self._compared()]
        for name, held in self.others.items():
            weights, taken = sum(self.used[one].weights for one in held), sum(one.bytes for one in held.values())
            told.append(f"{self.file} also holds {name}, {weights:,} weights in {taken:,} bytes, which are not counted")
        return told

    def _compared(self) -> str:
        if any(use.role == UNKNOWN for name, use in self.used.items() if name in self.tensors):
            return self._by_bytes("holds packed tensors whose weights cannot be counted from their shapes, and ")
        counted = int(self.model.params().total)
        held = sum(use.weights for name, use in self.used.items() if name in self.tensors and use.role == PARAMETER)
        if held != counted:
            more = held - counted
            alone = [name for name in self.tensors if more > 0 and self.used[name].weights == more]
            head = [name for name in alone if "head" in name or "output" in name]
            reason = f": {(head or alone)[0]} is as large as that" if alone else ""  # a tensor that alone explains it
            return f"{self.file} holds {held:,} weights, {_difference(more)} than the config says{reason}"
        return self._by_bytes(f"holds {held:,} weights, as the config says, and ")

    def _by_bytes(self, first: str) -> str:
        said = "quantization_config says" if self.model.stored else "the config's precision gives"
        expected = self.expected
        if expected is None:
            return f"{self.file} {first}takes {self.bytes:,} bytes"
        if not self.differs:
            return f"{self.file} {first}takes {self.bytes:,} bytes, as {said}"
        return f"{self.file} {first}takes {self.bytes:,} bytes, {_difference(self.bytes - expected)} than {said}"

    def on_disk(self) -> OnDisk:
        """The bytes of the files in the place of what the config says."""
        from archcalc.analyze.memory.deployment import deploy

        stored = self.model.stored
        rest = self.model.spec.precision or "fp16"
        usual = plain(rest) if stored is None or stored.unknown else replace(stored, rest=rest)
        in_bf16 = deploy(self.model, Options.of("memory", {"weights": "bf16"}))
        facts, root = in_bf16.keeping.model, self.model.build()
        shares = shared_out(root, self.bytes, usual, rest, facts)
        return OnDisk(self._formats(), self.file, self.bytes, usual, shares, rest, bool(self._steering))

    def _formats(self) -> str:
        """`bf16 and fp32`, the format of the most bytes first; quantised weights by the name of their method."""
        if self.model.stored:
            return self.model.stored.name
        taken: dict[str, int] = {}
        for name, one in self.tensors.items():
            if self.used[name].role != BUFFER:
                taken[one.format] = taken.get(one.format, 0) + one.bytes
        return " and ".join(sorted(taken, key=lambda name: -taken[name])[:3])


_STEERING = ("e_score_correction_bias", "expert_bias")


def _name_precision(found: Document, tensors: Tensors, used: dict[str, Use]) -> None:
    """A config that names no dtype is loaded in that of its weights."""
    if found.data.get("precision"):
        return
    taken: dict[Any, int] = {}
    for name, one in tensors.items():
        if used[name].role == PARAMETER and one.format in PRECISIONS:
            taken[one.format] = taken.get(one.format, 0) + one.bytes
    if taken:
        found.data["precision"] = max(taken, key=lambda name: taken[name])


def _difference(more: int) -> str:
    return f"{abs(more):,} {'more' if more > 0 else 'fewer'}"


def _surplus(model: Model, tensors: Tensors, used: Mapping[str, Use]) -> dict[str, Tensors]:
    """Tensors that are not part of the counted model, found by names and shapes: by what they are; nothing where the
    files hold the model alone."""
    left = dict(tensors)
    found: dict[str, Tensors] = {}
    if model.scope.left_out:
        found[OTHER_PARTS] = _taken(left, [name for name in left if _OTHER.search(name)])
    found[FURTHER] = _taken(left, _further(model, left))
    found[HEAD_COPY] = _taken(left, _copies(model, left, used))
    return {name: held for name, held in found.items() if held}


def _taken(left: Tensors, names: list[str]) -> Tensors:
    return {name: left.pop(name) for name in names}


def _further(model: Model, tensors: Tensors) -> list[str]:
    """Under names of their own, or as layers behind the last one; a model that counts them has them itself."""
    found = places(model.build())
    if any(place.param.weight_role is Role.FURTHER_TOKENS for place in found):
        return []
    depth = max((place.layers.end for place in found), default=0)
    numbered = {name: layer for name in tensors if (layer := _LAYER.search(name)) and depth and not _OTHER.search(name)}
    behind = {name for name, layer in numbered.items() if int(layer[1]) >= depth}
    return [name for name in tensors if _FURTHER.search(name) or name in behind]


def _copies(model: Model, tensors: Tensors, used: Mapping[str, Use]) -> list[str]:
    """Tensors as large as the token table, of which the model has fewer than the files: those of the head first."""
    params = [place.param for place in places(model.build())]
    table = next((param for param in params if param.weight_role is Role.TOKEN_TABLE), None)
    if table is None:
        return []
    size = int(table.size)
    own = sum(int(param.size) == size for param in params)
    alike = [name for name in tensors if used[name].role == PARAMETER and used[name].weights == size]
    heads = sorted((name for name in alike if _HEAD.search(name)), key=lambda name: "embed" in name)
    is_tied = not any(param.weight_role is Role.HEAD for param in params)
    return heads[: max(0, len(alike) - own)] if is_tied else []
