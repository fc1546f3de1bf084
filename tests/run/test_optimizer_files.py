"""Optimizers are files: what each keeps of a parameter, by products of its sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import archcalc
from archcalc import InputError
from archcalc.core.ir import Param, walk
from archcalc.run.optimizers import optimizer
from archcalc.spec import paths

if TYPE_CHECKING:
    from pathlib import Path

D, FFN, VOCAB, FP32 = 32, 128, 96, 4
SPEC = {"vocab": VOCAB, "d_model": D, "heads": 4, "ffn": FFN, "decoder": 1, "norm": "layer"}


PARAMS = [param for module, _ in walk(archcalc.load(SPEC).build()) for param in module.params.values()]


def of_shape(*shape: int) -> Param:
    return next(param for param in PARAMS if param.shape == shape)


MATRIX, TABLE, VECTOR = of_shape(FFN, D), of_shape(VOCAB, D), of_shape(D)
STATES = {  # bytes of a matrix of the blocks, of the token table, of a norm's weight
    "sgd": (0, 0, 0),
    "momentum": (FFN * D * FP32, VOCAB * D * FP32, D * FP32),
    "adamw": (2 * FFN * D * FP32, 2 * VOCAB * D * FP32, 2 * D * FP32),
    "adam8bit": (2 * FFN * D + 2 * FP32 * FFN * D // 256, 2 * VOCAB * D * FP32, 2 * D * FP32),  # 96 · 32 < 4,096
    "adafactor": ((FFN + D) * FP32, (VOCAB + D) * FP32, D * FP32),
    "muon": (FFN * D * FP32, 2 * VOCAB * D * FP32, 2 * D * FP32),
    "adamw-paged": (0, 0, 0),
}


@pytest.mark.parametrize("name", STATES)
def test_states_are_products_of_sizes(name: str) -> None:
    found = optimizer(name)
    assert tuple(found.states(each, int(each.size), FP32) for each in (MATRIX, TABLE, VECTOR)) == STATES[name]


def test_a_shard_has_its_share_of_rows_and_columns() -> None:
    assert optimizer("adafactor").states(MATRIX, FFN * D // 4, FP32) == (FFN + D) // 4 * FP32


@pytest.mark.parametrize("written", ["Paged_AdamW", "pagedadamw", "adamw-paged"])
def test_an_optimizer_has_other_names(written: str) -> None:
    assert optimizer(written).name == "adamw-paged"


def test_no_two_optimizers_share_a_name() -> None:
    files = [optimizer(name) for name in paths.presets("optimizers")]
    names = [name for each in files for name in (each.name, *each.aliases)]
    assert len(set(names)) == len(names) and [each.name for each in files] == list(paths.presets("optimizers"))


def test_one_that_is_not_there_gets_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"--optimizer: no optimizer called adamv\n  did you mean adam or adamw"):
        optimizer("adamv")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "optimizers").mkdir()
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    return tmp_path / "optimizers"


def test_a_new_optimizer_is_one_file(own: Path) -> None:
    """SOAP keeps Adam's two moments, and for each side of a matrix a preconditioner and its eigenvectors."""
    state = "state: {values: 2}\nmatrices: {values: 2, row_squares: 2, column_squares: 2}\n"
    (own / "soap.yaml").write_text(f"name: soap\nabout: moments\nsource: arXiv:2409.11321\n{state}", encoding="utf-8")
    assert optimizer("soap").states(MATRIX, FFN * D, FP32) == (2 * FFN * D + 2 * FFN * FFN + 2 * D * D) * FP32
    sizes: dict[str, Any] = {"mode": "train", "precision": "fp32", "batch": 1, "seq": 8}
    soap, adam = (archcalc.load(SPEC).memory(**sizes, optimizer=name) for name in ("soap", "adam"))
    shapes = [param.shape for param in PARAMS if len(param.axes) > 1]
    more = sum(2 * (rows * rows + columns * columns) * FP32 for rows, columns in shapes)
    assert soap.record()["states"]["optimizer"] - adam.record()["states"]["optimizer"] == more


def test_a_mistake_in_a_file_is_told_with_its_line(own: Path) -> None:
    text = "name: wrong\nabout: a slip\nsource: nobody\nstate: {value: 2}\n"
    (own / "wrong.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"wrong\.yaml:4: state\.value: no such field"):
        optimizer("wrong")
