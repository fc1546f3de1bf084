"""The kinds of op that libraries' code is made of, where a layer of archcalc's own is one op (`archcalc.styles`)."""

from __future__ import annotations

from archcalc.core.op_costs import (
    copies_of_output,
    each,
    each_input,
    fused_attention,
    input_and_row_statistics,
    input_and_statistics,
    is_flattened,
    its_output,
    its_tensors,
    logits_and_targets,
    loss_and_targets,
    made_beside,
    multiply_add,
    no_elements,
    none,
    normalisation,
    not_wanted,
    nothing,
    other_factors,
    recomputes_scores,
)
from archcalc.core.op_kind import Kind
from archcalc.core.row_costs import one_row, rows_of_log_softmax, rows_of_logsumexp

_WEIGHT = (("total_weight", "act", "one"),)
_LOGARITHMS = (("logarithms", "act", "input"),)
_SUMS = (("logsumexp", "stat", "rows"),)
_RSTD = (("rstd", "stat", "rows"),)


_EFFICIENT = (("logsumexp", "stat", "aligned rows"), ("seed", "seed", "one"), ("offset", "seed", "one"))


def _part(about: str) -> Kind:
    return Kind(about, none, nothing, part=True, writes=no_elements)


OF_LIBRARIES = {
    "inverse_root": Kind("1 / √x", each(2), its_output, gradient_scratch=copies_of_output(2), autocast="fp32"),
    "seen": Kind(
        "another tensor, seen where it is stored", none, nothing, part=True, passes_gradient=True, writes=no_elements
    ),
    "argument": Kind(
        "what a function of PyTorch's is given, which autocast casts before the function begins",
        none,
        nothing,
        part=True,
        passes_gradient=True,
        autocast="narrow",
        writes=no_elements,
    ),
    "asked": Kind(
        "what a gradient is asked of, though nothing before it may want one",
        none,
        nothing,
        part=True,
        passes_gradient=True,
        leaf=True,
        writes=no_elements,
    ),
    "expand": Kind("one tensor seen several times", none, nothing, part=True, writes=no_elements),
    "negate": Kind("−x", each(1), nothing),
    "slice": _part("a part of a tensor, seen where it is stored"),
    "cast": Kind("the same values in another number format", none, nothing, converts="only"),
    "cast_back": Kind("the same values in the number format of another tensor", none, nothing, converts="back"),
    "mean": Kind("mean over named dims", each_input(1), nothing),
    "split": _part("parts of a tensor that lie side by side; going back their gradients are joined"),
    "nll_loss": Kind(
        "negative of the targets' log-probabilities",
        each_input(1),
        loss_and_targets,
        beside=_WEIGHT,
        reads_logits=True,
        autocast="fp32",
    ),
    "row_log_softmax": Kind(
        "the log-probability of every next token, one sequence after the other",
        each_input(6),
        made_beside,
        beside=_LOGARITHMS,
        reads_logits=True,
        gradient_scratch=rows_of_log_softmax,
    ),
    "row_logsumexp": Kind(
        "the same of fp32 logits, by the logarithm of a sum",
        each_input(4),
        input_and_statistics,
        beside=_SUMS,
        reads_logits=True,
        autocast="fp32",
        scratch=one_row,
        gradient_scratch=rows_of_logsumexp,
    ),
    "fused_rms_norm": Kind(
        "the same in one kernel", normalisation(3), input_and_row_statistics, beside=_RSTD, autocast="fp32"
    ),
    "grouped": Kind(
        "a matrix product for each expert, of rows sorted by expert, in the number format of the matrices",
        multiply_add,
        other_factors,
        matrix=True,
        contraction=True,
        autocast="weight",
        own_kernel=True,
        expensive=True,
        gradient_is_view=is_flattened,
    ),
    "efficient": Kind(
        "attention in one kernel, with a bias on the scores",
        fused_attention,
        its_tensors,
        recomputes_scores,
        _EFFICIENT,
        matrix=True,
        autocast="narrow",
        own_kernel=True,
        attention_kernel=True,
        expensive=True,
        gradient_scratch=not_wanted,
    ),
    "cross_entropy_in_place": Kind(
        "the same in one kernel, which turns the logits into their gradient",
        each_input(5),
        logits_and_targets,
        reads_logits=True,
        autocast="fp32",
        own_kernel=True,
        gradient_in_input=True,
    ),
}
