"""A mixture of experts as Megatron-LM computes it, tokens travelling to their experts and back.

    route → permute → all-to-all → shared expert → sort → experts, weighed inside → sort → all-to-all → unpermute

With one expert on a GPU nothing is sorted, and with all of them nothing travels. GPUs that share an expert's matrices
gather their rows before they are sorted, and add up and divide them behind. Variables hold what was permuted, what was
received and what is sent back until all is added up.
Source: megatron/core/transformer/moe/moe_layer.py, MoELayer.forward; token_dispatcher.py, MoEAlltoAllTokenDispatcher;
experts.py, TEGroupedMLP; router.py and moe_utils.py; Transformer Engine, pytorch/permutation.py.
"""

from __future__ import annotations

from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, Op, Role, Tensor
from archcalc.core.style import ExpertSizes, Projection, Shared
from archcalc.core.tensors import whole
from archcalc.styles.activations import activated
from archcalc.styles.experts import expert_bias, expert_linear, expert_weight
from archcalc.styles.linear import joined_width, linear
from archcalc.styles.steps import WIDE

MASKS = 3  # bytes for each token and expert: of the choice, of its copy for the loss, and of what is dropped
FUSED = "silu"  # the activation that has a kernel with a gate and with the router's weights


def route(m: Module, x: Tensor, experts: Dim, top: Dim, bias: bool) -> Tensor:
    """Probabilities in fp32, once more for the loss that balances experts, and masks of what was chosen."""
    scores = linear(m, x, experts, bias=bias, role=Role.ROUTER)
    shares = m.record("softmax", scores, role=WIDE)
    m.record("softmax", scores, role=WIDE)
    chosen = (*x.axes[:-1], (top,))
    masks = Tensor((*shares.axes, (Dim.of("masks", MASKS),)), "mask")
    return m.add(Op("choose", (shares,), Tensor(chosen), beside={"indices": Tensor(chosen, "index"), "masks": masks}))


def exchange(m: Module, x: Tensor, weights: Tensor, sizes: ExpertSizes, shared: Shared) -> tuple[Tensor, Tensor | None]:
    """The expert that every token visits is computed before what was received is gathered and sorted."""
    gpus = m.style.gpus
    if gpus.tp > 1 and not gpus.sp:
        fact = "Megatron-LM divides a mixture of experts over --tp only together with --sp"
        raise InputError(fact, "add --sp", field="--tp")
    number, rows = int(sizes.experts.size), (*weights.axes, x.axes[-1])
    row_map = m.record("order", to=(*x.axes[:-1], (Dim.of("row_map", 2 * number + 1),)), role="int32")
    routed = m.record("gather", x, row_map, to=rows)
    held = [routed]
    if gpus.ep > 1:
        routed = m.record("all_to_all", routed)
        held.append(routed)
    beside = shared()
    if gpus.sp:
        routed = m.record("all_gather", routed, to=whole(routed).axes)
    is_sorted = number > gpus.ep
    routed = m.record("reorder", routed) if is_sorted else routed
    answers = _weighed_inside(m["experts"], routed, weights, sizes)
    answers = m.record("reorder", answers) if is_sorted else answers
    answers = m.record("reduce_scatter", answers, to=rows) if gpus.sp else answers
    held.append(answers)
    answers = m.record("all_to_all", answers) if gpus.ep > 1 else answers
    found = m.record("gather", answers, row_map, to=x.axes)
    let_go = m.add(Op("seen", (found, *(one.detached() for one in held)), Tensor(found.axes, found.role)))
    return let_go, beside


def _weighed_inside(m: Module, x: Tensor, weights: Tensor, sizes: ExpertSizes) -> Tensor:
    """The router's weights in front of the last layer, in the kernel of the activation if that has one; gate and up are
    one product with both matrices."""
    shape = (*x.axes[:-1], (sizes.inner,))
    if not sizes.gated:
        made = expert_linear(m["in"], x, sizes.inner, Role.EXPERT_UP, sizes)
        hidden = m.record("multiply", activated(m, made, sizes.act), weights)
        return expert_linear(m["out"], hidden, x.dims[-1], Role.EXPERT_DOWN, sizes)
    (into,) = x.axes[-1]
    roles = {"gate": Role.EXPERT_GATE, "up": Role.EXPERT_UP}
    matrices = [expert_weight(m[name], into, sizes.inner, role, sizes) for name, role in roles.items()]
    biases = [expert_bias(m[name], sizes.inner, sizes) for name in roles] if sizes.bias else []
    several = tuple(Projection(name, (sizes.inner,), sizes.bias, role) for name, role in roles.items())
    packed, tensors = (*x.axes[:-1], (joined_width("packed", several),)), (x, *matrices, *biases)
    both = m["gate"].record("affine", *tensors, to=packed, over=(into,), select=(sizes.experts,))
    if sizes.act == FUSED:
        hidden = m.record("kernel", both, weights, to=shape)
    else:
        gate, up = Tensor(shape), Tensor(shape)
        m.add(Op("unpack", (both,), gate, beside={"up": up}))
        hidden = m.record("multiply", m.record("multiply", activated(m, gate, sizes.act), up), weights)
    return expert_linear(m["down"], hidden, x.dims[-1], Role.EXPERT_DOWN, sizes)
