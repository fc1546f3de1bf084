"""`archcalc presets --family WORD` with the words that people have for families."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from archcalc.catalog.kinds import MULTIMODAL, belongs, facts_of, known
from archcalc.loading import from_file, load
from archcalc.spec import paths

if TYPE_CHECKING:
    from conftest import Run

WORDS = {  # one that is meant, and one that is not
    "lstm": ("sentiment-lstm", "keras-gru"),
    "gru": ("keras-gru", "sentiment-lstm"),
    "rnn": ("sentiment-lstm", "recurrentgemma-2b"),
    "cnn": ("resnet-18", "vit-b-16"),
    "mlp": ("mlp-mnist", "resnet-18"),
    "vision": ("vit-b-16", "gpt2"),
    "vision transformer": ("vit-b-16", "resnet-18"),
    "bert": ("distilbert-base", "gpt2"),
    "encoder": ("bert-base", "gpt2"),
    "seq2seq": ("t5-small", "bert-base"),
    "LLM": ("llama-3-8b", "t5-small"),
    "moe": ("mixtral-8x7b", "llama-3-8b"),
    "ssm": ("mamba-130m", "gpt2"),
    "state-space": ("mamba-130m", "gpt2"),
    "audio": ("whisper-tiny", "gpt2"),
    "audio-language": ("voxtral-mini-3b", "whisper-tiny"),
    "omni": ("gemma-4-12b", "gemma-4-31b"),
    "gpt": ("gpt2", "llama-3-8b"),
    "resnet": ("resnet-50", "densenet-121"),
    "vae": ("vae-mnist", "linear-autoencoder"),
}


@pytest.mark.parametrize("word", WORDS)
def test_a_word_means_some_and_not_others(word: str) -> None:
    meant, other = (load(name) for name in WORDS[word])
    assert belongs(word, facts_of(meant, meant.build(), WORDS[word][0]))
    assert not belongs(word, facts_of(other, other.build(), WORDS[word][1]))


def test_every_word_of_the_file_means_some_preset() -> None:
    models = {name: from_file(paths.plain(file)) for name, file in paths.presets().items()}
    facts = [facts_of(model, model.build(), name) for name, model in models.items()]
    words = set(known()) - {MULTIMODAL}  # which follows from what is read
    assert [word for word in words if not any(belongs(word, each) for each in facts)] == []


def test_as_a_user_types_it(run: Run) -> None:
    found = run("presets", "--family", "lstm", "--format", "csv")
    assert found.code == 0 and "sentiment-lstm" in found.out and "keras-gru" not in found.out
    refused = run("presets", "--family", "cnns")
    assert refused.code == 2 and "did you mean cnn" in refused.err
