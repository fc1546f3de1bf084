"""Weights that vLLM and llama.cpp print, and what archcalc says of the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

from measured_allocator import unsplit
from measured_asked import Pair, inferred, parallel
from measured_codes import Case
from measured_models import positions, tower, tower_gpus, whole
from measured_units import GIB, Inexpressible, number, size

from archcalc.analyze.memory.answer import Memory
from archcalc.core.ir import walk
from archcalc.core.roles import Role
from archcalc.model import Model
from archcalc.storage import named_formats
from archcalc.storage.places import Shape

WEIGHTS = {
    "fp8": "fp8",
    **dict.fromkeys(("gptq", "gptq_marlin", "awq", "awq_marlin", "awq_marlin int4", "int4"), "int4"),
    "nvfp4": "nvfp4",
    "bitsandbytes": "nf4",
    "int8": "int8",
    "nf4": "nf4",
    "bnb.nf4": "nf4_lightning",  # litgpt's, by Lightning's plugin
    "bnb.nf4-dq": "nf4_dq_lightning",
    "bnb.int8": "int8",
}
NAMED = {"nvfp4": "nvfp4", "fp8": "fp8", "w8a8": "int8", "w8a16": "int8", "w4a16": "int4", "int4": "int4"}
MXFP4 = dict.fromkeys(("H100", "H200", "H800", "H20"), "hopper") | dict.fromkeys(("B200", "B300", "MI3"), "blackwell")
REPACKED = re.compile(r"(?i)(q8_0)_r\d+")  # by ik_llama.cpp, to the same bytes
OWN = re.compile(r"(?i)(iq\d_(k|ks|kt)|.*_r\d+)( - .*)?")  # ik_llama.cpp's, for which recipes are usual


def vllm_weights(case: Case) -> Iterator[Pair]:
    """What vLLM holds once a model is loaded: its weights, RoPE's table, latent attention's matrices by head, and what
    PyTorch's allocator does not split off."""
    printed = size(case["measured"], "weights")
    if printed is None:
        return
    model, kept = whole(case), quantised(case)
    held = inferred(case, model, weights=kept).parts["weights"] + beside(case, model)
    if kept is None:  # kernels lay other formats out anew
        held += unsplit(Memory(model, precision="bf16", **parallel(case)))
    yield "weights GiB", printed / GIB, held / GIB


def quantised(case: Case) -> str | None:
    """The format of the weights."""
    said, name = case.get("quantisation"), case["model"].lower()
    if str(said or "none").lower() in ("none", "bf16", "bfloat16", "fp16", "float16"):
        return None
    if said == "mxfp4":
        laid_out = [layout for gpu, layout in MXFP4.items() if gpu in str(case.get("gpu"))]
        return f"mxfp4_moe_{(laid_out or ['marlin'])[0]}"
    if said == "fp8" and "deepseek" in name:
        return "fp8_block"
    if "llama-4-maverick" in name and "fp8" in name:
        return "fp8_moe"
    if said in ("compressed-tensors", "modelopt"):
        said = next((kind for word, kind in NAMED.items() if word in name), said)
    if said not in WEIGHTS:
        raise Inexpressible(f"weights in {said}")
    return WEIGHTS[str(said)]


def beside(case: Case, model: Model) -> int:
    """RoPE's cosines and sines for every position, kept once (rotary_embedding/base.py); what lifts a latent vector, a
    second time, in 16 bits and by head (mla_attention.py, process_weights_after_loading); a tower that reads images."""
    arch, tp = case["arch"], int(parallel(case)["tp"])
    rotated = number(arch.get("qk_rope") or arch.get("head_dim"))
    width = 4 if "gpt-oss" in case["model"] else 2  # gpt_oss.py asks for fp32
    images = 2 * tower(case) // tower_gpus(case, tp)
    return positions(case) * rotated * width + 2 * _lifting(model) // tp + images


def _lifting(model: Model) -> int:
    """Weights of latent attention that lift a latent vector to keys and values."""
    params = [(param, int(copies)) for module, copies in walk(model.build()) for param in module.params.values()]
    return sum(copies * int(param.size) for param, copies in params if param.weight_role is Role.ATTENTION_KV_UP)


def gguf_size(case: Case) -> Iterator[Pair]:
    printed = size(case["measured"], "model_size")
    if not printed:
        return
    name, model = file_format(case), whole(case)
    report = inferred({**case, "seq": 512}, model, weights=name)
    yield "model size GiB", printed / GIB, (report.parts["weights"] + _twice(case, model, name)) / GIB


def file_format(case: Case) -> str:
    """As the log prints it, which is what `--weights` takes."""
    name = REPACKED.sub(r"\1", str(case.get("quantisation")))
    if name.startswith("UD-"):
        raise Inexpressible("a file of Unsloth's own mixture, which the log calls by another name")
    if OWN.fullmatch(name):
        raise Inexpressible("a file in formats of ik_llama.cpp, mixed by its maker's own recipe")
    if not case.get("quantisation"):
        raise Inexpressible("the case does not say the format")
    if (case["measured"].get("bits_per_weight") or 99) < 0.75 * named_formats.weight_format(name).bits_per_weight:
        raise Inexpressible("a log whose bits per weight contradict the format that it names")
    return name


def _twice(case: Case, model: Model, name: str) -> int:
    """ik_llama.cpp may keep latent attention's matrix at once beside its parts: the parameters printed say so."""
    lifting, printed = _lifting(model), printed_count(case)
    if not lifting or not printed or printed < int(model.params().total) + lifting / 2:
        return 0
    rank = number(case["arch"].get("kv_lora_rank"), 512)
    return named_formats.weight_format(name).bytes(Shape(1, lifting // rank, rank))


def printed_count(case: Case) -> float:
    """`27.009 B`, `1.027 T`."""
    found = re.match(r"([\d.,]+) ([BT])", case["measured"].get("model_params_str") or "")
    return float(found[1].replace(",", ".")) * {"B": 10**9, "T": 10**12}[found[2]] if found else 0.0
