"""A traced training step is what PyTorch does: on real tensors, and as its own memory tracker says."""

from __future__ import annotations

from typing import Any

import pytest
from support.fake_cuda import ops
from support.hf_small import small
from support.real_memory import Sizes, allocations, kernels_of, sizes_of, unordered, zeroed
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed._tools.mem_tracker import MemTracker

from archcalc.verify.hf.as_on_a_gpu import as_on_a_gpu
from archcalc.verify.hf.traced import Trace, trace_training
from archcalc.verify.hf.training import Setting, Training

CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "gemma": "GemmaForCausalLM",
    "gemma2": "Gemma2ForCausalLM",
    "gemma3_text": "Gemma3ForCausalLM",
    "mixtral": "MixtralForCausalLM",
    "deepseek_v3": "DeepseekV3ForCausalLM",
    "gpt2": "GPT2LMHeadModel",
    "gpt_neox": "GPTNeoXForCausalLM",
    "t5": "T5ForConditionalGeneration",
    "bert": "BertForMaskedLM",
    "vit": "ViTForImageClassification",
    "phi": "PhiForCausalLM",
    "phi3": "Phi3ForCausalLM",
}

INTERRUPTED = {"aten::native_dropout", "aten::native_layer_norm"}  # recomputation stops inside of a last op that saves


def training(model_type: str, device: str = "meta", **options: Any) -> Training:
    config = small(model_type, CLASSES[model_type])
    return Training(
        config, Setting(batch=2, seq=options.pop("seq", 10), **{"precision": "fp32", **options}), device=device
    )


def really(real: Training, trace: Trace) -> Sizes:
    zeroed(real.model)
    assert real.inputs and real.optimizer  # made before anything is watched
    with as_on_a_gpu():
        return allocations(real.run, kernels_of(trace.events) - INTERRUPTED)


WAYS: list[tuple[str, dict[str, Any]]] = [
    *((model_type, {}) for model_type in CLASSES),
    *((model_type, {"recompute": True}) for model_type in ("llama", "gemma2", "gpt2", "mixtral", "t5", "bert")),
    *((model_type, {"lora": 4, "targets": ("q_proj", "v_proj")}) for model_type in ("llama", "mixtral")),
    ("gpt2", {"lora": 4, "targets": ("c_attn",), "recompute": True}),
    ("llama", {"optimizer": "adamw-foreach"}),
    ("gpt2", {"optimizer": "adamw-fused"}),
    ("llama", {"optimizer": "momentum-foreach", "keep_outputs": True}),
]


@pytest.mark.wide(2)
@pytest.mark.parametrize(("model_type", "options"), WAYS)
def test_everything_is_made_and_dropped_as_on_real_tensors(model_type: str, options: dict[str, Any]) -> None:
    """One by one, in order, on the CPU without a dispatch mode: also gradients that are added up in place."""
    options = {"optimizer": "adamw", **options}
    trace = trace_training(training(model_type, **options))
    assert unordered(sizes_of(trace.events)) == unordered(really(training(model_type, "cpu", **options), trace))


@pytest.mark.wide(2)
@pytest.mark.filterwarnings("ignore:Module is None")  # MemTracker's own, of modules that are gone
@pytest.mark.parametrize(
    ("model_type", "options"),
    [
        ("llama", {"seq": 30, "optimizer": "sgd", "attention": "flash", "recompute": True}),
        ("gpt2", {"seq": 30, "optimizer": "sgd"}),
        ("vit", {"optimizer": "adamw"}),
        ("mixtral", {"optimizer": "sgd"}),
    ],
)
def test_the_peak_is_that_of_pytorchs_own_tracker(model_type: str, options: dict[str, Any]) -> None:
    """On fake CPU tensors, where every number that an optimizer counts its steps with is on the device as well. Both
    see the engine of autograd add up gradients out of place, as it does under any dispatch mode."""
    with FakeTensorMode(allow_non_fake_inputs=True):
        trace = trace_training(training(model_type, "cpu", **options), in_place=False)
    with FakeTensorMode(allow_non_fake_inputs=True):
        assert max(peak.bytes for peak in trace.peaks.values()) == tracked(training(model_type, "cpu", **options))


def tracked(subject: Training) -> int:
    """The most bytes at once over all steps."""
    tracker: Any = MemTracker()
    tracker.track_external(subject.model, subject.optimizer, *subject.inputs.values())
    with as_on_a_gpu(), tracker:
        subject.run(lambda name, step: tracker.reset_mod_stats() if name == "forward" else None)
    (device,) = tracker.get_tracker_snapshot("peak").values()
    return int(device["Total"])


@pytest.mark.wide(2)
@pytest.mark.parametrize("model_type", ["llama", "gemma3_text", "mixtral", "gpt2", "t5", "vit"])
def test_the_meta_device_runs_the_ops_of_a_gpu(model_type: str) -> None:
    """On fake CUDA tensors, one after the other, with the same shapes, strides and types."""
    for options in ({"precision": "bf16"}, {"precision": "fp16"}, {"precision": "bf16", "attention": "flash"}):
        on_meta = forward_ops(training(model_type, **options))
        with FakeTensorMode(allow_non_fake_inputs=True):
            on_cuda = forward_ops(training(model_type, "cuda", **options))
        assert on_meta == on_cuda


def forward_ops(subject: Training) -> list[str]:
    model, inputs = subject.model, subject.inputs
    with as_on_a_gpu():
        return ops(lambda: model(**inputs))
