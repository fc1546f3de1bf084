"""Strategies that draw decoders whose layers carry a state along the sequence, with every option that they have."""

from __future__ import annotations

from hypothesis import strategies as st

from support.drawn_specs import ACTIVATIONS, TRUTH, Spec, norms, scopes

SMALL = st.integers(1, 4)
TAPS = st.integers(1, 4)
BIASES = st.sampled_from((True, False, ["in"], ["out"]))
CHUNKS = st.sampled_from((1, 2, 3, 4, 16))


@st.composite
def mambas(draw: st.DrawFn) -> Spec:
    """With and without norms on Δ, B and C."""
    said: Spec = {"inner": draw(st.integers(3, 9)), "state": draw(SMALL), "conv": draw(TAPS), "dt_rank": draw(SMALL)}
    said["norms"] = draw(st.sampled_from((False, True, "weightless")))
    return {**said, "bias": draw(BIASES), "conv_bias": draw(TRUTH)}


@st.composite
def second_mambas(draw: st.DrawFn) -> Spec:
    """Heads that share B and C, channels that are normalised together, chunks that do not fill."""
    groups, norm_groups = draw(st.integers(1, 2)), draw(st.integers(1, 2))
    heads = groups * draw(st.integers(1, 3))
    said: Spec = {"kind": "mamba2", "inner": heads * norm_groups * draw(SMALL), "heads": heads, "groups": groups}
    said |= {"state": draw(SMALL), "conv": draw(TAPS), "chunk": draw(CHUNKS)}
    normed = draw(st.sampled_from((True, True, False)))
    said |= {"gate_norm": normed, **({"norm_groups": norm_groups} if normed else {})}
    return {**said, "bias": draw(BIASES), "conv_bias": draw(TRUTH)}


@st.composite
def delta_nets(draw: st.DrawFn) -> Spec:
    """Value heads that share a key, values wider or narrower than keys; Kimi's, which has neither."""
    heads = draw(st.integers(1, 2))
    said: Spec = {"heads": heads, "head_dim": draw(SMALL), "conv": draw(TAPS), "chunk": draw(CHUNKS)}
    if draw(TRUTH):
        return {**said, "kind": "kda", "squeeze": draw(TRUTH)}
    return {**said, "v_heads": heads * draw(st.integers(1, 3)), "v_dim": draw(SMALL)}


@st.composite
def recurrent_units(draw: st.DrawFn) -> Spec:
    """Blocks of channels of every width."""
    heads = draw(st.integers(1, 3))
    act = draw(st.sampled_from(ACTIVATIONS))
    return {"heads": heads, "width": heads * draw(SMALL), "conv": draw(TAPS), "act": act}


@st.composite
def lightnings(draw: st.DrawFn) -> Spec:
    """Chunks that do and do not fill."""
    said: Spec = {"heads": draw(st.integers(1, 3)), "head_dim": draw(SMALL), "chunk": draw(CHUNKS)}
    return {**said, "act": draw(st.sampled_from(ACTIVATIONS))}


STATES = (
    *(("mamba", mambas()), ("mamba", second_mambas()), ("delta", delta_nets()), ("rglru", recurrent_units())),
    ("lightning", lightnings()),
)


@st.composite
def decoders_with_states(draw: st.DrawFn) -> Spec:
    """Alone, before a feed-forward part, in turns with attention, and beside it."""
    part, layers = draw(st.sampled_from(STATES))
    patterns = ([part], [f"{part} ffn"], [f"2 × {part} ffn", "attention ffn"], ["attention", f"{part} {part}"])
    pattern = draw(st.sampled_from((*patterns, [f"attention+{part} ffn"])))
    said = {**draw(scopes()), "norm": draw(norms()), part: draw(layers)}
    for unused in ("parallel", *(word for word in ("attention", "ffn") if word not in " ".join(pattern))):
        said.pop(unused, None)
    if "attention" not in said:
        said["position"] = "none"
    decoder = {"blocks": draw(st.integers(3, 4)), "pattern": pattern}
    return {**said, "vocab": 9, "decoder": decoder, "head": draw(st.sampled_from(("lm", "tied", "none")))}
