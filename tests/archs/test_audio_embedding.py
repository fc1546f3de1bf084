"""What reads a recording: convolutions over samples or frames, their norms, positions that a convolution makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers

import archcalc
from archcalc.core.errors import InputError
from archcalc.verify.check import verify

if TYPE_CHECKING:
    from conftest import Run, Write

SAMPLES: dict[str, Any] = {
    "kind": "audio",
    "samples": True,
    "rate": 1000,
    "channels_out": [12, 8],
    "kernels": [10, 3],
    "strides": [5, 2],
    "padded": False,
}


def spec(position: Any = "none", place: str = "pre", **embedding: Any) -> dict[str, Any]:
    return {
        "d_model": 24,
        "heads": 3,
        "ffn": 40,
        "norm": {"place": place},
        "position": position,
        "embedding": {**SAMPLES, **embedding},
        "encoder": 2,
        "head": {"kind": "lm", "vocab": 7, "bias": True},
    }


def parameters(said: dict[str, Any], part: str) -> int:
    return sum(int(row.each) for row in archcalc.load(said).params().rows if row.kind == "tensor" and part in row.path)


def test_each_convolution_has_its_channels_and_its_norm() -> None:
    said = spec(norms=["channel", "layer"], bias=False, features_norm=True, always_project=True, mask=True)
    assert parameters(said, "conv_1") == 1 * 10 * 12 + 2 * 12
    assert parameters(said, "conv_2") == 12 * 3 * 8 + 2 * 8
    assert parameters(said, "features_norm") == 2 * 8
    assert parameters(said, "embedding.projection") == 8 * 24 + 24
    assert parameters(said, "mask_token") == 24


def test_a_weight_norm_has_a_length_for_each_tap() -> None:
    said = spec({"kind": "convolved", "kernel": 6, "groups": 4})
    assert parameters(said, "positions") == 24 * 6 * (24 // 4) + 6 + 24
    plain = spec({"kind": "convolved", "kernel": 6, "groups": 4, "normed": "output", "layers": 3})
    assert parameters(plain, "positions") == 3 * (24 * 6 * (24 // 4) + 24)


def test_a_gate_reads_each_heads_part() -> None:
    """Eight numbers are the terms of two gates; the table belongs to the stack."""
    said = spec([{"kind": "relative", "buckets": 20, "gated": True}])
    assert parameters(said, "position_gate") == (24 // 3) * 8 + 8 + 3
    assert parameters(said, "encoder.position") == 20 * 3


@pytest.mark.parametrize(
    "said",
    [
        spec({"kind": "convolved", "kernel": 6, "groups": 4}, "post", norms=["channel", "none"], norm=True, bias=False),
        spec({"kind": "convolved", "kernel": 5, "layers": 2, "normed": "output", "act": "silu"}, norms="layer"),
        spec(
            [{"kind": "convolved", "kernel": 4}, {"kind": "relative", "buckets": 20, "gated": True, "per": "block"}],
            acts=["relu", "gelu"],
            features_norm=True,
        ),
    ],
    ids=["wav2vec2", "data2vec", "gated"],
)
def test_it_is_what_pytorch_computes(said: dict[str, Any]) -> None:
    """Parameters, shapes, FLOPs and saved bytes."""
    model = archcalc.load(said)
    assert verify(model, model.workload(batch=2, seq=9), way=("eager", "none")).ok


@pytest.mark.parametrize("name", ["wav2vec2-base-960h", "hubert-base", "wavlm-base"])
def test_positions_of_a_recording_are_those_of_the_class(name: str) -> None:
    """As transformers' classes work them out."""
    model = archcalc.load(name)
    kind = {"wav2vec2": "Wav2Vec2", "hubert": "Hubert", "wavlm": "WavLM"}[model.model_type]
    with torch.device("meta"):
        made = getattr(transformers, f"{kind}Model")(getattr(transformers, f"{kind}Config")())
    for seconds in (0.025, 1, 9.99, 30):
        heard = model.with_media(audio_seconds=seconds).workload().lengths["seq"]
        assert heard == int(made._get_feat_extract_output_lengths(torch.tensor(round(16_000 * seconds))))


def test_a_spectrogram_has_a_hundred_frames_a_second() -> None:
    heard = archcalc.load("whisper-tiny").with_media(audio_seconds=10)
    assert heard.workload().lengths["src_seq"] == 10 * 100 // 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"strides": [5]}, "2 kernels, but 1 strides"),
        ({"channels_out": [12]}, "2 kernels, but 1 channels_out"),
        ({"norms": ["layer", "layer", "none"]}, "2 kernels, but 3 norms"),
        ({"mels": 80}, "samples have no mels"),
        ({"seconds": 0.001}, "too short"),
    ],
)
def test_what_does_not_fit_is_told(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        archcalc.load(spec(**change))


@pytest.mark.parametrize(
    ("position", "told"),
    [
        ({"kind": "convolved"}, "convolved positions need kernel"),
        ({"kind": "convolved", "kernel": 4, "groups": 5}, "does not divide into 5 groups"),
    ],
)
def test_a_position_that_does_not_fit_is_told(position: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        archcalc.load(spec(position))


def test_a_decoder_sees_nothing_that_comes_later(run: Run, write: Write) -> None:
    sizes = "vocab: 9\nd_model: 8\nheads: 2\nffn: 8\ndecoder: 1\nposition: {kind: convolved, kernel: 3}\n"
    assert "convolved positions see what comes later" in run("params", write(sizes)).err


def test_a_model_without_audio_refuses_seconds(run: Run) -> None:
    answer = run("shapes", "gpt2", "--audio-seconds", "3")
    assert (answer.code, "reads no audio" in answer.err) == (2, True)
