"""Random valid specs of every family, each verified against PyTorch in every row."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("torch")

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from verify.drawn_specs import (
    autoencoders,
    batches,
    lengths,
    recurrent_nets,
    seq2seqs,
    sparse_decoders,
    transformers,
    vision_transformers,
)

import archcalc
from archcalc.verify.check import verify, ways

FAMILIES = {
    "encoders": (transformers("encoder"), 35),
    "decoders": (transformers("decoder"), 35),
    "decoders with experts": (sparse_decoders(), 20),
    "encoder-decoders": (transformers("encoder-decoder"), 35),
    "vision Transformers": (vision_transformers(), 20),
    "recurrent nets": (recurrent_nets(), 25),
    "seq2seq nets": (seq2seqs(), 20),
    "autoencoders": (autoencoders(), 10),
}


def test_two_hundred_specs_are_drawn() -> None:
    """Over all families together."""
    assert sum(number for _, number in FAMILIES.values()) == 200


@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_spec_equals_pytorch(family: str) -> None:
    """Parameters, shapes, FLOPs, saved bytes, caches and the numbers themselves, for one way of training each."""
    specs, number = FAMILIES[family]

    @settings(
        max_examples=number, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
    )
    @given(spec=specs, batch=batches, sizes=st.tuples(lengths, lengths), data=st.data())
    def check(spec: dict[str, Any], batch: int, sizes: tuple[int, int], data: st.DataObject) -> None:
        model = archcalc.load(spec)
        names = [name for name, limit in model.resolved.lengths.items() if not limit.fixed]
        work = model.workload(batch=batch, **dict(zip(names, sizes, strict=False)))
        report = verify(model, work, way=data.draw(st.sampled_from(ways(model))))
        assert report.ok, report.answer()

    check()
