"""A second set of figures (measured_more.yaml), of the same kinds of sources, looked for once the rules stood.

Every case says the options of `archcalc memory` that a user would type, so that nothing is read between the lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml
from measured_allocator import unsplit
from measured_asked import Pair
from measured_codes import Case
from measured_units import GB, GIB, MIB
from measured_vllm import Log, laid_out, version

from archcalc import load
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.answer import Memory
from archcalc.analyze.memory.vllm_cache import BATCH
from archcalc.model import Model

OPTIONS = ("weights", "kv_rule", "kv_dtype", "state_dtype", "prefill", "tp")
FILE: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("measured_more.yaml").read_text("utf-8"))


def more() -> list[Case]:
    """Every figure as a case."""
    found = [(group, case) for group in FILE["groups"] for case in group["cases"]]
    usual: Case = {"model": "zero-7.5b", "trust": "A", "flags": {}, "measured": {}}
    return [
        {**usual, "id": f"more-{number}", "kind": f"more {group['kind']}", "source": group["source"], **case}
        for number, (group, case) in enumerate(found)
    ]


def second_set(*kinds: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] in [f"more {kind}" for kind in kinds]


def asked(case: Case) -> Model:
    return load(FILE["specs"].get(case["model"], case["model"]), set=case.get("set", ()))


def ask(case: Case, **options: Any) -> Memory:
    """Without the runtime, which no figure here counts."""
    said = {name: case[name] for name in OPTIONS if name in case}
    return Memory(asked(case), **said, **options, overhead=0)


def gguf(case: Case) -> Iterator[Pair]:
    yield "model size GiB", case["gib"], ask(case).at(1, 512).parts["weights"] / GIB


def caches(case: Case) -> Iterator[Pair]:
    part = "state" if "state" in case else "kv_cache"
    kept = ask(case, precision="fp16").at(case.get("batch", 1), case["seq"]).parts[part]
    yield f"{part} MiB", case[part], kept / MIB


def tokens(case: Case) -> Iterator[Pair]:
    said = version(str(case.get("vllm")))
    log = Log(case.get("seq", 4096), case.get("prefill", BATCH), said, case.get("prefix_caching"))
    memory, layout = case["gib"] * GIB, laid_out(ask(case, precision="bf16", kv_rule="vllm"), log.length)
    yield "KV bytes per token", memory / case["tokens"], memory / log.tokens(layout, memory, case["tokens"])


def weights(case: Case) -> Iterator[Pair]:
    """With RoPE's tables and, of weights in 16 bits, what the allocator does not split off."""
    memory = ask(case, precision="bf16")
    positions, rotated, tables = case["rope"]
    beside = 2 * positions * rotated * tables + (0 if "weights" in case else unsplit(memory))
    yield "weights GiB", case["gib"], (memory.at(1, 512).parts["weights"] + beside) / GIB


def flops(case: Case) -> Iterator[Pair]:
    model = asked(case)
    done = work(model.build(model.workload(batch=1, seq=case["seq"])))
    per_token = int(done.forward + done.backward) / case["seq"]
    yield "training FLOPs per token", case["teraflops"] * 10**12 / case["tokens"], per_token


def inference(case: Case) -> Iterator[Pair]:
    yield "peak GB", case["gb"], ask(case, precision="bf16").total(1, 256) / GB


def lora(case: Case) -> Iterator[Pair]:
    """The table is of commit 8641822, of October 2023."""
    memory = ask(case, mode="train", precision="bf16", attention="flash", lora=8, code="litgpt@2023-10")
    yield "peak GiB", case["gb"] * GB / GIB, memory.at(case["batch"], case["seq"]).allocated_bytes / GIB


def states(case: Case) -> Iterator[Pair]:
    """As if the model had 7.5 billion parameters to the unit; the paper prints three digits."""
    memory = ask(case, mode="train", precision="mixed", dp=64, zero=case["stage"])
    each = sum(memory.parameters.states.values()) / int(memory.model.params().total)
    yield "states GB", case["gb"], float(f"{7.5 * each:.3g}")
