"""RMS norms as libraries write them."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Op, Tensor
from archcalc.run.code.writing import WIDE, Lines


def fused(op: Op, *, narrow: bool) -> list[Op]:
    """One kernel. Source: PyTorch, aten._fused_rms_norm, which nn.RMSNorm calls on CUDA since version 2.8."""
    return [replace(op, kind="fused_rms_norm", beside={"rstd": op.beside["rstd"]})]


def upcast(op: Op, *, narrow: bool) -> list[Op]:
    """Source: transformers, LlamaRMSNorm.forward; torchtitan until March 2025, RMSNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(x, WIDE)
    variance = lines.mean(lines.do("square", wide))
    normalised = lines.do("multiply", wide, lines.do("inverse_root", lines.do("add", variance)))
    lines.hold(x, variance, normalised)
    narrowed = lines.cast(normalised, x.role)
    for weight in weights:
        lines.do("multiply", narrowed, weight)
    return lines.returned(op)


def upcast_product(op: Op, *, narrow: bool) -> list[Op]:
    """The product with the weight is fp32 too, and cast back. Source: transformers, Olmo2RMSNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(x, WIDE)
    variance = lines.mean(lines.do("square", wide))
    normalised = lines.do("multiply", wide, lines.do("inverse_root", lines.do("add", variance)))
    lines.hold(x, variance, normalised)
    for weight in weights:
        normalised = lines.do("multiply", normalised, weight)
    lines.cast(normalised, x.role)
    return lines.returned(op)


def upcast_statistics(op: Op, *, narrow: bool) -> list[Op]:
    """Only the mean square is computed of an fp32 copy. Source: transformers, T5LayerNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    variance = lines.mean(lines.do("square", lines.cast(x, WIDE)))
    inverse = lines.do("inverse_root", lines.do("add", variance))
    normalised = lines.do("multiply", x, inverse, role=WIDE if narrow else x.role)
    lines.hold(x, variance)
    narrowed = lines.cast(normalised, x.role)
    for weight in weights:
        lines.do("multiply", narrowed, weight)
    return lines.returned(op)


def in_16_bits(op: Op, *, narrow: bool) -> list[Op]:
    """Source: litgpt until October 2023, RMSNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    mean = lines.mean(lines.do("square", x))
    normalised = lines.do("multiply", x, lines.do("inverse_root", lines.do("add", mean)))
    for weight in weights:
        lines.do("multiply", normalised, weight)
    return lines.returned(op)


def upcast_weight(op: Op, *, narrow: bool) -> list[Op]:
    """Source: transformers, GemmaRMSNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(x, WIDE)
    mean = lines.mean(lines.do("square", wide))
    normalised = lines.do("multiply", wide, lines.do("inverse_root", lines.do("add", mean)))
    for weight in weights:
        normalised = lines.do("multiply", normalised, _one_more(lines, weight))
    lines.hold(x, normalised)
    lines.cast(normalised, x.role)
    return lines.returned(op)


def _one_more(lines: Lines, weight: Tensor) -> Tensor:
    """1 + weight, in fp32."""
    wide = lines.do("cast", weight, role=WIDE) if lines.narrow else weight
    return lines.do("add", wide, role=WIDE)


def layer_norm_in_steps(op: Op, *, narrow: bool) -> list[Op]:
    """In Python and in fp32, with the mean subtracted twice. Source: transformers, CohereLayerNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(x, WIDE)
    mean = lines.mean(wide)
    variance = lines.mean(lines.do("square", lines.do("subtract", wide, mean)))
    inverse = lines.do("inverse_root", lines.do("add", variance))
    normalised = lines.do("multiply", lines.do("subtract", wide, mean), inverse)
    lines.hold(x, mean, variance, normalised)
    for weight in weights:
        normalised = lines.do("multiply", normalised, lines.do("cast", weight, role=WIDE) if narrow else weight)
    lines.cast(normalised, x.role)
    return lines.returned(op)


def layer_norm_in_fp32(op: Op, *, narrow: bool) -> list[Op]:
    """PyTorch's kernel on an fp32 copy, cast back. Source: transformers, OlmoLayerNorm.forward."""
    x, *weights = op.inputs
    lines = Lines(narrow=narrow)
    wide = lines.cast(x, WIDE)
    made = Tensor(op.output.axes, wide.role)
    lines.ops.append(replace(op, inputs=(wide, *weights), output=made, name="", note="", title=""))
    lines.hold(x)
    lines.cast(made, x.role)
    return lines.returned(op) if narrow else [op]
