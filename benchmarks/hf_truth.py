"""What transformers builds for a config, and what archcalc counts for the same file: the one judge of the importers.

The class that the config names is built on torch's meta device; its parameters are compared in total and tensor by
tensor. Implementations differ in what they fuse (q, k and v in one matrix, gate and up in one), so fused tensors are
taken apart, and a matrix counts as its transpose.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch
import transformers

from archcalc.errors import InputError
from archcalc.importers.hf.imported import document
from archcalc.model import Model, from_document

transformers.logging.set_verbosity_error()

Shape = tuple[int, ...]

_QKV = re.compile(r"(.*)\.(qkv_proj|query_key_value|c_attn|Wqkv|qkv)\.(weight|bias)")
_OUT = ("o_proj", "dense", "c_proj", "Wo", "out_proj")
_HEAD_NORM = re.compile(r"\.norms\.\d+\.weight$")
_TWO = re.compile(r".*(gate_up_proj|\.Wi\.|gate_up_proj_bias|weights_in\.|input_linear\.).*")


@dataclass(frozen=True)
class Verdict:
    """`exact`, `wrong`, `refused`, or `invalid`: transformers itself cannot build it."""

    outcome: str
    why: str = ""


def judge(said: dict[str, Any]) -> Verdict:
    """Compare one config, given as the JSON object of its file."""
    try:
        model = build(said)
    except Exception as reason:  # whatever a config class or model raises, the config is not valid
        return Verdict("invalid", f"{type(reason).__name__}: {str(reason)[:200]}")
    try:
        counted = tensors_of(from_document(document(dict(said), "config.json"), "model"))
    except InputError as reason:
        return Verdict("refused", str(reason).replace("\n", " "))
    return _compared(tensors_in(model), counted)


def _compared(built: Counter[Shape], counted: Counter[Shape]) -> Verdict:
    missing, extra = built - counted, counted - built
    if not missing and not extra:
        return Verdict("exact")
    totals = f"{_total(built):,} parameters in transformers, {_total(counted):,} counted"
    return Verdict("wrong", f"{totals}; missing {dict(missing)}, too many {dict(extra)}")


def build(said: dict[str, Any]) -> torch.nn.Module:
    """The class that the config names, as transformers makes it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config_class = transformers.CONFIG_MAPPING[said["model_type"]]
        config = config_class.from_dict(config_class._decode_special_floats(json.loads(json.dumps(said))))
        with torch.device("meta"):
            model: torch.nn.Module = getattr(transformers, said["architectures"][0])(config)
    return model


def tensors_in(model: torch.nn.Module) -> Counter[Shape]:
    named = _joined({name: tuple(parameter.shape) for name, parameter in model.named_parameters()})
    parts = (part for name, shape in named.items() for part in _taken_apart(name, shape, named))
    return Counter(_plain(part) for part in parts if 0 not in part)  # some classes keep tables of no rows


def _joined(named: dict[str, Shape]) -> dict[str, Shape]:
    """Rows that some classes keep as tensors of their own: StableLM's norms of heads, DeiT's two tokens in front."""
    heads: Counter[str] = Counter(_HEAD_NORM.sub("", name) for name in named if _HEAD_NORM.search(name))
    rest = {name: shape for name, shape in named.items() if not _HEAD_NORM.search(name)}
    for name in [name for name in rest if name.endswith("distillation_token")]:
        del rest[name.replace("distillation", "cls")]
        rest[name] = (2, *rest[name])
    return {**rest, **{name: (number, *named[f"{name}.norms.0.weight"]) for name, number in heads.items()}}


def _taken_apart(name: str, shape: Shape, named: dict[str, Shape]) -> list[Shape]:
    if match := _QKV.fullmatch(name):
        return _queries_keys_values(match[1], match[3], shape, named)
    if _TWO.fullmatch(name):
        return _halves(name, shape, named)
    return [shape]


def _queries_keys_values(module: str, kind: str, shape: Shape, named: dict[str, Shape]) -> list[Shape]:
    """As many queries as the output projection reads; keys and values share the rest."""
    out = next(named[f"{module}.{name}.weight"] for name in _OUT if f"{module}.{name}.weight" in named)
    conv1d = kind == "weight" and module.endswith(("attn", "attention")) and f"{module}.c_attn.weight" in named
    axis = 1 if conv1d and "c_attn" in "".join(named) and not _is_linear(module, named) else 0
    queries = out[0] if axis else out[1]
    fused = shape[axis] if kind == "weight" else shape[0]
    both = fused == 2 * queries and "cross" in module
    widths = [queries, queries] if both else [queries, (fused - queries) // 2, (fused - queries) // 2]
    rest = () if kind == "bias" else (shape[1 - axis],)
    return [(width, *rest) for width in widths]


def _is_linear(module: str, named: dict[str, Shape]) -> bool:
    """gpt_bigcode's c_attn is a Linear (out, in); GPT-2's a Conv1D (in, out), as wide as its bias at the end."""
    weight, bias = named[f"{module}.c_attn.weight"], named.get(f"{module}.c_attn.bias", (0,))
    return weight[0] == bias[0] and weight[1] != bias[0]


def _halves(name: str, shape: Shape, named: dict[str, Shape]) -> list[Shape]:
    """Gate and up stand in one tensor, one above the other, or side by side where experts are kept transposed."""
    down = named.get(name.replace("gate_up_proj", "down_proj"), ())
    beside = name.endswith("_bias") or (len(shape) == 3 and shape[-1] == 2 * down[-2] and shape[-2] == down[-1])
    axis = len(shape) - 1 if beside else max(len(shape) - 2, 0)
    half = (*shape[:axis], shape[axis] // 2, *shape[axis + 1 :])
    return [half, half]


def _plain(shape: Shape) -> Shape:
    """A matrix and its transpose are the same; axes of one do not count."""
    return tuple(sorted(size for size in shape if size != 1))


def tensors_of(model: Model) -> Counter[Shape]:
    counted: Counter[Shape] = Counter()
    for row in model.params().rows:
        if row.kind == "tensor" and row.tied_to is None:
            counted[_plain(row.shape or ())] += int(row.repeat)
    return counted


def _total(shapes: Counter[Shape]) -> int:
    total = 0
    for shape, times in shapes.items():
        elements = times
        for size in shape:
            elements *= size
        total += elements
    return total
