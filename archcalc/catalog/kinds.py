"""What kind of model it is, in the words that people have: `presets --kind cnn`, `presets --kind "vision encoder"`.

Facts follow from the resolved model and its tree; which of them a word stands for is data
(`presets/typed/families.yaml`), and never a list of models.
"""

from __future__ import annotations

import re
from typing import Any

from archcalc.core.ir import Module, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.model import Model
from archcalc.spec.data_files import shipped

TYPE, HEAD, WITH = "type:", "head:", "with:"
SHORTEST = 3  # letters of a part of a model type that names it: bert of distilbert
READ = {  # by its dims
    "height": "images",
    "frames": "audio",
    "waveform": "audio",
    "seq": "text",
    "src_seq": "text",
    "text_seq": "text",
    "words_around": "text",
}
MODALITIES = ("text", "images", "audio")
MULTIMODAL = "multimodal"


def reads(model: Model, root: Module) -> tuple[str, ...]:
    """What the model is given. What a decoder is given besides its encoder's input it has written itself. An input with
    a rate is audio, by whatever names its dims go."""
    entering = [op.output for op in ops_in(root) if op.traits.enters]
    found = {READ[dim.name] for tensor in entering for dim in tensor.dims if dim.name in READ}
    if not any(tensor.role == "index" for tensor in entering):  # a sequence of vectors, such as points, is no text
        found.discard("text")
    if any(one.rate for one in getattr(model.resolved, "inputs", {}).values()):
        found.add("audio")
    return tuple(one for one in MODALITIES if one in found)


def kinds(model: Model) -> tuple[str, ...]:
    """Its own kind; of a model of parts that of each part, once each, but for those that join two others."""
    inputs = getattr(model.resolved, "inputs", {})
    parts = [part for part in getattr(model.resolved, "parts", ()) if part.is_output or inputs.keys() & part.named]
    found = (f"{getattr(part.resolved, 'kind', '')} {part.family}".strip() for part in parts)
    return tuple(dict.fromkeys(found)) or (model.kind,)


def _heads(model: Model) -> list[Any]:
    """Its own; of a model of parts those of its outputs."""
    outputs = [part.resolved for part in getattr(model.resolved, "parts", ()) if part.is_output]
    heads = (getattr(one, "head", None) for one in outputs or [model.resolved])
    return [head for head in heads if head]


def facts_of(model: Model, root: Module, name: str = "") -> frozenset[str]:
    """Kinds and family, cells, what is read and what it is made of, its head, model type, and the words of its name."""
    read = reads(model, root)
    roles = {param.weight_role for module, _ in walk(root) for param in module.params.values()}
    words = [
        model.kind,
        *kinds(model),
        *" ".join(kinds(model)).split(),
        *" ".join(kinds(model)).replace("-", " ").split(),
        *(getattr(stack, "cell", "") for stack in getattr(model.resolved, "stacks", ())),
        *read,
        *(f"{WITH}{role.value.partition('.')[0]}" for role in roles),
        *(f"{HEAD}{head.kind}" for head in _heads(model)),
        model.model_type and f"{TYPE}{model.model_type}",
        *re.findall(r"[a-z]+\d*", name.lower()),
    ]
    if len(read) > 1:
        words.append(MULTIMODAL)
    if Role.CONVOLUTION in roles and model.spec.family == "network":
        words.append("convolution")
    return frozenset(word.lower() for word in words if word)


def belongs(asked: str, facts: frozenset[str]) -> bool:
    """Whether every word holds, and none is asked for that does not."""
    return all(_holds(word, facts) for word in asked.lower().split())


def known() -> tuple[str, ...]:
    """Words that stand for facts."""
    return (*shipped("typed", "families"), MULTIMODAL, *MODALITIES)


def _holds(word: str, facts: frozenset[str]) -> bool:
    """The word itself, what it stands for, or a part of the model type."""
    alternatives = shipped("typed", "families").get(word.replace("-", ""))
    if word in facts or alternatives is None:
        types = (fact.removeprefix(TYPE) for fact in facts if fact.startswith(TYPE))
        return word in facts or (len(word) >= SHORTEST and any(word in one for one in types))
    # `!word` says that it does not hold.
    return any(all((each.lstrip("!") in facts) != each.startswith("!") for each in one.split()) for one in alternatives)
