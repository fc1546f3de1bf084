"""Number formats and what one value of each costs."""

from __future__ import annotations

BYTES = {"fp64": 8, "fp32": 4, "bf16": 2, "fp16": 2, "fp8": 1}
PRECISIONS = tuple(BYTES)
