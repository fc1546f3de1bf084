"""Safetensors: headers mutated as data and as bytes; alone, in shards with an index, and beside a config."""

from __future__ import annotations

import json
from typing import Any

from support.safetensors_files import CONFIG, WEIGHTS, Tensors, file

from fuzz import bytewise, treewise
from fuzz.case import Case
from fuzz.kinds.shared import examine

INDEX = "model.safetensors.index.json"
NAMES = ("q_proj.weight", "weight", "a.0.b", "h.1.attn", "norm.running_mean", "x.qweight", "x.scales", "lm_head.weight")
SPARSE = 3 << 30


def run(case: Case) -> None:
    name = case.random.choice((_alone, _alone, _alone, _beside_a_config, _sharded))(case)
    examine(case, name)


def _alone(case: Case) -> str:
    name = case.write(case.random.choice(("model.safetensors", "weights.bin")), contents(case))
    if case.chance(0.002):
        (case.folder / name).open("r+b").truncate(SPARSE)
    return name


def _beside_a_config(case: Case) -> str:
    case.write("config.json", json.dumps(treewise.mutated(CONFIG, case.random, gently=case.chance(0.7))).encode())
    case.write("model.safetensors", contents(case))
    if case.chance(0.2):
        said = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
        case.write("hf_quant_config.json", json.dumps(treewise.mutated(said, case.random)).encode())
    return "."


def _sharded(case: Case) -> str:
    """Two shards, and an index that may say something else."""
    names = list(WEIGHTS)
    shards = {f"model-0000{n}-of-00002.safetensors": names[n - 1 :: 2] for n in (1, 2)}
    for shard, held in shards.items():
        case.write(shard, contents(case, {name: WEIGHTS[name] for name in held}, rough=0.3))
    index = {"metadata": {"total_size": 0}, "weight_map": {name: shard for shard in shards for name in shards[shard]}}
    written = json.dumps(treewise.mutated(index, case.random) if case.chance(0.6) else index).encode()
    case.write(INDEX, bytewise.mutated(written, case.random) if case.chance(0.1) else written)
    return case.random.choice((".", INDEX))


def contents(case: Case, tensors: Tensors | None = None, rough: float = 0.9) -> bytes:
    """A whole file with another header, another length, or other bytes."""
    whole = file(tensors or _drawn(case))
    if not case.chance(rough):
        return whole
    length = int.from_bytes(whole[:8], "little")
    header, rest = whole[8 : 8 + length], whole[8 + length :]
    if case.chance(0.7):
        header = json.dumps(treewise.mutated(json.loads(header), case.random)).encode()
    whole = len(header).to_bytes(8, "little") + header + rest
    return bytewise.mutated(whole, case.random) if case.chance(0.4) else whole


def _drawn(case: Case) -> Tensors:
    """A small Llama, or names and shapes of any kind."""
    if case.chance(0.5):
        return WEIGHTS
    sizes = (0, 1, 2, 3, 8)
    drawn: dict[str, Any] = {}
    for _ in range(case.random.randint(0, 6)):
        shape = [case.random.choice(sizes) for _ in range(case.random.randint(0, 3))]
        prefix = case.random.choice(("", "model.layers.0.", "model.layers.1.", "transformer.h.7.", "a.b.c.d."))
        drawn[prefix + case.random.choice(NAMES)] = (case.random.choice(("F32", "BF16", "I32")), shape)
    return drawn
