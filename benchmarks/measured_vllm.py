"""The tokens that vLLM prints for its KV cache, worked out as its versions do from the memory that they print.

Up to 0.20.0 a log has the tokens that fit if every group of layers keeps all of them; since then it has the requests of
the longest context that fit, times its length, so that windows and recurrent states count for what they need
(`_report_kv_cache_config` and `get_kv_cache_capacity` in vllm/v1/core/kv_cache_utils.py). Before 0.9.1 there were no
groups: layers with a window were cached as all others (`unify_hybrid_kv_cache_specs` there).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from measured_asked import length
from measured_codes import Case
from measured_units import number

from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.vllm_cache import BATCH, BATCHES
from archcalc.analyze.memory.vllm_groups import BLOCK, STATES, Kind, Layer, Layout, Placed, grouped
from archcalc.spec.sizes import Sizes

GROUPS_LAYERS = (0, 9, 1)  # since then
COUNTS_REQUESTS = (0, 20, 1)  # since then
KEEPS_MORE = (0, 26)  # since then two batches are in flight, and prefix caching keeps an earlier state by default
SMALL_BATCH = 2048  # of vllm serve on GPUs of less than 70 GiB, and on every A100 (EngineArgs.get_batch_defaults)
_SMALL_GPU = re.compile(r"\b(A10|A[34]0\b|L4|L20|T4|V100|RTX(?!.?PRO)|[2-5]0[6-9]0)")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True)
class Log:
    """What a log says besides the memory and the tokens."""

    length: int  # of the longest context
    batch: int = BATCH  # tokens that are computed at a time
    version: tuple[int, ...] = ()
    prefix_caching: bool | None = None
    groups_layers: bool = True

    @classmethod
    def of(cls, case: Case) -> Log:
        flags, usual = case["flags"], SMALL_BATCH if _SMALL_GPU.search(str(case.get("gpu"))) else BATCH
        said = version(str(flags.get("engine") or case.get("engine") or flags.get("version")))
        groups = said >= GROUPS_LAYERS if said else True
        return cls(
            length(case, 4096),
            number(flags.get("max_num_batched_tokens"), usual),
            said,
            switched(flags.get("prefix_caching")),
            groups and not switched(flags.get("disable_hybrid_kv_cache_manager")),
        )

    def tokens(self, layout: Layout, memory: float, printed: int) -> float:
        """What vLLM would print for so much memory, where it has printed that many. Only whole blocks count, which
        shows where they are as large as a recurrent state; elsewhere it is less than the rounding of the memory."""
        layout = layout if self.groups_layers else _as_one_group(layout)
        whole = math.floor if any(one.states for one in layout.placed) else float
        block = sum(one.places * one.page for one in layout.placed) // layout.groups
        pool = whole(memory / block)
        if not self._counts_requests(printed):
            return whole(pool / layout.groups) * min(one.tokens for one in layout.placed if one.tokens)
        needed = sum(one.places * one.page * self._blocks(one) for one in layout.placed) // block
        return pool / needed * self.length

    def _counts_requests(self, printed: int) -> bool:
        """A log that does not say its version is an old one if it prints whole blocks."""
        return self.version >= COUNTS_REQUESTS if self.version else printed % BLOCK > 0

    def _blocks(self, placed: Placed) -> int:
        keeps_more = not self.version or self.version >= KEEPS_MORE
        cached = keeps_more if self.prefix_caching is None else self.prefix_caching
        states = min(placed.states, STATES if cached else 1)
        return replace(placed, states=states).blocks(self.batch * (BATCHES if keeps_more else 1))


def version(said: str) -> tuple[int, ...]:
    """`vLLM v0.11.2+rhai1` is 0.11.2; nothing where no number is given."""
    found = _VERSION.search(said)
    return tuple(int(number) for number in found[0].split(".")) if found else ()


def switched(said: Any) -> bool | None:
    """A flag as cases write it; nothing where none is given."""
    return None if said in (None, "") else str(said).lower() in ("true", "1", "on", "yes")


def laid_out(memory: Memory, length: int) -> Layout:
    """The groups of layers of a model that was asked for with `--kv-rule vllm`."""
    layouts = {one.layout for one in memory.simulated(Sizes(1, length)).cache if one.layout}
    return layouts.pop()


def _as_one_group(layout: Layout) -> Layout:
    """Every layer with every token, and no padding."""
    numbers: Counter[Layer] = Counter()
    for one in layout.placed:
        numbers[replace(one.layer, kind=Kind.FULL, reach=0)] += one.layers
    return grouped(numbers)
