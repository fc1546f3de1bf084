"""Options that few models use, each beside PyTorch in every row, for the way of training that shows most of it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import archcalc
from archcalc.core.errors import InputError
from archcalc.verify.check import verify
from archcalc.verify.small import twin

Spec = dict[str, Any]
SMALL: Spec = {"vocab": 9, "d_model": 8, "heads": 4, "kv_heads": 2, "head_dim": 4, "ffn": 6, "norm": "rms"}
ANGLES: Spec = {"kind": "rope", "length": 16, "stored": True}
CLASSES: Spec = {"kind": "classifier", "classes": 3}
LATENT: Spec = {"kind": "mla", "q_rank": 5, "kv_rank": 3, "nope_dim": 4, "rope_dim": 2, "v_dim": 6}
INDEXED: Spec = {"position": "rope", "attention": {**LATENT, "index": {"heads": 3, "head_dim": 4, "top": 2}}}
EXPERTS: Spec = {"experts": 3, "top": 2, "width": 5, "shared": 4}
RELATIVE: Spec = {"kind": "relative", "buckets": 4}

RARE: dict[str, tuple[Spec, tuple[str, str]]] = {
    "values wider than keys": ({"attention": {"v_dim": 6}, "decoder": 2}, ("flash", "none")),
    "values narrower than keys, behind a gate": (
        {"attention": {"v_dim": 2, "gate": "own"}, "decoder": 2},
        ("eager", "none"),
    ),
    "features beside values wider than keys": (
        {"attention": {"feature": "poly2", "v_dim": 6}, "encoder": 2, "head": "none"},
        ("eager", "none"),
    ),
    "states of features and values narrower than keys": (
        {"attention": {"feature": "elu", "v_dim": 3}, "position": "rope", "decoder": 2},
        ("eager", "none"),
    ),
    "a table of angles": ({"position": ANGLES, "decoder": 2}, ("eager", "none")),
    "two heads": ({"encoder": 2, "head": {"kind": "tied", "beside": {**CLASSES, "pooler": True}}}, ("eager", "none")),
    "two heads on every position": ({"decoder": 2, "head": {"kind": "lm", "beside": CLASSES}}, ("flash", "block")),
    "a pooler that nobody asks": (
        {"encoder": 2, "head": {"kind": "tied", "beside": {"kind": "none", "pooler": True}}},
        ("eager", "none"),
    ),
    "states of every block": (
        {"decoder": {"blocks": 4, "distinct": 2}, "head": {**CLASSES, "layers": "weighted"}},
        ("eager", "block"),
    ),
    "a vector that looks at all positions": (
        {"encoder": 2, "attention": {"window": 3}, "head": {"kind": "none", "pool": "probe"}},
        ("eager", "core"),
    ),
    "positions that an indexer selects": ({**INDEXED, "decoder": 2}, ("eager", "ops")),
    "positions that an indexer tells a kernel": ({**INDEXED, "decoder": 2}, ("flash", "block")),
    "experts op by op": ({"moe": EXPERTS, "decoder": {"pattern": ["attention moe", "ffn"]}}, ("flash", "ops")),
    "a kernel that PyTorch lacks, op by op": ({"attention": {"sinks": True}, "decoder": 2}, ("flash", "ops")),
    "norms whose width is said": (
        {"attention": {"qk_norm": {"over": "all", "width": [16, 8]}}, "decoder": 1},
        ("eager", "none"),
    ),
}
TWO_KINDS = {"pattern": ["local ffn", "attention ffn"]}


@pytest.mark.wide(3)
@pytest.mark.parametrize("what", RARE)
def test_every_row_is_equal(what: str) -> None:
    said, way = RARE[what]
    model = archcalc.load({**SMALL, **said})
    lengths: dict[str, Any] = {name: 5 for name, limit in model.resolved.lengths.items() if not limit.fixed}
    report = verify(model, model.workload(batch=2, **lengths), way=way)
    assert report.ok, report.answer()


def test_a_gate_on_queries_is_as_wide_as_values() -> None:
    """Or there would be no telling which number opens which."""
    with pytest.raises(InputError, match="a gate from the query projection has head_dim 4, but values have v_dim 6"):
        archcalc.load({**SMALL, "attention": {"v_dim": 6, "gate": True}, "decoder": 2})


@pytest.mark.parametrize(
    ("all_of_them", "local"),
    [(ANGLES, {"head_dim": 6}), (RELATIVE, {"position": {**RELATIVE, "buckets": 6}}), (ANGLES, {"position": RELATIVE})],
)
def test_a_stack_has_one_table_of_positions(all_of_them: Spec, local: Spec) -> None:
    """Attentions that want different ones would each read a table that is not theirs."""
    variants = {"local": {"like": "attention", **local}}
    with pytest.raises(InputError, match="attention layers with different position settings"):
        archcalc.load({**SMALL, "position": all_of_them, "variants": variants, "decoder": TWO_KINDS})


def test_latent_attention_stores_no_angles() -> None:
    with pytest.raises(InputError, match="stores no table"):
        archcalc.load({**SMALL, "position": ANGLES, "attention": LATENT, "decoder": 2})


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            {"head": {"kind": "tied", "beside": {"kind": "none", "pooler": True, "norm": True}}},
            "applies to the pooled vector",
        ),
        ({"head": {"kind": "tied", "beside": {**CLASSES, "pool": "probe"}}}, "pool: probe is for the first head only"),
        (
            {"head": {**CLASSES, "layers": "weighted"}, "embedding": {"width": 6, "project": "tokens"}},
            "projected to 6 numbers, those of other blocks are not",
        ),
    ],
)
def test_heads_that_read_what_is_not_there_are_refused(said: Spec, fact: str) -> None:
    """Each was counted as if it were."""
    with pytest.raises(InputError, match=fact):
        archcalc.load({**SMALL, "encoder": 2, **said})


def test_a_pooler_that_nobody_asks_is_not_trained() -> None:
    """It costs a forward pass, and nothing backwards."""
    beside = {"kind": "none", "pooler": True}
    plain, both = (
        archcalc.load({**SMALL, "encoder": 2, "head": {"kind": "tied", **more}}).flops(batch=1, seq=5).record()
        for more in ({}, {"beside": beside})
    )
    assert both["forward"] - plain["forward"] == 2 * 8 * 8
    assert both["backward"] == plain["backward"]


def test_a_vector_that_looks_at_all_positions_caches_none() -> None:
    """What it looks at is no part of the cache."""
    model = archcalc.load({**SMALL, "decoder": 2, "head": {"kind": "none", "pool": "probe"}})
    report = verify(model, model.workload(batch=1, seq=5), way=("eager", "none"))
    kept = [row.archcalc for row in report.rows if row.quantity.startswith("bytes cached")]
    assert kept == [2 * 2 * 2 * 4 * 5 * size for size in (4, 2)]


def test_what_pytorch_cannot_run_is_said() -> None:
    """Some classes make norms of another width than what they norm: their parameters are compared, and no more."""
    model = archcalc.load({**SMALL, "attention": {"qk_norm": {"over": "all", "width": 16}}, "decoder": 1})
    report = verify(model, model.workload(batch=1, seq=5))
    assert [row.quantity for row in report.rows] == ["parameters", "parameter tensors, by name and shape"]
    assert report.left_out == {
        "all but the parameters": "PyTorch builds a norm of 16 weights on 8 numbers, and cannot run it"
    }


@pytest.mark.parametrize(
    "said", [{"qk_norm": {"over": "all", "width": [16 * 64, 8 * 64]}}, {"v_dim": 64, "gate": True}, {"v_dim": 32}]
)
def test_a_small_twin_keeps_widths_that_are_equal(said: Spec) -> None:
    """And unequal ones apart."""
    large = {**SMALL, "heads": 16, "kv_heads": 8, "head_dim": 64, "d_model": 512, "attention": said, "decoder": 1}
    model = archcalc.load(large)
    report = verify(model, model.workload(batch=1, seq=5), scale_down=True, way=("eager", "none"))
    assert report.ok, report.answer()
    resolved: Any = twin(model).resolved
    part = resolved.decoder.parts["attention"].layer
    assert (part.v_dim in (None, part.head_dim)) == (said.get("v_dim") != 32)


def test_distances_are_not_projected_by_what_makes_a_gate() -> None:
    """Unless they have a projection of their own."""
    said = {"kv_heads": 4, "attention": {"gate": True}, "encoder": 1, "ffn": 6}
    distances: Spec = {"kind": "disentangled", "buckets": 3, "terms": ["p2c"]}
    with pytest.raises(InputError, match="also produces a gate"):
        archcalc.load({**SMALL, **said, "position": distances})
    assert archcalc.load({**SMALL, **said, "position": {**distances, "project": ["q"]}})
