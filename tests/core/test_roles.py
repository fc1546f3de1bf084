"""Parameters declare what they do, and everything that asks reads that: no module's name decides."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest
from support import sources

from archcalc import load
from archcalc.core.ir import Module, Param, walk
from archcalc.core.mesh import Plan
from archcalc.core.roles import Role
from archcalc.run.lora import is_adapter
from archcalc.run.optimizers import optimizer
from archcalc.spec.paths import presets
from archcalc.storage.checkpoint import modules
from archcalc.storage.named_formats import weight_format
from archcalc.storage.places import Place, facts

KINDS = ("llama-3-8b", "deepseek-v3", "jamba-v0.1", "t5-small", "recurrentgemma-2b", "vit-b-16", "bert-base")
ASKING = ("core", "spec", "storage", "run", "report", "analyze", "importers")  # packages that make no modules


def params(root: Module) -> Iterator[tuple[Param, int]]:
    for module, copies in walk(root):
        yield from ((param, int(copies)) for param in module.params.values())


def test_every_matrix_of_a_preset_declares_its_role() -> None:
    silent = [
        f"{name}: {param.owner.path}.{param.name}"
        for name in sorted(presets("models"))
        for param, _ in params(load(name).build())
        if param.weight_role is Role.OTHER and len(param.axes) > 1
    ]
    assert silent == []


@pytest.mark.parametrize("name", KINDS)
def test_names_of_modules_decide_nothing(name: str) -> None:
    named, renamed = load(name).build(), load(name).build()
    for number, (module, _) in enumerate(walk(renamed)):
        module.name = module.path = f"module_{number}"
    assert answers(named) == answers(renamed)


def answers(root: Module) -> list[object]:
    """What formats, checkpoints, optimizers and adapters make of every parameter."""
    found: list[object] = []
    formats = [weight_format(name) for name in ("q4_k_m", "nf4", "mxfp4")]
    for param, copies in params(root):
        place = Place(param, copies)
        stored = [form.holds(place) and form.total(place, facts(root), Plan()) for form in formats]
        states = optimizer("muon").states(param, int(param.size), 4)
        found.append((stored, modules(place), list(place.layers), states, is_adapter(param)))
    return found


def test_learned_vectors_and_norms_of_every_head_stay_as_they_are() -> None:
    """bitsandbytes quantises linear layers, llama.cpp no tensor that is called a norm."""
    vit, norms = load("vit-b-16").build(), {"over": "heads", "kind": "layer"}
    spec = {"vocab": 96, "d_model": 32, "heads": 4, "ffn": 64, "decoder": 1, "attention": {"qk_norm": norms}}
    matrices = [param for root in (vit, load(spec).build()) for param, _ in params(root) if len(param.axes) > 1]
    apart = [param for param in matrices if param.weight_role in (Role.VECTORS, Role.NORM)]
    assert {param.weight_role for param in apart} == {Role.VECTORS, Role.NORM}
    assert not any(weight_format(name).holds(Place(param, 1)) for name in ("nf4", "q4_k_m") for param in apart)


def test_grouping_is_that_of_attention_whatever_else_has_heads() -> None:
    """As llama.cpp's n_gqa: Mamba-2's heads are none of attention's."""
    mamba = {"kind": "mamba2", "heads": 32, "state": 8}
    spec = {"vocab": 96, "d_model": 64, "heads": 4, "kv_heads": 2, "ffn": 64, "mamba": mamba}
    model = load({**spec, "decoder": {"pattern": ["attention ffn", "mamba ffn"]}})
    assert facts(model.build()).grouping == 2


def test_only_layers_know_the_names_of_modules() -> None:
    """Nothing else compares `owner.name`, `parent.name` or a module's name."""
    files = sources.files(*ASKING)
    assert [f"{file}:{line}" for file in files for line in compared(sources.nodes(file))] == []


def test_that_test_finds_names() -> None:
    code = 'module.name == "attention"\nparam.owner.name.startswith("q")\nname == "attention"'
    assert list(compared(ast.walk(ast.parse(code)))) == [1, 2]


def compared(nodes: Iterable[ast.AST]) -> Iterator[int]:
    """Lines that compare the name of a module."""
    for node in nodes:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            yield from (node.lineno for side in sides if is_name_of_module(side))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
            yield from [node.lineno] if is_name_of_module(node.func.value) else []


def is_name_of_module(node: ast.expr) -> bool:
    """`module.name`, `param.owner.name`, `above.parent.name`."""
    if not (isinstance(node, ast.Attribute) and node.attr == "name"):
        return False
    of = node.value
    name = of.id if isinstance(of, ast.Name) else of.attr if isinstance(of, ast.Attribute) else ""
    return name in ("module", "owner", "above", "stack", "child", "node")
