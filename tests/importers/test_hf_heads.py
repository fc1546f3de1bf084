"""The head follows the class that a config names, whatever stands beside or in front of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conftest import Run, Write

D, V, BLOCKS = 64, 1000, 2
SIZES: dict[str, Any] = {
    "hidden_size": D,
    "num_hidden_layers": BLOCKS,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
TEXT = {**SIZES, "vocab_size": V, "max_position_embeddings": 32, "type_vocab_size": 2, "embedding_size": D}
IMAGE = {**SIZES, "image_size": 32, "patch_size": 8, "encoder_stride": 8}
BLOCK = 4 * (D * D + D) + (D * 128 + 128) + (128 * D + D) + 4 * D
BERT = V * D + 32 * D + 2 * D + 2 * D + BLOCKS * BLOCK
POOLER, LANGUAGE = D * D + D, D * D + D + 2 * D + V
PATCHES = 3 * 8 * 8 * D + D
VIT = PATCHES + D + 17 * D + BLOCKS * BLOCK + 2 * D


def total(run: Run, write: Write, **said: Any) -> int:
    answer = run("params", write(json.dumps(said), "config.json"), "--format", "json")
    assert answer.code == 0, answer.err
    return int(answer.json["total"])


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("BertForPreTraining", LANGUAGE + POOLER + 2 * D + 2),  # words, and does one text follow the other?
        ("BertForNextSentencePrediction", POOLER + 2 * D + 2),
        ("BertForMultipleChoice", POOLER + D + 1),
        ("BertLMHeadModel", LANGUAGE),
        ("BertModel", POOLER),
    ],
)
def test_of_a_text(run: Run, write: Write, name: str, head: int) -> None:
    assert total(run, write, model_type="bert", architectures=[name], **TEXT) == BERT + head


def test_electra_tells_of_every_token_whether_it_was_replaced(run: Run, write: Write) -> None:
    found = total(run, write, model_type="electra", architectures=["ElectraForPreTraining"], **TEXT)
    assert found == BERT + (D * D + D) + (D + 1)


@pytest.mark.parametrize(
    ("name", "head"),
    [
        ("ViTModel", POOLER),
        ("ViTForImageClassification", 5 * D + 5),
        ("ViTForMaskedImageModeling", D + 3 * 8 * 8 * D + 3 * 8 * 8),  # a mask token; every patch's pixels
    ],
)
def test_of_an_image(run: Run, write: Write, name: str, head: int) -> None:
    labels = {str(number): "x" for number in range(5)}
    assert total(run, write, model_type="vit", architectures=[name], id2label=labels, **IMAGE) == VIT + head


def test_a_teacher_has_a_head_on_each_token(run: Run, write: Write) -> None:
    """DeiT has a distillation token, and a position for it."""
    found = total(run, write, model_type="deit", architectures=["DeiTForImageClassificationWithTeacher"], **IMAGE)
    assert found == VIT + 2 * D + 2 * (2 * D + 2)


@pytest.mark.parametrize(("weighted", "more"), [(False, 0), (True, BLOCKS + 1)])
def test_whisper_listens(run: Run, write: Write, weighted: bool, more: int) -> None:
    """The encoder alone, projected, averaged, classified; perhaps all layers, each with a weight."""
    sizes = {"d_model": D, "encoder_layers": BLOCKS, "encoder_attention_heads": 4, "encoder_ffn_dim": 128}
    other = {"num_mel_bins": 20, "max_source_positions": 30, "classifier_proj_size": 24}
    name = {"model_type": "whisper", "architectures": ["WhisperForAudioClassification"]}
    found = total(run, write, **name, **sizes, **other, use_weighted_layer_sum=weighted)
    convolutions = (20 * 3 * D + D) + (D * 3 * D + D)
    encoder = convolutions + 30 * D + BLOCKS * (BLOCK - D) + 2 * D  # keys have no bias
    assert found == encoder + (24 * D + 24) + (2 * 24 + 2) + more


def test_what_nothing_reads_is_counted_and_named(run: Run, write: Write) -> None:
    """DeBERTa keeps a norm for relative positions that it does not have."""
    said = {**TEXT, "model_type": "deberta-v2", "architectures": ["DebertaV2Model"], "norm_rel_ebd": "layer_norm"}
    answer = run("params", write(json.dumps(said), "config.json"))
    assert "spare (stored, never used)" in answer.out
    assert total(run, write, **said) == BERT + 2 * D


def test_t5_derives_its_decoder_before_it_knows_an_alias(run: Run, write: Write) -> None:
    """num_hidden_layers is the encoder's depth; the decoder keeps T5's six."""
    said = {"model_type": "t5", "architectures": ["T5Model"], "num_hidden_layers": 1}
    assert "encoder: 1" in run("show", write(json.dumps(said), "config.json")).out
    assert "decoder: 6" in run("show", "config.json").out
