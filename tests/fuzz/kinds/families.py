"""Specs by the grammar of their family: what ships of it, with further fields as its schema describes them."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from random import Random
from typing import Any

from archcalc.archs import families, family_of
from archcalc.spec.paths import data_root
from fuzz import treewise
from fuzz.case import Case
from fuzz.grammar import Grammar, Schema
from fuzz.grammar import families as schemas
from fuzz.kinds.shared import asked
from fuzz.kinds.specs import dumped

FROM_NOTHING = 0.05
TENSORS = {"tensors": {"a.weight": "bf16 [64, 64]", "layers.0.w": "fp32 [8, 8]", "layers.1.w": "fp32 [8, 8]"}}


def run(case: Case) -> None:
    asked(case, case.write("spec.yaml", dumped(spec(case), case.chance(0.3))))


def spec(case: Case) -> dict[str, Any]:
    """Of any family; one with few fields is tried as often as one with many."""
    family = case.random.choice(families())
    grammar = Grammar(case.random, schemas(), oddly=case.random.choice((0, 0.02)), largely=case.random.choice((0, 0.1)))
    tree = {} if case.chance(FROM_NOTHING) else deepcopy(case.random.choice(written(family) or [TENSORS]))
    tree["family"] = family
    for _ in range(case.random.choice((1, 1, 1, 2, 3, 6))):
        _add(grammar, tree, schemas()[family])
    return treewise.mutated(tree, case.random, gently=True) if case.chance(0.2) else tree


def _add(grammar: Grammar, tree: dict[str, Any], schema: Schema) -> None:
    """A field at some place of the tree that has fields."""
    holder, described = grammar.random.choice(list(_places(grammar.random, tree, grammar.one(schema), grammar)))
    names = sorted(described.get("properties", {}))
    if names:
        name = grammar.random.choice(names)
        holder[name] = grammar.value(described["properties"][name])


def _places(random: Random, tree: Any, schema: Schema, grammar: Grammar) -> list[tuple[dict[str, Any], Schema]]:
    """Every mapping of the tree beside the schema that describes it."""
    found = [(tree, schema)]
    for name, inner in schema.get("properties", {}).items():
        for one in _inside(tree.get(name), inner, grammar):
            found += _places(random, *one, grammar)
    return found


def _inside(value: Any, schema: Schema, grammar: Grammar) -> list[tuple[dict[str, Any], Schema]]:
    """Mappings, in lists too, of those whose schema has fields."""
    values = value if isinstance(value, list) else [value]
    choices = [grammar.one(each) for each in schema.get("anyOf", [schema])]
    choices = [grammar.one(each["items"]) if "items" in each else each for each in choices]
    described = [each for each in choices if "properties" in each]
    return [(each, described[0]) for each in values if isinstance(each, dict) and described]


@cache
def written(family: str) -> list[dict[str, Any]]:
    """What ships of a family."""
    from archcalc.spec.yaml_reader import read

    files = [file for folder in ("models", "starters") for file in sorted((data_root() / folder).glob("*.yaml"))]
    trees = [read(file.read_bytes(), file.name).data for file in files]
    return [tree for tree in trees if family_of(tree) == family]
