"""Words that options are declared with: modes, and the choices that there are."""

from __future__ import annotations

MODES = ("train", "forward", "infer", "prefill", "decode")
TRAIN, INFERENCE = ("train",), ("infer", "prefill", "decode")
ATTENTION = ("eager", "flash")
CAUSAL = ("full", "half")
RECOMPUTE = {"none": "none", "selective": "core", "ops": "ops", "full": "block"}
COMPILE = ("none", "blocks", "all", "code")
RESHARD = ("always", "never")
ALLOCATORS = ("plain", "expandable")
METHODS = ("sft", "dpo", "grpo")
REFERENCES = ("same", "none")
ROLLOUTS = ("policy", "same", "sleep", "other")
KV_RULES = {
    "window": "exactly the window",
    "window-1": "the window without the current token",
    "window+batch": "the window plus one batch, rounded up to pages of 256",
    "full": "the whole context length",
    "sglang": "a pool of their own, of 0.8 of the context length and no less than the window",
    "vllm": "blocks of a pool that groups of layers share",
}
OFFLOADED = {  # what --offload takes, and in which modes it has an effect
    "optimizer": TRAIN,
    "params": TRAIN,
    "activations": TRAIN,
    "experts": INFERENCE,
    "embedding": MODES,
}
