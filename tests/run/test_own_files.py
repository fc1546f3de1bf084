"""Files of a user's own: an engine, training code, a format. A mistake in one is told with its file, and its line."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from archcalc.spec.paths import data_root

if TYPE_CHECKING:
    from conftest import Run

ASKED = {
    "formats": "memory gpt2 --weights mine",
    "files": "memory gpt2 --weights mine",
    "code": "memory gpt2 --mode train --code mine",
    "engines": "memory gpt2 --gpu h100 --engine mine@0.1",
}
GOOD = {
    "formats": "name: mine\nsource: a test\nquantises: linear\nstores: [{bits: 4}]\n",
    "files": "name: mine\nsource: a test\nlike: q4_k\nothers: [{layers: [head], as: q6_k, in: first 1/8}]\n",
    "code": "name: mine\nabout: mine\nsource: a test\nlike: torchtune\nhabits: {rms_norm: fused}\n",
    "engines": "name: mine\nsource: a test\nearlier: [{before: '0.2', pool: none}]\n",
}
MISTAKES = [
    ("formats", "stores: [{bits: 4}]", "stores: [{pebits: 4}]", "stores[0].pebits: no such field"),
    ("formats", "stores: [{bits: 4}]", "like: mine", "is like itself"),
    ("formats", "stores: [{bits: 4}]", "rest: fp32", "says what it `stores`"),
    ("formats", "quantises: linear", "quantises: some", "'some' is not one of"),
    ("files", "in: first 1/8", "in: first 1/0", "`first 1/8`, found 'first 1/0'"),
    ("files", "others: [{", "others: [q4_k, {", "others[0]: expected"),
    ("files", "layers: [head]", "layers: [head], when: 9 experts", "found '9 experts'"),
    ("code", "habits: {rms_norm: fused}", "habits: [a]", "habits: expected"),
    ("code", "rms_norm: fused", "rms_norm: fuse", "rms_norm has no choice fuse"),
    ("code", "like: torchtune", "like: mine", "mine is like itself"),
    ("code", "like: torchtune", "recipes: [{recompute: 7}]", "recompute: expected"),
    ("code", "like: torchtune", "refused: [{about: no}]", "says when it holds"),
    ("code", "like: torchtune", "precisions: {mixed: [{recipe: no}]}", "no option is called recipe"),
    ("code", "like: torchtune", "precisions: {mixed: [{recipe: {a: 1}}]}", "no option is called recipe"),
    ("engines", "before: '0.2'", "after: '0.2'", "such as `before: 0.28`"),
    ("engines", "pool: none", "pool: some", "'some' is not one of"),
    ("engines", "source: a test", "source: a test\nweights: {nf4: [{NVIDIA: 1}]}", "weights.nf4: expected"),
]  # fmt: skip


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, kind: str, text: str) -> None:
    monkeypatch.setenv("ARCHCALC_PRESETS", str(folder))
    (folder / kind).mkdir()
    (folder / kind / "mine.yaml").write_text(text)


@pytest.mark.parametrize("kind", GOOD)
def test_a_file_of_ones_own_is_used(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    written(tmp_path, monkeypatch, kind, GOOD[kind])
    answer = run(*ASKED[kind].split())
    assert answer.code == 0 and "mine" in answer.out, answer.err


@pytest.mark.parametrize(("kind", "right", "wrong", "said"), MISTAKES)
def test_a_mistake_in_it_is_told(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, right: str, wrong: str, said: str
) -> None:
    assert right in GOOD[kind]
    written(tmp_path, monkeypatch, kind, GOOD[kind].replace(right, wrong))
    answer = run(*ASKED[kind].split())
    assert answer.code == 2 and said in answer.err and "mine" in answer.err, answer.err


@pytest.mark.parametrize(
    "kind", ["typed", "offload", "recipes", "runtime", "usual", "selections", "ladders", "adapters"]
)
def test_what_archcalc_keeps_for_itself_nobody_changes(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    lines = ["memory llama-3-8b --ngl 9 --weights q4_k_m", "memory gpt2 --mode train", "fit textbook --batch 1"]
    before = [run(*line.split()).out for line in lines]
    (tmp_path / kind).mkdir()
    for file in (data_root() / kind).glob("*.yaml"):
        (tmp_path / kind / file.name).write_text("nothing: here\n")
    monkeypatch.setenv("ARCHCALC_PRESETS", str(tmp_path))
    assert [run(*line.split()).out for line in lines] == before
