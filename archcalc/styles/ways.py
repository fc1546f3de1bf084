"""The names under which files of libraries and of model types choose forward functions, each with its meaning.

A choice is a few fields of `archcalc.core.style.Style`; the first one of each is archcalc's own way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from archcalc.core.errors import InputError, did_you_mean
from archcalc.styles import adapters, attention, ends, exchange, experts, linear, norms, rotary


class Way(NamedTuple):
    """What it means, and the fields of a style."""

    about: str
    fields: Mapping[str, Any] = {}


PYTORCH = {  # eager attention and kernels as transformers calls them
    "kernel": attention.kernel,
    "biased": attention.biased,
    "repeat": attention.repeat,
    "scores": attention.scores,
    "hide": attention.hide,
    "softmax": attention.softmax,
    "weighed": attention.weighed,
    "by_position": attention.by_position,
    "number_masks": True,
    "values_are_copied": False,
}
GROUPED = {"experts": experts.grouped, "adapts_router": False}
MODEL_FP32 = {"loss": ends.fp32, "logits": ends.returned_in_fp32}
WAYS: dict[str, dict[str, Way]] = {
    "rms_norm": {
        "plain": Way("nn.RMSNorm as PyTorch computes it step by step: fp32 input, normalised values, statistics saved"),
        "fused": Way("one kernel, which saves its input and one statistic for each row", {"rms_norm": norms.fused}),
        "upcast": Way("fp32 copy, cast back, then times the weight in 16 bits", {"rms_norm": norms.upcast}),
        "upcast_product": Way("the product with the weight in fp32 too", {"rms_norm": norms.upcast_product}),
        "upcast_statistics": Way("only the mean square in fp32", {"rms_norm": norms.upcast_statistics}),
        "narrow": Way("in the activations' number format", {"rms_norm": norms.in_16_bits}),
        "upcast_weight": Way("in fp32, the product with 1 + weight too", {"rms_norm": norms.upcast_weight}),
    },
    "layer_norm": {
        "plain": Way("one kernel, which saves its input, and a mean and a deviation for each row"),
        "steps": Way("in Python and in fp32, op by op", {"layer_norm": norms.layer_norm_in_steps}),
        "fp32": Way("the kernel on an fp32 copy, cast back", {"layer_norm": norms.layer_norm_in_fp32}),
    },
    "rotary": {
        "plain": Way("one op that saves the tables of cosines and sines"),
        "rotate_half": Way("x · cos + rotate_half(x) · sin", {"rotary": rotary.rotate_half}),
        "rotate_part": Way("the same, joined with the rest of each head, if any", {"rotary": rotary.rotate_part}),
        "complex": Way("queries and keys as fp32 complex numbers", {"rotary": rotary.as_complex}),
        "fp32": Way("x · cos + rotate_half(x) · sin in fp32, cast back", {"rotary": rotary.in_fp32}),
        "fp32_tables": Way("the same of 16-bit numbers with fp32 tables", {"rotary": rotary.by_fp32_tables}),
        "halves": Way("both halves of a head apart, then joined", {"rotary": rotary.in_halves}),
        "pairs": Way("in fp32, even and odd numbers apart", {"rotary": rotary.as_pairs}),
        "joined": Way("joined with what is not rotated, if anything", {"rotary": rotary.joined}),
    },
    "bias": {
        "plain": Way("a bias is added to a product in an op of its own"),
        "joined": Way("a linear layer adds its bias in the kernel of its product", {"bias_in_kernel": True}),
    },
    "qkv": {
        "separate": Way("queries, keys and values are made by a matrix each"),
        "split": Way("one matrix makes all three, which are views of its result", {"qkv": linear.split_qkv}),
        "copied": Way("one product makes all three, each copied out of it", {"qkv": linear.copied_qkv}),
        "merged": Way("the same, copied by one kernel", {"qkv": linear.merged, "kv": linear.merged}),
        "interleaved": Way("one product makes them group by group of heads", {"qkv": linear.by_group}),
        "behind": Way("one product makes them behind each other: views", {"qkv": linear.behind}),
    },
    "gate_up": {
        "separate": Way("gate and up of a feed-forward layer are made by a matrix each"),
        "split": Way("one matrix makes both, which are views of its result", {"gated": linear.split_gates}),
        "fused": Way("one product, and one kernel behind it", {"gated": linear.fused_gates}),
    },
    "core": {
        "plain": Way("archcalc's own: one flash kernel, or products and a softmax"),
        "pytorch": Way("PyTorch's kernels and batches of products, with the copies that they need", PYTORCH),
    },
    "scores": {
        "plain": Way("eager attention computes scores in the activations' number format"),
        "fp32": Way("queries and keys are cast to fp32 for them", {"scores": attention.scores_in_fp32}),
    },
    "masked_scores": {
        "plain": Way("eager attention adds its mask to the scores"),
        "clamped": Way("their sum is clamped to the lowest number", {"hide": attention.hide_and_clamp}),
    },
    "sinks": {
        "joined": Way("an attention sink is one more score of each row"),
        "scaled": Way("it is a factor on what eager attention gives", {"sink_factor": attention.sink_factor}),
    },
    "cross_bias": {
        "none": Way("cross-attention adds no bias"),
        "zeros": Way("cross-attention adds one of zeros", {"zero_bias": True}),
    },
    "kv_heads": {
        "view": Way("attention kernels read keys and values of a group of heads where they are"),
        "copy": Way("keys and values are copied for every head", {"kernel": attention.copied_heads}),
        "by_position": Way("what a kernel gives is copied by position", {"kernel": attention.copied_answer}),
        "copy_by_position": Way("both", {"kernel": attention.copied_heads_and_answer}),
    },
    "context": {
        "gathered": Way("context parallelism: keys and values of all GPUs are gathered"),
        "p2p": Way("context parallelism: keys and values travel around a ring of GPUs"),
        "a2a": Way("an all-to-all trades positions for heads, and back behind attention", {"kernel": attention.traded}),
    },
    "experts": {
        "plain": Way("tokens are sorted by expert, and answers are weighed by the router behind the last product"),
        "grouped": Way("one product for all experts, of rows sorted by them", GROUPED),
        "every": Way("every expert computes all tokens", {"experts": experts.every, "adapts_router": False}),
        "weighed_inside": Way("by all-to-all, weights multiplied into the activation", {"experts": exchange.exchange}),
    },
    "expert_gate": {
        "plain": Way("experts multiply the activation of the gate by up"),
        "clamped": Way("of gate and up that are clamped, op by op", {"expert_gate": experts.clamped_gate}),
    },
    "router": {
        "plain": Way("probabilities of experts in the activations' number format"),
        "divided": Way("in fp32, those of chosen experts divided by their sum", {"route": experts.divided}),
        "wide": Way("in fp32, and so is the product with the router's matrix", {"route": experts.wide}),
        "wide_divided": Way("the same, divided by their sum", {"route": experts.wide_divided}),
        "cast": Way("probabilities in fp32, cast back", {"route": experts.cast}),
        "cast_divided": Way("the same, divided by their sum", {"route": experts.cast_divided}),
        "of_all": Way("sigmoids in fp32, cast back, of all experts", {"route": experts.of_all}),
        "balanced": Way("in fp32, and once more for a loss that balances experts", {"route": exchange.route}),
    },
    "dropout": {
        "said": Way("dropout as the model's spec or config says"),
        "none": Way("no dropout in the model, whatever a config says", {"dropout": ()}),
    },
    "embeddings": {
        "plain": Way("embeddings want a gradient if their table is trained"),
        "asked": Way("in front of recomputed blocks embeddings always want one", {"embedded": ends.asked}),
    },
    "logits": {
        "plain": Way("logits are used as they are"),
        "capped": Way("logits are bent by tanh", {"logits": ends.capped}),
    },
    "loss": {
        "fp32": Way("logits are cast to fp32, log-probabilities are saved in fp32", {"loss": ends.fp32}),
        "model_fp32": Way("the same, and the model itself returns fp32 logits", MODEL_FP32),
        "in_steps": Way("the same by log_softmax and nll_loss", {"loss": ends.in_steps}),
        "shifted_narrow": Way("by log_softmax of a shifted copy of the logits", {"loss": ends.shifted_narrow}),
        "shifted_logits": Way("the same, with a shifted copy of the fp32 logits", {"loss": ends.shifted_logits}),
        "of_logits": Way("log-probabilities in the number format of the logits", {"loss": ends.of_logits}),
        "in_place": Way("one kernel, which turns the logits into their gradient", {"loss": ends.in_place}),
        "in_place_fp32": Way("the same of an fp32 copy of the logits", {"loss": ends.in_place_fp32}),
    },
    "adapters": {
        "plain": Way("low-rank adapters are in the number format of the weights", {"adapter": adapters.plain}),
        "fp32": Way("they are in fp32, on an fp32 copy of their input", {"adapter": adapters.peft_in_fp32}),
        "dropped": Way("dropout in front of adapters; those of q, k and v are one", {"adapter": adapters.dropped}),
    },
}


def way(layer: str, name: str, where: str) -> Way:
    """One choice; an unknown name is an error that says where it stands."""
    if layer not in WAYS:
        raise InputError(f"no option of training code is called {layer}", did_you_mean(layer, WAYS), field=where)
    if name not in WAYS[layer]:
        raise InputError(f"{layer} has no choice {name}", did_you_mean(name, WAYS[layer]), field=where)
    return WAYS[layer][name]


def usual(layer: str) -> str:
    """archcalc's own choice."""
    return next(iter(WAYS[layer]))
