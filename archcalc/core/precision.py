"""Number formats, what one value of each costs, and the policy that turns a tensor's role into bytes."""

from __future__ import annotations

from typing import NamedTuple

BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
PRECISIONS = tuple(BYTES)
SPELLINGS = {  # as PyTorch, GGUF and configs write them
    **dict.fromkeys(("f64", "float64"), "fp64"),
    **dict.fromkeys(("f32", "float32"), "fp32"),
    **dict.fromkeys(("f16", "float16", "half"), "fp16"),
    "bfloat16": "bf16",
}


class Policy(NamedTuple):
    """How many bytes an element of each role takes: activations and cache by choice, the rest as PyTorch has it.

    Statistics are kept in fp32 or wider, whatever the activations are; indices are int64, or int32, masks a byte each.
    `upcast` is an fp32 tensor that is made beside narrower activations, and not beside fp32 ones.
    """

    act: str = "fp32"
    cache: str = ""  # as the activations, unless said

    def bytes_of(self, role: str) -> int:
        """Bytes of one element."""
        act = BYTES[self.act]
        upcast = BYTES["fp32"] if act < BYTES["fp32"] else 0
        fixed = {
            "none": 0,
            "upcast": upcast,
            "mask": 1,
            "index": 8,
            "int32": 4,
            "seed": 8,
            "stat": max(4, act),
            "cache": BYTES[self.cache or self.act],
        }
        return fixed.get(role, act)
