"""What a sample has several of, such as frames; and parts that share weights between inputs of unlike lengths."""

from __future__ import annotations

from typing import Any

import pytest

import archcalc
from archcalc.core.assumptions import Topic
from archcalc.core.errors import InputError

FRAME = {"layers": [{"conv": 4, "kernel": 3, "act": "relu"}, {"pool": "average", "to": 1}, "flatten"]}
FRAMES = {"shape": "3 × 8 × 8", "number": 5}
GRU = {"cell": "gru", "hidden": 6, "biases": "two"}
BLOCKS = {"d_model": 4, "heads": 2, "ffn": 8, "encoder": 1}


def model(inputs: dict[str, Any], **parts: Any) -> archcalc.Model:
    return archcalc.load({"inputs": inputs, "parts": parts})


MODELS = {
    "frames, one after the other": (model({"frames": FRAMES}, frame=FRAME, clip=GRU), (2, 5, 6)),
    "frames that see each other": (model({"frames": FRAMES}, frame=FRAME, clip=BLOCKS), (2, 5, 4)),
    "a pooling over frames": (
        model(
            {"frames": FRAMES}, frame=FRAME, clip={"together": True, "layers": [{"pool": "max", "to": 1}, "flatten"]}
        ),
        (2, 4),
    ),
    "frames beside what is done in each": (
        model(
            {"frames": FRAMES, "actions": "2 × 5"},
            frame={"reads": "frames", **FRAME},
            act={"reads": "actions", "layers": [{"sequence": "length"}]},
            state={"layers": [{"concat": ["frame", "act"]}, {"gru": 6}]},
        ),
        (2, 5, 6),
    ),
    "vectors at each time": (model({"past": "3 × 9"}, net={**GRU, "reads": "past"}), (2, 9, 6)),
    "a map with one side": (model({"past": "3 × 9"}, net={"conv": 4, "kernel": 3}, read=GRU), (2, 7, 6)),
}


@pytest.mark.parametrize(("made", "shape"), MODELS.values(), ids=MODELS)
def test_several_vectors_are_a_sequence(made: archcalc.Model, shape: tuple[int, ...]) -> None:
    assert shape in {row.shape for row in made.shapes(batch=2).rows}


@pytest.mark.parametrize("name", MODELS)
def test_pytorch_reads_them_so(name: str) -> None:
    pytest.importorskip("torch")
    made, _ = MODELS[name]
    assert made.verify(batch=2).ok


@pytest.mark.parametrize(
    ("clip", "taken", "told"),
    [
        (BLOCKS, 5, ["5 images of 8 × 8 pixels: 1 position each; --image-size changes it"]),
        ({**BLOCKS, "head": {"pool": "mean"}}, 1, []),
        ({"together": True, "layers": [{"conv": 4, "kernel": 3}]}, 3, []),
    ],
    ids=["a position each", "pooled", "neighbours joined"],
)
def test_frames_that_share_positions_of_a_text_have_none_each(
    clip: dict[str, Any], taken: int, told: list[str]
) -> None:
    text = {"reads": ["clip", "words"], "vocab": 9, "d_model": 4, "heads": 2, "ffn": 8, "decoder": 1}
    made = model({"frames": FRAMES, "words": "tokens"}, frame={"reads": "frames", **FRAME}, clip=clip, text=text)
    notes = made.build(made.workload(seq=20)).words.notes
    assert [str(note) for note in notes if note.topic is Topic.IMAGES] == told
    assert next(iter(made.resolved.lengths.values())).least == taken + 1


TOKENS = {"short": "3 tokens", "long": "7 tokens"}
BAG = {"layers": [{"embedding": 4, "vocab": 9}, {"pool": "average", "to": 1}, "flatten"]}
ENCODER = {"vocab": 9, **BLOCKS, "head": {"pool": "mean"}}
READER = {"vocab": 9, "embedding": 4, **GRU, "head": {"pool": "last"}}


@pytest.mark.parametrize("part", [BAG, ENCODER, READER], ids=["layers", "blocks", "recurrent"])
def test_weights_are_shared_between_texts_of_unlike_length(part: dict[str, Any]) -> None:
    pytest.importorskip("torch")
    alone = archcalc.load({"inputs": {"short": "3 tokens"}, "parts": {"one": {"reads": "short", **part}}})
    both = model(TOKENS, one={"reads": "short", **part}, other={"reads": "long", "like": "one"})
    assert both.params().total == alone.params().total
    assert both.verify(batch=2).ok


def test_one_head_reads_maps_of_unlike_size() -> None:
    """As in RetinaNet."""
    pytest.importorskip("torch")
    head = {"reads": "fine", "layers": [{"conv": 4, "kernel": 3, "padding": 1}]}
    half = {"conv": 8, "kernel": 3, "stride": 2, "padding": 1}
    made = archcalc.load(
        {
            "input": "3 × 16 × 16",
            "parts": {"fine": half, "rough": half, "one": head, "other": {"reads": "rough", "like": "one"}},
        }
    )
    assert made.params().total == (9 * 3 * 8 + 8) + (9 * 8 * 8 + 8) + (9 * 8 * 4 + 4)
    assert made.verify(batch=2).ok


def test_weights_that_know_a_size_are_not_shared_between_two() -> None:
    flat = {"reads": "short", "layers": [{"embedding": 4, "vocab": 9}, "flatten", {"linear": 2}]}
    with pytest.raises(InputError, match="one has 3 tokens as reads, and other 7 tokens"):
        model(TOKENS, one=flat, other={"reads": "long", "like": "one"})


@pytest.mark.parametrize(
    ("spec", "family"),
    [
        ({"input": 4, "layers": [{"linear": 2}]}, "network"),
        ({"vocab": 9, "embedding": 4, "cell": "lstm", "hidden": 5}, "recurrent"),
        ({"input": 4, "parts": {"only": {"linear": 2}}}, "parts"),
        ({"vocab": 9, **BLOCKS}, "transformer"),
    ],
)
def test_the_fields_tell_the_family(spec: dict[str, Any], family: str) -> None:
    assert archcalc.load(spec).spec.family == family
