"""A folder of GGUF files is read where it holds one model, and asks where it holds several."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from support.assumption_texts import texts
from support.gguf_files import FACTS, TENSORS, file

if TYPE_CHECKING:
    from conftest import Run, Write

WHOLE = file(FACTS, TENSORS)
PROJECTOR = file({"general.architecture": "clip", "general.type": "mmproj"}, {"v.blk.0.attn_q.weight": (0, [32, 32])})


@pytest.fixture
def put(write: Write) -> Write:
    """Write a file into a folder, which is made for it."""

    def put(text: str | bytes, name: str = "model.gguf") -> str:
        Path(name).parent.mkdir(exist_ok=True)
        return write(text, name)

    return put


def parts(put: Write, name: str, *, missing: tuple[int, ...] = ()) -> None:
    names = list(TENSORS)
    for number in {1, 2, 3}.difference(missing):
        facts = {**(FACTS if number == 1 else {}), "split.count": 3, "split.no": number - 1}
        tensors = {one: TENSORS[one] for one in names[number - 1 :: 3]}
        put(file(facts, tensors), f"{name}-{number:05}-of-00003.gguf")


def total(run: Run, folder: str) -> int:
    return int(run("params", folder, "--format", "json").json["total"])


def test_parts_of_one_model_are_one_model(run: Run, put: Write) -> None:
    put(WHOLE, "alone/model.gguf")
    parts(put, "split/model")
    assert total(run, "split") == total(run, "alone")


@pytest.mark.parametrize("missing", [(2,), (1, 3)])
def test_missing_parts_are_named(run: Run, put: Write, missing: tuple[int, ...]) -> None:
    parts(put, "split/model", missing=missing)
    answer = run("params", "split")
    assert answer.code == 2
    for number in (1, 2, 3):
        assert (f"model-{number:05}-of-00003.gguf" in answer.err.split("missing")[0].split("parts")[1]) == (
            number in missing
        )


@pytest.mark.parametrize("other", ["model-Q8_0.gguf", "model.safetensors", "model.fp16.safetensors"])
def test_variants_are_listed_and_asked_for(run: Run, put: Write, other: str) -> None:
    put(WHOLE, "several/model-Q4_K_M.gguf")
    put(WHOLE, f"several/{other}")
    answer = run("params", "several")
    said = " ".join(answer.err.split())
    assert answer.code == 2
    assert "this folder holds 2 models" in said
    assert f"model-Q4_K_M.gguf ({len(WHOLE):,} bytes)" in said
    assert other in said


def test_a_split_variant_is_listed_once(run: Run, put: Write) -> None:
    put(WHOLE, "several/model-Q4_K_M.gguf")
    parts(put, "several/model-Q8_0")
    said = run("params", "several").err
    assert "this folder holds 2 models" in said
    assert said.count("model-Q8_0-0000") == 1


def test_one_gguf_is_what_a_folder_with_its_config_holds(run: Run, put: Write) -> None:
    """The config is that of the unquantised original: the file says how the weights are stored here."""
    put(WHOLE, "one/model.gguf")
    put(b'{"model_type": "gpt2"}', "one/config.json")
    put(PROJECTOR, "one/mmproj-model-f16.gguf")
    assert total(run, "one") == total(run, "one/model.gguf")


def test_what_reads_images_beside_a_model_is_named_with_its_bytes(run: Run, put: Write) -> None:
    """llama.cpp loads it only if it is told to, so that it is said and not added."""
    put(WHOLE, "one/model.gguf")
    alone = run("memory", "one", "--format", "json").json
    put(PROJECTOR, "one/mmproj-model-f16.gguf")
    both = run("memory", "one", "--format", "json").json
    assert both["parts"] == alone["parts"]
    assert any(f"mmproj-model-f16.gguf lies beside it, {len(PROJECTOR):,} bytes" in said for said in texts(both))


def test_a_projector_itself_is_counted_and_called_so(run: Run, put: Write) -> None:
    answer = run("params", put(PROJECTOR, "one/mmproj-model-f16.gguf"), "--format", "json").json
    assert answer["total"] == 32 * 32
    assert any("a multimodal projector" in said for said in texts(answer))
