"""Families by the words that people have for them: `presets --family cnn`, `--family "vision transformer"`.

facts_of(model, root)           what a model declares: {"decoder", "transformer", "text", "llama", …}
belongs("ssm", facts)           whether a word holds of it

Which facts a word stands for is data (`presets/typed/families.yaml`), and never a list of models.
"""

from __future__ import annotations

import re

from archcalc.core.ir import Module, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.model import Model
from archcalc.spec.data_files import shipped

TYPE = "type:"
SHORTEST = 3  # letters of a part of a model type that names it: bert of distilbert
READ = {"height": "images", "frames": "audio", "seq": "text", "src_seq": "text", "tgt_seq": "text"}  # by its dims


def facts_of(model: Model, root: Module, name: str = "") -> frozenset[str]:
    """Kind and family, cells, what is read, model type, and the words of its name."""
    entering = (dim.name for op in ops_in(root) if op.traits.enters for dim in op.output.dims)
    roles = {param.weight_role for module, _ in walk(root) for param in module.params.values()}
    words = [
        *(model.kind, *model.kind.split(), *model.kind.replace("-", " ").split()),
        *(getattr(stack, "cell", "") for stack in getattr(model.resolved, "stacks", ())),
        *(READ.get(dim, "") for dim in entering),
        "convolution" if Role.CONVOLUTION in roles and model.spec.family == "network" else "",
        model.model_type and f"{TYPE}{model.model_type}",
        *re.findall(r"[a-z]+\d*", name.lower()),
    ]
    return frozenset(word.lower() for word in words if word)


def belongs(asked: str, facts: frozenset[str]) -> bool:
    """Whether every word holds, and none is asked for that does not."""
    return all(_holds(word, facts) for word in asked.lower().split())


def known() -> tuple[str, ...]:
    """Words that stand for facts."""
    return tuple(shipped("typed", "families"))


def _holds(word: str, facts: frozenset[str]) -> bool:
    """The word itself, what it stands for, or a part of the model type."""
    alternatives = shipped("typed", "families").get(word.replace("-", ""))
    if word in facts or alternatives is None:
        types = (fact.removeprefix(TYPE) for fact in facts if fact.startswith(TYPE))
        return word in facts or (len(word) >= SHORTEST and any(word in one for one in types))
    # `!word` says that it does not hold.
    return any(all((each.lstrip("!") in facts) != each.startswith("!") for each in one.split()) for one in alternatives)
