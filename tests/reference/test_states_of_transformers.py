"""Layers with a state give the same numbers as the modules of transformers, with the same weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from torch import Tensor, nn

import archcalc
from archcalc.reference.block import make_part
from archcalc.reference.unsaid import worked_out
from archcalc.verify.plain import plain

if TYPE_CHECKING:
    from collections.abc import Callable

D, BATCH, SEQ = 12, 2, 10


def ours(part: str, **fields: Any) -> nn.Module:
    """The reference of one part, as a spec says it."""
    stack = {"blocks": 1, "pattern": [part]}
    spec = {"vocab": 5, "d_model": D, "norm": "rms", "decoder": stack, "head": "none", part: fields}
    resolved: Any = worked_out(plain(archcalc.load(spec).resolved))
    return make_part(resolved["decoder"]["parts"][part], D, D, {}).double()


def given(module: nn.Module, theirs: nn.Module, names: dict[str, str], **changed: Tensor) -> None:
    """Copy weights by name: ours on the left, theirs on the right."""
    weights = theirs.state_dict()
    shapes = {name: parameter.shape for name, parameter in module.named_parameters()}
    values = {name: changed[name] if name in changed else weights[source] for name, source in names.items()}
    module.load_state_dict({name: value.view(shapes[name]) for name, value in values.items()})


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    torch.manual_seed(0)


def drawn(theirs: nn.Module) -> nn.Module:
    """Random weights everywhere, in double precision; norms add nothing to what they divide by."""
    for parameter in theirs.parameters():
        nn.init.normal_(parameter, std=0.5)
    for module in theirs.modules():
        vars(module).update({"variance_epsilon": 0.0} if hasattr(module, "variance_epsilon") else {})
    return theirs.double().eval()


MIXER = {
    "in.weight": "in_proj.weight",
    "conv.weight": "conv1d.weight",
    "conv.bias": "conv1d.bias",
    "A_log": "A_log",
    "D": "D",
    "out.weight": "out_proj.weight",
}
MAMBA = {**MIXER, "select.weight": "x_proj.weight", "dt.weight": "dt_proj.weight", "dt.bias": "dt_proj.bias"}
MAMBA2 = {**MIXER, "dt_bias": "dt_bias", "norm.weight": "norm.weight"}


def mamba() -> tuple[nn.Module, nn.Module]:
    from transformers import MambaConfig
    from transformers.models.mamba.modeling_mamba import MambaMixer

    theirs = drawn(MambaMixer(MambaConfig(hidden_size=D, state_size=6, conv_kernel=3, time_step_rank=2), 0))
    made = ours("mamba", state=6, conv=3, dt_rank=2)
    given(made, theirs, MAMBA)
    return made, theirs


def jamba() -> tuple[nn.Module, nn.Module]:
    from transformers import JambaConfig
    from transformers.models.jamba.modeling_jamba import JambaMambaMixer

    sizes = {"mamba_d_state": 6, "mamba_d_conv": 3, "mamba_dt_rank": 2, "num_attention_heads": 2}
    theirs = drawn(JambaMambaMixer(JambaConfig(hidden_size=D, **sizes), 0))
    made = ours("mamba", state=6, conv=3, dt_rank=2, norms=True)
    norms = {f"{name}_norm.weight": f"{name}_layernorm.weight" for name in ("dt", "b", "c")}
    given(made, theirs, {**MAMBA, **norms})
    return made, theirs


def mamba2() -> tuple[nn.Module, nn.Module]:
    from transformers import Mamba2Config
    from transformers.models.mamba2.modeling_mamba2 import Mamba2Mixer

    sizes = {"num_heads": 8, "head_dim": 3, "n_groups": 2, "chunk_size": 4, "state_size": 6, "conv_kernel": 3}
    theirs = drawn(Mamba2Mixer(Mamba2Config(hidden_size=D, **sizes), 0))
    made = ours("mamba", kind="mamba2", heads=8, groups=2, chunk=4, state=6, conv=3)
    given(made, theirs, MAMBA2)
    return made, theirs


def nemotron() -> tuple[nn.Module, nn.Module]:
    from transformers import NemotronHConfig
    from transformers.models.nemotron_h.modeling_nemotron_h import NemotronHMamba2Mixer

    sizes = {"mamba_num_heads": 8, "mamba_head_dim": 3, "n_groups": 2, "chunk_size": 4, "ssm_state_size": 6}
    config = NemotronHConfig(hidden_size=D, conv_kernel=3, layers_block_type=["mamba"], **sizes)
    theirs = drawn(NemotronHMamba2Mixer(config, 0))
    made = ours("mamba", kind="mamba2", heads=8, groups=2, norm_groups=2, chunk=4, state=6, conv=3)
    given(made, theirs, MAMBA2)
    return made, theirs


def delta() -> tuple[nn.Module, nn.Module]:
    from transformers import Qwen3NextConfig
    from transformers.models.qwen3_next.modeling_qwen3_next import Qwen3NextGatedDeltaNet

    sizes = {"num_key_heads": 2, "num_value_heads": 4, "key_head_dim": 3, "value_head_dim": 5, "conv_kernel_dim": 3}
    config = Qwen3NextConfig(hidden_size=D, **{f"linear_{name}": size for name, size in sizes.items()})
    theirs = drawn(Qwen3NextGatedDeltaNet(config, 0))
    made = ours("delta", heads=2, v_heads=4, head_dim=3, v_dim=5, conv=3, chunk=4)
    names = {**MAMBA2, "rates.weight": "in_proj_ba.weight"}
    for name in ("conv.bias", "D"):
        del names[name]
    fused, rates = (theirs.get_parameter(f"in_proj_{name}.weight") for name in ("qkvz", "ba"))
    shares = _by_kind(fused, 3, 3, 2 * 5, 2 * 5), _by_kind(rates, 2, 2)
    given(made, theirs, {**names, "in.weight": ""}, **dict(zip(("in.weight", "rates.weight"), shares, strict=True)))
    return made, theirs


def _by_kind(weight: Tensor, *widths: int) -> Tensor:
    """Rows that stand together by head of keys, put together by what they make: queries, keys, values, gates."""
    by_head = weight.detach().unflatten(0, (2, -1)).split(widths, dim=1)
    return torch.cat([share.flatten(0, 1) for share in by_head])


def rglru() -> tuple[nn.Module, nn.Module]:
    from transformers import RecurrentGemmaConfig
    from transformers.models.recurrent_gemma.modeling_recurrent_gemma import RecurrentGemmaRecurrentBlock

    sizes = {"lru_width": 8, "num_attention_heads": 2, "conv1d_width": 3, "num_hidden_layers": 1}
    theirs = drawn(RecurrentGemmaRecurrentBlock(RecurrentGemmaConfig(hidden_size=D, **sizes), 0))
    made = ours("rglru", width=8, heads=2, conv=3, act="gelu_tanh")
    layers = {"gate": "linear_y", "in": "linear_x", "out": "linear_out", "conv": "conv_1d"}
    names = {f"{name}.{kind}": f"{source}.{kind}" for name, source in layers.items() for kind in ("weight", "bias")}
    for gate in ("input_gate", "recurrent_gate"):
        names |= {f"{gate}.{kind}": f"rg_lru.{gate}_{kind}" for kind in ("weight", "bias")}
    given(made, theirs, {**names, "rate": "rg_lru.recurrent_param"})
    return made, theirs


def kimi() -> tuple[nn.Module, nn.Module]:
    from transformers import KimiLinearConfig
    from transformers.models.kimi_linear.modeling_kimi_linear import KimiLinearDeltaAttention

    sizes = {"linear_num_heads": 2, "linear_head_dim": 3, "linear_conv_kernel_dim": 3, "num_hidden_layers": 1}
    theirs = drawn(KimiLinearDeltaAttention(KimiLinearConfig(hidden_size=D, **sizes), 0))
    made = ours("delta", kind="kda", heads=2, head_dim=3, conv=3, chunk=4)
    layers = {"conv": "conv1d", "rate": "b_proj", "norm": "o_norm", "gate_in": "g_a_proj", "gate_out": "g_b_proj"}
    layers |= {"forget_in": "forget_gate.f_a_proj", "forget_out": "forget_gate.f_b_proj", "out": "o_proj"}
    layers |= {name: f"{name}_proj" for name in "qkv"}
    names = {f"{name}.weight": f"{source}.weight" for name, source in layers.items()}
    given(made, theirs, {**names, **{name: f"forget_gate.{name}" for name in ("dt_bias", "A_log")}})
    return made, theirs


def lightning() -> tuple[nn.Module, nn.Module]:
    from transformers import MiniMaxConfig
    from transformers.models.minimax.modeling_minimax import MiniMaxLightningAttention

    sizes = {"num_attention_heads": 2, "head_dim": 3, "block_size": 4, "num_hidden_layers": 2}
    theirs = drawn(MiniMaxLightningAttention(MiniMaxConfig(hidden_size=D, **sizes), 0))
    made = ours("lightning", heads=2, head_dim=3, chunk=4)
    by_head = theirs.get_parameter("qkv_proj.weight").detach().unflatten(0, (2, 3, -1))
    shares = {f"{name}.weight": by_head[:, index].flatten(0, 1) for index, name in enumerate("qkv")}
    names = {"norm.weight": "norm.weight", "gate.weight": "output_gate.weight", "out.weight": "out_proj.weight"}
    given(made, theirs, {**names, **dict.fromkeys(shares, "")}, **shares)
    return made, theirs


@pytest.mark.parametrize("layer", [mamba, jamba, mamba2, nemotron, delta, kimi, rglru, lightning])
def test_the_same_numbers(layer: Callable[[], tuple[nn.Module, nn.Module]]) -> None:
    """For random inputs, up to what single precision inside of transformers loses."""
    made, theirs = layer()
    x = torch.randn(BATCH, SEQ, D, dtype=torch.float64)
    with torch.no_grad():
        theirs_found = _of_transformers(theirs, x)
        assert torch.allclose(made(x, {}), theirs_found, rtol=1e-4, atol=1e-5)
        assert theirs_found.abs().max() > 1e-2


def _of_transformers(module: nn.Module, x: Tensor) -> Tensor:
    if "Lightning" in type(module).__name__:
        return module(x, None, None)[0]
    if "Recurrent" not in type(module).__name__:
        return module(x)
    places = torch.arange(1, SEQ + 1)[None]  # from 1: at position 0 RecurrentGemma starts anew
    return module(x, places, torch.ones(BATCH, SEQ), use_cache=False)[0]
