"""A traced tree, its tensors and its ops print as something that a person can read."""

from __future__ import annotations

from archcalc import load
from archcalc.core.ir import Dim, Module, Tensor, axes, walk
from archcalc.layers.linear import linear

SPEC = {"vocab": 11, "d_model": 8, "heads": 2, "ffn": 16, "decoder": 3, "position": {"kind": "rope"}}


def test_a_model_prints_as_a_listing() -> None:
    model = load(SPEC)
    printed = str(model.build(model.workload(batch=1, seq=5)))
    assert printed.splitlines()[0] == "model"
    assert "\n    blocks × 3\n" in printed
    assert "\n        q\n          weight[heads·head_dim 2·4, d_model 8]\n" in printed
    assert (
        "contract([batch 1, seq 5, ffn 16], weight[d_model 8, ffn 16], over ffn) → [batch 1, seq 5, d_model 8]"
        in printed
    )


def test_each_level_stands_two_spaces_further_in() -> None:
    """Parameters and ops below their module, in the order in which they run; a module that computes nothing last."""
    width, seq = Dim.of("d_model", 4), Dim.of("seq", 3)
    root = Module("model")
    root["spare"].param("table", width)
    y = linear(root["stack"]["up"], Tensor(axes(seq, width)), Dim.of("ffn", 5), bias=False)
    root["stack"].record("gelu", y)
    assert str(root).splitlines() == [
        "model",
        "  stack",
        "    up",
        "      weight[ffn 5, d_model 4]",
        "      contract([seq 3, d_model 4], weight[ffn 5, d_model 4], over d_model) → [seq 3, ffn 5]",
        "    gelu([seq 3, ffn 5]) → [seq 3, ffn 5]",
        "  spare",
        "    table[d_model 4]",
    ]


def test_every_parameter_and_every_op_has_a_line() -> None:
    model = load(SPEC)
    root = model.build()
    lines = [line.strip() for line in str(root).splitlines()]
    modules = [module for module, _ in walk(root)]
    assert len(lines) == sum(1 + len(module.params) + len(module.ops) for module in modules)


def test_an_op_is_one_line_and_a_module_goes_by_its_path() -> None:
    model = load(SPEC)
    product = next(op for module, _ in walk(model.build()) for op in module.ops if op.traits.contraction)
    assert repr(product).startswith("contract([batch 1, seq 2048, d_model 8], weight[heads·head_dim 2·4, d_model 8]")
    assert "\n" not in repr(product)
    paths = [repr(module) for module, _ in walk(model.build())]
    assert "Module('decoder.blocks.attention.q')" in paths
