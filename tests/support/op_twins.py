"""Every kind of op beside the PyTorch function it stands for: one op alone, under every choice of wanted gradients.

A twin says which tensors go in, which of them may want gradients, how archcalc records the op and how PyTorch computes
it. `disagreements` compares FLOPs forward and backward, and the bytes kept in fp32 and bf16.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations
from archcalc.core.ir import Dim, Module, Tensor, axes
from archcalc.core.ops import KINDS
from archcalc.reference import measure, positions
from archcalc.reference.fused import FusedAttention, Scores
from archcalc.reference.layers import XieluKernel as Xielu
from archcalc.reference.scan import as_kernel

BATCH, SEQ, WIDTH, OUT, ROWS = (
    Dim.of(*named) for named in (("batch", 2), ("seq", 3), ("width", 4), ("out", 5), ("rows", 7))
)
HEADS, PAST, EACH = Dim.of("heads", 2), Dim.of("kv_seq", 5), Dim.of("head_dim", 8)
X = axes(BATCH, SEQ, WIDTH)
QUERY, KEY = axes(BATCH, HEADS, SEQ, EACH), axes(BATCH, HEADS, PAST, EACH)
SCORES = axes(BATCH, HEADS, SEQ, PAST)
NARROW = axes(BATCH, HEADS, PAST, Dim.of("v_dim", 6))
TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}
ROLES = {"index": torch.int64, "mask": torch.bool}


@dataclass(frozen=True, eq=False)
class Twin:
    """A kind, its inputs as (axes, role), and the same in PyTorch. A role `param` makes it a parameter."""

    kind: str
    inputs: tuple[tuple[Any, str], ...]
    torch: Callable[..., torch.Tensor]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.kind} of {' and '.join(role for _, role in self.inputs) or 'nothing'}"

    def wanted(self) -> Iterator[tuple[bool, ...]]:
        """Every choice of inputs that want a gradient; indices and masks cannot."""
        return product(*((True, False) if role in ("act", "param") else (False,) for _, role in self.inputs))


def _rotate(x: torch.Tensor, cosines: torch.Tensor, sines: torch.Tensor) -> torch.Tensor:
    return positions.rotate(x, cosines, sines)


def _scan(decay: torch.Tensor, added: torch.Tensor) -> torch.Tensor:
    state, states = torch.zeros_like(added[:, 0]), []
    for place in range(added.shape[1]):
        state = decay[:, place] * state + added[:, place]
        states.append(state)
    return torch.stack(states, dim=1)


def _in_one_kernel(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return as_kernel(lambda x, y: (torch.tanh(x * y), y), x, y)[0]


def _flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v)[0]
    return found


class _InPlace(torch.autograd.Function):
    """Keeps logits and targets, and would write the gradient over the logits."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(logits, targets)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        logits, _ = ctx.saved_tensors
        return logits, None


def _cross_entropy_in_place(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = _InPlace.apply(logits, targets)
    return found


def _efficient(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = torch.ops.aten._scaled_dot_product_efficient_attention(q, k, v, bias, True)[0]
    return found


WITH_SINKS = {"softcap": False, "sinks": True, "positions": [], "feature": "softmax"}
SEES_ALL = {"causal": False, "window": None, "chunk": None, "memory": 0}


def _bent_flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = FusedAttention.apply(q, k, v, sinks, None, Scores({**WITH_SINKS, "sight": SEES_ALL}))
    return found


def _uneven_flash(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    said = {**WITH_SINKS, "sinks": False, "v_dim": v.shape[-1], "sight": SEES_ALL}
    found: torch.Tensor = FusedAttention.apply(q, k, v, None, None, Scores(said))
    return found


def _solve(right: torch.Tensor, system: torch.Tensor) -> torch.Tensor:
    return torch.linalg.solve_triangular(system, right, upper=False, unitriangular=True)


def _pooled(pool: Callable[..., torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """Over the windows that archcalc sees side by side."""
    return lambda windows: pool(windows.flatten(2), 2)


ALONE = ((X, "act"),)
TWO = ((X, "act"), (X, "act"))
ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "relu": F.relu,
    "relu2": lambda x: F.relu(x).square(),
    "leaky_relu": F.leaky_relu,
    "elu": F.elu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "softplus": F.softplus,
    "exp": torch.exp,
    "root": torch.sqrt,
    "square": torch.square,
    "cube": lambda x: x.pow(3),
    "erf": torch.erf,
    "softmax": lambda x: x.softmax(-1),
    "softmax_fp32": lambda x: x.softmax(-1, dtype=torch.float32).to(x.dtype),
    "scale": lambda x: x / 3,
    "dropout": lambda x: torch.native_dropout(x, 0.1, True)[0],
    "identity": lambda x: x * 1,
    "selu": F.selu,
    "relu6": F.relu6,
    "clamp": partial(torch.clamp, min=-1, max=1),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "mish": F.mish,
    "log_softmax": lambda x: x.log_softmax(-1),
}
CHANNELS, GROUPS, INSIDE = Dim.of("channels", 4), Dim.of("groups", 2), Dim.of("in_group", 2)
HEIGHT, HALF, TAPS = Dim.of("height", 6), Dim.of("half", 3), Dim.of("taps", 2)
TWELVE = Dim.of("twelve", 12)
MAP, WINDOWS = axes(BATCH, CHANNELS, HEIGHT), axes(BATCH, CHANNELS, HALF, TAPS)
SCALED = ((MAP, "act"), (axes(CHANNELS), "param"), (axes(CHANNELS), "param"))
SPLIT = axes(BATCH, GROUPS, INSIDE, HEIGHT)
SOLVED, OTHER, ONE = Dim.of("solved", 3), Dim.of("other", 3), Dim.of("one", 1)
TWINS = (
    *(Twin(kind, ALONE, compute) for kind, compute in ACTIVATIONS.items()),
    Twin(
        "contract",
        ((X, "act"), (axes(OUT, WIDTH), "param")),
        F.linear,
        {"to": axes(BATCH, SEQ, OUT), "over": (WIDTH,)},
    ),
    *(
        Twin(
            kind,  # on one GPU nothing is gathered
            ((X, "act"), (axes(OUT, WIDTH), "param")),
            F.linear,
            {"to": axes(BATCH, SEQ, OUT), "over": (WIDTH,)},
        )
        for kind in ("gathering_linear", "buffered_linear", "scattering_linear")
    ),
    Twin(
        "contract",
        ((QUERY, "act"), (KEY, "act")),
        lambda q, k: q @ k.mT,
        {"to": axes(BATCH, HEADS, SEQ, PAST), "over": (EACH,)},
    ),
    Twin(
        "affine",
        ((X, "act"), (axes(OUT, WIDTH), "param"), (axes(OUT), "param")),
        F.linear,
        {"to": axes(BATCH, SEQ, OUT), "over": (WIDTH,)},
    ),
    Twin("flash", ((QUERY, "act"), (KEY, "act"), (KEY, "act")), _flash),
    Twin("efficient", ((QUERY, "act"), (KEY, "act"), (KEY, "act"), (SCORES, "act")), _efficient),
    Twin("bent_flash", ((QUERY, "act"), (KEY, "act"), (KEY, "act"), (axes(HEADS), "param")), _bent_flash),
    Twin("xielu", ((X, "act"), (axes(ONE), "param"), (axes(ONE), "param")), Xielu.apply),
    Twin(
        "bent_flash",
        ((QUERY, "act"), (KEY, "act"), (NARROW, "act")),
        _uneven_flash,
        {"to": axes(BATCH, HEADS, SEQ, NARROW[-1])},
    ),
    Twin("add", TWO, torch.add),
    Twin("add", ((X, "act"), (axes(WIDTH), "param")), torch.add),
    Twin("subtract", TWO, torch.sub),
    Twin("multiply", TWO, torch.mul),
    Twin("multiply", ((X, "act"), (axes(WIDTH), "param")), torch.mul),
    Twin("divide", TWO, torch.div),
    Twin("layer_norm", ALONE, lambda x: F.layer_norm(x, (4,))),
    Twin("layer_norm", ((X, "act"), (axes(WIDTH), "param")), lambda x, w: F.layer_norm(x, (4,), w)),
    Twin(
        "layer_norm",
        ((X, "act"), (axes(WIDTH), "param"), (axes(WIDTH), "param")),
        lambda x, w, b: F.layer_norm(x, (4,), w, b),
    ),
    Twin("weight_norm", ((X, "param"), (axes(WIDTH), "param")), lambda v, g: torch._weight_norm(v, g[None, None], 2)),
    Twin("rms_norm", ALONE, lambda x: F.rms_norm(x, (4,))),
    Twin("rms_norm", ((X, "act"), (axes(WIDTH), "param")), lambda x, w: F.rms_norm(x, (4,), w)),
    Twin("batch_norm", ((MAP, "act"),), lambda x: F.batch_norm(x, None, None, training=True)),
    Twin("batch_norm", SCALED, lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True)),
    Twin("group_norm", ((SPLIT, "act"), *SCALED[1:]), lambda x, w, b: F.group_norm(x.flatten(1, 2), 2, w, b)),
    Twin("instance_norm", ((MAP, "act"),), F.instance_norm),
    Twin("scaled_instance_norm", SCALED, lambda x, w, b: F.instance_norm(x, None, None, w, b)),
    Twin("prelu", ((MAP, "act"), (axes(CHANNELS), "param")), F.prelu),
    Twin("max_pool", ((WINDOWS, "act"),), _pooled(F.max_pool1d), {"to": axes(BATCH, CHANNELS, HALF), "over": (TAPS,)}),
    Twin(
        "average_pool", ((WINDOWS, "act"),), _pooled(F.avg_pool1d), {"to": axes(BATCH, CHANNELS, HALF), "over": (TAPS,)}
    ),
    Twin("pad", ((MAP, "act"),), lambda x: F.pad(x, (0, 1)), {"to": axes(BATCH, CHANNELS, ROWS)}),
    Twin("enlarge", ((MAP, "act"),), lambda x: F.interpolate(x, scale_factor=2), {"to": axes(BATCH, CHANNELS, TWELVE)}),
    Twin("reorder", ((MAP, "act"),), lambda x: x.unflatten(1, (2, 2)).transpose(1, 2).flatten(1, 2)),
    Twin("where", ((X, "act"), (axes(SEQ, WIDTH), "mask")), lambda x, mask: torch.where(mask, x, -1.0)),
    Twin("mask", ((X, "act"), (axes(SEQ, WIDTH), "mask")), lambda x, mask: x.masked_fill(mask, -1.0)),
    Twin("scan", TWO, _scan),
    Twin("kernel", TWO, _in_one_kernel),
    Twin(
        "solve", ((axes(BATCH, SOLVED, WIDTH), "act"), (axes(BATCH, SOLVED, OTHER), "act")), _solve, {"over": (OTHER,)}
    ),
    Twin("rotate", ((QUERY, "act"), (axes(SEQ, EACH), "constant"), (axes(SEQ, EACH), "constant")), _rotate),
    Twin(
        "lookup",
        ((axes(BATCH, SEQ), "index"), (axes(ROWS, WIDTH), "param")),
        F.embedding,
        {"to": X, "select": (ROWS,)},
    ),
    Twin("choose", ALONE, lambda x: x.topk(2).values, {"to": axes(BATCH, SEQ, Dim.of("top", 2))}),
    Twin("largest", ALONE, lambda x: x.max(1).values, {"to": axes(BATCH, WIDTH), "over": (SEQ,)}),
    Twin(
        "one_hot",
        ((axes(BATCH, SEQ), "index"),),
        lambda ids: torch.zeros(2, 3, 7, device="meta").scatter(-1, ids[..., None], 1),
        {"to": axes(BATCH, SEQ, ROWS)},
    ),
    Twin("length", ALONE, lambda x: torch.linalg.vector_norm(x, dim=1), {"to": axes(BATCH, WIDTH), "over": (SEQ,)}),
    Twin("sum", ALONE, lambda x: x.sum(1), {"to": axes(BATCH, WIDTH), "over": (SEQ,)}),
    Twin(
        "cross_entropy",
        ((X, "act"), (axes(BATCH, SEQ), "index")),
        lambda x, targets: F.cross_entropy(x.flatten(0, 1), targets.flatten()),
        {"to": ()},
    ),
    Twin(
        "cross_entropy_in_place",
        ((X, "act"), (axes(BATCH, SEQ), "index")),
        _cross_entropy_in_place,
        {"to": ()},
    ),
    Twin("binary_cross_entropy", TWO, F.binary_cross_entropy, {"to": ()}),
    Twin("squared_error", TWO, F.mse_loss, {"to": ()}),
    Twin(
        "gather",
        ((axes(ROWS, WIDTH), "act"), (axes(SEQ), "index")),
        lambda x, places: x[places],
        {"to": axes(SEQ, WIDTH), "select": (ROWS,)},
    ),
    Twin(
        "pick",
        ((axes(BATCH, SEQ, ROWS), "act"), (axes(SEQ, WIDTH), "index")),
        lambda x, places: x.gather(-1, places.expand(2, -1, -1)),
        {"to": X, "select": (ROWS,)},
    ),
    Twin(
        "placed",
        ((X, "act"), (axes(BATCH, SEQ, Dim.of("part", 2)), "act"), (axes(Dim.of("part", 2)), "index")),
        lambda x, part, places: x.index_copy(-1, places, part),
    ),
    Twin(
        "hide",
        ((axes(BATCH, SEQ, WIDTH), "index"),),
        lambda places: torch.ones(2, 3, 7, dtype=torch.bool, device="meta").scatter(-1, places, False),
        {"to": axes(BATCH, SEQ, ROWS)},
    ),
    Twin("repeat", ALONE, lambda x: x.repeat_interleave(2, 0), {"to": axes(Dim.of("twice", 4), SEQ, WIDTH)}),
    Twin("concat", TWO, lambda x, y: torch.cat((x, y)), {"to": axes(Dim.of("twice", 4), SEQ, WIDTH)}),
    Twin("append", ALONE, torch.clone),
    Twin("append_values", ALONE, torch.clone),
    Twin("copy", ALONE, torch.clone),
    Twin("split", ALONE, lambda x: x.split(2, -1)[0], {"to": axes(BATCH, SEQ, Dim.of("part", 2))}),
    Twin("slice", ALONE, lambda x: x[..., 2:], {"to": axes(BATCH, SEQ, Dim.of("part", 2))}),
    Twin("within", ALONE, lambda x: x.expand(2, 3, 4)),
    Twin("seen", ALONE, lambda x: x.view_as(x)),
    Twin("view", ALONE, lambda x: x.transpose(0, 1), {"to": axes(SEQ, BATCH, WIDTH)}),
)
COLLECTIVES = {"all_gather", "reduce_scatter", "all_to_all", "send", "receive"}  # between GPUs: nothing is computed
GOLDEN = Path(__file__).parents[1] / "golden" / "elementwise_flops.txt"
IN_INFERENCE = {"running_norm"}  # training normalises by the statistics of the batch
IN_STEPS = {  # what libraries' code does; compared in whole training steps (tests/verify: test_peak, test_methods_peak)
    *("row_log_softmax", "row_logsumexp"),
    *(
        "argument",
        "asked",
        "cast",
        "cast_back",
        "grouped",
        "expand",
        "fused_rms_norm",
        "inverse_root",
        "mean",
        "negate",
        "nll_loss",
    ),
}
REFUSED = {"unknown", "sinkhorn"}  # what training keeps of them is refused, not counted
WITHOUT_TWIN = (  # most of them have no input
    REFUSED
    | COLLECTIVES
    | IN_INFERENCE
    | IN_STEPS
    | {"unpack", "input", "ids", "order", "shift", "zeros", "constant", "show"}
)


def disagreements(twin: Twin) -> list[str]:
    """Where archcalc and PyTorch differ, over all choices of wanted gradients and both precisions."""
    found = []
    for wanted in twin.wanted():
        ours, theirs = _archcalc(twin, wanted), _pytorch(twin, wanted)
        found += [
            f"{twin.name}, gradients {wanted}: {what} {ours[what]} against {theirs[what]}"
            for what in ours
            if ours[what] != theirs[what]
        ]
    return found


def elementwise_flops() -> str:
    """Forward and backward FLOPs of every op that is no matrix product, with all gradients wanted."""
    lines = []
    for twin in TWINS:
        done = work(recorded(twin, next(iter(twin.wanted()))))
        if not KINDS[twin.kind].matrix:
            lines.append(f"{twin.name}: {done.elementwise} forward, {done.elementwise_backward} backward")
    return "\n".join(lines) + "\n"


def gives_out(twin: Twin) -> str:
    """The role of what comes out; what is kept for a next step is numbers."""
    role = KINDS[twin.kind].role
    return "act" if role == "cache" else role


def recorded(twin: Twin, wanted: tuple[bool, ...]) -> Module:
    """The op, alone in a module."""
    m = Module("alone")
    tensors = [
        _tensor(m, index, *said, wants) for index, (said, wants) in enumerate(zip(twin.inputs, wanted, strict=True))
    ]
    m.record(twin.kind, *tensors, **twin.options)
    return m


def _tensor(m: Module, index: int, shape: Any, role: str, wants: bool) -> Tensor:
    if role == "param":
        return m.param(f"weight_{index}", *(dim for axis in shape for dim in axis), trainable=wants)
    return Tensor(shape, "act" if role == "constant" else role, grad=wants)


def _archcalc(twin: Twin, wanted: tuple[bool, ...]) -> dict[str, int]:
    m = recorded(twin, wanted)
    done = work(m)
    kept = {f"bytes in {name}": int(saved_activations(m, name).bytes) for name in TYPES}
    return {"forward": int(done.forward), "backward": int(done.backward), **kept}


@cache
def _pytorch(twin: Twin, wanted: tuple[bool, ...]) -> dict[str, int]:
    steps = {name: _step(twin, wanted, dtype) for name, dtype in TYPES.items()}
    kept = {f"bytes in {name}": step.saved for name, step in steps.items()}
    return {"forward": steps["fp32"].forward, "backward": steps["fp32"].backward, **kept}


def role_of(twin: Twin) -> str:
    """Of what PyTorch gives out: numbers, places or marks."""
    tensors = [_meta(shape, role, TYPES["fp32"]) for shape, role in twin.inputs]
    given = twin.torch(*tensors).dtype
    return next((role for role, dtype in ROLES.items() if dtype == given), "act")


def _meta(shape: Any, role: str, dtype: torch.dtype) -> torch.Tensor:
    sizes = [int(dim.size) for axis in shape for dim in axis]
    return torch.zeros(sizes, dtype=ROLES.get(role, dtype), device="meta")


def _step(twin: Twin, wanted: tuple[bool, ...], dtype: torch.dtype) -> measure.Step:
    model = nn.Module()
    tensors = []
    for index, ((shape, role), wants) in enumerate(zip(twin.inputs, wanted, strict=True)):
        made = _meta(shape, role, dtype)
        if role == "param":
            made = nn.Parameter(made, requires_grad=wants)
            model.register_parameter(f"weight_{index}", made)
        tensors.append(made.requires_grad_(wants) if wants else made)
    spare = torch.zeros((), requires_grad=True, device="meta")  # so that there is a backward pass in any case
    return measure.training_step(model, lambda: twin.torch(*tensors).sum() + spare)
