"""`quantization_config`: what a checkpoint stores for each linear layer, and which layers it leaves as they are.

Layouts are those of the libraries that write them: packed numbers, scales of groups, rows, tiles or whole matrices,
zeros, indices. For a method with an unknown layout the name is reported and no bytes are counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from archcalc.core.errors import InputError
from archcalc.storage.checkpoint import LINEAR, Checkpoint, Group
from archcalc.storage.format import Stored
from archcalc.storage.module_names import Names
from archcalc.storage.named_formats import weight_format
from archcalc.storage.quantization_config.by_group import compressed, modelopt, quark
from archcalc.storage.quantization_config.gguf_formats import gguf
from archcalc.storage.quantization_config.layouts import (
    INPUTS,
    Fields,
    float8,
    gptq_layout,
    grouped,
    hqq_layout,
    made,
    number,
    packed,
    skipped,
    tiled,
    told,
    without_bits,
    words,
)
from archcalc.storage.quantization_config.mlx import is_mlx, mlx

UNQUANTISED = 16  # bits of a width that is none


def quantised(config: Any, field: str = "quantization_config") -> Checkpoint | None:
    """How the weights are stored; None if the config says unquantised. `field` is the field's name, for errors."""
    if not isinstance(config, dict):
        hint = 'write an object, such as {"quant_method": "awq", "bits": 4}, or leave it out'
        raise InputError(f"expected an object, found {config!r:.60}", hint, fields=[(field,)])
    method = method_of(config)
    reader = METHODS.get(method)
    if reader is None:
        return Checkpoint(method, unknown=f"archcalc does not know how {method} stores weights")
    try:
        found: Checkpoint | None = reader(config)
        return replace(found, parts=tuple(words(config.get("parts")))) if found else None
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError) as reason:
        hint = "compare it with a quantization_config that transformers wrote"
        raise InputError(f"a value has the wrong type for {method} ({reason})", hint, fields=[(field,)]) from None


def method_of(config: Mapping[str, Any]) -> str:
    """The method's name, spelled one way."""
    named = config.get("quant_method")
    if not named:  # by its fields: old files and files beside config.json name none, and MLX never does
        named = next((method for method, fields in _FIELDS.items() if fields & config.keys()), "an unnamed method")
        named = "mlx" if is_mlx(config) else named
    return str(named).lower().replace("_", "-")


_FIELDS: dict[str, set[str]] = {  # of one method alone, asked in this order
    "bitsandbytes": {"load_in_4bit", "load_in_8bit"},
    "modelopt": {"quant_algo", "producer", "quantized_layers", "quantization"},
    "compressed-tensors": {"config_groups", "sparsity_config"},
    "gptq": {"desc_act", "damp_percent", "true_sequential", "checkpoint_format"},
    "awq": {"w_bit", "zero_point", "q_group_size"},
    "fp8": {"weight_block_size", "activation_scheme"},
    "quark": {"global_quant_config"},
    "torchao": {"quant_type"},
    "aqlm": {"num_codebooks"},
    "hqq": {"quant_config", "dynamic_config"},
}


def _gptq(config: Fields) -> Checkpoint:
    """AutoGPTQ: packed weights, an fp16 scale and a zero for each group, and the group of every input."""
    bits, group = number(config, "bits", 0), number(config, "group_size", 128)
    if not bits:
        return without_bits("gptq")
    only = tuple(word for several in config.get("modules_in_block_to_quantize") or () for word in words(several))
    rules = []
    for rule, other in (config.get("dynamic") or {}).items():
        # GPTQModel's expressions, of which the first that matches counts; a minus leaves modules as they are
        targets = Names((f"re:{rule.removeprefix('-:').removeprefix('+:')}",))
        kept = None
        if not rule.startswith("-:"):
            kept = gptq_layout(number(other, "bits", bits), number(other, "group_size", group))
        rules.append(Group(kept, targets))
    if only and any(rule.format for rule in rules):
        both = "modules_in_block_to_quantize together with widths in dynamic is not supported"
        return Checkpoint("gptq", unknown=both)
    usual = Group(gptq_layout(bits, group), Names(only or (LINEAR,)))
    return Checkpoint(f"gptq {told(usual, *rules)}", (*rules, usual), skipped(config), head=bool(config.get("lm_head")))


def _auto_round(config: Fields) -> Checkpoint:
    """Intel's AutoRound, packed as GPTQ or AWQ are, without an index."""
    bits, group = number(config, "bits", 4), number(config, "group_size", 128)
    extra, rules, kept = config.get("extra_config") or {}, list[Group](), list[str]()
    for name in sorted(extra, key=_is_expression):  # whole names before expressions
        width, target = number(extra[name], "bits", bits), f"re:.*(?:{name})" if _is_expression(name) else name
        if width >= UNQUANTISED:  # the module stays as it is
            kept.append(target)
        else:
            rules.append(Group(packed(width, number(extra[name], "group_size", group), 16 + width), Names((target,))))
    usual = Group(packed(bits, group, 16 + bits))
    left = Names((*skipped(config).listed, *kept))
    head = any(rule.targets.hold_outside("lm_head") for rule in rules)
    return Checkpoint(f"auto-round {told(usual, *rules)}", (*rules, usual), left, head=head)


def _is_expression(name: str) -> bool:
    return re.fullmatch(r"[\w.-]+", name) is None


def _awq(config: Fields) -> Checkpoint:
    """AutoAWQ: packed weights, an fp16 scale and a zero for each group."""
    bits, group = number(config, "bits", number(config, "w_bit", 0)), number(config, "q_group_size", 128)
    group = number(config, "group_size", group)
    if not bits:
        return without_bits("awq")
    return made(f"awq int{bits}, {grouped(group)}", tiled(bits, group, 16 + bits), config)


def _bitsandbytes(config: Fields) -> Checkpoint | None:
    """Neither in 8 bits nor in 4 is not quantised."""
    if config.get("load_in_8bit") or config.get("_load_in_8bit"):
        return made("bitsandbytes int8", weight_format("int8").stores, config)
    if not (config.get("load_in_4bit") or config.get("_load_in_4bit")):
        return None
    kind = str(config.get("bnb_4bit_quant_type", "fp4")).lower()
    if kind not in ("fp4", "nf4"):
        return Checkpoint(f"bitsandbytes {kind}", unknown=f"bitsandbytes has no format {kind}")
    double = bool(config.get("bnb_4bit_use_double_quant"))
    kept = weight_format("nf4_dq" if double else "nf4")
    name = f"bitsandbytes {kind}" + (" with double quantisation" if double else "")
    return made(name, kept.stores, config, dequantised_copies=kept.dequantised_copies)


def _fp8(config: Fields) -> Checkpoint:
    """Blocks with an fp32 scale each, or one per matrix, and one input scale if activation scaling is static."""
    if config.get("quantized_layers"):
        # layers that another method lists, and one for all others: DeepSeek's fp8 with experts in NVFP4
        listed, usual = modelopt(config), _fp8({**config, "quantized_layers": None})
        name, groups = f"{listed.name}, else {usual.name}", (*listed.groups, *usual.groups)
        return listed if listed.unknown else replace(usual, name=name, groups=groups, skipped=Names(()))
    block = config.get("weight_block_size")
    layout, scales = float8("block" if block else "tensor", 32, block)
    fixed = (INPUTS,) if config.get("activation_scheme") == "static" else ()
    return made(f"fp8, {scales}", (*layout, *fixed), config)


def _mxfp4(config: Fields) -> Checkpoint:
    """gpt-oss: experts alone."""
    stores = weight_format("mxfp4").stores
    return made("mxfp4 of experts, group 32", stores, config, quantises="experts", layout="mxfp4_moe")


def _nvfp4(config: Fields) -> Checkpoint:
    return made("nvfp4, group 16", weight_format("nvfp4").stores, config)


def _hqq(config: Fields) -> Checkpoint:
    """A scale and a zero of 16 bits for each group; settings are for all layers, or for each by its name."""
    inner = config.get("quant_config") or config.get("dynamic_config") or {}
    left = Names(words(config.get("skip_modules")))
    if inner and "weight_quant_params" not in inner:
        # layers by their names, such as `self_attn.q_proj`; those without settings stay as they are
        asked = {name: other.get("weight_quant_params", other) for name, other in inner.items() if other is not None}
        rules = tuple(Group(hqq_layout(other), Names((name,))) for name, other in asked.items())
        return Checkpoint(f"hqq {told(*rules)}, by layer", rules, left)
    usual = Group(hqq_layout(inner.get("weight_quant_params") or config.get("weights") or {}))
    return Checkpoint(f"hqq {told(usual)}", (usual,), left)


def _quanto(config: Fields) -> Checkpoint:
    """Rows of int8 and float8 have a scale; groups of 128 of int4 and int2 a scale and a shift."""
    kind = str(config.get("weights", "int8")).removeprefix("q")
    by_row = (Stored(8, what="the weight"), Stored(16, what="a scale of the row", tile=(1, 0)))
    layouts = {"int8": by_row, "float8": by_row, "int4": tiled(4, 128, 32), "int2": tiled(2, 128, 32)}
    if kind not in layouts:
        return Checkpoint(f"quanto {kind}", unknown=f"quanto has no weight format {kind}")
    return made(f"quanto {kind}", layouts[kind], config)


def _torchao(config: Fields) -> Checkpoint:
    """The config by its name: `int4_weight_only`, or the class that newer files write."""
    asked = config.get("quant_type")
    inner: Fields = asked.get("default", asked) if isinstance(asked, dict) else {"_type": str(asked)}
    kind = str(inner.get("_type", "")).lower().replace("_", "")
    data: Fields = inner.get("_data") or config.get("quant_type_kwargs") or {}
    group = number(data, "group_size", 128)
    if "int4" in kind:
        return made(f"torchao int4, {grouped(group)}", tiled(4, group, 32), config)
    if "int8" in kind or "float8" in kind:
        name = "int8" if "int8" in kind else "float8"
        layout = (Stored(8, what="the weight"), Stored(32, what="a scale of the row", tile=(1, 0)))
        return made(f"torchao {name}, one scale per row", layout, config)
    return Checkpoint(f"torchao {asked}", unknown=f"archcalc does not know how torchao stores {kind or 'them'}")


def _aqlm(config: Fields) -> Checkpoint:
    """Codes into books that every matrix has for itself, and a scale for each group of rows."""
    books, bits = number(config, "num_codebooks", 1, least=1), number(config, "nbits_per_codebook", 16)
    into, out = number(config, "in_group_size", 8, least=1), number(config, "out_group_size", 1, least=1)
    code = 8 * -(-bits // 8)
    layout = (
        Stored(books * code, what="codes", tile=(out, into)),
        Stored(16 * books * 2**bits * into * out, what="the books", tile=(0, 0)),
        Stored(16, what="an fp16 scale", tile=(out, 0)),
    )
    left = Names(words(config.get("linear_weights_not_to_quantize")))
    return made(f"aqlm, {books} × {bits} bits for {into * out} weights", layout, config, skipped=left)


EETQ = (Stored(8, what="the weight"), Stored(16, what="an fp16 scale of the row", tile=(1, 0)))
MXFP8 = (Stored(8, what="the weight"), Stored(8, what="a shared exponent", tile=(1, 32)))
BITNET = (Stored(2, what="a ternary weight"), Stored(16, what="a scale of the matrix", tile=(0, 0)))


METHODS: dict[str, Callable[[Fields], Checkpoint | None]] = {
    "gptq": _gptq,
    "awq": _awq,
    "auto-round": _auto_round,
    "intel/auto-round": _auto_round,
    "bitsandbytes": _bitsandbytes,
    "fp8": _fp8,
    "fbgemm-fp8": partial(made, "fbgemm fp8, one scale per row", float8("channel", 32)[0]),
    "eetq": partial(made, "eetq int8, one scale per row", EETQ),
    "mxfp4": _mxfp4,
    "mxfp8": partial(made, "mxfp8, group 32", MXFP8),
    "nvfp4": _nvfp4,
    "modelopt": modelopt,
    "modelopt-fp4": modelopt,
    "modelopt-mixed": modelopt,
    "mlx": mlx,
    "quark": quark,
    "compressed-tensors": compressed,
    "hqq": _hqq,
    "quanto": _quanto,
    "torchao": _torchao,
    "aqlm": _aqlm,
    "bitnet": partial(made, "bitnet, 2 bits", BITNET),
    "gguf": gguf,  # what `show` prints of a GGUF file
}
