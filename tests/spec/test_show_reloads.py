"""What `show` prints is the same model, whatever texts are in it, and counts the same in every format."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archcalc import load
from archcalc.analyze.adapted import stored_bytes
from archcalc.core.errors import InputError
from archcalc.core.visible import UNSEEN
from archcalc.model import Model
from archcalc.spec import paths
from archcalc.spec.yaml_reader import read

if TYPE_CHECKING:
    from conftest import Run, Write

SPEC: dict[str, Any] = {"vocab": 10, "d_model": 8, "heads": 2, "ffn": 8, "decoder": 1}
CONFIG = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2}
CONFIG |= {"num_attention_heads": 4, "vocab_size": 100, "architectures": ["LlamaForCausalLM"]}
ODD = (
    "\n|\r|\x85|\u2028|\u2029|#|---|...|\t|'|\"|\\|: |{|}|[|]|,|&a|*a|!x|%|@|`|\ufeff|\x00|\x1b|\u202e|?|- |~|null|yes"
)
ODD_TEXTS = [*ODD.split("|"), "|", "1e5", "010", ".5", "spare: {w: [9, 9]}", "\ud800", "\U0001f600", "\ue002", ""]
TEXTS = st.lists(st.sampled_from(ODD_TEXTS) | st.text(max_size=4), max_size=6).map("".join)
WHOLE = TEXTS.filter(lambda text: not any("\ud800" <= character <= "\udfff" for character in text))
VALUES = WHOLE | st.integers(-(10**50), 10**50) | st.floats(allow_nan=False) | st.booleans() | st.none()
NESTED = st.recursive(VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WHOLE, inner, max_size=3))


def reloaded(model: Model) -> Model:
    return Model.from_document(read(model.yaml().encode(), "shown"), "shown")


@given(name=WHOLE, about=WHOLE, notes=st.lists(WHOLE, max_size=3), quantization=st.dictionaries(WHOLE, NESTED))
def test_any_text_of_a_spec_is_read_back(name: str, about: str, notes: list[str], quantization: dict[str, Any]) -> None:
    """Names, sentences, keys and values of any kind come back as they were."""
    said = {**SPEC, "name": name, "about": about, "notes": notes}
    said |= {"quantization": {**quantization, "quant_method": "unheard of"}}
    model = load(said)
    assert reloaded(model).spec == model.spec
    assert reloaded(model).params().total == model.params().total


@given(key=TEXTS, value=NESTED)
def test_no_key_of_a_config_becomes_a_field(key: str, value: Any) -> None:
    """Halves of surrogate pairs, which JSON can hold, are written as escapes in the note that names the key."""
    model = load({**CONFIG, f"x{key}": value})
    assert reloaded(model).spec == model.spec
    assert not UNSEEN.search(model.yaml().replace("\n", ""))


@given(notes=st.lists(TEXTS, max_size=3))
def test_what_is_said_of_a_file_stays_in_its_comment(notes: list[str]) -> None:
    model = load(CONFIG)
    model = replace(model, document=replace(model.document, file_notes=tuple(notes)))
    assert reloaded(model).spec == model.spec
    assert model.yaml().count("\n# ") + model.yaml().startswith("# ") == len(notes)


@given(names=st.lists(WHOLE.filter(str.strip), min_size=1, max_size=3, unique=True), length=st.integers(1, 1200))
def test_any_name_of_a_tensor_is_read_back(names: list[str], length: int) -> None:
    """Those too that are longer than a plain key of YAML may be."""
    tensors = {name * -(-length // len(name)): "bf16 [2, 3]" for name in names}
    model = load({"family": "weights", "tensors": tensors})
    assert reloaded(model).spec == model.spec


def test_a_name_that_no_file_can_hold_is_refused() -> None:
    model = load({"family": "weights", "tensors": {"a\ud800": "bf16 [2, 3]"}})
    with pytest.raises(InputError, match="surrogate"):
        model.yaml()


@pytest.mark.parametrize("text", ["a\u202eb", "a\x85b", "tab\there"])
def test_a_written_spec_with_unseen_characters_is_shown_with_escapes(run: Run, write: Write, text: str) -> None:
    """Through a pipe it is the same spec, and a terminal obeys nothing in it."""
    written = json.dumps({**SPEC, "name": text}, ensure_ascii=False)
    shown = run("show", write(written)).out
    assert read(shown.encode(), "shown").data == read(written.encode(), "written").data


def test_line_ends_of_windows_are_no_part_of_the_text(run: Run, write: Write) -> None:
    shown = run("show", write("# mine\r\nvocab: 10\r\nd_model: 8\r\nheads: 2\r\nffn: 8\r\ndecoder: 1\r\n")).out
    assert shown == "# mine\nvocab: 10\nd_model: 8\nheads: 2\nffn: 8\ndecoder: 1\n"


FORMATS = ("bf16", "q4_k_m", "q3_k_l", "q8_0", "q4_0", "fp8", "nf4")
FUSED = {
    "bloom": {"hidden_size": 256, "n_layer": 8, "n_head": 4, "vocab_size": 512},
    "falcon": {"hidden_size": 256, "num_hidden_layers": 8, "num_attention_heads": 4, "vocab_size": 512},
    "gpt2": {"n_embd": 256, "n_layer": 8, "n_head": 4, "vocab_size": 512, "n_positions": 128},
    "gpt_neox": {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8, "num_attention_heads": 4},
    "phi3": {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8, "num_attention_heads": 4},
}
SEPARATE = {
    "llama": {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8, "num_attention_heads": 4},
    "qwen3_moe": {"hidden_size": 256, "moe_intermediate_size": 64, "num_hidden_layers": 8, "num_attention_heads": 4},
    "bert": {"hidden_size": 256, "intermediate_size": 512, "num_hidden_layers": 8, "num_attention_heads": 4},
    "mamba2": {"hidden_size": 256, "num_hidden_layers": 4, "num_heads": 8, "head_dim": 64, "vocab_size": 512},
}
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 128}


def counted(model: Model) -> dict[str, Any]:
    """Everything that could be lost: parameters by name, bytes in each format, the cache, and those as stored."""
    found: dict[str, Any] = {"rows": model.params().record()["rows"], "stored": stored_bytes(model)}
    for name in FORMATS:
        found[name] = model.memory(weights=name, seq=64).record()["parts"]
    found["as stored"] = model.memory(seq=64).record()["parts"]
    return found


@pytest.mark.wide(4)
@pytest.mark.parametrize("quantized", [False, True])
@pytest.mark.parametrize("model_type", [*FUSED, *SEPARATE])
def test_a_config_shown_counts_the_same_in_every_format(model_type: str, quantized: bool) -> None:
    config = {"model_type": model_type, **(FUSED | SEPARATE)[model_type]}
    model = load({**config, "quantization_config": GPTQ} if quantized else config)
    assert counted(reloaded(model)) == counted(model)


@pytest.mark.parametrize("model_type", FUSED)
def test_one_matrix_of_queries_keys_and_values_has_a_rule_of_its_own(model_type: str) -> None:
    """The test above would pass if it were never counted."""
    model = load({"model_type": model_type, **FUSED[model_type]})
    apart = load({"model_type": model_type, **FUSED[model_type]}, set=["fused_qkv=false"])
    assert apart.params().total == model.params().total
    assert counted(apart)["q3_k_l"]["weights"] < counted(model)["q3_k_l"]["weights"]


@pytest.mark.wide(10)
@pytest.mark.parametrize("name", sorted(paths.presets()))
def test_a_changed_preset_shown_weighs_the_same_in_a_mixture(name: str) -> None:
    """Formats that keep some layers wider ask most of a spec; other numbers are compared elsewhere."""
    model = load(name, set=["precision=bf16"])
    for weights in ("q4_k_m", "q3_k_l"):
        assert reloaded(model).memory(weights=weights).total_bytes == model.memory(weights=weights).total_bytes
