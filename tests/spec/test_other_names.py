"""Names of other libraries are answered with the field meant, and all mistakes of a file are told at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from archcalc import load
from archcalc.archs import families, family_module
from archcalc.archs.network.kinds import kinds
from archcalc.archs.network.kinds.activation import WORDS_ALONE
from archcalc.core.errors import InputError
from archcalc.spec.fields import node_at, places
from archcalc.spec.node import Node
from archcalc.spec.other_names import LAYERS, TOP, Section, meant, plain, table

if TYPE_CHECKING:
    from conftest import Run, Write

WITH_NAMES = [family for family in families() if table(family)]
NANO_GPT = (
    "n_embd: 64\nn_layer: 2\nn_head: 4\nblock_size: 32\nvocab_size: 100\ndim_feedforward: 128\nactivation: relu\n"
)


@pytest.mark.parametrize("family", WITH_NAMES)
def test_every_entry_of_the_tables_leads_to_a_field(family: str) -> None:
    """No entry names a field that does not exist, and none is the name of a field at that very place."""
    spec = family_module(family).Spec
    for at, names in table(family).items():
        if family != "network" or at == TOP:
            check(spec, names, () if at == TOP else (at,), None)
        elif at != LAYERS:
            check(kinds()[at].FIELDS, names, (), Section(family, at))


def check(spec: type[Node], names: dict[str, Any], above: tuple[str, ...], section: Section | None) -> None:
    known = {place.path for place in places(spec)}
    here = node_at(spec, above)
    assert here and not {plain(field) for field in here.model_fields} & set(names), (above, section)
    for name, entry in names.items():
        found = meant(spec, name, 1, above, section)
        assert found and (found.path in known or (not found.path and entry["says"])), (above, section, name)


def test_layers_of_other_libraries_are_answered_with_layers_of_a_network() -> None:
    """What is to be written starts with a kind of layer, and is YAML."""
    for name, entry in table("network")[LAYERS].items():
        layer = yaml.safe_load(entry)
        assert name not in kinds()
        assert layer in WORDS_ALONE or next(iter(layer)) in kinds(), name


def test_all_layers_of_a_network_are_corrected_at_once(run: Run, write: Write) -> None:
    layers = "[{conv: 4, kernel_size: 3, activation: relu}, maxpool2d, {Conv2D: 8}, flatten, {dense: 10}]"
    answer = run("params", write(f"family: network\ninput: 3 × 8 × 8\nlayers: {layers}\n"))
    hints = ("`kernel: 3`", "`act: relu`", "`{pool: max, kernel: 2}`", "`{conv: 64, kernel: 3}`", "`{linear: 256}`")
    assert answer.code == 2
    assert answer.err.count("error: ") == len(hints)
    assert all(f"write {hint}" in answer.err for hint in hints)


@pytest.mark.parametrize(
    ("family", "wrong", "right"),
    [
        ("transformer", "d_ff: 2048", "ffn: 2048"),
        ("transformer", "hidden_size: 8", "d_model: 8"),
        ("transformer", "numLayers: 6", "decoder: 6"),
        ("transformer", "num-encoder-layers: 6", "encoder: 6"),
        ("transformer", "block_size: 512", "position: {kind: learned, length: 512}"),
        ("transformer", "num_classes: 10", "head: {kind: classifier, classes: 10}"),
        ("transformer", "norm_first: false", "norm: {place: post}"),
        ("transformer", "tie_word_embeddings: true", "head: tied"),
        ("transformer", "num_experts_per_tok: 2", "moe: {top: 2}"),
        ("transformer", "torch_dtype: bfloat16", "precision: bf16"),
        ("transformer", "gated: true", "ffn: {gated: true}"),
        ("transformer", "sinks: true", "attention: {sinks: true}"),
        ("transformer", "encoder: {num_layers: 3}", "encoder: 3"),
        ("transformer", "encoder: {intermediate_size: 9}", "encoder: {ffn: 9}"),
        ("transformer", "ffn: {hidden_dim: 9, activation: relu}", "ffn: {width: 9, act: relu}"),
        ("recurrent", "units: 8", "hidden: 8"),
        ("recurrent", "num_layers: 2", "layers: 2"),
        ("recurrent", "embedding_dim: 8", "embedding: 8"),
        ("recurrent", "num_classes: 2", "head: {kind: classifier, classes: 2}"),
        ("autoencoder", "latent_dim: 3", "hidden: 3"),
    ],
)
def test_a_name_of_another_library_is_answered_with_what_to_write(family: str, wrong: str, right: str) -> None:
    """Where it stands here, with the value that was given."""
    with pytest.raises(InputError) as caught:
        load({"family": family, **yaml.safe_load(wrong)})
    assert f"write `{right}`" in caught.value.hint


def test_a_field_that_is_given_too_is_to_be_taken_out() -> None:
    with pytest.raises(InputError, match="the spec has it: take `hidden_size` out"):
        load({"d_model": 8, "hidden_size": 8})


def test_a_field_that_changes_no_number_is_said_to() -> None:
    with pytest.raises(InputError, match="it changes no parameter, shape or FLOP"):
        load({"layer_norm_eps": 1e-5})


def test_a_spec_of_another_library_is_corrected_by_the_hints(run: Run, write: Write) -> None:
    """Whoever writes what every hint says has a spec that works."""
    answer = run("params", write(NANO_GPT))
    assert answer.code == 2
    hints = {line.split("write `")[1].rstrip("`") for line in answer.err.splitlines() if "write `" in line}
    corrected = write("\n".join(sorted(hints)) + "\n", "corrected.yaml")
    assert len(hints) == 6  # width and activation of the FFN are one
    assert run("params", corrected).code == 0


def test_all_mistakes_of_a_file_are_told_at_once(run: Run, write: Write) -> None:
    """Unknown names, wrong values, empty and missing fields, each with its line, in the order of the lines."""
    spec = "d_ff: 64\nheads: many\nnorm: {place: psot}\nbias:\nposition: {kind: alibi, theta: 5}\ndecoder: 2\n"
    answer = run("params", write(spec))
    told = [line for line in answer.err.splitlines() if line.startswith("error: ")]
    assert answer.code == 2
    assert [line.split(": ", 3)[1:3] for line in told] == [
        ["model.yaml:1", "d_ff"],
        ["model.yaml:2", "heads"],
        ["model.yaml:3", "norm.place"],
        ["model.yaml:4", "bias"],
        ["model.yaml:6", "d_model"],
        ["model.yaml:6", "vocab"],
    ]


@pytest.mark.parametrize(
    ("spec", "missing"),
    [
        ({"decoder": 2}, ["d_model", "vocab", "heads", "ffn.width"]),
        (
            {"encoder": 2, "embedding": {"kind": "patches"}, "head": "classifier"},
            ["d_model", "embedding.image", "embedding.patch", "ffn.width", "head", "heads"],
        ),
        ({"family": "recurrent"}, ["cell", "hidden", "vocab", "embedding"]),
        ({"family": "autoencoder", "kind": "linear"}, ["input", "hidden"]),
    ],
)
def test_all_missing_fields_are_told_at_once(spec: dict[str, Any], missing: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        load(spec)
    assert sorted(error.field for error in caught.value.each()) == sorted(missing)


def test_fields_that_a_kind_does_not_have_are_told_together() -> None:
    spec = {"vocab": 9, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}
    with pytest.raises(InputError) as caught:
        load({**spec, "position": {"kind": "alibi", "theta": 5.0, "offset": 2}, "head": {"kind": "none", "bias": True}})
    told = [error.fact for error in caught.value.each()]
    assert told == ["alibi has no offset", "alibi has no theta", "none has no bias"]


def test_a_file_of_nothing_but_mistakes_is_not_repeated_whole(run: Run, write: Write) -> None:
    answer = run("params", write("".join(f"no_field_{number}: 1\n" for number in range(5000))))
    assert answer.code == 2
    assert answer.err.count("error: ") < 40
    told = answer.err.count("no such field")
    assert f"{5000 - told:,} more mistakes" in answer.err


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("LSTM", "write `family: recurrent`, with `cell: lstm`"),
        ("bert", "write `family: transformer`, with `encoder: 12`"),
        ("transfromer", "did you mean transformer?"),
    ],
)
def test_a_word_that_is_no_family_is_answered_with_the_family(word: str, hint: str) -> None:
    with pytest.raises(InputError) as caught:
        load({"family": word})
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ({"kind": "linear", "input": 8, "latent_dim": 2}, "autoencoder"),
    ],
)
def test_fields_of_another_family_lack_the_line_that_names_it(spec: dict[str, Any], family: str) -> None:
    with pytest.raises(InputError) as caught:
        load(spec)
    assert [error.hint for error in caught.value.each()] == [f"begin the file with `family: {family}`"]


def test_a_mistake_in_a_block_is_told_once_however_often_the_block_is_called(run: Run, write: Write) -> None:
    block = "{parameters: {wide: 8}, layers: [{add: true}, {linear: wide}]}"
    text = f"family: network\ninput: 4\nblocks: {{a: {block}}}\nlayers:\n"
    call = "  - {block: a, wide: 3}\n"
    answer = run("params", write(text + call * 30))
    assert answer.code == 2 and answer.err.count("expected a list, found true") == 1


def test_mistakes_without_number_are_not_all_told(run: Run, write: Write) -> None:
    layers = "".join(f"  - {{linear: {number}, act: none{number}}}\n" for number in range(2, 90))
    answer = run("params", write(f"family: network\ninput: 4\nlayers:\n{layers}"))
    assert answer.code == 2 and len(answer.err) < 4000 and "more mistakes are not shown" in answer.err
