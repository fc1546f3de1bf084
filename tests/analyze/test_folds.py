"""FLOPs, saved bytes and caches as folds over the tree: what repeats, what is shared, what is frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.decoding import cache_bytes

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.core.execution import never

if TYPE_CHECKING:
    from archcalc.core.ir import Module, Param

DECODER: dict[str, Any] = {"vocab": 11, "d_model": 8, "heads": 2, "ffn": 12, "decoder": 3}


def build(spec: dict[str, Any], **work: Any) -> Module:
    model = archcalc.load(spec)
    return model.build(model.workload(**work))


@pytest.mark.parametrize("recompute", ["none", "core", "block"])
def test_repeated_blocks_cost_what_blocks_written_out_cost(recompute: str) -> None:
    """Six blocks as one node are six nodes: in FLOPs, and in what is kept between them."""
    line = "attention ffn"
    repeated = build({**DECODER, "decoder": {"pattern": [f"6 × {line}"]}}, batch=2, seq=5)
    unrolled = build({**DECODER, "decoder": {"pattern": [line] * 6}}, batch=2, seq=5)
    assert _totals(repeated, recompute) == _totals(unrolled, recompute)


def _totals(root: Module, recompute: str) -> tuple[int, ...]:
    done = work(root, recompute=recompute)
    kept = saved_activations(root, "bf16", recompute=recompute).bytes
    return done.forward, done.backward, done.recompute, done.elementwise, kept


def test_a_period_that_repeats_costs_what_it_costs_written_out() -> None:
    """A node within a node: the last block of one period hands its output to the first of the next."""
    period = ["2 × attention ffn", "ffn"]
    nested = build({**DECODER, "decoder": {"pattern": [{"repeat": 3, "pattern": period}]}}, batch=2, seq=5)
    unrolled = build({**DECODER, "decoder": {"pattern": ["attention ffn", "attention ffn", "ffn"] * 3}}, batch=2, seq=5)
    assert _totals(nested, "none") == _totals(unrolled, "none")


def test_a_thousand_blocks_are_visited_as_often_as_a_few() -> None:
    """Cost does not depend on depth: ops are multiplied, not walked; the first, second and last block stand apart."""
    two, five, thousand = (build({**DECODER, "decoder": blocks}, seq=5) for blocks in (2, 5, 1000))
    assert len(work(two).pieces) == len(work(thousand).pieces)
    assert len(saved_activations(five, "fp32").entries) == len(saved_activations(thousand, "fp32").entries)


def test_shares_add_up() -> None:
    """What the children of the model keep and compute is what the model keeps and computes."""
    root = build(DECODER, batch=2, seq=5)
    done, kept = work(root), saved_activations(root, "fp32")
    assert sum(done.of(child).forward for child in root.children) == done.forward
    assert sum(done.of(child).backward for child in root.children) == done.backward
    assert sum(kept.of(child).bytes for child in root.children) == kept.bytes


def test_a_block_keeps_what_the_published_formula_says() -> None:
    """Korthikanti et al. 2022: s·b·h·(34 + 5·a·s/h) bytes a layer in 16 bits, dropout included; they leave out the
    statistics of the two norms, four numbers of fp32 for each token."""
    s, b, h, a = 16, 2, 24, 3
    spec = {"vocab": 11, "d_model": h, "heads": a, "ffn": 4 * h, "dropout": 0.1}
    two, three = (build({**spec, "decoder": blocks}, batch=b, seq=s) for blocks in (2, 3))
    layer = saved_activations(three, "bf16").bytes - saved_activations(two, "bf16").bytes
    assert layer == s * b * h * 34 + 5 * a * s * s * b + 4 * 4 * s * b


def test_recomputing_blocks_keeps_what_enters_them() -> None:
    """The same paper: 2·s·b·h bytes a layer in 16 bits."""
    s, b, h = 16, 2, 24
    spec = {"vocab": 11, "d_model": h, "heads": 3, "ffn": 4 * h, "dropout": 0.1}
    two, three = (build({**spec, "decoder": blocks}, batch=b, seq=s) for blocks in (2, 3))
    kept = [saved_activations(root, "bf16", recompute="block").bytes for root in (two, three)]
    assert kept[1] - kept[0] == 2 * s * b * h


def test_half_of_causal_attention_is_its_triangle() -> None:
    """S(S + 1)/2 of S² pairs, in each of attention's two products, for every head, block and sequence."""
    whole = work(build(DECODER, batch=2, seq=5), trainable=never)
    half = work(build(DECODER, batch=2, seq=5), trainable=never, causal="half")
    products = 3 * 2 * 2 * (2 * 2 * 4)  # blocks × products × batch × multiply-adds of a pair, over two heads of 4
    assert whole.forward - half.forward == products * (5 * 5 - 5 * 6 // 2)


def test_decoding_reads_the_context_and_one_token_more() -> None:
    """A cache of 100 tokens, then one token: keys and values of 101, two of each in three blocks, in bf16."""
    model = archcalc.load(DECODER)
    step = model.workload(batch=2, mode="decode", context=100)
    root = model.build(step)
    assert cache_bytes(model, step, "bf16") == 2 * 3 * 2 * 101 * 8 * 2
    attention = 2 * 2 * 101 * 8  # scores and values: multiply-adds over all heads
    weights = 4 * 8 * 8 + 2 * 8 * 12
    assert work(root, trainable=never).forward == 2 * (3 * (2 * weights + attention) + 2 * 8 * 11)


def test_a_decoder_keeps_the_encoders_keys_and_values_too() -> None:
    """Of the source, once for all tokens; in a decode step neither the encoder nor they are computed again."""
    model = archcalc.load({**DECODER, "encoder": 2})
    step = model.workload(batch=1, src_seq=7, mode="decode", context=4)
    root = model.build(step)
    assert cache_bytes(model, step, "fp32") == 4 * 3 * 2 * 8 * (5 + 7)
    assert work(root, trainable=never).of(root["encoder"]).forward == 0


FROZEN = {
    "the embedding": ("embedding",),
    "queries": (".q.",),
    "values and the head": (".v.", "head"),
    "all but one projection": ("embedding", ".q.", ".k.", ".out.", "norm", "ffn", "head"),
    "norms and the embedding": ("norm", "embedding"),
    "all blocks": ("decoder",),
}


@pytest.mark.parametrize("frozen", FROZEN.values(), ids=list(FROZEN))
@pytest.mark.parametrize("attention", ["eager", "flash"])
def test_frozen_parameters_save_what_they_save_in_pytorch(frozen: tuple[str, ...], attention: str) -> None:
    """No gradient is computed for them, none passes to what only they came from, and their inputs are not kept."""
    pytest.importorskip("torch")
    from archcalc.reference import measure
    from archcalc.verify.check import Subject

    model = archcalc.load({**DECODER, "norm": "rms", "position": "rope"})
    given = model.workload(batch=2, seq=5, attention=attention)
    subject = Subject(model, given)
    built = subject.built(attention=attention)
    for name, parameter in built.named_parameters():
        parameter.requires_grad_(not any(part in f".{name}" for part in frozen))
    inputs = subject.inputs(built)
    step = measure.training_step(built, lambda: subject.reference.loss(built(*inputs), inputs))
    root = model.build(given)
    done, kept = work(root, trainable=_but(frozen)), saved_activations(root, "fp32", trainable=_but(frozen))
    assert (done.forward, done.backward, kept.bytes) == (step.forward, step.backward, step.saved)


def _but(frozen: tuple[str, ...]) -> Any:
    def trains(param: Param) -> bool:
        return not any(part in f".{param.owner.path}.{param.name}" for part in frozen)

    return trains
