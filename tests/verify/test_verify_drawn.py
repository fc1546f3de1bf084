"""Random valid specs of every family, each verified against PyTorch in every row.

Some of them here; with ARCHCALC_ALL, which `.ci/run` sets, all two hundred.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("torch")

from hypothesis import reject
from hypothesis import strategies as st
from support.drawn_configs import CONFIGS, NUMBER
from support.drawn_families import FAMILIES, for_all
from support.drawn_specs import batches, lengths

import archcalc
from archcalc.core.errors import InputError
from archcalc.json_schema import schema
from archcalc.verify.check import verify, ways
from archcalc.verify.hf.rows import compared

SHARE = 1 if os.environ.get("ARCHCALC_ALL") else 8

PUBLISHED = {"published", "parameters", "of", "about", "differs", "elsewhere", "tensors", "source", "pretrained"}
STORED = {"quantization", "fused_qkv", "cache", "k_dim"}  # how files keep weights, and what a file's header says
SCOPE = {"scope", "part", "left_out", "needed", "notes"}  # which part of a larger model is counted
UNCOMPARED = {"residual_attention"}  # whose parameters alone are counted; verify says so, and refuses it
SAID_OF_A_MODEL = {"name", "transformers", "precision", "batch", "seq", "hub", "released", "doubts"}
SAID_OF_A_MODEL |= PUBLISHED | STORED | SCOPE


def test_two_hundred_specs_are_drawn() -> None:
    """Over all families together."""
    assert sum(number for _, number in FAMILIES.values()) >= 200


def test_every_option_is_drawn() -> None:
    """Of every family, but what is no part of the architecture; in more specs than are compared, so that the rare ones
    are among them."""
    drawn: set[str] = set()
    for specs, number in FAMILIES.values():
        for_all(10 * number, spec=specs)(lambda spec: drawn.update(_words(spec)))()
    for configs in CONFIGS.values():
        for_all(NUMBER, config=configs)(lambda config: drawn.update(_words(archcalc.load(config).document.data)))()
    fields = {field for node in _nodes(schema()) for field in node}
    assert fields - drawn <= SAID_OF_A_MODEL | UNCOMPARED


def _words(spec: Any) -> Iterator[str]:
    """All names of fields in it."""
    for inner in spec.values() if isinstance(spec, dict) else spec if isinstance(spec, list) else ():
        yield from _words(inner)
    if isinstance(spec, dict):
        yield from spec


def _nodes(described: Any) -> Iterator[dict[str, Any]]:
    """The properties of every object in a schema."""
    for inner in (
        described.values() if isinstance(described, dict) else described if isinstance(described, list) else ()
    ):
        yield from _nodes(inner)
    if isinstance(described, dict) and isinstance(described.get("properties"), dict):
        yield described["properties"]


@pytest.mark.wide(len(FAMILIES))  # every family always, of which more are drawn in a run of all cases
@pytest.mark.parametrize("family", FAMILIES)
def test_a_drawn_spec_equals_pytorch(family: str) -> None:
    """Parameters, shapes, FLOPs, saved bytes, caches and the numbers themselves, for one way of training each."""
    specs, number = FAMILIES[family]

    @for_all(-(-number // SHARE), spec=specs, batch=batches, sizes=st.tuples(lengths, lengths), data=st.data())
    def check(spec: dict[str, Any], batch: int, sizes: tuple[int, int], data: st.DataObject) -> None:
        try:
            model = archcalc.load(spec)
        except InputError:  # two options that do not go together
            reject()
        limits = {name: limit for name, limit in model.resolved.lengths.items() if not limit.fixed}
        asked: dict[str, Any] = {name: max(size, limits[name].least) for name, size in zip(limits, sizes, strict=False)}
        with_norms = model.spec.family in ("network", "parts")
        smallest = 2 if with_norms else 1  # a batch norm of single numbers needs two samples
        work = model.workload(batch=max(batch, smallest), **asked)
        report = verify(model, work, way=data.draw(st.sampled_from(ways(model))))
        assert report.ok, report.answer()

    check()


@pytest.mark.wide(len(CONFIGS))
@pytest.mark.parametrize("kind", CONFIGS)
def test_a_drawn_config_equals_its_class(kind: str) -> None:
    """What the reference does not have: parameters, layers, FLOPs of every block, beside transformers."""
    pytest.importorskip("transformers")

    @for_all(-(-NUMBER // SHARE), config=CONFIGS[kind], batch=batches, seq=st.integers(2, 300))
    def check(config: dict[str, Any], batch: int, seq: int) -> None:
        model = archcalc.load(config)
        report = compared(model, model.workload(batch=batch, seq=seq))
        assert {"forward FLOPs, block by block", "block outputs"} <= {row.quantity for row in report.rows}
        assert [row for row in report.rows if not row.equal] == []

    check()
