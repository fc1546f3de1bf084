"""`quantization_config` that cannot be counted: unknown methods, wrong values, missing fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.quantised_llama import BLOCK, GPTQ, LLAMA, REST, each, weights

from archcalc import load
from archcalc.core.errors import InputError
from archcalc.storage.quantization_config.methods import METHODS

if TYPE_CHECKING:
    from pathlib import Path


Fields = dict[str, Any]


@pytest.mark.parametrize("method", [{"quant_method": "bitsandbytes"}, {}])
def test_bitsandbytes_in_neither_width_is_not_quantised(tmp_path: Path, method: Fields) -> None:
    """Nor does any note say that it is."""
    quantised = {**method, "load_in_4bit": False, "load_in_8bit": False}
    assert weights(tmp_path, LLAMA, quantised) == REST + each(BLOCK, lambda out, into: 2 * out * into)
    assert not any("quantised" in str(words) for words in load(tmp_path / "config.json").params().assumptions)


UNCOUNTED = {
    "bits is missing, and gptq": {"quant_method": "gptq", "group_size": 128},
    "bits is missing, and awq": {"quant_method": "awq", "group_size": 128},
    "modules_in_block_to_quantize together with widths in dynamic": {
        **GPTQ,
        "modules_in_block_to_quantize": [["self_attn.q_proj"]],
        "dynamic": {".*q_proj": {"bits": 8}},
    },
}


@pytest.mark.parametrize(("told", "quantised"), UNCOUNTED.items())
def test_what_cannot_be_counted_is_named(tmp_path: Path, told: str, quantised: Fields) -> None:
    """Bytes are refused, parameters are not."""
    with pytest.raises(InputError, match=told):
        weights(tmp_path, LLAMA, quantised)
    assert load(tmp_path / "config.json").params().total > 0


@pytest.mark.parametrize("said", [[1], "awq", 4])
def test_what_is_no_object_is_a_mistake(tmp_path: Path, said: Any) -> None:
    with pytest.raises(InputError, match="expected an object"):
        weights(tmp_path, LLAMA, said)


@pytest.mark.parametrize("quantised", [{"quant_method": "vptq"}, {"quant_method": "quark"}, {"bits": 3}])
def test_a_method_that_is_not_known_is_named_and_not_guessed(tmp_path: Path, quantised: Fields) -> None:
    """Parameters are counted all the same, and so are bytes in a format that is asked for."""
    with pytest.raises(InputError, match="archcalc does not know how"):
        weights(tmp_path, LLAMA, quantised)
    assert weights(tmp_path, LLAMA, quantised, weights="int8") > 0
    report = load(tmp_path / "config.json").params()
    assert report.total > 0
    notes = " ".join(map(str, report.assumptions))
    assert "; set the format to count with --weights" in notes
    assert "counts what they take" not in notes


@pytest.mark.parametrize(
    "bad", [{"bits": "four"}, {"group_size": 1.5}, {"bits": True}, {"bits": 4, "dynamic": {".*": {"bits": "8"}}}]
)
def test_a_value_of_the_wrong_kind_is_a_mistake(tmp_path: Path, bad: Fields) -> None:
    with pytest.raises(InputError, match="has the wrong type for gptq"):
        weights(tmp_path, LLAMA, {"quant_method": "gptq", **bad})


def test_no_method_fails_without_its_fields() -> None:
    """A config may leave everything to a method's defaults; that of bitsandbytes is not to quantise."""
    assert METHODS["bitsandbytes"]({"quant_method": "bitsandbytes"}) is None
    for method in set(METHODS) - {"bitsandbytes"}:
        found = METHODS[method]({"quant_method": method})
        assert found is not None
        assert found.name
        assert found.unknown or found.groups or method == "compressed-tensors"
