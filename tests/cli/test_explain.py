"""archcalc explain: what a field means, by its name, its place, or the name that other libraries have for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml

from archcalc.archs import families, family_module
from archcalc.catalog.fields import explain
from archcalc.spec.fields import places

if TYPE_CHECKING:
    from conftest import Run


def test_a_field_is_explained_by_its_declaration(run: Run) -> None:
    answer = run("explain", "attention.chunk")
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[1] == "Only positions of the same chunk of this length are attended to."
    assert "default    all positions" in lines
    assert "stands at  attention.chunk; also under decoder and encoder" in lines
    assert "example    attention: {chunk: 8192}" in lines


def test_a_field_of_two_families_is_explained_for_both(run: Run) -> None:
    lines = run("explain", "attention.window").out.splitlines()
    assert lines[1] == "2 fields of that name: of network and transformer"
    assert "example    {attention: 8, window: 16}" in lines and "example    attention: {window: 4096}" in lines


def test_programs_read_the_same(run: Run) -> None:
    (row,) = run("explain", "norm.place", "--format", "json").json["rows"]
    assert row["takes"] == "one of pre, post, out, sandwich"
    assert (row["default"], row["families"]) == ("pre", ["transformer"])
    assert {"norm.place", "attention.norm.place", "encoder.norm.place"} <= set(row["places"])


@pytest.mark.parametrize(("name", "field"), [("d_ff", "ffn.width"), ("n_embd", "d_model"), ("NUM-LAYERS", "decoder")])
def test_a_name_of_another_library_leads_to_the_field(name: str, field: str) -> None:
    report = explain(name)
    assert field in [one.field for one in report.meanings]
    assert f"`{field}`" in report.elsewhere["transformer"]


def test_a_bare_name_is_found_wherever_it_occurs(run: Run) -> None:
    answer = run("explain", "bias")
    assert all(f"\n{field} " in answer.out for field in ("bias", "norm.bias", "head.bias", "moe.shared.bias"))
    assert max(map(len, answer.out.splitlines())) <= 80


def test_what_has_no_field_says_why(run: Run) -> None:
    assert "changes no parameter" in run("explain", "layer_norm_eps").out


@pytest.mark.parametrize(("name", "guess"), [("attention.windw", "attention.window"), ("d_modle", "d_model")])
def test_an_unknown_name_is_answered_with_the_nearest(run: Run, name: str, guess: str) -> None:
    answer = run("explain", name)
    assert (answer.code, answer.out) == (2, "")
    assert f"did you mean {guess}" in answer.err


@pytest.mark.wide(2)
@pytest.mark.parametrize("family", families())
def test_every_field_can_be_explained_and_its_example_is_yaml_of_that_field(family: str) -> None:
    for path in {(place.owner, place.name): place.path for place in places(family_module(family).Spec)}.values():
        row = next(row for row in explain(".".join(path)).records() if family in row["families"])
        assert row["takes"] and row["default"], path
        example = row["example"] if row["example"].startswith("{") else f"{{{row['example']}}}"  # a layer in a list
        assert row["field"].partition(".")[0] in yaml.safe_load(example)


def test_a_term_is_answered_from_the_glossary(run: Run) -> None:
    """With its formula, the fields and commands that have more of it, and an example with its number."""
    answer = run("explain", "kv", "cache")
    assert (answer.code, answer.err) == (0, "")
    lines = answer.out.splitlines()
    assert lines[1].startswith("Keys and values of earlier tokens")
    assert "fields  kv_heads, head_dim, attention.window" in lines
    assert "try     archcalc memory llama-3-8b --seq 8192" in lines
    assert f"shows   KV cache 1.00 GiB {2 * 32 * 8 * 128 * 2 * 8192:,}" in lines


def test_a_field_that_is_also_a_term_comes_first(run: Run) -> None:
    out = run("explain", "batch").out
    assert 0 < out.index("field      batch") < out.index("term     batch")


def test_programs_read_terms_too(run: Run) -> None:
    answer = run("explain", "6ND", "--format", "json").json
    assert (answer["rows"], answer["terms"][0]["term"]) == ([], "6ND")
    assert "6 · parameters N · tokens D" in run("explain", "6ND", "--format", "csv").out


def test_an_unknown_term_is_answered_with_the_nearest(run: Run) -> None:
    answer = run("explain", "grouped query atention")
    assert (answer.code, answer.out) == (2, "")
    assert "did you mean grouped-query attention" in answer.err
