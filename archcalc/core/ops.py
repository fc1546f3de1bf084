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
    passes_gradient   the gradient of an input is that of the output, without a storage of its own
    divides_gradient  the gradients of its inputs are parts of that of the output, without storages of their own
    promotes          may read a narrower input than it gives out, whose gradient is computed wide and cast
    gradient_is_view  the gradient of an input is a view of what was computed, to which autograd adds nothing in place
    row_statistics    fp32 numbers a row that a compiled block saves, to compute its wide output again
    enters            its output enters the model from outside: ids, an image
    leaf              nothing that was computed, and yet it wants a gradient: the loss holds both until it is let go of
    gives_beside      what it makes besides its output are results too, with gradients of their own
    gradient_in_input the gradient of the first input is written into that input's storage
    gathers, scatters the collectives around a part of a sequence; into_buffer: gathers into a buffer that stays
    of_values         caches attention's values
    expensive         PyTorch's list of ops that selective checkpointing does not recompute
    reads, writes     elements that one run moves, tensor by tensor, where that is not all of its inputs and its output
    scratch           tensors that exist only while the op runs; gradient_scratch, while its gradients are computed
    summed            inputs that were broadcast, whose gradients autograd's engine sums behind the op's own formula

Elementwise FLOPs are a convention, since PyTorch counts none: one for each addition, multiplication, division,
comparison, exp, tanh, erf or root of one element. Copies, views and look-ups cost none.
"""

from __future__ import annotations

from archcalc.core.collectives import BETWEEN_GPUS
from archcalc.core.library_ops import OF_LIBRARIES
from archcalc.core.op_costs import (
    all_but_first,
    biases,
    both,
    broadcast_inputs,
    chosen_numbers,
    chosen_rows,
    copies_of_output,
    decay_and_states,
    divisor,
    each,
    each_input,
    factors_without_bias,
    fused_attention,
    indices,
    input_and_copies,
    input_and_output,
    input_and_places,
    input_and_statistics,
    is_flattened,
    its_input,
    its_output,
    its_tensors,
    its_wide_output,
    loss_and_targets,
    made_beside,
    multiply_add,
    no_elements,
    none,
    normalisation,
    not_wanted,
    nothing,
    one_number,
    other_factors,
    outer_product,
    product_of_output,
    recomputes_scores,
    rms_steps,
    row_and_place,
    source_of_places,
    substitution,
    system_and_solution,
    unreduced,
    what_is_new,
    without_bias,
)
from archcalc.core.op_kind import Kind

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


def _append(about: str, *, of_values: bool = False) -> Kind:
    return Kind(about, none, nothing, role="cache", own_kernel=True, writes=what_is_new, of_values=of_values)


def _view(about: str) -> Kind:
    return Kind(about, none, nothing, view=True, allocates=False, reads=no_elements, writes=no_elements)


KINDS = BETWEEN_GPUS | {
    "contract": Kind(
        "multiply, and sum over named dims",
        multiply_add,
        other_factors,
        matrix=True,
        contraction=True,
        autocast="narrow",
        own_kernel=True,
        expensive=True,
        gradient_is_view=is_flattened,
    ),
    "affine": Kind(
        "a matrix product with a bias, in one kernel",
        product_of_output,
        factors_without_bias,
        without_bias,
        matrix=True,
        contraction=True,
        autocast="narrow",
        own_kernel=True,
        expensive=True,
        gradient_is_view=is_flattened,
        summed=biases,
    ),
    "flash": Kind(
        "attention in one kernel",
        fused_attention,
        its_tensors,
        recomputes_scores,
        _FLASH,
        matrix=True,
        autocast="narrow",
        own_kernel=True,
        attention_kernel=True,
        expensive=True,
        gradient_scratch=not_wanted,
    ),
    "bent_flash": Kind(
        "the same with ALiBi, sinks, softcaps, or values of another width",
        fused_attention,
        its_tensors,
        recomputes_scores,
        _LOGSUMEXP,
        matrix=True,
        autocast="narrow",
        own_kernel=True,
        attention_kernel=True,
        gradient_scratch=not_wanted,
    ),
    "add": Kind(
        "sum of tensors: biases, residuals, position encodings",
        each(1),
        nothing,
        joins_product=True,
        passes_gradient=True,
        summed=broadcast_inputs,
    ),
    "subtract": Kind("difference of two tensors", each(1), nothing),
    "multiply": Kind(
        "elementwise product: gates, scales",
        each(1),
        other_factors,
        gradient_scratch=unreduced,
        summed=broadcast_inputs,
        promotes=True,
    ),
    "divide": Kind("elementwise quotient", each(1), divisor),
    "scale": Kind("times a number", each(1), nothing),
    "square": Kind("times itself", each(1), its_input, gradient_scratch=copies_of_output(2), autocast="fp32"),
    "cube": Kind("to the power of three", each(2), its_input, gradient_scratch=copies_of_output(2), autocast="fp32"),
    "layer_norm": Kind(
        "normalised to mean 0 and variance 1", normalisation(5), input_and_statistics, beside=_LAYER, autocast="fp32"
    ),
    "batch_norm": Kind("each channel normalised over the batch", normalisation(5), input_and_statistics, beside=_BATCH),
    "running_norm": Kind("each channel normalised by its running statistics", normalisation(0), nothing),
    "group_norm": Kind(
        "each group of channels normalised", normalisation(5), input_and_statistics, beside=_GROUP, autocast="fp32"
    ),
    "instance_norm": Kind(
        "each channel of a sample normalised", normalisation(5), input_and_statistics, beside=_INSTANCE
    ),
    "scaled_instance_norm": Kind(
        "the same with weights, which are repeated for each sample",
        normalisation(5),
        input_and_copies,
        beside=_SCALED_INSTANCE,
    ),
    "rms_norm": Kind("normalised to mean square 1", normalisation(3), rms_steps, beside=_RMS, autocast="fp32"),
    "relu": Kind("max(x, 0)", each(1), its_output),
    "relu2": Kind("max(x, 0)²", each(2), made_beside, beside=_KEPT),
    "leaky_relu": Kind("x, or a little of it below 0", each(2), its_input),
    "elu": Kind("x, or eˣ − 1 below 0", each(3), its_input),
    "selu": Kind("scaled x, or eˣ − 1 below 0", each(4), its_input),
    "prelu": Kind("x, or a learned share of it below 0", each(2), both),
    "relu6": Kind("min(max(x, 0), 6)", each(2), its_input),
    "hardswish": Kind("x · min(max(x + 3, 0), 6) / 6", each(5), its_input),
    "hardsigmoid": Kind("min(max(x + 3, 0), 6) / 6", each(4), its_input),
    "mish": Kind("x · tanh(log(1 + eˣ))", each(5), its_input),
    "xielu": Kind("a learned share of x², or of eˣ − 1 − x below 0, and half of x", each(8), both),
    "gelu": Kind("x · Φ(x)", each(5), its_input),
    "gelu_tanh": Kind("x · Φ(x), approximated", each(9), its_input),
    "silu": Kind("x · sigmoid(x)", each(4), its_input),
    "tanh": Kind("tanh(x)", each(1), its_output),
    "sigmoid": Kind("1 / (1 + e⁻ˣ)", each(3), its_output),
    "softplus": Kind("log(1 + eˣ)", each(3), its_input, autocast="fp32"),
    "erf": Kind("the error function", each(1), its_input, gradient_scratch=copies_of_output(3)),
    "exp": Kind("eˣ", each(1), its_output, autocast="fp32"),
    "root": Kind("√x", each(1), its_output),
    **OF_LIBRARIES,
    "softmax": Kind("softmax over one dim", each(5), its_output, softmax="act", autocast="fp32"),
    "log_softmax": Kind("logarithm of the softmax over one dim", each(6), its_output, autocast="fp32"),
    "softmax_fp32": Kind(
        "the same in fp32, and cast back",
        each(5),
        its_wide_output,
        beside=_UPCAST,
        softmax="fp32",
        autocast="fp32",
        row_statistics=2,
    ),
    "mask": Kind("minus infinity where a position must not be seen", each(1), all_but_first),
    "where": Kind(
        "numbers where a mask lets them through, and another number elsewhere",
        each(1),
        all_but_first,
        scratch=one_number,
        gradient_scratch=one_number,
    ),
    "scan": Kind("decayed and added to, one position after the other", each(2), decay_and_states, own_kernel=True),
    "kernel": Kind("ops that one fused kernel computes; its FLOPs are those of the ops", none, both, own_kernel=True),
    "solve": Kind("a triangular system", substitution, system_and_solution, products=outer_product, own_kernel=True),
    "dropout": Kind("random zeros while training", each(2), made_beside, beside=_MASK),
    "rotate": Kind("rotary position encoding, by tables of cosines and sines", each(3), all_but_first),
    "lookup": Kind(
        "rows of a table, chosen by index",
        none,
        indices,
        reads_rows=True,
        autocast="fp32",
        own_kernel=True,
        reads=chosen_rows,
    ),
    "choose": Kind(
        "the largest few along a dim: the experts of a token",
        none,
        made_beside,
        beside=_CHOSEN,
        own_kernel=True,
        expensive=True,
    ),
    "largest": Kind(
        "the largest along a dim: max pooling", each_input(1), made_beside, beside=_CHOSEN, own_kernel=True
    ),
    "one_hot": Kind("1 in the place that an index names, 0 elsewhere", none, nothing),
    "sum": Kind("sum or mean over named dims: pooling, normalisers", each_input(1), nothing, autocast="fp32"),
    "length": Kind("root of the sum of squares over named dims", each_input(2), input_and_output, autocast="fp32"),
    "max_pool": Kind("the largest number of each window", each_input(1), input_and_places, beside=_PLACES),
    "average_pool": Kind("the mean of each window", each_input(1), its_input),
    "cross_entropy": Kind(
        "negative log-probability of the targets",
        each_input(5),
        loss_and_targets,
        beside=_LOSS,
        loss_of_logits="log_probabilities",
        reads_logits=True,
        autocast="fp32",
    ),
    "binary_cross_entropy": Kind(
        "negative log-probability of targets between 0 and 1", each_input(8), both, autocast="fp32"
    ),
    "squared_error": Kind("mean squared difference", each_input(3), both, autocast="fp32"),
    "append": _append("keys or a state kept for the next step"),
    "append_values": _append("values kept for the next step", of_values=True),
    "shift": Kind("tokens, so many places further", none, nothing, role="index"),
    "order": Kind("places of rows, sorted", none, nothing, role="index", own_kernel=True),
    "hide": Kind("places that were not chosen, marked", none, nothing, role="mask", own_kernel=True),
    "gather": Kind(
        "rows in another order, some of them several times",
        none,
        all_but_first,
        own_kernel=True,
        reads=chosen_numbers,
    ),
    "pick": Kind("numbers of every row, chosen by index", none, row_and_place, reads=chosen_numbers),
    "repeat": Kind("copies along a dim: keys and values shown to every head of their group", none, nothing),
    "placed": Kind("numbers put into their places among others", none, source_of_places, own_kernel=True),
    "pad": Kind("zeros added around a map", none, nothing, own_kernel=True),
    "enlarge": Kind("a map with more places, copied or interpolated", each(1), nothing, own_kernel=True),
    "reorder": Kind("the same numbers in another order", none, nothing, own_kernel=True),
    "concat": Kind(
        "tensors joined along a dim: class tokens and patches", none, nothing, own_kernel=True, divides_gradient=True
    ),
    "copy": Kind(
        "the same values in another storage", none, nothing, own_kernel=True, passes_gradient=True, converts="too"
    ),
    "unpack": Kind(
        "parts of a tensor, each copied to its own storage", none, nothing, own_kernel=True, gives_beside=True
    ),
    "identity": _view("nothing at all: the same storage"),
    "view": _view("the same storage seen along other axes"),
    "within": Kind(
        "a tensor seen with more room around it; its gradient is a part of the output's",
        none,
        nothing,
        part=True,
        divides_gradient=True,
        writes=no_elements,
    ),
    "input": Kind("what enters the model", none, nothing, allocates=False, enters=True, writes=no_elements),
    "ids": Kind(
        "indices that enter the model", none, nothing, role="index", allocates=False, writes=no_elements, enters=True
    ),
    "constant": Kind("numbers that nothing is learned in, made where they are used", none, nothing),
    "zeros": Kind("zeros to start from: the state before the first step", none, nothing),
    "show": Kind("a shape to look at, not a tensor", none, nothing, allocates=False, writes=no_elements),
}
