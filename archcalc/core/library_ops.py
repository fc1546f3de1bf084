"""The kinds of op that libraries' code is made of, where a layer of archcalc's own is one op (`archcalc.styles`)."""

from __future__ import annotations

from archcalc.core import op_costs as costs
from archcalc.core.op_kind import Each, Gradient, Kind, Saved

_WEIGHT = (("total_weight", "act", "one"),)
_LOGARITHMS = (("logarithms", "act", "input"),)
_SUMS = (("logsumexp", "stat", "rows"),)
_RSTD = (("rstd", "stat", "rows"),)
_EFFICIENT = (("logsumexp", "stat", "aligned rows"), ("seed", "seed", "one"), ("offset", "seed", "one"))
_PART = Kind("one tensor seen several times", part=True, writes=costs.no_elements)


OF_LIBRARIES = {
    "inverse_root": Kind(
        "1 / √x", Each(2), costs.ITS_OUTPUT, gradient=Gradient(scratch=costs.Steps(2)), autocast="fp32"
    ),
    "seen": _PART._replace(about="another tensor, seen where it is stored", gradient=Gradient(passes=True)),
    "argument": _PART._replace(
        about="what a function of PyTorch's is given, which autocast casts before the function begins",
        gradient=Gradient(passes=True),
        autocast="narrow",
    ),
    "asked": _PART._replace(
        about="what a gradient is asked of, though nothing before it may want one",
        gradient=Gradient(passes=True),
        leaf=True,
    ),
    "expand": _PART,
    "clamp": Kind("min(max(x, a), b)", Each(2), costs.ITS_INPUT),
    "negate": Kind("−x", Each(1)),
    "slice": _PART._replace(about="a part of a tensor, seen where it is stored"),
    "cast": Kind("the same values in another number format", converts="only"),
    "cast_back": Kind("the same values in the number format of another tensor", converts="back"),
    "mean": Kind("mean over named dims", Each(1, of_input=True)),
    "split": _PART._replace(about="parts of a tensor that lie side by side; going back their gradients are joined"),
    "nll_loss": Kind(
        "negative of the targets' log-probabilities",
        Each(1, of_input=True),
        costs.LOSS_AND_TARGETS,
        beside=_WEIGHT,
        reads_logits=True,
        autocast="fp32",
    ),
    "row_log_softmax": Kind(
        "the log-probability of every next token, one sequence after the other",
        Each(6, of_input=True),
        costs.MADE_BESIDE,
        beside=_LOGARITHMS,
        reads_logits=True,
        gradient=Gradient(scratch=costs.rows_of_log_softmax),
    ),
    "row_logsumexp": Kind(
        "the same of fp32 logits, by the logarithm of a sum",
        Each(4, of_input=True),
        costs.STATISTICS,
        beside=_SUMS,
        reads_logits=True,
        autocast="fp32",
        scratch=costs.one_row,
        gradient=Gradient(scratch=costs.rows_of_logsumexp),
    ),
    "fused_rms_norm": Kind(
        "the same in one kernel",
        Each(3, and_weights=True),
        Saved(("input", "weight", "beside"), any_input=True),
        beside=_RSTD,
        autocast="fp32",
    ),
    "grouped": costs.PRODUCT._replace(
        about="a matrix product for each expert, of rows sorted by expert, in the number format of the matrices",
        autocast="weight",
    ),
    "efficient": costs.ATTENTION._replace(
        about="attention in one kernel, with a bias on the scores", beside=_EFFICIENT
    ),
    "cross_entropy_in_place": Kind(
        "the same in one kernel, which turns the logits into their gradient",
        Each(5, of_input=True),
        costs.INPUTS,
        reads_logits=True,
        autocast="fp32",
        own_kernel=True,
        gradient=Gradient(in_input=True),
    ),
}
