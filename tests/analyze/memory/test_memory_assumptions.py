"""What memory says beside its numbers: options that change something, parts that stay whole, reasons that are true."""

from __future__ import annotations

from typing import Any

import pytest

from archcalc import load
from archcalc.core.assumptions import Topic
from archcalc.core.errors import InputError

OTHER: dict[str, dict[str, tuple[Any, ...]]] = {  # other values of each option, by mode
    "infer": {"precision": ("fp32", "bf16"), "kv_rule": ("full", "window-1"), "state_dtype": ("fp32", "bf16")},
    "train": {"precision": ("fp32", "bf16"), "optimizer": ("sgd",), "attention": ("eager", "flash")},
}  # a forward pass alone may be fullest in another layer than attention
BOTH = {"overhead": (1,), "batch": (3,), "seq": (48,), "weights": ("int8",)}
MODELS = (
    *("llama-3-8b", "bert-base", "modernbert-base", "vit-b-16", "t5-small", "gpt2", "gpt-oss-20b", "deepseek-v3"),
    *("mamba-130m", "recurrentgemma-2b", "jamba-v0.1", "gemma-2-9b", "whisper-tiny", "deberta-v3-small", "bloom-560m"),
)


@pytest.mark.wide(14)
@pytest.mark.parametrize("mode", OTHER)
@pytest.mark.parametrize("name", MODELS)
def test_an_option_that_is_named_changes_a_number(name: str, mode: str) -> None:
    """`--precision changes it`: another value gives another report."""
    model = load(name)
    report = model.memory(mode=mode)
    named = {each.option.removeprefix("--").replace("-", "_") for each in report.assumptions}
    for option in named & set(BOTH | OTHER[mode]):
        values = (BOTH | OTHER[mode])[option]
        others = [model.memory(mode=mode, **{option: value}) for value in values]
        assert any(numbers(other) != numbers(report) for other in others), option


def numbers(report: Any) -> Any:
    return report.parts, [(row.path, row.parts) for row in report.rows]


def test_eager_attention_says_what_softmax_is_computed_in() -> None:
    """Six bytes of a score where it is fp32 and cast, two where it is not; fp32 training has four either way."""
    kept = {}
    for precision in ("bf16", "fp32"):
        for softmax in ("input", "fp32"):
            model = load("llama-3-8b", set=["decoder=1", f"softmax={softmax}"])
            report = model.memory(mode="train", precision=precision, attention="eager", batch=1, seq=64)
            kept[precision, softmax] = report.rows[0].parts["activations"]
            assert any("softmax in" in str(words) for words in report.assumptions) == (precision == "bf16")
    assert kept["bf16", "fp32"] - kept["bf16", "input"] == 4 * 32 * 64 * 64
    assert kept["fp32", "fp32"] == kept["fp32", "input"]


def test_what_tensor_parallelism_leaves_whole_is_named_with_its_bytes() -> None:
    """RecurrentGemma's single key-value head: all that every GPU holds beyond its half of the rest."""
    model = load("recurrentgemma-2b")
    one, two = (model.memory(tp=tp, overhead=0) for tp in (1, 2))
    whole = sum(each.bytes for each in two.undivided if each.part != "cache")
    assert 2 * (two.parts["weights"] - whole) + whole == one.parts["weights"]
    said = [str(each) for each in two.assumptions if each.topic is Topic.PARALLELISM]
    assert any(words.startswith("--tp 2 replicates these") and "attention-ffn.attention" in words for words in said)
    assert two.record()["not_divided"][0] == {
        "option": "--tp 2",
        "part": "decoder.period.attention-ffn.attention",
        "bytes": two.undivided[0].bytes,
    }
    assert one.record()["not_divided"] == []


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"dp": 4, "zero": 1}, {"weights", "gradients"}),
        ({"dp": 4, "zero": 2}, {"weights"}),
        ({"cp": 2, "attention": "flash"}, {"weights", "gradients", "optimizer states"}),
    ],
)
def test_what_other_ways_leave_whole_is_named(options: dict[str, Any], parts: set[str]) -> None:
    report = load("gpt2").memory(mode="train", **options)
    assert {one.part for one in report.undivided} == parts


def test_every_attention_kernel_gathers_keys_under_context_parallelism() -> None:
    """A block with sinks as much as one without: keys and values of two GPUs."""
    sizes = ["decoder=1", "heads=4", "kv_heads=2", "d_model=64", "head_dim=16"]
    found = []
    for sinks in ("false", "true"):
        model = load("llama-3-8b", set=[*sizes, "vocab=64", "ffn.width=8", f"attention.sinks={sinks}"])
        asked = model.memory(mode="train", precision="bf16", attention="flash", batch=1, seq=4096, cp=4)
        timeline = asked.instants
        found.append(max(one.parts["temporary"] for one in timeline))
    assert found[0] == found[1] >= 2 * 2 * 2 * 16 * 4096 * 2


@pytest.mark.parametrize(
    ("name", "attention", "reason", "remedy"),
    [
        ("gemma-2-9b", "flash", "a softcap on the scores", "leave --cp out"),
        ("gemma-2-9b", "eager", "a softcap on the scores", "leave --cp out"),
        ("llama-3-8b", "eager", "eager attention", "add --attention flash, or leave --cp out"),
        ("t5-small", "flash", "a bias on the scores", "leave --cp out"),
        ("bloom-560m", "flash", "ALiBi", "leave --cp out"),
        ("recurrentgemma-2b", "flash", "a state that is passed", "leave --cp out"),
    ],
)
def test_context_parallelism_is_refused_for_the_true_reason(
    name: str, attention: str, reason: str, remedy: str
) -> None:
    with pytest.raises(InputError) as refused:
        load(name).memory(mode="train", cp=2, attention=attention)
    assert reason in str(refused.value)
    assert refused.value.hint == remedy


def test_mixtures_share_a_sequence() -> None:
    """A router's softmax looks at no other position."""
    assert load("mixtral-8x7b").memory(mode="train", cp=2, attention="flash", seq=256).total_bytes


@pytest.mark.parametrize(("name", "kernel"), [("mamba-130m", "selective_scan"), ("jamba-v0.1", "selective_scan")])
@pytest.mark.parametrize("mode", ["infer", "train"])
def test_a_fused_kernel_is_assumed_by_name(name: str, kernel: str, mode: str) -> None:
    named = [each.value for each in load(name).memory(mode=mode).assumptions if each.topic is Topic.KERNEL]
    assert any(kernel in str(value) for value in named)
