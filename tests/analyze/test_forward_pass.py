"""A forward pass, as courses ask for it: FLOPs and MACs, what the work is for, and what PyTorch counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers
from support.unknown_activations import check_refused, has_unknown
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from archcalc import InputError, load
from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run

PRESETS = sorted(paths.presets())
OF_ATTENTION = {"projections", "attention scores", "states", "feed-forward"}
CNN = {"conv-vae", "unet", "vgg-16", "lenet-5", "resnet-50", "mobilenet-v2"}


def forward(model: nn.Module, *given: Any, **named: Any) -> int:
    with FlopCounterMode(display=False) as counter:
        model(*given, **named)
    return int(counter.get_total_flops())


def lenet() -> nn.Module:
    """LeNet-5 as it is written in PyTorch."""
    maps = [nn.Conv2d(1, 6, 5, padding=2), nn.Tanh(), nn.AvgPool2d(2), nn.Conv2d(6, 16, 5), nn.Tanh(), nn.AvgPool2d(2)]
    rest = [nn.Flatten(), nn.Linear(400, 120), nn.Tanh(), nn.Linear(120, 84), nn.Tanh(), nn.Linear(84, 10)]
    return nn.Sequential(*maps, *rest)


def test_pytorch_counts_the_forward_pass_of_a_network() -> None:
    with torch.device("meta"):
        counted = forward(lenet(), torch.zeros(3, 1, 28, 28))
    report = load("lenet-5").flops(mode="forward", batch=3)
    assert (report.forward, report.macs, report.backward) == (counted, counted // 2, 0)


@pytest.mark.parametrize(
    ("name", "made", "config", "ids"),
    [
        ("gpt2", "GPT2LMHeadModel", "GPT2Config", {"input_ids": (2, 24)}),
        ("bert-base", "BertForMaskedLM", "BertConfig", {"input_ids": (2, 24)}),
        ("t5-small", "T5ForConditionalGeneration", "T5Config", {"input_ids": (2, 24), "decoder_input_ids": (2, 24)}),
    ],
)
def test_and_of_what_transformers_runs(name: str, made: str, config: str, ids: dict[str, tuple[int, int]]) -> None:
    """Every position has logits, and nothing is cached."""
    sizes = getattr(transformers, config)(attn_implementation="eager", use_cache=False)
    with torch.device("meta"):
        net = getattr(transformers, made)(sizes).eval()
        given = {key: torch.zeros(shape, dtype=torch.long) for key, shape in ids.items()}
        counted = forward(net, **given, attention_mask=torch.ones(2, 1, 24, 24, dtype=torch.bool))
    assert load(name).flops(mode="forward", batch=2, seq=24).forward == counted


@pytest.mark.wide
@pytest.mark.parametrize("name", PRESETS)
def test_a_training_step_has_the_same_forward_pass(name: str) -> None:
    """Leads with it, and every product of it has two FLOPs for each multiply-add."""
    model = load(name)
    if has_unknown(model):
        check_refused(lambda: model.flops(mode="forward", batch=1), lambda: model.flops(batch=1))
        return
    alone, step = model.flops(mode="forward", batch=1), model.flops(batch=1)
    assert alone.forward == alone.total == step.forward
    assert all(int(row.amounts.forward) == 2 * row.amounts.macs for row in step.rows)
    assert sum(amounts.macs for amounts in step.kinds.values()) == step.macs == step.forward // 2
    assert step.answer().startswith("forward ") and "training step" in step.answer()


def test_the_answer_has_all_of_them_side_by_side(run: Run) -> None:
    """VGG-16: 15.5 billion multiply-adds for an image."""
    found = run("flops", "vgg-16", "--format", "json").json
    assert found["forward"] == 2 * found["macs"] == 30_940_528_640
    assert found["total"] == found["forward"] + found["backward"]
    shown = run("flops", "vgg-16").out
    assert "forward 30.94 G FLOPs, 15.47 G MACs · backward 61.71 G · training step 92.65 G" in shown
    assert "forward per sample" in shown and "step per sample" in shown
    alone = run("flops", "vgg-16", "--mode", "forward").out
    assert alone.startswith("VGG-16 · forward pass")
    assert "backward" not in alone and "MACs" in alone


@pytest.mark.wide
@pytest.mark.parametrize("name", PRESETS)
def test_work_goes_by_what_it_is(name: str) -> None:
    """Convolutions, cells and linear layers are no projections of attention, which a list of layers may have too."""
    model = load(name)
    if has_unknown(model):
        check_refused(lambda: model.flops(mode="forward", batch=1))
        return
    kinds = {kind: amounts for kind, amounts in model.flops(mode="forward", batch=1).kinds.items() if amounts.forward}
    if model.spec.family in ("network", "autoencoder", "word2vec"):
        has_attention = "attention:" in model.yaml()
        assert OF_ATTENTION & set(kinds) == ({"projections", "attention scores"} if has_attention else set())
    if model.spec.family == "recurrent":
        assert "recurrent cells" in kinds and "feed-forward" not in kinds
    if name in CNN:
        assert max(kinds, key=lambda kind: kinds[kind].forward) == "convolutions"


def test_kinds_of_a_network_are_sums_of_its_layers() -> None:
    """AlexNet: five convolutions, two linear layers of 4,096, a classifier of 1,000 classes."""
    kinds = load("alexnet").flops(mode="forward").kinds
    assert kinds["linear layers"].forward == 2 * (9216 * 4096 + 4096 * 4096)
    assert kinds["classifier"].forward == 2 * 4096 * 1000
    assert kinds["convolutions"].forward == load("alexnet").flops(mode="forward").forward - 2 * (
        9216 * 4096 + 4096 * 4096 + 4096 * 1000
    )


def test_attention_of_a_list_of_layers_has_projections() -> None:
    """Swin-T: four matrices in each of 12 blocks; a map has a quarter of the places where it is twice as deep."""
    kinds = load("swin-t").flops(mode="forward").kinds
    assert kinds["projections"].forward == 12 * 4 * (2 * 56 * 56 * 96 * 96)
    assert "linear layers" not in kinds


@pytest.mark.parametrize("name", ["gpt2", "t5-small", "mamba-130m", "resnet-50", "sentiment-lstm"])
def test_a_forward_pass_keeps_no_cache(name: str) -> None:
    report = load(name).memory(mode="forward", batch=1)
    assert report.parts["kv_cache"] == report.parts["state"] == 0
    assert report.record()["mode"] == "forward"


def test_a_forward_pass_alone_gives_scores_for_every_position() -> None:
    """GPT-2 at 64 tokens: 50,257 scores each, beside what the head reads."""
    alone, prompt = (load("gpt2").memory(mode=mode, batch=1, seq=64, overhead=0) for mode in ("forward", "prefill"))
    scores = 4 * 64 * 50257
    assert alone.parts["activations"] == scores + 4 * 64 * 768
    assert prompt.parts["activations"] < scores


def test_fit_takes_it_too(run: Run) -> None:
    asked = ["gpt2", "--mode", "forward", "--seq", "64", "--format", "json"]
    found = run("fit", *asked, "--gpu", "rtx-4090").json["rows"][0]
    assert found["required_bytes"] == run("memory", *asked, "--gpu", "rtx-4090").json["required_bytes"]


@pytest.mark.parametrize("options", [{"kv_dtype": "fp8"}, {"engine": "vllm"}, {"recompute": "full"}, {"context": 8}])
def test_what_has_no_effect_on_it_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="has no effect with --mode forward"):
        load("gpt2").memory(mode="forward", **options)
