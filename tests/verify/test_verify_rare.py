"""Options that few models use, each beside PyTorch in every row, for the way of training that shows most of it."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

import archcalc
from archcalc.errors import InputError
from archcalc.verify.check import verify

Spec = dict[str, Any]
SMALL: Spec = {"vocab": 9, "d_model": 8, "heads": 4, "kv_heads": 2, "head_dim": 4, "ffn": 6, "norm": "rms"}
ANGLES: Spec = {"kind": "rope", "length": 16, "stored": True}
CLASSES: Spec = {"kind": "classifier", "classes": 3}
RELATIVE: Spec = {"kind": "relative", "buckets": 4}

RARE: dict[str, tuple[Spec, tuple[str, str]]] = {
    "values wider than keys": ({"attention": {"v_dim": 6}, "decoder": 2}, ("flash", "none")),
    "values narrower than keys, behind a gate": (
        {"attention": {"v_dim": 2, "gate": "own"}, "decoder": 2},
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
}
TWO_KINDS = {"pattern": ["local ffn", "attention ffn"]}


@pytest.mark.parametrize("what", RARE)
def test_every_row_is_equal(what: str) -> None:
    said, way = RARE[what]
    model = archcalc.load({**SMALL, **said})
    lengths = [name for name, limit in model.resolved.lengths.items() if not limit.fixed]
    report = verify(model, model.workload(batch=2, **dict.fromkeys(lengths, 5)), way=way)
    assert report.ok, report.answer()


def test_a_gate_on_queries_is_as_wide_as_values() -> None:
    """Or there would be no telling which number opens which."""
    with pytest.raises(InputError, match="a gate that comes with the queries is 4 wide, and a value 6"):
        archcalc.load({**SMALL, "attention": {"v_dim": 6, "gate": True}, "decoder": 2})


@pytest.mark.parametrize(
    ("all_of_them", "local"),
    [(ANGLES, {"head_dim": 6}), (RELATIVE, {"position": {**RELATIVE, "buckets": 6}}), (ANGLES, {"position": RELATIVE})],
)
def test_a_stack_has_one_table_of_positions(all_of_them: Spec, local: Spec) -> None:
    """Attentions that want different ones would each read a table that is not theirs."""
    variants = {"local": {"like": "attention", **local}}
    with pytest.raises(InputError, match="attentions that want different ones"):
        archcalc.load({**SMALL, "position": all_of_them, "variants": variants, "decoder": TWO_KINDS})


def test_latent_attention_stores_no_angles() -> None:
    latent = {"kind": "mla", "kv_rank": 3, "nope_dim": 4, "rope_dim": 2, "v_dim": 5}
    with pytest.raises(InputError, match="stores no table"):
        archcalc.load({**SMALL, "position": ANGLES, "attention": latent, "decoder": 2})


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ({"head": {"kind": "tied", "beside": {"kind": "none", "pooler": True, "norm": True}}}, "on what is pooled"),
        ({"head": {"kind": "tied", "beside": {**CLASSES, "pool": "probe"}}}, "a probe pools for all that follows"),
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
    kept = [row.archcalc for row in report.rows if row.quantity.startswith("bytes kept")]
    assert kept == [2 * 2 * 2 * 4 * 5 * size for size in (4, 2)]
