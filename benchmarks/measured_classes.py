"""What is compared, class by class: a figure that somebody measured, and what archcalc says of the same case.

Each class picks its cases, and gives for one of them the two numbers, or says why archcalc cannot express it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from measured_models import Case, Inexpressible, described, whole

from archcalc import quantisation
from archcalc.analyze.memory import Memory
from archcalc.analyze.memory_report import MemoryReport
from archcalc.analyze.work import work
from archcalc.model import Model

GIB, MIB, GB = 2**30, 2**20, 10**9
DTYPES = {"float16": "fp16", "float32": "fp32", "16-true": "fp16", "32-true": "fp32"}
WEIGHTS = {
    "fp8": "fp8",
    "gptq_marlin": "int4",
    "awq_marlin int4": "int4",
    "mxfp4": "mxfp4_moe",
    "bnb.nf4": "nf4",
    "nf4": "nf4",
    "bnb.nf4-dq": "nf4_dq",
    "bnb.int8": "int8",
}

Pair = tuple[str, float, float]  # of what, measured, archcalc's


@dataclass(frozen=True)
class Class:
    """`target` is the error that is promised, `compared` gives the pairs of a case."""

    name: str
    target: float | None
    picks: Callable[[Case], bool]
    compared: Callable[[Case], Iterator[Pair]]
    trusted: bool = True  # unambiguous cases alone


def parallel(case: Case) -> dict[str, int]:
    """The plan of a case, if archcalc can lay a model out so."""
    said = case.get("parallelism") or {}
    if said.get("pp", 1) > 1 or any("sequential" in key for key in said):
        raise Inexpressible("pipeline parallelism")
    if said.get("cp", 1) > 1:
        raise Inexpressible("context parallelism")
    tp, dp = said.get("tp") or said.get("tensor parallel") or 1, said.get("fsdp") or 1
    return {"tp": tp} | ({"dp": dp, "zero": 3} if dp > 1 else {})


def on_cuda(case: Case) -> bool:
    """vLLM accounts for its memory in another way on ROCm and on NPUs."""
    return not any(word in str(case.get("gpu")) for word in ("MI300X", "ROCm", "Ascend"))


def inferred(case: Case, model: Model, **options: Any) -> MemoryReport:
    """Inference as engines account for it: every layer caches every token, and no runtime is counted."""
    options = {"precision": DTYPES.get(str(case.get("dtype")), "bf16"), "overhead": 0, **parallel(case), **options}
    return Memory(model, **options).at(1, case.get("seq") or 4096)


# Bytes of cache for each token


def vllm_cache(case: Case) -> Iterator[Pair]:
    measured, tokens = case["measured"], case["measured"].get("kv_cache_tokens")
    if not tokens:
        return
    if "PP=2" in str(case.get("gpu")):
        raise Inexpressible("pipeline parallelism")
    dtype = "fp8" if str(case.get("kv_cache_dtype")).startswith("fp8") else None
    report = inferred(case, described(case), kv_rule="full", kv_dtype=dtype)
    length = report.lengths["seq"]
    yield "KV bytes per token", measured["available_kv_gib"] * GIB / tokens, report.parts["kv_cache"] / length


# llama.cpp prints to the hundredth of a MiB


def llamacpp_cache(case: Case) -> Iterator[Pair]:
    measured = case["measured"]
    if "kv_f16_mib" in measured or "f16_mib" in measured:
        yield from _by_type(case)
    elif "kv_swa_mib" in measured:
        yield from _by_layer(case)
    elif "kv_cache_mib" in measured:
        yield "KV cache MiB", measured["kv_cache_mib"], _cache(case, *_types(case))


def _types(case: Case) -> tuple[str, str]:
    """The formats of keys and values, as the log names them."""
    said = case["flags"].get("kv_types", "")
    if "kv^T (" in said:
        raise Inexpressible("a latent cache that is kept twice, once transposed")
    latent = re.search(r"c\^KV \((\w+)\)", said)
    if not latent and case["arch"].get("arch") == "deepseek2":
        raise Inexpressible("latent attention cached at full width")
    formats = latent.groups() * 2 if latent else re.findall(r"[KV] \((\w+)\)", said)
    usual = "q8_0" if case["id"].endswith("-q8") else "f16"
    keys, values = formats or (usual, usual)
    return keys, values


def _cache(case: Case, keys: str, values: str) -> float:
    """In MiB; keys and values are equally wide, so that each format holds half."""
    model = described(case)
    each = [inferred(case, model, kv_rule="full", kv_dtype=_named(kind)).parts["kv_cache"] for kind in (keys, values)]
    return sum(each) / 2 / MIB


def _named(kind: str) -> str:
    return {"f16": "fp16", "f32": "fp32"}.get(kind, kind)


def _by_type(case: Case) -> Iterator[Pair]:
    for key, mib in case["measured"].items():
        kind = key.removesuffix("_mib").removeprefix("kv_").removeprefix("k_")
        half = 2 if key.startswith("k_") else 1
        yield f"{kind} cache MiB", mib, _cache(case, kind, kind) / half


def _by_layer(case: Case) -> Iterator[Pair]:
    """Full and windowed blocks in turns, half of them each; a windowed one keeps as many cells as the log says."""
    flags, measured = case["flags"], case["measured"]
    streams = 1 if flags.get("kv_unified", True) else flags["n_seq"]
    everywhere = {**case, "arch": {**case["arch"], "sliding_window": None}}
    yield "full blocks MiB", measured["kv_full_mib"], _cache(everywhere, "f16", "f16") / 2
    cells = {**everywhere, "seq": measured["swa_cells"]}
    yield "windowed blocks MiB", measured["kv_swa_mib"], streams * _cache(cells, "f16", "f16") / 2


# Weights


def weights(case: Case) -> Iterator[Pair]:
    if "weights_gib_per_gpu" not in case["measured"]:
        return
    report = inferred(case, whole(case), weights=quantised(case))
    yield "weights GiB", case["measured"]["weights_gib_per_gpu"], report.parts["weights"] / GIB


def quantised(case: Case) -> str | None:
    """The format of the weights."""
    said, name = case.get("quantisation"), case["model"].lower()
    if said in (None, "bf16", "BF16"):
        return None
    if said in ("compressed-tensors", "modelopt"):
        said = next((kind for word, kind in (("fp8", "fp8"), ("w8a8", "bnb.int8")) if word in name), said)
    if said not in WEIGHTS:
        raise Inexpressible(f"weights in {said}")
    return WEIGHTS[str(said)]


def gguf_size(case: Case) -> Iterator[Pair]:
    size = case["measured"].get("model_size_gib")
    if not size:
        return
    if case["arch"].get("arch") == "deepseek2":
        raise Inexpressible("a file with latent attention's projections stored twice")
    report = inferred({**case, "seq": 512}, whole(case), weights=file_format(case))
    yield "model size GiB", size, report.parts["weights"] / GIB


def file_format(case: Case) -> str:
    """`Q4_K - Medium` as archcalc calls it."""
    said = str(case.get("quantisation"))
    name = said.partition(" - ")[0].lower() + {"Small": "_s", "Medium": "_m"}.get(said.partition(" - ")[2], "")
    mixed = f"{name}_m"  # a file that llama.cpp calls by its format, such as Q2_K, is a mixture
    name = mixed if mixed in quantisation.names() else {"f16": "fp16"}.get(name, name)
    if name not in quantisation.names():
        raise Inexpressible(f"a file in {said}" if case.get("quantisation") else "the case does not say the format")
    if (case["measured"].get("bits_per_weight") or 99) < 0.75 * quantisation.weight_format(name).bits_per_weight:
        raise Inexpressible("a log whose bits per weight contradict the format that it names")
    return name


# Counts


def parameters(case: Case) -> Iterator[Pair]:
    """To the unit; published counts of DeepSeek V3 take its router's buffers along."""
    counted = case["measured"].get("params") or (case.get("arch") or {}).get("params")
    if counted:
        root = whole(case).build()
        yield "parameters", counted, _counted(root, with_buffers=counted == 671_026_419_200)


def _counted(root: Any, *, with_buffers: bool) -> int:
    from archcalc.ir import walk

    found = sum(int(copies) * int(param.elements) for module, copies in walk(root) for param in module.params.values())
    if with_buffers:
        found += sum(int(copies) * int(t.size) for module, copies in walk(root) for t in module.buffers.values())
    return found


# Training


def nemo_flops(case: Case) -> Iterator[Pair]:
    if case["flags"].get("task"):
        raise Inexpressible("fine-tuning on sequences whose real length the table does not give")
    yield from _flops(case)


def mpt_flops(case: Case) -> Iterator[Pair]:
    yield from _flops(case)


def _flops(case: Case) -> Iterator[Pair]:
    """Forward and backward matrix products for each token, attention not halved."""
    measured = case["measured"]
    model = whole(case)
    done = work(model.build(model.workload(batch=1, seq=case["seq"])))
    per_token = int(done.forward + done.backward) / case["seq"]
    yield "training FLOPs per token", measured["model_tflops"] * 10**12 / measured["tokens_per_s_per_gpu"], per_token


def training_peak(case: Case) -> Iterator[Pair]:
    if peak_bytes(case) and (why := differs(case)):
        raise Inexpressible(why)
    yield from _peak(case)


def nearest_peak(case: Case) -> Iterator[Pair]:
    """Runs that do something archcalc has no option for, asked with the option of the nearest meaning."""
    if differs(case):
        yield from _peak(case)


def differs(case: Case) -> str:
    """What a run does that no option says."""
    if "selective" in str(case["flags"].get("recompute")):
        return "recompute op by op, every second matrix product kept (torchtitan's selective)"
    if case["id"].startswith("tt") and "recompute" not in case["flags"]:
        return "the case does not say what is recomputed"
    return "sequence parallelism beside tensor parallelism" if parallel(case)["tp"] > 1 else ""


def peak_bytes(case: Case) -> float:
    """What was measured: in use, where the table says so, else reserved; 0 where it prints throughput alone."""
    measured = case["measured"]
    gib = measured.get("peak_active_gib") or measured.get("peak_memory_gib")
    return float(gib * GIB if gib else measured.get("peak_memory", 0) * (GIB if measured.get("unit") == "GiB" else GB))


def _peak(case: Case) -> Iterator[Pair]:
    if size := peak_bytes(case):
        options = trained(case)
        yield "peak GiB", size / GIB, Memory(whole(case), **options).total(case["batch"], case["seq"]) / GIB


def trained(case: Case) -> dict[str, Any]:
    """The options of `archcalc memory` that say what the case says."""
    flags, method = case["flags"], str(case["flags"].get("method", "")).lower()
    for flag, why in (("act_offload", "activations"), ("activation_offload", "activations"), ("optim_in_bwd", "")):
        if flags.get(flag):
            raise Inexpressible(f"{why} offloaded to the host" if why else "an optimizer that steps inside backward")
    if not case.get("seq"):
        raise Inexpressible("the case does not give the sequence length")
    narrow = str(case.get("quantisation") or flags.get("float8") or "").lower()
    eight = any(word in narrow for word in ("float8", "rowwise", "tensorwise", "mxfp8"))
    if "nvfp4" in narrow:
        raise Inexpressible("training in NVFP4")
    sharded = "fp32 params" in str(case.get("dtype"))
    options: dict[str, Any] = {"mode": "train", "overhead": 0, "attention": "flash", **parallel(case)}
    options["precision"] = "fp8" if eight else "mixed" if sharded else "bf16"
    options["optimizer"] = "adam8bit" if "8bit" in str(flags.get("optimizer")).lower() else "adamw"
    options["recompute"] = next((kind for kind in ("full", "selective") if kind in str(flags.get("recompute"))), None)
    if "chunked" in str(flags.get("loss")) or flags.get("chunked_ce"):
        options["loss_chunks"] = 8
    if "lora" in method:
        options["lora"] = flags.get("rank") or (8 if "trainable_params" in flags else 32)
    if "lora" in method and case.get("quantisation"):
        options["weights"] = quantised(case)
    return options


def inference_peak(case: Case) -> Iterator[Pair]:
    seq = case.get("seq") or 256  # the tool's own default
    model = whole(case)
    options = {"precision": DTYPES.get(str(case.get("dtype")), "bf16"), "overhead": 0, **parallel(case)}
    total = Memory(model, **options, weights=quantised(case)).total(1, seq)
    yield "peak GB", case["measured"]["peak_memory"], total / GB


def kind(*names: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] in names


def named(kind: str, prefix: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] == kind and case["id"].startswith(prefix)


def vllm(*, cuda: bool) -> Callable[[Case], bool]:
    return lambda case: case["kind"] in ("vllm_startup", "vllm_memory_breakdown") and on_cuda(case) is cuda


def peaks(how: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] == "train_peak_memory" and _how(case) == how


def _how(case: Case) -> str:
    if case["flags"].get("compile"):
        return "compiled"
    return "4-bit" if "nf4" in str(case.get("quantisation")) else "op by op"


CLASSES = (
    Class("parameters", 0, lambda case: case["kind"] == "param_count" or "params" in case["measured"], parameters),
    Class("KV cache per token, vLLM on CUDA", 0.005, vllm(cuda=True), vllm_cache),
    Class("KV cache per token, vLLM elsewhere", 0.005, vllm(cuda=False), vllm_cache),
    Class("KV cache, llama.cpp", 0, kind("llamacpp_load_log"), llamacpp_cache),
    Class("weights, vLLM on CUDA", 0.01, vllm(cuda=True), weights),
    Class("weights, vLLM elsewhere", 0.01, vllm(cuda=False), weights),
    Class("weights, GGUF", 0.01, kind("llamacpp_load_log"), gguf_size),
    Class("FLOPs per token, NeMo", 0.001, named("train_throughput", "nemo"), nemo_flops),
    Class("FLOPs per token, MPT", None, named("train_throughput", "mpt"), mpt_flops),
    Class("training peak", None, kind("train_peak_memory"), training_peak, trusted=False),
    Class("· op by op, 16 bit", None, peaks("op by op"), training_peak, trusted=False),
    Class("· over 4-bit weights", None, peaks("4-bit"), training_peak, trusted=False),
    Class("· compiled", None, peaks("compiled"), training_peak, trusted=False),
    Class("training peak, nearest option", None, kind("train_peak_memory"), nearest_peak, trusted=False),
    Class("inference peak, litgpt", None, kind("inference_peak_memory"), inference_peak),
)
