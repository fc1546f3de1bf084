"""Types that are built alike in one file: none imports another or asks for its type, and what is inert has a reason."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from archcalc.importers import hf
from archcalc.importers.hf import translator, translators
from archcalc.importers.hf._helpers import Config, inert
from archcalc.importers.hf._helpers.inert import is_inert, keys_of, listed
from archcalc.spec.paths import data_root

FAMILIES = sorted(file for file in Path(hf.__file__).parent.glob("*.py") if file.stem != "__init__")
REASONS = {value for name, value in vars(inert).items() if name.isupper() and isinstance(value, str)}


def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", FAMILIES, ids=lambda file: file.stem)
def test_a_family_imports_helpers_alone(file: Path) -> None:
    imported = [node.module or "" for node in ast.walk(parsed(file)) if isinstance(node, ast.ImportFrom)]
    ours = [name for name in imported if name.startswith("archcalc")]
    assert all(name.startswith("archcalc.importers.hf._helpers") for name in ours), ours


@pytest.mark.parametrize("file", FAMILIES, ids=lambda file: file.stem)
def test_a_family_never_asks_for_its_type(file: Path) -> None:
    """What differs between types is said by the file that reads them, in the arguments of a helper."""
    asked = [node for node in ast.walk(parsed(file)) if isinstance(node, ast.Attribute) and node.attr == "type"]
    assert not asked


def test_helpers_import_no_family() -> None:
    names = {f"archcalc.importers.hf.{file.stem}" for file in FAMILIES}
    for helper in sorted((Path(hf.__file__).parent / "_helpers").glob("*.py")):
        found = {node.module for node in ast.walk(parsed(helper)) if isinstance(node, ast.ImportFrom)}
        assert not found & names, helper.name


def test_a_type_is_read_by_one_file_which_its_defaults_name() -> None:
    for model_type, family in translators().items():
        assert translator(model_type) is family
    files = {family.name for family in translators().values()}
    assert sorted(files) == sorted(file.stem for file in FAMILIES)
    types = [model_type for file in files for model_type in hf._families(file)]
    assert len(types) == len(set(types)) == len(translators())


def test_a_family_says_only_what_is_not_as_usual() -> None:
    llama, arcee, bert = (translators()[name] for name in ("llama", "arcee", "bert"))
    assert (bert.usual, arcee.usual) == ("masked", "causal")
    assert not arcee.inert and "original_max_position_embeddings" in set(keys_of(llama.inert))
    assert list(hf._families("apertus")) == ["apertus"]


def test_functions_of_one_file_are_called_like_their_types() -> None:
    """Each may have keys of its own that are inert, and a task of its own."""
    gpt2, imagegpt, bloom = (translators()[name] for name in ("gpt2", "imagegpt", "bloom"))
    assert gpt2.name == imagegpt.name == bloom.name
    assert (gpt2.usual, imagegpt.usual) == ("causal", "pixels")
    assert "n_ctx" in set(keys_of(gpt2.inert)) - set(keys_of(bloom.inert)) and not imagegpt.inert


def test_types_of_one_file_may_differ_in_facts_that_it_is_told() -> None:
    arcee, jais = (translators()[name] for name in ("arcee", "jais2"))
    assert arcee.name == jais.name and arcee.translate != jais.translate
    assert arcee.translate(Config("arcee", {}, "causal"))["norm"] == "rms"
    assert jais.translate(Config("jais2", {}, "causal"))["norm"] == "layer"


@pytest.mark.parametrize("word", ["", "..", "../hf/llama", "base", "texts", "no_such_type", "inert"])
def test_a_word_that_is_no_type_has_no_translator(word: str) -> None:
    assert translator(word) is None


def test_every_inert_key_has_a_reason() -> None:
    for family in set(translators().values()):
        assert set(family.inert) <= REASONS, family.name
        keys = list(keys_of(family.inert))
        assert len(keys) == len(set(keys)), family.name
        assert not set(keys) & set(listed("uncounted")), family.name


def test_keys_that_are_inert_everywhere_are_listed_once_with_their_reason() -> None:
    found = json.loads((data_root() / "hf" / "inert.json").read_text(encoding="utf-8"))
    names = [key for keys in found["keys"].values() for key in keys]
    assert len(names) == len(set(names))
    assert is_inert("use_cache") and is_inert("rms_norm_eps") and not is_inert("hidden_size")
