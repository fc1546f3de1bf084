"""What is compared, class by class: a figure that somebody measured, and what archcalc says of the same case.

Each class picks its cases, and gives for one of them the two numbers, or says why archcalc cannot express it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import measured_more as more
from measured_asked import Pair, on_cuda
from measured_caches import llamacpp_cache, vllm_cache
from measured_codes import Case
from measured_models import whole
from measured_papers import layer, run
from measured_peaks import ALLOCATED, RESERVED, TRAINING, UNSAID, inference_peak, of_class, training_classes
from measured_pools import vllm_pool
from measured_units import Inexpressible, number
from measured_weights import gguf_size, vllm_weights

from archcalc.analyze.flops.cost import work
from archcalc.core.ir import Module, walk


@dataclass(frozen=True)
class Class:
    """`target` is the error that is promised, `compared` gives the pairs of a case."""

    name: str
    target: float | None
    picks: Callable[[Case], bool]
    compared: Callable[[Case], Iterator[Pair]]
    trusted: bool = True  # unambiguous cases alone


# Counts


def parameters(case: Case) -> Iterator[Pair]:
    """To the unit."""
    counted = case["measured"].get("params") or case["arch"].get("params")
    if counted:
        yield "parameters", number(counted), _in_checkpoint(whole(case).build())


def _in_checkpoint(root: Module) -> int:
    """What people count are a checkpoint's tensors, among them the corrections of routers, which are buffers."""
    return sum(int(copies) * _of_one(module) for module, copies in walk(root))


def _of_one(module: Module) -> int:
    corrections = [tensor for name, tensor in module.buffers.items() if name == "correction"]
    return sum(int(param.elements) for param in module.params.values()) + sum(int(one.size) for one in corrections)


# Training


def nemo_flops(case: Case) -> Iterator[Pair]:
    if case["flags"].get("task"):
        raise Inexpressible("fine-tuning on sequences whose real length the table does not give")
    yield from flops(case)


def flops(case: Case) -> Iterator[Pair]:
    """Forward and backward matrix products for each token, attention not halved."""
    done, tokens = case["measured"].get("model_tflops"), case["measured"].get("tokens_per_s_per_gpu")
    if not done or not tokens:
        return
    model, seq = whole(case), number(case.get("seq"))
    if not seq:
        raise Inexpressible("the case does not give the sequence length")
    ours = work(model.build(model.workload(batch=1, seq=seq)))
    yield "training FLOPs per token", done * 10**12 / tokens, int(ours.forward + ours.backward) / seq


# Which cases


def kind(*names: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] in names


def throughput(repository: str) -> Callable[[Case], bool]:
    return lambda case: case["kind"] == "train_throughput" and repository in case["source"].lower()


def vllm(*, cuda: bool, several: bool | None = None) -> Callable[[Case], bool]:
    """Off CUDA GPUs differ in what they have left: vLLM prints the room of one, and the tokens of the fullest."""

    def picks(case: Case) -> bool:
        if case["kind"] not in ("vllm_startup", "vllm_memory_breakdown") or on_cuda(case) is not cuda:
            return False
        return several is None or several == (number((case.get("parallelism") or {}).get("tp"), 1) > 1)

    return picks


def trained(name: str) -> Callable[[Case], bool]:
    """Cases of training that have a peak of that class."""
    return lambda case: "train" in case["kind"] and name in training_classes(case)


def training(counts: str, rest: str = "") -> Class:
    name = f"{TRAINING}, {counts}{rest}"
    return Class(name, None, trained(name), of_class(name), trusted=False)


CLASSES = (
    Class("parameters", 0, lambda case: case["kind"] == "param_count" or "params" in case["measured"], parameters),
    Class("KV cache per token, vLLM on CUDA", 0.005, vllm(cuda=True), vllm_cache),
    Class("KV cache per token, vLLM elsewhere, one GPU", 0.005, vllm(cuda=False, several=False), vllm_cache),
    Class("KV cache per token, vLLM elsewhere, several", None, vllm(cuda=False, several=True), vllm_cache),
    Class("KV pool, vLLM on CUDA", 0.1, vllm(cuda=True), vllm_pool),
    Class("KV cache, llama.cpp", 0, kind("llamacpp_load_log"), llamacpp_cache),
    Class("weights, vLLM on CUDA", 0.01, vllm(cuda=True), vllm_weights),
    Class("memory in use after loading, vLLM elsewhere", None, vllm(cuda=False), vllm_weights),
    Class("weights, GGUF", 0.01, kind("llamacpp_load_log"), gguf_size),
    Class("FLOPs per token, NeMo", 0.001, throughput("nvidia/nemo"), nemo_flops),
    Class("FLOPs per token, MPT", None, throughput("mosaicml/llm-foundry"), flops),
    Class("6ND of a training run, papers", None, kind("train_flops"), run),
    Class("activations of a layer, a paper's formulas", None, kind("paper_formula_value"), layer),
    *(
        training(counts, narrow + step)
        for step in ("", ", of the first step")
        for narrow in ("", ", over 4-bit weights")
        for counts in (ALLOCATED, RESERVED, UNSAID)
    ),
    Class("inference peak, litgpt", None, kind("inference_peak_memory"), inference_peak),
    Class("second set: weights, GGUF", 0.01, more.second_set("gguf"), more.gguf),
    Class("second set: KV cache and state, llama.cpp", 0, more.second_set("cache"), more.caches),
    Class("second set: KV cache per token, vLLM", 0.005, more.second_set("tokens"), more.tokens),
    Class("second set: weights, vLLM", 0.01, more.second_set("weights"), more.weights),
    Class("second set: FLOPs per token, NeMo", 0.001, more.second_set("flops"), more.flops),
    Class("second set: ZeRO's model states", 0, more.second_set("states"), more.states),
    Class("second set: inference peak, litgpt", None, more.second_set("inference"), more.inference),
    Class("second set: training peak, allocated, LoRA of litgpt", None, more.second_set("lora"), more.lora),
)
