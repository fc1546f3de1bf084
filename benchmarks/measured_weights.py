"""The format of a case's weights, as `--weights` takes it."""

from __future__ import annotations

import re

from measured_cases import Case
from measured_command import Command, Refused
from measured_names import Typed
from measured_units import Inexpressible
from measured_words import option

from archcalc.core.errors import InputError
from archcalc.storage import named_formats

GGUF = re.compile(r"(?i)\b(i?q\d_\w+|tq\d_0|mxfp4|b?f16)\b[^,(]*")  # `Q4_K - Medium`, `IQ3_XXS - 3.06 bpw`
PACKED = re.compile(r"(?i)[-.](i?q\d_\w+)\.gguf")
REPACKED = re.compile(r"(?i)(q\d_\w+?)_r\d+\b")  # by ik_llama.cpp, to the same bytes
OWN = re.compile(r"(?i)\bud-|iq\d_(k|ks|kt)\b|_r\d+")  # mixtures of Unsloth's and of ik_llama.cpp's users
TOO_FEW = 0.75  # of a format's bits: a log that contradicts the format that it names


def weights_of(case: Case, typed: Typed) -> str | None:
    """None where the model's own files have them so, and a user types nothing."""
    said = str(case.get("quantisation") or "")
    packed = PACKED.search(case["model"]) if said == "gguf" else None
    found = packed[1] if packed else option("weights", f"{said} {case['model']}" if _says_little(said) else said)
    if found is None or (typed.whole and _is_stored_so(typed.model, found)):
        return None
    return found


def file_format(case: Case) -> str:
    """The format of a GGUF file, as the log prints it."""
    said = REPACKED.sub(r"\1", str(case.get("quantisation") or ""))
    if not GGUF.search(said):
        raise Inexpressible("the case does not say the format")
    name = said.strip().removesuffix(" (from sizes)")
    try:
        stored = named_formats.weight_format(name)
    except InputError as refusal:
        raise Inexpressible(str(refusal).splitlines()[0]) from None
    if (case["measured"].get("bits_per_weight") or 99) < TOO_FEW * stored.bits_per_weight:
        raise Inexpressible("a log whose bits per weight contradict the format that it names")
    return name


def is_own_mixture(case: Case) -> bool:
    """Whether a file's name says that its maker mixed formats by a recipe of their own."""
    return bool(OWN.search(f"{case.get('quantisation')} {case['model']}"))


def _says_little(said: str) -> bool:
    """Of a container of formats, or of nothing, the name of the model says which."""
    return said.lower() in ("", "none", "compressed-tensors", "modelopt", "modelopt_mixed", "gguf", "true")


def _is_stored_so(model: str, name: str) -> bool:
    """Whether the model's own weights are in that format: `mxfp4_moe` of a gpt-oss, `fp8` of a DeepSeek V3."""
    try:
        record = Command.of("memory", model, {}).record()
    except Refused:
        return False
    return name.partition("_")[0] in str(record.get("weights_format", "")).lower()
