"""Models that read images or audio beside tokens, with more of them, others, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

import archcalc
from archcalc import InputError
from archcalc.core.ir import walk

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
QWEN, CAPTIONER = str(EXAMPLES / "qwen3-vl-2b" / "config.json"), str(EXAMPLES / "captioner.yaml")
SPEECH = """
inputs: {sound: {shape: 80 × 1000, rate: 100}, text: tokens}
parts:
  hearing: {reads: sound, d_model: 32, heads: 2, ffn: 64, position: sinusoidal, encoder: 1}
  language: {reads: [hearing, text], vocab: 50, d_model: 32, heads: 2, ffn: 64, position: rope, decoder: 1}
"""


def test_without_images_the_whole_sequence_is_text() -> None:
    model = archcalc.load(QWEN)
    none = model.with_media(images=0)
    assert none.params().total == model.params().total  # towers are there, and do not run
    text = model.part("text")
    assert none.flops(seq=2048).total == text.flops(seq=2048).total
    both = [one.memory(seq=2048, mode="forward").parts["activations"] for one in (none, text)]
    assert both[0] == both[1]
    assert none.memory(seq=2048).parts["weights"] == model.memory(seq=2048).parts["weights"]
    assert none.workload(seq=1).lengths == {"seq": 1}  # which has no room for an image


@pytest.mark.parametrize("model", [CAPTIONER, "clip-vit-base-patch32"])
def test_a_model_that_needs_its_image_says_so(model: str) -> None:
    with pytest.raises(InputError, match="ask for one at least") as found:
        archcalc.load(model).with_media(images=0)
    assert found.value.field == "--images"


def test_without_audio(tmp_path: Path) -> None:
    (tmp_path / "speech.yaml").write_text(SPEECH, encoding="utf-8")
    model = archcalc.load(str(tmp_path / "speech.yaml"))
    two, one, none = (model.with_media(audio_seconds=seconds) for seconds in (2, 1, 0))
    text = model.part("language").flops(seq=300).total
    assert two.flops(seq=300).total > one.flops(seq=300).total > none.flops(seq=300).total == text
    assert "2 s of audio: 100 positions" in str(two.flops().record())


def test_frames_of_a_video_are_seen_two_at_a_time() -> None:
    model = archcalc.load(QWEN)
    video, images = model.with_media(frames=7, image_size="512x256"), model.with_media(images=4, image_size="512x256")
    assert video.params().total == images.params().total
    assert video.flops(seq=2048).total == images.flops(seq=2048).total
    assert "4 × 2 frames of video of 512 × 256 pixels" in str(video.flops(seq=2048).record())


def test_one_more_image_takes_what_the_note_says() -> None:
    """With the tokens that stand around what its tower gives."""
    model = archcalc.load(QWEN).with_media(image_size=512)
    marginals = model.memory().marginals
    image = marginals and marginals.image
    assert image and f"{image.positions:,} positions" in str(model.memory().record()["assumptions"])


def test_two_towers_in_one_space_cache_nothing() -> None:
    model = archcalc.load("clip-vit-base-patch32")
    assert not model.memory().parts["kv_cache"]
    assert not any(
        op.output.role == "cache" for m, _ in walk(model.build(model.workload(mode="prefill"))) for op in m.ops
    )
    with pytest.raises(InputError, match="no decode step"):
        model.memory(mode="decode")


@pytest.mark.parametrize("value", ["-3", "1e9", "nan", "long"])
def test_seconds_that_nobody_means_are_refused(value: str) -> None:
    with pytest.raises(InputError, match="expected a number of seconds from 0 to"):
        archcalc.load(QWEN).with_media(audio_seconds=value)


def test_a_changed_model_reads_the_same() -> None:
    more = archcalc.load(QWEN).with_media(images=3).changed("parts.text.decoder=2").with_another_image()
    assert more
    model, positions = more
    assert (model.media.images, positions) == (4, 768)


def test_images_of_another_size_are_refused_where_weights_are_made_for_one() -> None:
    """A table of positions has a row for each patch; the same size as the spec's changes nothing."""
    model = archcalc.load("siglip2-large-patch16-256")
    assert model.with_media(image_size=256).total == model.total
    with pytest.raises(InputError, match="weights for each place in an image") as found:
        model.with_media(image_size=512)
    assert found.value.field == "--image-size"
    assert model.changed("inputs.images.shape=[3, 512, 512]").total > model.total
