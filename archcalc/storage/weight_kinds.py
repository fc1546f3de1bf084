"""Kinds of weight formats, as engines have kernels for them: fp8, int8, int4, nf4, mxfp4, nvfp4, gguf, mlx, …

    kind_of_format("fp8_block")                                  fp8
    kinds_of_config({"quant_method": "awq", "bits": 4})          (int4,)

Two layouts of one kind differ in their scales, and run on the same devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from archcalc.spec.data_files import document
from archcalc.storage.named_formats import format_file, of_gguf
from archcalc.storage.quantization_config.methods import method_of
from archcalc.storage.typed_formats import average

GGUF = "gguf"
Fields = Mapping[str, Any]
OWN = ("mxfp4", "mxfp8", "nvfp4", "mlx", "hqq", "quanto", "aqlm", "eetq", "bitnet", GGUF)  # methods of one kind each
ALGORITHMS = {"NVFP4": "nvfp4", "MXFP4": "mxfp4", "MXFP8": "mxfp8", "FP8": "fp8", "W4": "int4", "W8": "int8"}
CLASSES = {"int4": "int4", "int8": "int8", "float8": "fp8", "fp8": "fp8"}  # words in the names of torchao's configs


def kind_of_format(name: str) -> str:
    """Of a format as `--weights` names it; empty for a plain number format."""
    file, bits = format_file(name), average(name)
    if bits:
        return bits.format
    own = document(file).data.get("kind", "") if file else ""
    return own or (GGUF if of_gguf(name) else "")


def kinds_of_config(config: Fields | None) -> tuple[str, ...]:
    """Of a checkpoint by its quantization_config: every kind that some layer is stored in."""
    if not config:
        return ()
    method = method_of(config)
    if method in OWN:
        return (method,)
    reader = READERS.get(method)
    return tuple(dict.fromkeys(kind for kind in reader(config) if kind)) if reader else ()


def _integers(config: Fields) -> Iterator[str]:
    yield f"int{config.get('bits') or config.get('w_bit') or 4}"


def _bitsandbytes(config: Fields) -> Iterator[str]:
    yield "int8" if config.get("load_in_8bit") or config.get("_load_in_8bit") else "nf4"


def _fp8(config: Fields) -> Iterator[str]:
    yield "fp8"
    yield from _modelopt(config)


def _modelopt(config: Fields) -> Iterator[str]:
    inner = config.get("quantization")
    asked = {**config, **inner} if isinstance(inner, dict) else config
    for one in (asked, *(asked.get("quantized_layers") or {}).values()):
        algorithm = str(one.get("quant_algo") or "").upper()
        yield next((kind for word, kind in ALGORITHMS.items() if word in algorithm), "")


def _compressed(config: Fields) -> Iterator[str]:
    for group in (config.get("config_groups") or {}).values():
        asked, packing = group.get("weights"), str(group.get("format") or config.get("format") or "")
        if not asked:
            continue
        bits = asked.get("num_bits", 8)
        if str(asked.get("type", "int")) == "int":
            yield f"int{bits}"
        else:
            yield "fp8" if bits == 8 else next((one for one in ("nvfp4", "mxfp4") if packing.startswith(one)), "")


def _quark(config: Fields) -> Iterator[str]:
    for scheme in ((config.get("layer_quant_config") or {}).values(), [config.get("global_quant_config") or {}]):
        for one in scheme:
            weight = one.get("weight")
            kind = str(weight.get("dtype")) if isinstance(weight, dict) else ""
            yield {"fp4": "mxfp4"}.get(kind, kind.removeprefix("u").partition("_")[0])


def _torchao(config: Fields) -> Iterator[str]:
    asked = config.get("quant_type")
    inner = asked.get("default", asked) if isinstance(asked, dict) else {"_type": asked}
    words = str(inner.get("_type", "")).lower().replace("_", "")
    yield next((kind for word, kind in CLASSES.items() if word in words), "")


READERS: dict[str, Callable[[Fields], Iterator[str]]] = {
    **dict.fromkeys(("gptq", "awq", "auto-round", "intel/auto-round"), _integers),
    **dict.fromkeys(("modelopt", "modelopt-fp4", "modelopt-mixed"), _modelopt),
    "bitsandbytes": _bitsandbytes,
    "fp8": _fp8,
    "fbgemm-fp8": _fp8,
    "compressed-tensors": _compressed,
    "quark": _quark,
    "torchao": _torchao,
}
