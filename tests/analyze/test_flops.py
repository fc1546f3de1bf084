"""FLOPs: the textbook's products written out, published rules, and what PyTorch counts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, cast

import pytest
from support.assumption_texts import texts

from archcalc import load
from archcalc.core.errors import InputError

if TYPE_CHECKING:
    from conftest import Run

S, D, L, F, V = 1024, 768, 12, 3072, 50257  # GPT-2 small at its full length


def test_a_forward_pass_is_the_sum_of_its_products() -> None:
    """Four projections, scores and their use, two layers of FFN, the tied head; two for each multiply-add."""
    block = 4 * 2 * S * D * D + 2 * (2 * S * S * D) + 2 * (2 * S * D * F)
    report = load("gpt2").flops(mode="prefill")
    assert report.forward == L * block + 2 * S * D * V
    assert (report.backward, report.total) == (0, report.forward)


def test_a_training_step_is_three_forward_passes() -> None:
    """Two products back for each one forward, in full attention."""
    report = load("gpt2").flops()
    assert (report.backward, report.total) == (2 * report.forward, 3 * report.forward)


def test_kinds_of_work_add_up() -> None:
    """Projections, scores, FFN and head, each as it is written on paper."""
    kinds = load("gpt2").flops(mode="prefill").kinds
    assert {kind: int(amounts.forward) for kind, amounts in kinds.items() if kind != "elementwise"} == {
        "projections": L * 4 * 2 * S * D * D,
        "attention scores": L * 2 * 2 * S * S * D,
        "feed-forward": L * 2 * 2 * S * D * F,
        "head": 2 * S * D * V,
    }
    assert kinds["elementwise"].total == 0 < kinds["elementwise"].elementwise


def test_causal_half_counts_the_pairs_that_are_seen() -> None:
    """S(S+1)/2 of S², exactly."""
    full, half = (load("gpt2").flops(mode="prefill", causal=causal) for causal in ("full", "half"))
    assert full.forward - half.forward == L * 2 * 2 * D * (S * S - S * (S + 1) // 2)


def test_a_window_sees_no_more_than_itself() -> None:
    """Each position 256 keys at most: a triangle of 256, then a band."""
    model = load("gpt2", set=["attention.window=256"])
    scores = model.flops(mode="prefill", causal="half").kinds["attention scores"].forward
    assert scores == L * 2 * 2 * D * (256 * 257 // 2 + (S - 256) * 256)


def test_decoding_attends_over_what_is_cached_and_itself() -> None:
    """One token: every weight once, and 301 keys after 300 that are cached."""
    report = load("gpt2").flops(mode="decode", context=300)
    assert report.forward == L * (4 * 2 * D * D + 2 * 2 * 301 * D + 2 * 2 * D * F) + 2 * D * V


def test_decoding_counts_the_new_tokens_alone(run: Run) -> None:
    """The textbook's batch of 32 makes 32 of them; the source, 2,048 long each, was read before."""
    record = run("flops", "textbook", "--mode", "decode", "--format", "json").json
    assert (record["tokens"], record["per_token"]) == (32, record["total"] / 32)
    assert not any("source and target" in words for words in texts(record))


@pytest.mark.parametrize(("model", "table"), [("gpt2", 1024), ("whisper-tiny", 448)])
def test_the_usual_context_leaves_room_for_the_new_token(run: Run, model: str, table: int) -> None:
    """Where a position table ends, the new token is its last; what is said of a longer context helps."""
    record = run("flops", model, "--mode", "decode", "--format", "json").json
    assert record["context"] == table - 1
    assert any(words.startswith(f"context {table - 1:,}: ") for words in texts(record))
    for option in ("--context", "--seq"):
        answer = run("flops", model, "--mode", "decode", option, str(table))
        assert (answer.code, answer.out) == (2, "")
        assert f"use --context {table - 1}\n" in answer.err
    assert run("flops", model, "--mode", "decode", "--context", str(table - 1)).code == 0


@pytest.mark.parametrize("model", ["bert-base", "vit-b-16", "sentiment-lstm"])
@pytest.mark.parametrize("context", [[], ["--context", "10"], ["--context", "1000"]])
def test_what_keeps_no_cache_decodes_nothing(run: Run, model: str, context: list[str]) -> None:
    """Encoders, images and layers that read backwards see all of a sequence at once."""
    answer = run("flops", model, "--mode", "decode", *context)
    assert (answer.code, answer.out) == (2, "")
    assert "--mode: this model has no cache and no decode step" in answer.err


def test_recompute_is_a_figure_of_its_own() -> None:
    """Whole blocks: all their products again but the last, whose result nothing needs; the step costs the same."""
    model = load("gpt2", set=["dropout=0"])
    none, full, selective = (model.flops(recompute=kind) for kind in ("none", "full", "selective"))
    assert none.total == full.total == selective.total
    assert none.recompute == 0
    assert full.recompute == L * (4 * 2 * S * D * D + 2 * 2 * S * S * D + 2 * S * D * F)
    assert selective.recompute == L * 2 * S * S * D


def test_flash_attention_computes_scores_again() -> None:
    """Five products back for two forward."""
    flash, eager = (load("gpt2").flops(attention=kind) for kind in ("flash", "eager"))
    assert flash.backward - eager.backward == L * (5 - 4) * 2 * S * S * D


def test_pytorch_counts_the_same() -> None:
    """FlopCounterMode, forward and backward."""
    import torch
    from torch.nn.functional import cross_entropy
    from torch.utils.flop_counter import FlopCounterMode

    from archcalc.reference.transformer import Transformer
    from archcalc.verify.plain import plain

    model = load("llama-3-8b", set=["decoder=2"])
    counter = FlopCounterMode(display=False)
    with torch.device("meta"):
        net = Transformer(plain(model.resolved), {"attention": "eager", "recompute": "none"})
        ids, targets = (torch.zeros(2, 128, dtype=torch.long) for _ in range(2))
    with counter:
        loss: Any = cross_entropy(net(ids).flatten(0, 1), targets.flatten())
        loss.backward()
    assert model.flops(batch=2, seq=128).total == counter.get_total_flops()


def test_lora_saves_the_products_of_frozen_weights() -> None:
    """Adapters of rank 16 beside the one matrix of queries, keys and values: no gradient of a weight but theirs, and
    none of what enters the first block."""
    model, rank = load("gpt2"), 16
    plain, lora = model.flops(), model.flops(lora=rank)
    adapters = L * (2 * S * D * rank + 2 * S * rank * 3 * D)
    assert lora.forward == plain.forward + adapters
    weights = (L * (4 * D * D + 2 * D * F) + D * V) * 2 * S
    into_first = 2 * S * D * 3 * D + 2 * S * D * rank
    assert lora.backward == plain.backward + 2 * adapters - weights - into_first


def test_training_on_a_corpus_stands_beside_the_rule_of_thumb() -> None:
    """The same for every token; 6ND leaves attention out and counts tables that are only looked up."""
    report = load("llama-3-8b").flops(seq=8192, tokens=15 * 10**12)
    assert report.training == report.total * 15 * 10**12 // 8192
    assert report.rule == 6 * 8_030_261_248 * 15 * 10**12
    assert report.per_token == Fraction(report.total, 8192)


def test_flops_per_token_follow_the_published_formula() -> None:
    """6 (N − table) + 12·L·h·s, norms aside: as NeMo reports it."""
    report = load("llama-2-7b").flops(seq=4096)
    weights = 6_738_415_616 - 32000 * 4096 - (2 * 32 + 1) * 4096
    assert report.per_token == 6 * weights + 12 * 32 * 4096 * 4096


def test_intensity_is_flops_for_each_byte() -> None:
    """One linear layer of GPT-2's FFN: its products over its input, its weight and its output, in fp32."""
    report = load("gpt2").flops(mode="prefill")
    (row,) = [row for row in report.rows if row.path == "decoder.blocks.ffn.in"]
    assert row.intensity == Fraction(2 * S * D * F, 4 * (S * D + D * F + S * F))


def test_rows_add_up_and_show_their_working(run: Run) -> None:
    """What a layer holds comes to the layer."""
    record = run("flops", "gpt2", "--format", "json").json
    products = {row["path"]: row["forward"] for row in record["rows"]}
    assert products["decoder"] + products["head"] == record["forward"] == products["model"]
    assert products["decoder.blocks"] == products["decoder.blocks.attention"] + products["decoder.blocks.ffn"]
    (worked,) = [row["worked"] for row in record["rows"] if row["path"] == "decoder.blocks.ffn.in"]
    assert worked == "12 × 2 × 1024 × 768 × 3072"


def test_the_record_has_the_keys_that_were_promised(run: Run) -> None:
    """Exact ints."""
    record = run("flops", "--format", "json").json
    assert {"forward", "backward", "total", "recompute", "elementwise", "rows"} <= set(record)
    assert record["total"] == record["forward"] + record["backward"]


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        (["--mode", "think"], "--mode: expected one of train, forward, infer, prefill, decode, found think"),
        (["--context", "5"], "--context: has no effect with --mode train"),
        (["--mode", "prefill", "--context", "5"], "--context: has no effect with --mode prefill"),
        (["--mode", "prefill", "--recompute", "full"], "--recompute: has no effect with --mode prefill"),
        (["--mode", "infer", "--seq", "8", "--context", "9"], "both set the sequence length"),
        (["--causal", "third"], "--causal: expected one of full, half"),
        (["--lora", "8", "--lora-targets", "w"], "--lora-targets: no linear layer is called w"),
        (["--freeze", "embeding"], "--freeze: no layer is called embeding"),
        (["--names"], "--names: --names has no effect without --explain"),
    ],
)
def test_what_makes_no_sense_is_refused(run: Run, arguments: list[str], fact: str) -> None:
    """With exit code 2, and what to do about it."""
    answer = run("flops", "gpt2", *arguments)
    assert (answer.code, answer.out) == (2, "")
    assert fact in answer.err


def test_an_unknown_option_is_named() -> None:
    """From Python too."""
    with pytest.raises(InputError, match="no option called casual"):
        load("gpt2").flops(**cast(Any, {"casual": "half"}))


def test_layers_add_up_to_what_holds_them() -> None:
    """Attention's scores and a state's products, which no layer below has weights for, are rows of their own."""
    for name in ("gpt2", "mamba-130m", "deepseek-v3", "rnnsearch", "qwen3-next-80b-a3b"):
        found = load(name).flops(seq=64, batch=1).rows
        rows = {row.path: int(row.amounts.forward) for row in found}
        assert len(rows) == len(found)
        for path, forward in rows.items():
            below = [size for other, size in rows.items() if other.rpartition(".")[0] == path]
            assert sum(below) in (0, forward), (name, path)


def test_scores_and_states_are_called_so(run: Run) -> None:
    scores = L * 2 * (2 * 64 * 64 * D)
    assert f"scores {scores:,}" in " ".join(run("flops", "gpt2", "--seq", "64", "--mode", "prefill").out.split())
    kinds = load("mamba-130m").flops(seq=64).kinds
    assert "states" in kinds
    assert "attention scores" not in kinds


def test_a_state_is_not_said_to_attend() -> None:
    """One more token of a Mamba costs the same after ten and after ten thousand."""
    few, many = (load("mamba-130m").flops(mode="decode", context=tokens) for tokens in (10, 10_000))
    assert few.total == many.total
    said = "10,000 tokens came before: cost per token does not depend on context length"
    assert said in map(str, many.assumptions)
    cached = load("gpt2").flops(mode="decode", context=10).assumptions
    assert "10 tokens are cached: attention runs over 11" in map(str, cached)


def test_what_a_one_hot_product_would_cost_is_said(run: Run) -> None:
    """An embedding is a look-up; the textbook writes it as a product."""
    answer = " ".join(run("flops").out.split())
    assert f"computed as one-hot · W they would take {2 * 2 * 32 * 2048 * 30000 * 1024:,} more, forward" in answer


def test_a_column_that_is_left_out_is_not_explained(run: Run) -> None:
    narrow, wide = (run("flops", "gpt2", "--seq", "64", "--notes", columns=columns).out for columns in (60, 140))
    assert "FLOP/B: forward matrix products" in wide
    assert "FLOP/B:" not in narrow
    assert " ".join(narrow.split()).count("left out: the terminal is too narrow") == 1
