"""`archcalc verify`, as a user runs it."""

from __future__ import annotations

import builtins
import sys
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import archcalc
from archcalc.core.count import Count
from archcalc.core.ops import KINDS

if TYPE_CHECKING:
    from conftest import Run, Write

TINY = """
vocab: 11
d_model: 8
heads: 2
ffn: 12
decoder: 2
"""


@pytest.fixture
def tiny(write: Write) -> str:
    return write(TINY)


def test_all_rows_agree(run: Run, tiny: str) -> None:
    """Exit code 0, a tick at every row, and the answer first."""
    answer = run("verify", tiny, "--batch", "2", "--seq", "5")
    assert answer.code == 0
    said = " ".join(answer.out.split())
    expected = "✓ all 29 quantities equal archcalc's own PyTorch reference; 3 checks on real data pass · batch 2, seq 5"
    assert expected in said  # what the reference gives on real data is compared with no number of archcalc's
    assert "✗" not in answer.out


def test_json_has_the_promised_keys(run: Run, tiny: str) -> None:
    """`ok`, and for each row its quantity, archcalc's value, the reference's, and whether they are equal."""
    record = run("verify", tiny, "--seq", "4", "--format", "json").json
    assert record["ok"] is True
    assert {"quantity", "archcalc", "reference", "equal"} <= set(record["rows"][0])
    values = {row["quantity"]: row["archcalc"] for row in record["rows"]}
    block = 4 * (8 * 8 + 8) + (8 * 12 + 12) + (12 * 8 + 8) + 2 * 2 * 8
    assert values["parameters"] == 11 * 8 + 2 * block + 2 * 8 + 8 * 11


def test_a_difference_is_named_and_exits_with_1(run: Run, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an op costs one FLOP too much, the first row that differs is named, with by how much."""
    right = KINDS["contract"]
    monkeypatch.setitem(KINDS, "contract", right._replace(flops=lambda op: right.flops(op) + Count(1)))
    answer = run("verify", tiny, "--seq", "4")
    assert answer.code == 1
    products = 2 * (4 + 2 + 2) + 1  # four projections, attention's two products and two layers of the FFN; the head
    assert "the first: training, eager attention: forward FLOPs" in " ".join(answer.out.split())
    assert f"✗ +{products}" in answer.out


def test_a_wrong_parameter_is_named(run: Run, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its full name, with both shapes."""
    from archcalc.reference import measure

    right = measure.parameters
    monkeypatch.setattr(measure, "parameters", lambda model: {**right(model), "decoder.norm.weight": (9,)})
    answer = run("verify", write(TINY), "--seq", "4")
    assert answer.code == 1
    assert "decoder.norm.weight: 8 against 9" in " ".join(answer.out.split())


def test_without_torch_it_says_how_to_install_it(run: Run, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing extra is named with its pip install line."""
    real = builtins.__import__

    def without_torch(name: str, *args: Any) -> Any:
        if name == "torch":
            raise ImportError(name)
        return real(name, *args)

    monkeypatch.delitem(sys.modules, "torch")
    monkeypatch.setattr(builtins, "__import__", without_torch)
    answer = run("verify", tiny)
    assert answer.code == 2
    assert "pip install 'archcalc[verify]'" in answer.err


def test_a_twin_of_a_large_model_really_runs(run: Run) -> None:
    """The same structure with small sizes: grouped heads stay grouped, rotations and norms stay what they are."""
    answer = run("verify", "llama-3-8b", "--scale-down", "--seq", "8", "--batch", "1")
    assert answer.code == 0
    assert "a smaller model of the same structure was compared" in answer.out


def test_a_model_of_8_billion_parameters_is_verified_on_the_meta_device(run: Run) -> None:
    """Parameters at full depth; no memory is needed for weights that are never there."""
    record = run("verify", "llama-3-8b", "--quick", "--format", "json").json
    assert record["ok"] is True
    assert record["rows"][0]["archcalc"] == 8_030_261_248


def test_what_frameworks_do_differently_is_said(run: Run, write: Write) -> None:
    """Dropout masks differ between CPU and GPU; the table says which way the comparison goes."""
    answer = run("verify", write(TINY + "dropout: 0.1\n"), "--seq", "4")
    assert answer.code == 0
    assert "native_dropout" in answer.out


@pytest.mark.parametrize("position", ["learned", "rope"])
def test_a_twin_reads_no_more_than_its_table_holds(run: Run, write: Write, position: str) -> None:
    """A table of positions of 500 is one of 64 in the twin; where there is none, it reads what is asked."""
    spec = write(f"{TINY}position: {{kind: {position}, length: 500}}\n")
    answer = run("verify", spec, "--scale-down", "--seq", "80")
    assert answer.code == 0
    assert f" · batch 1, seq {64 if position == 'learned' else 80} " in " ".join(answer.out.split())


def test_a_family_without_a_reference_is_answered_in_words(
    run: Run, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is missing, and that the rest of archcalc works; no traceback."""
    monkeypatch.setitem(sys.modules, "archcalc.reference.autoencoder", None)
    answer = run("verify", "linear-autoencoder")
    assert answer.code == 2
    assert "archcalc has no PyTorch reference of the family autoencoder" in " ".join(answer.err.split())


def test_a_reference_that_lacks_something_else_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that a reference imports is another mistake, told as it is."""
    from archcalc.verify.check import Subject

    for name in ("archcalc.reference.autoencoder", "archcalc.reference.family"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "archcalc.reference.family", None)
    model = archcalc.load("linear-autoencoder")
    with pytest.raises(ModuleNotFoundError, match=r"archcalc\.reference\.family"):
        _ = Subject(model, model.workload()).reference
