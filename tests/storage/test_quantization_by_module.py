"""`quantization_config` that names modules: rules, lists and widths for some layers."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from support.quantised_llama import ATTENTION, BLOCK, FFN, GPTQ, LAYERS, LLAMA, MLP, REST, VOCAB, D, each, weights

from archcalc import load
from archcalc.storage.module_names import Names

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Run, Write

Fields = dict[str, Any]


def half(out: int, into: int) -> int:
    return into * out // 2 + into // 128 * (out // 2 + 2 * out)


@pytest.mark.parametrize(
    ("skipped", "attention", "mlp"),
    [
        (["self_attn"], 0, LAYERS),
        (["lm_head", "model.layers.0", "model.layers.3"], LAYERS - 2, LAYERS - 2),
        (["model.layers.1.mlp", "language_model.model.layers.2.self_attn.o_proj"], LAYERS, LAYERS - 1),
        (["re:.*[.](0|1)[.]mlp[.].*"], LAYERS, LAYERS - 2),
        (["*.mlp.*"], LAYERS, 0),
        (["mlp.gate", "vision_tower"], LAYERS, LAYERS),
    ],
)
def test_modules_that_a_list_names_stay_as_they_are(
    tmp_path: Path, skipped: list[str], attention: int, mlp: int
) -> None:
    """By parts of a name between dots, by whole names, by expressions; `mlp.gate` is no `mlp.gate_proj`."""
    awq = {"quant_method": "awq", "bits": 4, "group_size": 128, "modules_to_not_convert": skipped}
    both = [(attention, ATTENTION), (mlp, MLP)]
    packed = sum(number * half(*one) for number, matrices in both for one in matrices)
    plain = sum((LAYERS - number) * 2 * rows * columns for number, matrices in both for rows, columns in matrices)
    alone = half(D, D) - 2 * D * D if "o_proj" in skipped[-1] else 0
    assert weights(tmp_path, LLAMA, awq) == REST + packed + plain - alone


@pytest.mark.parametrize(
    "only",
    [
        {
            "modules_in_block_to_quantize": [
                ["self_attn.q_proj", "self_attn.k_proj"],
                ["self_attn.v_proj", "self_attn.o_proj"],
            ]
        },
        {"dynamic": {r"-:.*\.mlp\..*": {}}},
    ],
)
def test_gptq_may_name_what_it_quantises_or_what_not(tmp_path: Path, only: Fields) -> None:
    """By lists of modules in a block, or by expressions with a minus."""
    quantised = {"quant_method": "gptq", "bits": 4, "group_size": 128, **only}
    packed = each(ATTENTION, lambda out, into: half(out, into) + 4 * into)
    assert weights(tmp_path, LLAMA, quantised) == REST + packed + each(MLP, lambda out, into: 2 * out * into)


def packed(bits: int, group: int, beside: int) -> Any:
    """A matrix in so many bits, with so many more for each group."""
    return lambda out, into: into * out * bits // 8 + into // group * out * beside // 8


def indexed(bits: int, group: int) -> Any:
    return lambda out, into: packed(bits, group, 16 + bits)(out, into) + 4 * into


DOWN, VALUE = [(D, FFN)], [(D // 4, D)]


BUT_DOWN = [*ATTENTION, (FFN, D), (FFN, D)]


BUT_VALUE = [(D, D), (D // 4, D), (D, D), *MLP]


@pytest.mark.parametrize("rule", [".*down_proj.*", r"+:.*\.down_proj$"])
def test_gptq_widths_module_by_module(tmp_path: Path, rule: str) -> None:
    """A rule of `dynamic` has its own width and group."""
    quantised = {**GPTQ, "dynamic": {rule: {"bits": 8, "group_size": 32}}}
    expected = REST + each(BUT_DOWN, indexed(4, 128)) + each(DOWN, indexed(8, 32))
    assert weights(tmp_path, LLAMA, quantised) == expected
    name = "gptq int4, group 128 and int8, group 32"
    assert any(name in str(words) for words in load(tmp_path / "config.json").memory(seq=32).assumptions)


def test_a_rule_for_values_is_none_for_queries(tmp_path: Path) -> None:
    """Though `qkv_proj`, which other families have for all three, ends in `v_proj`."""
    quantised = {**GPTQ, "dynamic": {".*v_proj.*": {"bits": 8}}}
    expected = REST + each(BUT_VALUE, indexed(4, 128)) + each(VALUE, indexed(8, 128))
    assert weights(tmp_path, LLAMA, quantised) == expected


def test_the_first_rule_of_gptq_that_matches_counts(tmp_path: Path) -> None:
    """One layer in 8 bits, by its number; then what is left as it is."""
    quantised = {**GPTQ, "dynamic": {r".*\.2\..*down_proj": {"bits": 8}, "-:.*down_proj": {}}}
    plain = (LAYERS - 1) * 2 * D * FFN
    expected = REST + each(BUT_DOWN, indexed(4, 128)) + indexed(8, 128)(D, FFN) + plain
    assert weights(tmp_path, LLAMA, quantised) == expected


def test_auto_round_widths_module_by_module(tmp_path: Path) -> None:
    """By whole names or expressions; 16 bits are as they are, and a head that is named is quantised too."""
    extra = {f"model.layers.{layer}.mlp.down_proj": {"bits": 8, "group_size": 32} for layer in range(LAYERS)}
    quantised = {"quant_method": "auto-round", "bits": 4, "group_size": 128, "extra_config": extra}
    expected = REST + each(BUT_DOWN, packed(4, 128, 20)) + each(DOWN, packed(8, 32, 24))
    assert weights(tmp_path, LLAMA, quantised) == expected
    quantised["extra_config"] = {".*down_proj.*": {"bits": 8, "group_size": 32}}
    assert weights(tmp_path, LLAMA, quantised) == expected
    quantised["extra_config"] = {".*down_proj.*": {"bits": 16}, "lm_head": {"bits": 8}}
    head = packed(8, 128, 24)(VOCAB, D) - 2 * VOCAB * D
    plain = each(DOWN, lambda out, into: 2 * out * into)
    assert weights(tmp_path, LLAMA, quantised) == REST + head + each(BUT_DOWN, packed(4, 128, 20)) + plain


def test_hqq_settings_for_layers_by_name(tmp_path: Path) -> None:
    """Layers without any are not quantised."""
    by_name = {"mlp.down_proj": {"weight_quant_params": {"nbits": 8, "group_size": 32}}}
    by_name |= {"self_attn.v_proj": {"weight_quant_params": {"nbits": 4, "group_size": 64}}}
    two = each(DOWN, packed(8, 32, 32)) + each(VALUE, packed(4, 64, 32))
    plain = each([(D, D), (D // 4, D), (D, D), (FFN, D), (FFN, D)], lambda out, into: 2 * out * into)
    assert weights(tmp_path, LLAMA, {"quant_method": "hqq", "quant_config": by_name}) == REST + two + plain


def test_a_name_in_the_list_that_nothing_has_is_told(tmp_path: Path) -> None:
    """It may be spelled in a way that archcalc does not know; towers that are not counted are no mistake."""
    file = tmp_path / "config.json"
    for listed, told in (("model.layers.0.mixer.wide_proj", True), ("model.visual.blocks.0.attn.qkv", False)):
        quantised = {"quant_method": "awq", "bits": 4, "modules_to_not_convert": [listed]}
        file.write_text(json.dumps({**LLAMA, "quantization_config": quantised}), encoding="utf-8")
        assumptions = load(file).memory(seq=32).assumptions
        assert any(f"excludes module {listed} from quantisation" in str(words) for words in assumptions) is told


def test_each_layer_is_asked_once_for_all_its_matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rules for layers by their numbers are matched with as many names as there are layers, not matrices."""
    asked: Counter[tuple[int, int]] = Counter()
    of_layer = Names.of_layer

    def noted(self: Names, layer: int) -> Any:
        asked[id(self), layer] += 1
        return of_layer(self, layer)

    rules = {r"+:.*\.18\..*gate.*": {"bits": 8}, "-:.*down.*": {}}
    model = load({**LLAMA, "quantization_config": {**GPTQ, "dynamic": rules}})
    monkeypatch.setattr("archcalc.storage.checkpoint.Names.of_layer", noted)
    model.memory(seq=32)
    assert {layer for _, layer in asked} == set(range(LAYERS))
    assert max(times for (_, layer), times in asked.items() if layer) < len(BLOCK)


def test_rules_for_more_layers_than_any_model_has_are_refused(run: Run, write: Write) -> None:
    deep = {**LLAMA, "num_hidden_layers": 20_000, "quantization_config": {**GPTQ, "dynamic": {"-:.*down.*": {}}}}
    answer = run("memory", write(json.dumps(deep), "config.json"))
    assert answer.code == 2
    assert "more than 10,000 layers, for which quantization_config has rules" in answer.err
