"""What transformers builds for a config, and what archcalc counts for the same file: the one judge of the importers.

The class that the config names is built on torch's meta device; its parameters are compared in total and tensor by
tensor, as `archcalc verify` does: fused ones are taken apart, and a matrix counts as its transpose.

One difference is made to what transformers builds: T5, mT5 and UMT5 with `tie_word_embeddings: false` get a head of
their own, as their checkpoints have it (google/mt5-small: 300,176,768 parameters; google/flan-t5-base: 247,577,856)
and as transformers keeps it once one is loaded. Built without weights, the class is tied.
"""

from __future__ import annotations

import json
import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from transformers.models.auto import modeling_auto

from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers.imported import document
from archcalc.model import Model
from archcalc.verify.hf.tensors import pieces, plain

transformers.logging.set_verbosity_error()

Shape = tuple[int, ...]
WEIGHTLESS = "zero_expert_num"  # of LongCat-Flash's experts
HEAD_IN_CHECKPOINT = ("t5", "mt5", "umt5")


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
        counted = tensors_of(Model.from_document(document(dict(said), "config.json"), "model"))
    except InputError as reason:
        return Verdict("refused", str(reason).replace("\n", " "))
    return _compared(tensors_in(model), counted)


def judge_text(said: dict[str, Any]) -> Verdict:
    """Compare the language model inside a model that reads more than text, with its head."""
    try:
        built = language_tensors(build(said))
    except Exception as reason:  # as in judge
        return Verdict("invalid", f"{type(reason).__name__}: {str(reason)[:200]}")
    try:
        counted = tensors_of(Model.from_document(document(dict(said), "config.json"), "model"))
    except InputError as reason:
        return Verdict("refused", str(reason).replace("\n", " "))
    return _compared(built, counted)


def language_class(model_type: str) -> str:
    """The class that generates text from what such a config describes."""
    for name in ("IMAGE_TEXT_TO_TEXT", "MULTIMODAL_LM", "SPEECH_SEQ_2_SEQ", "CAUSAL_LM", "SEQ_TO_SEQ_CAUSAL_LM"):
        found = getattr(modeling_auto, f"MODEL_FOR_{name}_MAPPING_NAMES").get(model_type, ())
        for one in [found] if isinstance(found, str) else found[:1]:
            return str(one)
    raise LookupError(f"no class generates text for {model_type}")


def language_tensors(model: Any) -> Counter[Shape]:
    """Of the module that has the text_config for its own, and of the head where that is not the token table."""
    text = next(m for m in model.modules() if m is not model and getattr(m, "config", None) is model.config.text_config)
    found, head = tensors_in(text), model.get_output_embeddings()
    if head is None or any(head is module for module in text.modules()):
        return found
    tied = head.weight is model.get_input_embeddings().weight
    return (
        found + tensors_in(head) if not tied else found + Counter(plain(b.shape) for b in [head.bias] if b is not None)
    )


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
            if said["model_type"] in HEAD_IN_CHECKPOINT and said.get("tie_word_embeddings") is False:
                _untie(model)
            _without_the_weightless(model)
    return model


def _without_the_weightless(model: Any) -> None:
    """LongCat-Flash's class keeps gates of experts that have no weights; its checkpoints of 560 B parameters hold none
    (arXiv:2509.01322), and no token uses them."""
    for module in model.modules():
        if getattr(module, WEIGHTLESS, 0) and getattr(module, "gate_up_proj", None) is not None:
            module.gate_up_proj = torch.nn.Parameter(module.gate_up_proj[: module.num_routed_experts])


def _untie(model: Any) -> None:
    """Give a head that is the token table a matrix of its own."""
    head = getattr(model, "lm_head", None)
    if head is not None:
        head.weight = torch.nn.Parameter(torch.empty_like(head.weight))


def tensors_in(model: torch.nn.Module) -> Counter[Shape]:
    return Counter(map(plain, pieces(model).values()))


def tensors_of(model: Model) -> Counter[Shape]:
    counted: Counter[Shape] = Counter()
    for row in model.params().rows:
        if row.kind == "tensor" and row.tied_to is None and row.each:
            counted[plain(row.shape or ())] += int(row.repeat)
    return counted


def _total(shapes: Counter[Shape]) -> int:
    total = 0
    for shape, times in shapes.items():
        elements = times
        for size in shape:
            elements *= size
        total += elements
    return total
