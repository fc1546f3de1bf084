"""What engines need for a model's encoders, against vLLM's logs and its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import archcalc
from archcalc import InputError
from archcalc.analyze.memory.encoders import tried
from archcalc.analyze.memory.inference import prompt_of
from archcalc.archs.parts.inputs import Input
from archcalc.run.options import Options
from archcalc.run.resolve import resolve
from archcalc.spec.encoders import Step, Tried, limits

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
QWEN = str(EXAMPLES / "qwen3-vl-2b" / "config.json")
LIMIT = "--limit-mm-per-prompt"
PATCH, MERGED, LARGEST = 16, 2, 16_777_216  # of Qwen3-VL; pixels of the largest image
POSITIONS = LARGEST // (PATCH * MERGED) ** 2


def what_is_tried(model: Any, **options: Any) -> Tried | None:
    asked = Options.of("memory", {"engine": "vllm", **options})
    run = resolve(model, asked)
    return tried(model, run, prompt_of(model.workload(mode="prefill", attention="flash"), run))


@pytest.mark.parametrize(
    ("step", "positions", "items"),
    [  # start-up logs: `Encoder cache will be initialized with a budget of … tokens, and profiled with … items`
        (Step(tokens=2048, requests=256, longest=32_768), 16_384, 1),  # Qwen3.5 on RTX 3090
        (Step(tokens=8192, requests=1024, longest=8192), 256, 32),  # Gemma 3 on MI300X
        (Step(tokens=2048, requests=64, longest=9900), 260, 7),  # Gemma 3 of 0.13, which counts the image's beginning
        (Step(tokens=32_767, requests=256, longest=32_767, limits={"image": 4}), 16_384, 1),
        (Step(tokens=8192, requests=2, longest=8192, limits={"image": 1}), 256, 2),  # of two requests
        (Step(tokens=8192, requests=2, longest=512), 256, 4),  # of two requests, each of two images
    ],
)
def test_how_many_items_are_tried(step: Step, positions: int, items: int) -> None:
    assert step.items("image", positions) == items


def test_the_largest_image_is_tried_whatever_is_asked() -> None:
    model = archcalc.load(QWEN)
    assert what_is_tried(model) == Tried("image", 1, POSITIONS)
    for media in ({"images": 0}, {"images": 9}, {"image_size": 64}):
        assert what_is_tried(model.with_media(**media)) == Tried("image", 1, POSITIONS)
    assert what_is_tried(model, max_num_batched_tokens=40_000) == Tried("image", 40_000 // POSITIONS, POSITIONS)


def test_the_pool_does_not_depend_on_the_images_of_a_request() -> None:
    model = archcalc.load(QWEN)
    asked: list[tuple[int, int]] = [(0, 2048), (1, 2048), (30, 65_536)]
    pools = [model.with_media(images=n).fit(gpus="h100", engine="vllm", seq=seq).rows[0].pool for n, seq in asked]
    assert len({pool.room for pool in pools if pool}) == 1


def test_the_longest_recording_is_tried_whatever_is_asked() -> None:
    model = archcalc.load("gemma-4-e4b")
    recorded = Tried("audio", 10, 750)  # 30 seconds, 25 positions each
    assert what_is_tried(model) == what_is_tried(model.with_media(audio_seconds=20)) == recorded


def test_activations_are_those_of_one_large_image_while_a_step_is_tried() -> None:
    """A larger step than the encoder needs raises nothing; a smaller one leaves the encoder, and what it gives."""
    model = archcalc.load(QWEN)
    asked: dict[str, Any] = {"engine": "vllm", "max_num_seqs": 8, "prefill": 64, "enforce_eager": True}
    alone, whole = (one.memory(**asked).parts["activations"] for one in (model.part("text"), model))
    patches, width, inner = POSITIONS * MERGED**2, 1024, 4096
    assert whole - alone > 2 * patches * inner  # a feed-forward layer of all patches, in bf16
    assert whole - alone < 2 * patches * (3 * inner + 6 * width)


def test_a_video_is_tried_where_it_is_larger() -> None:
    """Qwen2-VL's takes 14 frames, two of them an image; no more than the longest context."""
    model = archcalc.load(QWEN)
    object.__setattr__(model.document, "config", {**model.document.config, "model_type": "qwen2_5_vl"})
    assert what_is_tried(model) == Tried("video", 1, 7 * POSITIONS)
    assert what_is_tried(model, limit_mm_per_prompt="image=2,video=0") == Tried("image", 1, POSITIONS)


@pytest.mark.parametrize("options", [{"language_model_only": True}, {"limit_mm_per_prompt": "image=0,video=0"}])
def test_towers_that_no_request_may_use_are_not_loaded(options: dict[str, Any]) -> None:
    model = archcalc.load(QWEN)
    found = model.memory(engine="vllm", **options)
    assert found.parts["weights"] == model.part("text").memory(engine="vllm").parts["weights"]
    assert found.parts["activations"] == model.part("text").memory(engine="vllm").parts["activations"]
    assert "loads no towers for images" in str(found.record()["assumptions"])
    assert not found.scope.left_out


@pytest.mark.parametrize("engine", ["llama.cpp", "mlx"])
def test_an_engine_with_a_file_apart_for_images_loads_it_where_they_are_asked_for(engine: str) -> None:
    model = archcalc.load(QWEN)
    text, asked = (each.memory(engine=engine) for each in (model, model.with_media(images=1)))
    assert text.parts["weights"] == model.part("text").memory(engine=engine).parts["weights"]
    assert "loads no towers for images" in str(text.record()["assumptions"])
    assert asked.parts["weights"] > text.parts["weights"]
    none = model.with_media(images=0, image_size=64).memory(engine=engine)
    assert none.parts["weights"] == text.parts["weights"]


def test_images_alone_may_be_none_while_videos_are_read() -> None:
    model = archcalc.load(QWEN)
    found = model.memory(engine="vllm", limit_mm_per_prompt=(("image", 0),))
    assert found.parts["weights"] == model.memory(engine="vllm").parts["weights"]


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"image": 4, "video": 0}', (("image", 4), ("video", 0))),
        ("image=4, video=0", (("image", 4), ("video", 0))),
        ({"image": 1}, (("image", 1),)),
        ('{"video": {"count": 2}}', (("video", 2),)),
    ],
)
def test_limits_are_read_as_vllm_reads_them(written: Any, read: Any) -> None:
    assert limits(written, LIMIT) == read


@pytest.mark.parametrize(
    ("written", "fact"),
    [
        ("big", "expected numbers by kind"),
        ("images=3", "no kind of input is called images"),
        ("image=-1", "expected a whole number"),
        ('{"image": {"count": 1, "width": 64}}', "the largest size of image is not read"),
        ("{", "expected numbers by kind"),
        ("", "expected numbers by kind"),
    ],
)
def test_other_limits_are_refused(written: str, fact: str) -> None:
    with pytest.raises(InputError, match=fact) as found:
        limits(written, LIMIT)
    assert found.value.field == LIMIT


@pytest.mark.parametrize(("engine", "fact"), [("transformers", "has no such option"), ("vllm", "has no towers")])
def test_an_engine_or_a_model_without_it_is_told(engine: str, fact: str) -> None:
    with pytest.raises(InputError, match=fact):
        archcalc.load("gpt2").memory(engine=engine, language_model_only=True)


def test_an_image_has_a_buffer_of_its_own_in_llama_cpp() -> None:
    """One at a time, beside that of the text, whatever the number of images."""
    model = archcalc.load(QWEN)
    one, three, none = (
        model.with_media(images=number).memory(engine="llama.cpp", seq=4096).parts["activations"]
        for number in (1, 3, 0)
    )
    assert one == three > none


def test_what_an_image_takes_of_the_pool_is_said() -> None:
    model = archcalc.load(QWEN)
    marginals = model.fit(gpus="h100", engine="vllm").marginals
    image = marginals and marginals.image
    assert image
    positions, layers, heads, width = 768, 28, 8, 128
    assert (image.positions, image.bytes) == (positions, positions * layers * 2 * heads * width * 2)
    assert image.of_pool() == "84.00 MiB for an image of 768 positions"


def test_inputs_without_images_say_so() -> None:
    (said,) = Input(shape=(3, 64, 64)).model_copy(update={"number": 0}).told(16)
    assert "no images" in str(said)


def test_layers_of_the_text_are_dealt_out_and_towers_stay() -> None:
    model = archcalc.load(QWEN).with_media(images=1)
    rows = {one.path: one.parts["weights"] for one in model.memory(engine="llama.cpp", ngl=0).rows}
    whole = {one.path: one.parts["weights"] for one in model.memory(engine="llama.cpp").rows}
    assert rows["vision"] == whole["vision"] and rows["merger"] == whole["merger"]
    one, two = (model.memory(engine="llama.cpp", ngl=number).host for number in (10, 11))
    assert one and two and one.bytes > two.bytes
