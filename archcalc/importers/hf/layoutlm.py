"""BERTs with more tables: LayoutLM (where a word stands on a page) and TAPAS (where in a table)."""

from __future__ import annotations

from archcalc.importers.hf._helpers.blocks import Fields
from archcalc.importers.hf._helpers.reading import Config
from archcalc.importers.hf.bert import classifier, encoder, language, stack

TYPES = ("layoutlm", "tapas")
USUAL = "masked"
INERT = (
    "head_dim num_key_value_heads positive_label_weight aggregation_loss_weight use_answer_as_supervision"
    " answer_loss_importance use_normalized_answer_loss huber_loss_delta temperature aggregation_temperature"
    " use_gumbel_for_cells use_gumbel_for_aggregation average_approximation_function cell_selection_preference"
    " answer_loss_cutoff max_num_rows max_num_columns average_logits_per_cell select_one_column"
    " allow_empty_column_selection init_cell_selection_weights_to_zero reset_position_index_per_cell"
    " disable_per_token_loss aggregation_labels no_aggregation_label_index num_aggregation_labels"
)


def translate(c: Config, task: str) -> Fields:
    return {
        **encoder(c),
        "norm": {"place": "post"},
        "embedding": {"norm": True, "types": _types(c)},
        **stack(c),
        "head": _head(c, task),
    }


def _types(c: Config) -> list[int]:
    """LayoutLM tells left and right by one table, above and below by another, then height and width."""
    if c.type == "layoutlm":
        return [c.count("type_vocab_size"), *[c.size("max_2d_position_embeddings")] * 4]
    said = c.get("type_vocab_sizes")
    if not isinstance(said, list) or not all(isinstance(rows, int) and rows > 0 for rows in said):
        raise c.wrong("type_vocab_sizes", "a list of sizes")
    return said


def _head(c: Config, task: str) -> Fields:
    """LayoutLM always pools, whether or not its head asks for it."""
    c.skip("tie_word_embeddings")
    pooler = {"kind": "none", "pooler": True}
    if task == "base":
        return pooler
    found = language(c, twice=True) if task == "masked" else classifier(c, task, {"pooler": True})
    return found if c.type == "tapas" or "pooler" in found else {**found, "beside": pooler}
