"""The kinds of op that forward code may record, one line each: what one costs, and what its backward pass needs.

    flops     of the forward pass; matrix products by PyTorch's convention, two for each multiply-add
    backward  of the gradients; for nearly every kind one pass of the same size for each input that wants a gradient
    saves     the tensors kept for the backward pass, as PyTorch keeps them; folds leave parameters out
    beside    tensors the op makes besides its output: statistics, random masks, log-probabilities
    matrix    a matrix product, which FlopCounterMode counts; everything else is elementwise

The rest are traits that other analyses ask for, so that none of them lists kinds by name:

    view              the output owns no memory: it is the first input along other axes
    part              neither do its outputs, which lie in the first input; but each has a gradient of its own
    allocates         makes a tensor of its own; views, and what only enters or is only looked at, do not
    contraction       a plain matrix product, of which a parameter may be one factor
    joins_product     adding a parameter to a product's output is part of that product's kernel (addmm)
    attention_kernel  all of attention in one kernel: its first inputs are queries, keys and values
    softmax           the number format that eager attention's softmax is stored in: act or fp32
    reads_rows        reads those rows of its last input that its other inputs name
    loss_of_logits    the tensor, made beside the output, that a loss over a vocabulary keeps of its logits
    reads_logits      a loss over a vocabulary, of logits or of their log-probabilities
    autocast          what torch.autocast computes it in: narrow (16 bits), fp32, weight (the format of its weight)
                      or "" for the widest of its inputs
    converts          to another number format: `only` that, and it is nothing where formats agree, or that `too`
    own_kernel        torch.compile fuses it with nothing: what it reads and writes is stored
    row_statistics    fp32 numbers a row that a compiled block saves, to compute its wide output again
    enters            its output enters the model from outside: ids, an image
    leaf              nothing that was computed, and yet it wants a gradient: the loss holds both until it is let go of
    gives_beside      what it makes besides its output are results too, with gradients of their own
    collective        around a part of a sequence: gather, scatter, or buffer, which gathers into one that stays
    of_values         caches attention's values
    expensive         PyTorch's list of ops that selective checkpointing does not recompute
    reads, writes     elements that one run moves, tensor by tensor, where that is not all of its inputs and its output
    scratch           tensors that exist only while the op runs
    gradient          how the gradients of its inputs come about (`Gradient`)

Elementwise FLOPs are a convention, since PyTorch counts none: one for each addition, multiplication, division,
comparison, exp, tanh, erf or root of one element. Copies, views and look-ups cost none.
"""

from __future__ import annotations

from archcalc.core import op_costs as costs
from archcalc.core.library_ops import OF_LIBRARIES
from archcalc.core.op_kind import Each, Gradient, Kind, Saved

_LAYER = (("mean", "stat", "rows"), ("rstd", "stat", "rows"))
_BATCH = (("mean", "stat", "channels"), ("rstd", "stat", "channels"))
_GROUP = (("mean", "act", "groups"), ("rstd", "act", "groups"))
_INSTANCE = (("mean", "stat", "groups"), ("rstd", "stat", "groups"))
_SCALED_INSTANCE = (*_INSTANCE, ("weights", "act", "groups"))
_RMS = (("upcast", "upcast", "input"), ("rstd", "stat", "rows"), ("normalised", "stat", "input"))
_LOGSUMEXP = (("logsumexp", "stat", "rows"),)
_FLASH = (*_LOGSUMEXP, ("seed", "seed", "two"), ("offset", "seed", "one"))
_LOSS = (("log_probabilities", "act", "input"), ("total_weight", "act", "one"))
_MASK = (("mask", "mask", "input"),)
_UPCAST = (("upcast", "upcast", "output"),)
_CHOSEN = (("indices", "index", "output"),)
_PLACES = (("places", "index", "output"),)
_KEPT = (("kept", "act", "input"),)


_APPEND = Kind("keys or a state kept for the next step", role="cache", own_kernel=True, writes=costs.what_is_new)
_VIEW = Kind(
    "nothing at all: the same storage", view=True, allocates=False, reads=costs.no_elements, writes=costs.no_elements
)

KINDS = {
    # in which GPUs exchange something: collectives, products around which there are some, pipeline stages
    "all_gather": Kind(
        "the parts that GPUs hold of a sequence, put together on each of them",
        own_kernel=True,
        gradient=Gradient(passes=True),
        collective="gather",
    ),
    "reduce_scatter": Kind(
        "partial results of GPUs, added up and divided along the sequence",
        own_kernel=True,
        gradient=Gradient(passes=True),
        expensive=True,
        collective="scatter",
    ),
    "all_to_all": Kind("rows or heads exchanged with other GPUs, as many as are given", own_kernel=True),
    "gathering_linear": costs.PRODUCT._replace(
        about="a matrix product over parts of a sequence, gathered for it and once more in its backward pass",
        scratch=costs.its_whole_input,
        gradient=Gradient(scratch=costs.its_whole_input_and_gradient),
    ),
    "buffered_linear": costs.PRODUCT._replace(
        about="the same, gathered into a buffer that stays",
        gradient=Gradient(scratch=costs.its_whole_input),
        collective="buffer",
    ),
    "scattering_linear": costs.PRODUCT._replace(
        about="a matrix product whose partial results GPUs add up and divide along the sequence",
        scratch=costs.its_whole_output,
        gradient=Gradient(scratch=costs.its_whole_output),
    ),
    "send": Kind("the last hidden states of a pipeline stage, handed to the next", role="none"),
    "receive": Kind("hidden states from the pipeline stage before", own_kernel=True, leaf=True),
    "contract": costs.PRODUCT._replace(about="multiply, and sum over named dims"),
    "affine": costs.PRODUCT._replace(
        about="a matrix product with a bias, in one kernel",
        flops=costs.product_of_output,
        saves=costs.factors_without_bias,
        backward=costs.without_bias,
        gradient=Gradient(is_view=costs.is_flattened, summed=costs.biases),
    ),
    "flash": costs.ATTENTION._replace(beside=_FLASH),
    "bent_flash": costs.ATTENTION._replace(
        about="the same with ALiBi, sinks, softcaps, or values of another width", beside=_LOGSUMEXP, expensive=False
    ),
    "add": Kind(
        "sum of tensors: biases, residuals, position encodings",
        Each(1),
        joins_product=True,
        gradient=Gradient(passes=True, summed=costs.broadcast_inputs),
    ),
    "subtract": Kind("difference of two tensors", Each(1)),
    "multiply": Kind(
        "elementwise product: gates, scales",
        Each(1),
        costs.other_factors,
        gradient=Gradient(promotes=True, scratch=costs.unreduced, summed=costs.broadcast_inputs),
    ),
    "divide": Kind("elementwise quotient", Each(1), costs.divisor),
    "scale": Kind("times a number", Each(1)),
    "square": Kind(
        "times itself", Each(1), costs.ITS_INPUT, gradient=Gradient(scratch=costs.Steps(2)), autocast="fp32"
    ),
    "cube": Kind(
        "to the power of three",
        Each(2),
        costs.ITS_INPUT,
        gradient=Gradient(scratch=costs.Steps(2)),
        autocast="fp32",
    ),
    "layer_norm": Kind(
        "normalised to mean 0 and variance 1",
        Each(5, and_weights=True),
        costs.STATISTICS,
        beside=_LAYER,
        autocast="fp32",
    ),
    "batch_norm": Kind(
        "each channel normalised over the batch", Each(5, and_weights=True), costs.STATISTICS, beside=_BATCH
    ),
    "running_norm": Kind("each channel normalised by its running statistics", Each(0, and_weights=True)),
    "group_norm": Kind(
        "each group of channels normalised", Each(5, and_weights=True), costs.STATISTICS, beside=_GROUP, autocast="fp32"
    ),
    "instance_norm": Kind(
        "each channel of a sample normalised", Each(5, and_weights=True), costs.STATISTICS, beside=_INSTANCE
    ),
    "scaled_instance_norm": Kind(
        "the same with weights, which are repeated for each sample",
        Each(5, and_weights=True),
        Saved(("input", "beside"), any_input=True),
        beside=_SCALED_INSTANCE,
    ),
    "weight_norm": Kind(
        "a weight made of a direction and of a length for each place of its last axis",
        Each(3),
        Saved(("input", "others", "beside"), any_input=True),
        beside=(("norms", "stat", "columns"),),
    ),
    "rms_norm": Kind(
        "normalised to mean square 1", Each(3, and_weights=True), costs.rms_steps, beside=_RMS, autocast="fp32"
    ),
    "sinkhorn": Kind(
        "rows and columns divided by their sums, several times", costs.normalised_rounds, costs.not_kept_if_trained
    ),
    "unknown": Kind(
        "a function of each element that archcalc does not know", costs.not_known, costs.not_known_if_trained
    ),
    "relu": Kind("max(x, 0)", Each(1), costs.ITS_OUTPUT),
    "relu2": Kind("max(x, 0)²", Each(2), costs.MADE_BESIDE, beside=_KEPT),
    "leaky_relu": Kind("x, or a little of it below 0", Each(2), costs.ITS_INPUT),
    "elu": Kind("x, or eˣ − 1 below 0", Each(3), costs.ITS_INPUT),
    "selu": Kind("scaled x, or eˣ − 1 below 0", Each(4), costs.ITS_INPUT),
    "prelu": Kind("x, or a learned share of it below 0", Each(2), costs.INPUTS_OF_ANY),
    "relu6": Kind("min(max(x, 0), 6)", Each(2), costs.ITS_INPUT),
    "hardswish": Kind("x · min(max(x + 3, 0), 6) / 6", Each(5), costs.ITS_INPUT),
    "hardsigmoid": Kind("min(max(x + 3, 0), 6) / 6", Each(4), costs.ITS_INPUT),
    "mish": Kind("x · tanh(log(1 + eˣ))", Each(5), costs.ITS_INPUT),
    "xielu": Kind("a learned share of x², or of eˣ − 1 − x below 0, and half of x", Each(8), costs.INPUTS_OF_ANY),
    "gelu": Kind("x · Φ(x)", Each(5), costs.ITS_INPUT),
    "gelu_tanh": Kind("x · Φ(x), approximated", Each(9), costs.ITS_INPUT),
    "silu": Kind("x · sigmoid(x)", Each(4), costs.ITS_INPUT),
    "tanh": Kind("tanh(x)", Each(1), costs.ITS_OUTPUT),
    "sigmoid": Kind("1 / (1 + e⁻ˣ)", Each(3), costs.ITS_OUTPUT),
    "softplus": Kind("log(1 + eˣ)", Each(3), costs.ITS_INPUT, autocast="fp32"),
    "erf": Kind("the error function", Each(1), costs.ITS_INPUT, gradient=Gradient(scratch=costs.Steps(3))),
    "exp": Kind("eˣ", Each(1), costs.ITS_OUTPUT, autocast="fp32"),
    "root": Kind("√x", Each(1), costs.ITS_OUTPUT),
    **OF_LIBRARIES,
    "softmax": Kind("softmax over one dim", Each(5), costs.ITS_OUTPUT, softmax="act", autocast="fp32"),
    "log_softmax": Kind("logarithm of the softmax over one dim", Each(6), costs.ITS_OUTPUT, autocast="fp32"),
    "softmax_fp32": Kind(
        "the same in fp32, and cast back",
        Each(5),
        costs.its_wide_output,
        beside=_UPCAST,
        softmax="fp32",
        autocast="fp32",
        row_statistics=2,
    ),
    "mask": Kind("minus infinity where a position must not be seen", Each(1), costs.ALL_BUT_FIRST),
    "where": Kind(
        "numbers where a mask lets them through, and another number elsewhere",
        Each(1),
        costs.ALL_BUT_FIRST,
        scratch=costs.one_number,
        gradient=Gradient(scratch=costs.one_number),
    ),
    "scan": Kind(
        "decayed and added to, one position after the other", Each(2), costs.decay_and_states, own_kernel=True
    ),
    "kernel": Kind(
        "ops that one fused kernel computes; its FLOPs are those of the ops", saves=costs.INPUTS_OF_ANY, own_kernel=True
    ),
    "solve": Kind(
        "a triangular system",
        costs.substitution,
        Saved(("others", "output"), any_input=True),
        products=costs.outer_product,
        own_kernel=True,
    ),
    "dropout": Kind("random zeros while training", Each(2), costs.MADE_BESIDE, beside=_MASK),
    "rotate": Kind("rotary position encoding, by tables of cosines and sines", Each(3), costs.ALL_BUT_FIRST),
    "lookup": Kind(
        "rows of a table, chosen by index",
        saves=costs.INDICES,
        reads_rows=True,
        autocast="fp32",
        own_kernel=True,
        reads=costs.chosen_rows,
    ),
    "choose": Kind(
        "the largest few along a dim: the experts of a token",
        saves=costs.MADE_BESIDE,
        beside=_CHOSEN,
        own_kernel=True,
        expensive=True,
    ),
    "largest": Kind(
        "the largest along a dim: max pooling",
        Each(1, of_input=True),
        costs.MADE_BESIDE,
        beside=_CHOSEN,
        own_kernel=True,
    ),
    "one_hot": Kind("1 in the place that an index names, 0 elsewhere"),
    "sum": Kind("sum or mean over named dims: pooling, normalisers", Each(1, of_input=True), autocast="fp32"),
    "length": Kind(
        "root of the sum of squares over named dims",
        Each(2, of_input=True),
        Saved(("input", "output")),
        autocast="fp32",
    ),
    "max_pool": Kind(
        "the largest number of each window", Each(1, of_input=True), costs.INPUT_AND_BESIDE, beside=_PLACES
    ),
    "average_pool": Kind("the mean of each window", Each(1, of_input=True), costs.ITS_INPUT),
    "cross_entropy": Kind(
        "negative log-probability of the targets",
        Each(5, of_input=True),
        costs.LOSS_AND_TARGETS,
        beside=_LOSS,
        loss_of_logits="log_probabilities",
        reads_logits=True,
        autocast="fp32",
    ),
    "binary_cross_entropy": Kind(
        "negative log-probability of targets between 0 and 1",
        Each(8, of_input=True),
        costs.INPUTS_OF_ANY,
        autocast="fp32",
    ),
    "squared_error": Kind("mean squared difference", Each(3, of_input=True), costs.INPUTS_OF_ANY, autocast="fp32"),
    "append": _APPEND,
    "append_values": _APPEND._replace(about="values kept for the next step", of_values=True),
    "shift": Kind("tokens, so many places further", role="index"),
    "order": Kind("places of rows, sorted", role="index", own_kernel=True),
    "hide": Kind("places that were not chosen, marked", role="mask", own_kernel=True),
    "gather": Kind(
        "rows in another order, some of them several times",
        saves=costs.ALL_BUT_FIRST,
        own_kernel=True,
        reads=costs.chosen_numbers,
    ),
    "pick": Kind("numbers of every row, chosen by index", saves=costs.INPUTS, reads=costs.chosen_numbers),
    "repeat": Kind("copies along a dim: keys and values shown to every head of their group"),
    "placed": Kind("numbers put into their places among others", saves=costs.source_of_places, own_kernel=True),
    "pad": Kind("zeros added around a map", own_kernel=True),
    "enlarge": Kind("a map with more places, copied or interpolated", Each(1), own_kernel=True),
    "reorder": Kind("the same numbers in another order", own_kernel=True),
    "concat": Kind(
        "tensors joined along a dim: class tokens and patches", own_kernel=True, gradient=Gradient(divides=True)
    ),
    "copy": Kind("the same values in another storage", own_kernel=True, gradient=Gradient(passes=True), converts="too"),
    "unpack": Kind("parts of a tensor, each copied to its own storage", own_kernel=True, gives_beside=True),
    "identity": _VIEW,
    "view": _VIEW._replace(about="the same storage seen along other axes"),
    "within": Kind(
        "a tensor seen with more room around it; its gradient is a part of the output's",
        part=True,
        gradient=Gradient(divides=True),
        writes=costs.no_elements,
    ),
    "input": Kind("what enters the model", allocates=False, enters=True, writes=costs.no_elements),
    "ids": Kind("indices that enter the model", role="index", allocates=False, writes=costs.no_elements, enters=True),
    "constant": Kind("numbers that nothing is learned in, made where they are used"),
    "zeros": Kind("zeros to start from: the state before the first step"),
    "show": Kind("a shape to look at, not a tensor", allocates=False, writes=costs.no_elements),
}
