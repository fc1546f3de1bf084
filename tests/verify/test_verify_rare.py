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
RELATIVE: Spec = {"kind": "relative", "buckets": 4}

RARE: dict[str, tuple[Spec, tuple[str, str]]] = {
    "values wider than keys": ({"attention": {"v_dim": 6}, "decoder": 2}, ("flash", "none")),
    "values narrower than keys, behind a gate": (
        {"attention": {"v_dim": 2, "gate": "own"}, "decoder": 2},
        ("eager", "none"),
    ),
    "a table of angles": ({"position": ANGLES, "decoder": 2}, ("eager", "none")),
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
