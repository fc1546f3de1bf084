"""TAPAS: BERT with additional embeddings for a token's row, column and rank in a table."""

from __future__ import annotations

from typing import Any

from archcalc.importers.hf._helpers import bert_like, heads, inert
from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config

TYPES = ("tapas",)
USUAL = "masked"
INERT = {
    inert.NO_SUCH_SIZE: "head_dim num_key_value_heads",
    inert.STARTING: "init_cell_selection_weights_to_zero",
    inert.TRAINING: (
        "positive_label_weight aggregation_loss_weight use_answer_as_supervision answer_loss_importance "
        "use_normalized_answer_loss huber_loss_delta temperature aggregation_temperature use_gumbel_for_cells "
        "use_gumbel_for_aggregation answer_loss_cutoff disable_per_token_loss"
    ),
    inert.CELLS: (
        "average_approximation_function cell_selection_preference max_num_rows max_num_columns "
        "average_logits_per_cell select_one_column allow_empty_column_selection reset_position_index_per_cell "
        "aggregation_labels no_aggregation_label_index num_aggregation_labels"
    ),
}


def translate(c: Config, task: str) -> Fields:
    return {
        **bert_like.encoder(c),
        "norm": bert_like.POST_NORM,
        "embedding": {"norm": True, "types": _tables(c)},
        **bert_like.blocks(c),
        "head": _head(c, task),
    }


def _tables(c: Config) -> list[int]:
    said = c.get("type_vocab_sizes")
    if not isinstance(said, list) or not all(isinstance(rows, int) and rows > 0 for rows in said):
        raise c.wrong("type_vocab_sizes", "a list of sizes")
    return said


def _head(c: Config, task: str) -> Any:
    c.skip("tie_word_embeddings")
    table: heads.Table = {
        "base": bert_like.pooled,
        "masked": lambda: bert_like.language(c),
        **bert_like.classifiers(c, bert_like.POOLER),
    }
    return heads.for_task(c, task, table)
