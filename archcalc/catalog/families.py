"""Families by the words that people have for them: `presets --family cnn`, `--family "vision transformer"`.

facts_of(model, root)           what a model declares: {"decoder", "transformer", "text", "llama", …}
belongs("ssm", facts)           whether a word holds of it

Which facts a word stands for is data (`presets/typed/families.yaml`), and never a list of models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from archcalc.core.ir import Module, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.model import Model
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read

TYPE = "type:"
SHORTEST = 3  # letters of a part of a model type that names it: bert of distilbert
READ = {
    "height": "images",
    "frames": "audio",
    "seq": "text",
    "src_seq": "text",
    "tgt_seq": "text",
}  # by dims of an input


def facts_of(model: Model, root: Module, name: str = "") -> frozenset[str]:
    """Kind and family, cells, what is read, model type, and the words of its name."""
    return frozenset(word.lower() for word in _facts(model, root, name) if word)


def belongs(asked: str, facts: frozenset[str]) -> bool:
    """Whether every word holds, and none is asked for that does not."""
    return all(_holds(word, facts) for word in asked.lower().split())


def known() -> tuple[str, ...]:
    """Words that stand for facts."""
    return tuple(_words())


def _facts(model: Model, root: Module, name: str) -> Iterator[str]:
    yield from (model.kind, *model.kind.split(), *model.kind.replace("-", " ").split())
    yield from (getattr(stack, "cell", "") for stack in getattr(model.resolved, "stacks", ()))
    entering = (dim.name for op in ops_in(root) if op.traits.enters for dim in op.output.dims)
    yield from (READ.get(dim, "") for dim in entering)
    roles = {param.weight_role for module, _ in walk(root) for param in module.params.values()}
    yield "convolution" if Role.CONVOLUTION in roles and model.spec.family == "network" else ""
    yield f"{TYPE}{model.model_type}" if model.model_type else ""
    yield from re.findall(r"[a-z]+\d*", name.lower())


def _holds(word: str, facts: frozenset[str]) -> bool:
    """The word itself, what it stands for, or a part of the model type."""
    alternatives = _words().get(word.replace("-", ""))
    if word in facts or alternatives is None:
        return word in facts or _is_type(word, facts)
    return any(all(_is_fact(each, facts) for each in one.split()) for one in alternatives)


def _is_fact(word: str, facts: frozenset[str]) -> bool:
    return word[1:] not in facts if word.startswith("!") else word in facts


def _is_type(word: str, facts: frozenset[str]) -> bool:
    types = (fact.removeprefix(TYPE) for fact in facts if fact.startswith(TYPE))
    return len(word) >= SHORTEST and any(word in one for one in types)


def _words() -> dict[str, list[str]]:
    return _read(paths.shipped("typed")["families"])


@cache
def _read(file: Path) -> dict[str, list[str]]:
    return dict(read(file.read_bytes(), str(file)).data)
