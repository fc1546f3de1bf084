"""What a case has measured: every figure that archcalc has an answer to, in bytes or as a count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from measured_cases import Case
from measured_codes import FILE, name_of
from measured_printed import answered, loaded, started
from measured_quantities import Wanted
from measured_serving import engine_name
from measured_units import Inexpressible, number, size
from measured_words import option


def wanted(case: Case) -> list[Wanted]:
    """Every figure of a case."""
    found = [one for kind, figures in KINDS if kind.search(case["kind"]) for one in figures(case)]
    return found + ([Wanted("parameters", float(count))] if (count := case["measured"].get("params")) else [])


def trained(case: Case) -> Iterator[Wanted]:
    measured = case["measured"]
    if measured.get("verdict"):
        yield Wanted("verdict", str(measured["verdict"]))
    if "oom" in str(measured.get("verdict")).lower():  # what nvidia-smi shows then is the card
        return
    first = number(measured.get("step") or case["flags"].get("step")) == 1
    for quantity, taken in _peaks(case):
        why = "of the first step, before Adam's states exist: no command prints it" if first else ""
        yield Wanted(quantity, taken, why_not=why)


def _peaks(case: Case) -> Iterator[tuple[str, float]]:
    """By the names under which tables and logs print them."""
    measured = case["measured"]
    for quantity in ("allocated", "active", "reserved"):
        names = (f"peak_{quantity}", f"peak_memory_{quantity}", f"max_memory_{quantity}")
        if taken := size(measured, *names):
            yield quantity.replace("active", "allocated"), taken
    if taken := size(measured, "nvidia_smi"):
        yield "device", taken
    if taken := size(measured, "host_rss", "peak_rss", "rss", "peak_host"):
        yield "host", taken
    if taken := size(measured, "peak_memory", "max_memory", "peak", "memory"):
        yield _counted(case), taken


def _counted(case: Case) -> str:
    """As the case says, else as its code prints."""
    said = case["measured"].get("metric") or FILE["memory"].get(name_of(case))
    if size(case["measured"], "peak_reserved"):  # printed beside it
        return "allocated"
    return option("metric", said) or "unsaid"


def throughput(case: Case) -> Iterator[Wanted]:
    """Forward and backward matrix products for each token, attention not halved."""
    done, tokens = case["measured"].get("model_tflops"), case["measured"].get("tokens_per_s_per_gpu")
    if done and tokens:
        tuned = "fine-tuning on sequences whose real length the table does not give"
        yield Wanted("flops", done * 10**12 / tokens, why_not=tuned if case["flags"].get("task") else "")


def run_flops(case: Case) -> Iterator[Wanted]:
    if done := case["measured"].get("train_flops"):
        yield Wanted("rule", done, {"tokens": int(case["flags"]["tokens"])})


KINDS: tuple[tuple[re.Pattern[str], Callable[[Case], Iterator[Wanted]]], ...] = (
    (re.compile("train_(peak_)?memory|train_verdict"), trained),
    (re.compile("train_throughput"), throughput),
    (re.compile("train_flops"), run_flops),
    (re.compile("_startup|vllm_memory"), started),
    (re.compile("llamacpp|ollama_log"), loaded),
    (re.compile("inference_peak"), answered),
)


def mode_of(case: Case) -> str:
    return "train" if case["kind"].startswith("train") else "infer"


def runner_of(case: Case) -> str | None:
    """The code or engine that a case names."""
    if mode_of(case) == "train":
        return name_of(case)
    return engine_name(case) or ("litgpt" if "litgpt" in case["source"].lower() else None)


def checked(one: Wanted) -> Wanted:
    """Refused where what was measured is no size."""
    if one.quantity != "verdict" and not 0 < float(one.measured) < float("inf"):
        raise Inexpressible(f"a measured figure of {one.measured}")
    return one
