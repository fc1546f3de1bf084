"""Which tensors of a file are parameters, and how many of them a packed tensor stands for.

A quantised matrix is stored as several tensors: packed numbers, scales, zeros, indices. Layouts are known by the names
that libraries write (`qweight` beside `scales`) and by shapes that must agree. A file also holds buffers: statistics of
batch norms, position indices, masks, tables of rotary embeddings. Every number of any other tensor is a parameter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from archcalc.spec.stored_tensors import BITS, Stored

PARAMETER, SCALE, BUFFER, UNKNOWN = "parameter", "scale", "buffer", "unknown"
Tensors = Mapping[str, Stored]


@dataclass(frozen=True)
class Use:
    """What a tensor is for, and how many weights it holds. `unknown`: packed in a layout that leaves it open."""

    role: str
    weights: int = 0
    packed: bool = False


def uses(tensors: Tensors) -> dict[str, Use]:
    """Every tensor by its name."""
    packed = {name: _packed(name, stored, tensors) for name, stored in tensors.items()}
    quantised = {owner for name in tensors if (owner := _quantised(name, tensors, packed[name]))}
    return {name: packed[name] or _plain(name, stored, quantised) for name, stored in tensors.items()}


def _packed(name: str, stored: Stored, tensors: Tensors) -> Use | None:
    """The use of a matrix that is stored by a library's layout; None for any other tensor."""
    module, _, leaf = name.rpartition(".")

    def beside(other: str) -> Stored | None:
        return tensors.get(f"{module}.{other}" if module else other)

    if leaf.endswith("_blocks") and beside(leaf.removesuffix("_blocks") + "_scales"):
        return Use(PARAMETER, 2 * stored.elements, packed=True)  # MXFP4 of gpt-oss: two weights a byte
    if f"{name}.absmax" in tensors:  # bitsandbytes, four bits each in whatever type it was told to store them
        return Use(PARAMETER, stored.elements * BITS[stored.format] // 4, packed=True)
    layout = _LAYOUTS.get(leaf)
    found = layout(stored, beside) if layout else _fused(leaf, stored, beside)
    if found is None:
        return None
    return Use(PARAMETER, found, packed=found != stored.elements) if found else Use(UNKNOWN, stored.elements)


Beside = Callable[[str], Stored | None]  # another tensor of the same module, by the last part of its name


def _by_words(stored: Stored, beside: Beside) -> int | None:
    """GPTQ packs along the inputs and AWQ along the outputs; `scales` have all outputs, `g_idx` all inputs."""
    scales, index, zeros = beside("scales"), beside("g_idx"), beside("qzeros")
    if not scales or len(stored.shape) != 2 or not scales.shape:
        return 0
    (rows, columns), out, width = stored.shape, scales.shape[-1], BITS.get(stored.format, 0)
    if columns != out:
        return rows * out if out and columns and (columns * width) % out == 0 else 0
    if index and index.elements:
        return index.elements * out
    if zeros and len(zeros.shape) == 2 and zeros.shape[1] and rows * out % zeros.shape[1] == 0:
        return rows * out // zeros.shape[1] * out  # zeros are packed as many to a word as weights are
    return 0


def _compressed(stored: Stored, beside: Beside) -> int | None:
    """compressed-tensors: two 4-bit floats a byte, or integers in words, by the shape that is stored beside them."""
    if stored.format == "uint8":
        return 2 * stored.elements
    if stored.weights is not None:
        return stored.weights
    zeros, index = beside("weight_zero_point"), beside("weight_g_idx")
    if index and index.elements and len(stored.shape) == 2:
        return index.elements * stored.shape[0]
    if zeros and zeros.shape and stored.shape and zeros.shape[0] and stored.elements % zeros.shape[0] == 0:
        return stored.elements // zeros.shape[0] * stored.shape[0]
    return 0


def _weight(stored: Stored, beside: Beside) -> int | None:
    """A low-bit `weight`; the shape of its scales tells how many weights are packed into one number."""
    if stored.format not in (*_BYTES, "uint32"):
        return None
    scales = beside("scales")
    if stored.format == "uint32" and scales and stored.weights is not None:
        return stored.weights
    if stored.format == "uint32" and scales:
        # shapes of MLX give only bits × group size; if two bit widths give the same product, the width is unknown
        widths = ((4, 16), (4, 32), (8, 32)) if scales.format == "uint8" else _AFFINE
        columns, groups = (shape[-1] if (shape := one.shape) else 0 for one in (stored, scales))
        fitting = {bits for bits, group in widths if bits * group * groups == 32 * columns}
        return stored.elements * 32 // fitting.pop() if len(fitting) == 1 else 0
    if stored.format in _BYTES and (beside("SCB") or beside("weight_scales")):
        return stored.elements  # bitsandbytes in 8 bits, EETQ
    scale = beside("weight_scale") or beside("weight_scale_inv")
    if stored.format == "uint8" and scale:
        return _halves(stored, scale)
    return stored.elements if scale and stored.format in _BYTES else None


_BYTES = ("int8", "uint8", "fp8", "fp8_e5m2", "fp8_e4m3fnuz", "fp8_e5m2fnuz")
_GROUPS = (16, 32)  # of 4-bit floats
_AFFINE = tuple((bits, group) for bits in (2, 3, 4, 5, 6, 8) for group in (32, 64, 128))  # of MLX


def _halves(stored: Stored, scale: Stored) -> int:
    """Bytes with two weights each, by groups of inputs or by pairs of outputs; with four, and one scale, of BitNet."""
    if scale.elements == 1:
        return 4 * stored.elements
    if len(scale.shape) < 2 or len(scale.shape) != len(stored.shape):
        return 0
    pairs = scale.shape[-2] == 2 * stored.shape[-2]
    groups = scale.shape[:-1] == stored.shape[:-1] and 2 * stored.shape[-1] in [
        size * scale.shape[-1] for size in _GROUPS
    ]
    return 2 * stored.elements if pairs or groups else 0


def _codes(stored: Stored, beside: Beside) -> int | None:
    """AQLM: each code stands for a group of outputs × inputs, whose sizes are the book's."""
    books = beside("codebooks")
    if not books or len(books.shape) != 4 or len(stored.shape) != 3:
        return None
    return prod(stored.shape[:2]) * prod(books.shape[2:])


def _data(stored: Stored, beside: Beside) -> int | None:
    """Quanto: a byte each, or two or four to a byte in groups of 128."""
    scale = beside("_scale")
    if not scale:
        return None
    times = 128 * scale.elements // max(1, stored.elements)
    if stored.format != "uint8":
        return stored.elements
    return times * stored.elements if times in (2, 4) else 0


def _unknown(stored: Stored, beside: Beside) -> int | None:
    """HQQ's packed numbers: the bit width is the content of another tensor, which archcalc does not read."""
    return 0 if beside("scale") and beside("zero") else None


_LAYOUTS: dict[str, Callable[[Stored, Beside], int | None]] = {
    "qweight": _by_words,
    "weight_packed": _compressed,
    "weight": _weight,
    "codes": _codes,
    "_data": _data,
    "W_q": _unknown,
}


def _fused(leaf: str, stored: Stored, beside: Beside) -> int | None:
    """Experts in one tensor, with scales under a longer name: `gate_up_proj_weight_scale`."""
    if stored.format not in _BYTES:
        return None
    scale = next((found for word in _OF_FUSED if (found := beside(f"{leaf}_{word}"))), None)
    if not scale:
        return None
    return _halves(stored, scale) if stored.format == "uint8" else stored.elements


_OF_FUSED = ("weight_scale", "scale", "scale_inv")
_OF_QUANTISED = re.compile(  # what libraries store beside a quantised matrix
    r"scales|qzeros|g_idx|perm|workspace|biases|SCB|weight_format|weight_scales|codebooks|pre_quant_scale|act_scale"
    r"|weight_(scale|scale_inv|scale_2|zero_point|g_idx|shape|global_scale)|(input|output)_(scale|zero_point|global_scale)"
    r"|_scale|_shift|scale|zero|nbits|group_size|axis|shape|packing|view_as_float|unpack_view_dtype|optimize|channel_wise"
    r"|round_zero|compute_dtype|quant_scale|quant_zero|offload_meta|stores_quant_config|encoded_state_dict"
)
_ALWAYS = re.compile(r"(k|v|q|kv|prob)_(cache_)?(scale|zero_point)")  # of a cache in 8 bits


def _quantised(name: str, tensors: Tensors, use: Use | None) -> str:
    """What the tensors beside a quantised matrix are called before their own names; nothing for any other tensor."""
    if use is None:
        return ""
    if f"{name}.absmax" in tensors:
        return f"{name}."
    module, _, leaf = name.rpartition(".")
    if leaf.endswith("_blocks"):
        return f"{name.removesuffix('_blocks')}_"
    return f"{module}." if leaf in _LAYOUTS else f"{name}_"


_BUFFERS = re.compile(
    r"running_(mean|var)|num_batches_tracked|(original_)?inv_freq|(cos|sin)(_cached)?|freqs(_cis|_cos|_sin)?|position_ids"
    r"|token_type_ids|masked_bias|attn_mask|causal_mask|relative_position_index|relative_coords_table|alibi|slopes"
    r"|e_score_correction_bias|expert_bias|mask"
)
_INTEGERS = re.compile(r"u?int(16|64)|bool")  # of which no library packs weights


def _plain(name: str, stored: Stored, quantised: set[str]) -> Use:
    """A tensor that is no packed matrix: a scale of one, a buffer, or a parameter."""
    if stored.weights is not None:  # whoever wrote it down knew
        return Use(PARAMETER, stored.weights)
    leaf = name.rpartition(".")[2]
    last = name.rfind(".") + 1  # the name of a matrix may end at the last dot, else at every dot and underscore
    ends = [last] if name[:last] in quantised else [match.end() for match in re.finditer(r"[._]", name)]
    if _ALWAYS.fullmatch(leaf) or any(name[:end] in quantised and _is_beside(name[:end], name[end:]) for end in ends):
        return Use(SCALE)
    square = len(stored.shape) == 4 and stored.shape[:2] == (1, 1) and stored.shape[2] == stored.shape[3]
    if _BUFFERS.fullmatch(leaf) or _INTEGERS.fullmatch(stored.format) or (leaf == "bias" and square):
        return Use(BUFFER)
    role = UNKNOWN if "int" in stored.format else PARAMETER
    return Use(role, stored.elements)


def _is_beside(owner: str, rest: str) -> bool:
    """Whether it belongs to a quantised matrix: scales, zeros or indices under the names of a known layout."""
    if owner.endswith("weight."):  # everything under a matrix of bitsandbytes is its state
        return True
    return bool(_OF_QUANTISED.fullmatch(rest) or _OF_QUANTISED.fullmatch(f"weight_{rest}"))
