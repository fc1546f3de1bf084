"""Megatron-LM's layers in the traced tree: which products are one, what is one kernel, and where collectives are."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from archcalc import load
from archcalc.analyze.memory.deployment import deploy
from archcalc.core.execution import Gradients
from archcalc.core.ir import Module, Op, Param, walk
from archcalc.core.roles import Role
from archcalc.core.tree import ops_in
from archcalc.run.options import Options
from archcalc.run.tree_changes import traced

SPEC: dict[str, Any] = {
    "vocab": 512,
    "d_model": 64,
    "heads": 4,
    "kv_heads": 2,
    "ffn": {"width": 128, "act": "silu", "gated": True},
    "norm": "rms",
    "bias": False,
    "position": "rope",
    "decoder": 2,
    "precision": "bf16",
}
MIXTURE = {
    **{name: value for name, value in SPEC.items() if name != "ffn"},
    "moe": {"experts": 4, "top": 2, "width": 32, "shared": 48},
    "decoder": {"pattern": ["2 × attention moe"]},
}


def lowered(spec: dict[str, Any], **options: Any) -> Module:
    given = {"mode": "train", "code": "megatron", "attention": "flash"}
    model = load(spec)
    made = deploy(model, Options.of("memory", given | options))
    return traced(model, made.run, model.workload(seq=16, attention="flash"))


def kinds(root: Module, path: str = "") -> Counter[str]:
    modules = [module for module, _ in walk(root) if f"{module.path}.".startswith(f"{path}." if path else "")]
    return Counter(op.kind for module in modules for op in module.ops)


def products(root: Module) -> list[tuple[Role, ...]]:
    """The matrices of each product."""
    found = [[one for one in op.inputs if isinstance(one, Param)] for op in ops_in(root) if op.traits.contraction]
    return [tuple(one.weight_role for one in params) for params in found if params]


def op_of(root: Module, role: Role) -> Op:
    reading = (
        op for op in ops_in(root) if any(isinstance(one, Param) and one.weight_role is role for one in op.inputs)
    )
    return next(reading)


def test_four_products_in_a_layer() -> None:
    assert products(lowered(SPEC)) == [
        (Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V),
        (Role.ATTENTION_OUT,),
        (Role.FFN_GATE, Role.FFN_UP),
        (Role.FFN_DOWN,),
        (Role.HEAD,),
    ]


def test_biases_belong_to_the_product() -> None:
    found = products(lowered({**SPEC, "bias": True}))
    assert found[0] == (Role.ATTENTION_Q, Role.ATTENTION_K, Role.ATTENTION_V, *[Role.BIAS] * 3)
    assert found[2] == (Role.FFN_GATE, Role.FFN_UP, *[Role.BIAS] * 2)


def test_what_looks_at_an_encoder_has_keys_and_values_together() -> None:
    """Its queries read something else."""
    found = products(lowered({**SPEC, "encoder": 1, "decoder": 1}))
    assert (Role.CROSS_Q,) in found
    assert (Role.CROSS_K, Role.CROSS_V) in found


def test_one_product_is_as_wide_as_all_of_them() -> None:
    """4 heads and twice 2 of 16 numbers; 2 and twice 1 on each of two GPUs."""
    root = lowered(SPEC)
    (width,) = op_of(root, Role.ATTENTION_Q).output.dims[-1:]
    assert int(width.size) == (4 + 2 * 2) * 16
    assert width.split and width.split.part(width.size, 2) == (2 + 2 * 1) * 16


def test_every_part_of_a_product_wants_a_gradient() -> None:
    gradients = Gradients()
    for op in ops_in(lowered(SPEC)):
        gradients.follow(op)
        if op.traits.gives_beside:
            assert all(map(gradients.wants, (op.output, *op.beside.values())))


@pytest.mark.parametrize(("act", "fused"), [("silu", True), ("gelu", True), ("gelu_tanh", True), ("relu", False)])
def test_an_activation_is_one_kernel_with_its_gate(act: str, fused: bool) -> None:
    """What the product gave goes in, and nothing is stored in between; of others the parts are."""
    found = kinds(lowered({**SPEC, "ffn": {"width": 128, "act": act, "gated": True}}), "decoder.blocks.ffn")
    assert found["kernel"] == fused
    assert (act in found, "multiply" in found) == (not fused, not fused)


def test_an_ffn_without_a_gate_has_none() -> None:
    found = kinds(lowered({**SPEC, "ffn": {"width": 128, "act": "gelu", "gated": False}}), "decoder.blocks.ffn")
    assert found == Counter({"contract": 2, "gelu": 1})


@pytest.mark.parametrize(("act", "fused"), [("silu", True), ("gelu", False)])
def test_experts_have_the_routers_weights_in_the_kernel(act: str, fused: bool) -> None:
    """Of gelu there is none for experts: the weights are multiplied in front of the last product."""
    root = lowered({**MIXTURE, "moe": {"experts": 4, "top": 2, "width": 32, "act": act}})
    found = kinds(root, "decoder.blocks.moe.experts")
    assert found["kernel"] == fused
    assert found["multiply"] == (0 if fused else 2)
    kernels = [op for op in ops_in(root) if op.kind == "kernel"]
    assert [len(op.inputs) for op in kernels] == [2] * fused


@pytest.mark.parametrize(
    ("options", "travels", "sorts"),
    [({}, 0, 2), ({"dp": 2, "ep": 2}, 2, 2), ({"dp": 4, "ep": 4}, 2, 0)],
)
def test_tokens_travel_to_experts_and_are_sorted(options: dict[str, Any], travels: int, sorts: int) -> None:
    """All experts here: nothing travels. One on each GPU: nothing is sorted."""
    found = kinds(lowered(MIXTURE, **options), "decoder.blocks.moe")
    assert (found["all_to_all"], found["reorder"]) == (travels, sorts)


def test_the_shared_expert_is_computed_while_tokens_travel() -> None:
    (moe,) = (module for module, _ in walk(lowered(MIXTURE, dp=2, ep=2)) if module.path == "decoder.blocks.moe")
    names = [item.name if isinstance(item, Module) else item.kind for item in moe.body]
    there, back = ["order", "gather", "all_to_all"], ["reorder", "all_to_all", "gather"]
    assert names == ["router", *there, "shared", "reorder", "experts", *back, "seen", "add"]


def test_gpus_that_share_experts_gather_rows_before_they_sort_them() -> None:
    (moe,) = (module for module, _ in walk(lowered(MIXTURE, tp=2, sp=True)) if module.path == "decoder.blocks.moe")
    names = [item.name if isinstance(item, Module) else item.kind for item in moe.body]
    middle = ["shared", "all_gather", "reorder", "experts", "reorder", "reduce_scatter"]
    assert names == ["router", "order", "gather", *middle, "gather", "seen", "add"]


def test_collectives_are_a_part_of_products() -> None:
    """Under sequence parallelism; what a table gives is added up by itself, and the head has a buffer."""
    found = kinds(lowered(SPEC, tp=2, sp=True))
    assert (found["gathering_linear"], found["scattering_linear"], found["buffered_linear"]) == (2, 2, 1)
    assert (found["all_gather"], found["reduce_scatter"]) == (0, 1)


def test_heads_are_traded_for_positions_before_attention_and_behind() -> None:
    assert kinds(lowered(SPEC, cp=2, code_option="context=a2a"))["all_to_all"] == 3 + 1
    assert kinds(lowered(SPEC, cp=2))["all_to_all"] == 0
