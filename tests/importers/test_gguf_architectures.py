"""Every architecture of llama.cpp that has a translator is read as the spec that its config.json stands for.

The headers are those that llama.cpp's own converter writes for small models that transformers built, so that neither
side was made by archcalc: `data/gguf_headers.jsonl`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.gguf_files import F16, F32, Recorded, Tensor, file, recorded, size

import archcalc
from archcalc.importers.gguf_config import table
from archcalc.importers.hf import translator
from archcalc.importers.hf._helpers.reading import described
from archcalc.model import Model
from archcalc.spec.yaml_reader import read

if TYPE_CHECKING:
    from conftest import Run, Write

HEADERS = recorded()
UNKNOWN = ("gemma3n", "gemma4")  # no translator reads them
NOT_WRITTEN = {  # what the converter leaves out of the file, so that the file alone cannot tell it
    **dict.fromkeys(("mistral", "mixtral", "starcoder2"), ("attention",)),  # a window that llama.cpp does not use
    **dict.fromkeys(("bert", "roberta", "xlm-roberta"), ("head", "position")),  # the pooler; rows that no token uses
    **dict.fromkeys(("llama4_text", "llama4_dense"), ("variants",)),  # how long a chunk is: the class's 8,192
    **dict.fromkeys(("falcon", "falcon40", "glm"), ("position",)),  # how long sequences were
    **dict.fromkeys(
        ("minimax_m2", "nemotron", "solar_open", "bamba"), ("position",)
    ),  # another share of a head to rotate
    "gemma_embedding": ("decoder", "encoder"),  # the architecture sees both ways, the config here does not say so
    "hunyuan_v1_moe": ("moe",),  # lists for each layer, which the class does not have
    "mimo_v2_flash": ("variants",),  # the RoPE base of local layers
    "t5_v11": ("head",),  # transformers ties the heads of models that it makes anew
}


def load(header: Recorded, write: Write) -> Model:
    return archcalc.load(write(header.raw, "model.gguf"))


def said(model: Model, without: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a spec; a GGUF file names no class, has a cache in fp16 and weights in formats of its own."""
    fields = model.spec.model_dump(exclude_none=True)
    own = ("name", "notes", "precision", "quantization", "scope", *without)
    return {name: value for name, value in fields.items() if name not in own}


@pytest.mark.parametrize("name", [name for name in HEADERS if name not in UNKNOWN])
def test_a_header_is_read_as_its_config_is(write: Write, name: str) -> None:
    header = HEADERS[name]
    model, config = load(header, write), archcalc.load(header.config)
    if config.spec.family == "parts":  # towers have a file of their own
        config = config.part("text")
    without = NOT_WRITTEN.get(name, ())
    assert said(model, without) == said(config, without)


@pytest.mark.wide(14)
@pytest.mark.parametrize("name", [name for name in HEADERS if name not in UNKNOWN])
def test_the_weights_take_the_bytes_of_the_file(write: Write, name: str) -> None:
    """However tensors are fused, and whatever the file holds besides parameters."""
    header = HEADERS[name]
    memory = load(header, write).memory(seq=16)
    assert memory.parts["weights"] == header.bytes


@pytest.mark.wide(10)
@pytest.mark.parametrize("name", [name for name in HEADERS if name not in UNKNOWN])
def test_what_show_prints_takes_the_same_bytes_or_says_that_it_does_not(write: Write, name: str) -> None:
    """Parameters carry their formats along; what else a file holds cannot follow from a spec."""
    model = load(HEADERS[name], write)
    shown = Model.from_document(read(model.yaml().encode(), "shown"), "shown")
    bytes_of = [each.memory(seq=16).parts["weights"] for each in (model, shown)]
    labelled = any(f"{bytes_of[0]:,} bytes of tensors" in str(note) for note in shown.memory(seq=16).assumptions)
    assert (bytes_of[0] != bytes_of[1]) == labelled
    assert bytes_of[0] == pytest.approx(bytes_of[1], rel=0.01)
    assert shown.params().total == model.params().total


def test_every_architecture_of_the_table_was_compared() -> None:
    """Except those that are built like a Llama or a Qwen under another name, and those no small model was made of."""
    seen = {str(header.facts["general.architecture"]) for header in HEADERS.values()}
    like = {
        name for name, ways in table()["architectures"].items() if ways[0]["type"] in ("llama", "qwen3", "ernie4_5")
    }
    without = {"jina-bert-v3", "mistral3", "nomic-bert"}
    again = {"nemotron_h", "hunyuan_vl"}  # built as nemotron_h_moe and hunyuan-dense are
    assert set(table()["architectures"]) - seen - like == without | again


@pytest.mark.parametrize("name", sorted(table()["architectures"]))
def test_every_entry_names_a_translator_and_a_class_of_it(name: str) -> None:
    for way in table()["architectures"][name]:
        assert set(way) <= {"type", "class", "when", "config", "spec", "in_header", "outside"}
        assert translator(way["type"])
        classes = described(way["type"])["classes"]
        assert way["class"] in classes if "class" in way else "causal" in classes.values()


def test_the_text_model_of_a_vision_model_is_called_so(run: Run, write: Write) -> None:
    """Its file does not hold what reads images."""
    shown = run("params", write(HEADERS["qwen3_vl"].raw, "model.gguf"), "--format", "json").json
    assert shown["scope"] == "text model of qwen3vl"


def further(header: Recorded, like: int, *, tables: bool) -> dict[str, Tensor]:
    """The tensors of a layer behind the last that predicts one token further, its block like one of the others."""
    number = max(int(name.split(".")[1]) for name in header.tensors if name.startswith("blk.")) + 1
    d_model = header.tensors["output_norm.weight"][1][0]
    block = {name: one for name, one in header.tensors.items() if name.startswith(f"blk.{like}.")}
    own: dict[str, Tensor] = {"eh_proj": (F16, [d_model, 2 * d_model])}
    own |= {name: (F32, [d_model]) for name in ("enorm", "hnorm", "shared_head_norm")}
    own |= {name: header.tensors["output.weight"] for name in ("embed_tokens", "shared_head_head") if tables}
    made = {name.replace(f"blk.{like}.", f"blk.{number}."): one for name, one in block.items()}
    return {**made, **{f"blk.{number}.nextn.{name}.weight": one for name, one in own.items()}}


@pytest.mark.parametrize("tables", [False, True])
@pytest.mark.parametrize(("name", "like", "is_counted"), [("glm4_moe", 2, True), ("qwen3_next", 3, False)])
def test_multi_token_prediction_is_no_layer_of_the_model(
    write: Write, name: str, like: int, is_counted: bool, tables: bool
) -> None:
    """Its parameters are counted where specs have such a block, its bytes always; and it has no part in the cache."""
    header = HEADERS[name]
    more = further(header, like, tables=tables)
    plain = load(header, write)
    model = archcalc.load(write(file(header.facts, {**header.tensors, **more}), "further.gguf"))
    added = [one for key, one in more.items() if "exp_probs_b" not in key]
    numbers = sum(size(*one) // (2 if one[0] == F16 else 4) for one in added)
    assert int(model.params().total) - int(plain.params().total) == (numbers if is_counted else 0)
    assert model.memory(seq=16).parts["kv_cache"] == plain.memory(seq=16).parts["kv_cache"]
    taken = sum(size(*one) for one in more.values())
    assert model.memory(seq=16).parts["weights"] - plain.memory(seq=16).parts["weights"] == taken
    said = " ".join(model.document.file_notes)
    assert ("not counted as parameters" in said) != is_counted
