"""What memory is taken by, and what it is called."""

PARTS = {
    "weights": "weights",
    "adapters": "LoRA adapters",
    "draft": "draft weights",
    "reference": "reference weights",
    "rollout": "rollout weights",
    "master": "master weights",
    "gradients": "gradients",
    "optimizer": "optimizer states",
    "activations": "activations",
    "logits": "logits and loss",
    "temporary": "temporary",
    "buffers": "buffers",
    "kv_cache": "KV cache",
    "state": "recurrent state",
    "draft_cache": "draft KV cache",
    "rollout_cache": "rollout KV cache",
    "overhead": "overhead",
}
WHOLE = {"step": "optimizer", "reference": "logits", "rollout": "generation"}  # what a phase does outside of layers
