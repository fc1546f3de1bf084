"""The input of a stack: token or patch embeddings; then positions, a norm, dropout."""

from __future__ import annotations

from typing import TYPE_CHECKING

from archcalc.archs.transformer.parts.part import normed
from archcalc.core.ir import Dim, Module, Param, Tensor, axes
from archcalc.layers.dims import vocab_of
from archcalc.layers.dropout import dropped
from archcalc.layers.embedding import add_types, join_tables, look_up, token_table
from archcalc.layers.linear import linear
from archcalc.layers.patches import cut, learned_vectors, project, put_in_front
from archcalc.spec.node import as_tuple

if TYPE_CHECKING:
    from archcalc.archs.transformer.resolve import ResolvedStack
    from archcalc.archs.transformer.tables import Audio
    from archcalc.layers.patches import Patches
    from archcalc.spec.workload import Workload

SPARE = "spare table (stored, never used)"  # BART stores the shared one even if encoder and decoder do not use it


def embed(m: Module, batch: Dim, seq: Dim, stack: ResolvedStack, tables: dict[str, Param], work: Workload) -> Tensor:
    """`tables` are the token embeddings so far, for a shared embedding and a tied head."""
    if stack.patches:
        x = _embed_image(m, batch, seq, stack, stack.patches)
    elif stack.audio:
        x = _embed_audio(m, batch, seq, stack, stack.audio)
    else:
        x = _embed_tokens(m, batch, seq, stack, tables)
    for position in stack.positions:
        if position.on_embedding:
            x = position.add_to(m, x, stack.patches)
    if stack.patches:
        x = _behind_positions(m, x, seq, stack.patches)
    projected = stack.tables.project if stack.tables.projects else ""
    if projected == "sum":
        x = _projected(m, x, stack)
    if stack.embedding.norm:
        x = normed(m["norm"], x, stack.norm)
    if projected == "norm":
        x = _projected(m, x, stack)
    return dropped(m, x, stack.dropout, work, "embedding")


def _projected(m: Module, x: Tensor, stack: ResolvedStack) -> Tensor:
    """From the width of the tables to d_model."""
    return linear(m["projection"], x, Dim.of("d_model", stack.d_model), bias=stack.tables.project_bias)


def _embed_audio(m: Module, batch: Dim, seq: Dim, stack: ResolvedStack, audio: Audio) -> Tensor:
    """A spectrogram through convolutions, to one vector of d_model per position."""
    from archcalc.layers.conv import conv

    frames = Dim.of("frames", audio.frames(seq.size))
    x = m.record("input", to=axes(batch, frames, Dim.of("mels", audio.mels)), name="frames")
    for index, kernel in enumerate(audio.kernels, start=1):
        length = seq if index == len(audio.kernels) else Dim.of(f"frames_{index}", audio.frames(seq.size, index))
        made = conv(m[f"conv_{index}"], x, Dim.of("d_model", stack.d_model), kernel, seq=length)
        x = m.record("gelu", made, name=f"convolved_{index}")
    return x


def _embed_tokens(m: Module, batch: Dim, seq: Dim, stack: ResolvedStack, tables: dict[str, Param]) -> Tensor:
    ids = m.record("ids", to=axes(batch, seq), name="ids")
    first = "shared" if stack.embedding.shared else stack.name
    if first not in tables:
        assert stack.vocab
        tables[first] = token_table(m["tokens"], vocab_of(stack.vocab), stack.tables.dim)
        if stack.embedding.spare and "spare" not in tables:
            m["spare"].words.title = m["spare"].words.term = SPARE
            tables["spare"] = token_table(m["spare"], *tables[first].dims)
    tables[stack.name] = tables[first]
    if stack.embedding.bias:
        m.record("show", to=axes(*ids.dims, tables[first].dims[0]), name="one_hot", note="what one-hot · W + b reads")
    x = look_up(m["tokens"], ids, tables[first], bias=bool(stack.embedding.bias))
    if stack.embedding.joined:
        x = join_tables(m, x, stack.embedding.joined)
    if stack.tables.projects and stack.tables.project == "tokens":
        x = _projected(m, x, stack)
    for index, rows in enumerate(rows for rows in as_tuple(stack.embedding.types) if rows):
        x = add_types(m[f"types_{index + 1}" if index else "types"], x, rows)
    return x


def _embed_image(m: Module, batch: Dim, seq: Dim, stack: ResolvedStack, patches: Patches) -> Tensor:
    """Projected patches after the learned tokens."""
    d_model = Dim.of("d_model", stack.d_model)
    x = project(m["projection"], cut(m, batch, patches), d_model, bias=patches.bias)
    placed = Dim.of("placed", patches.positions) if patches.registers else seq
    if patches.tokens:
        m["tokens"].words.title = "class token" if patches.tokens == 1 else f"{patches.tokens} tokens in front"
        return put_in_front(m["tokens"], x, patches.tokens, placed)
    return x.seen_as(batch, placed, d_model)


def _behind_positions(m: Module, x: Tensor, seq: Dim, patches: Patches) -> Tensor:
    """Registers have no positions."""
    if patches.mask:
        learned_vectors(m["mask_token"], 1, x.dims[-1])  # kept for pre-training: no patch is hidden here
    return put_in_front(m["registers"], x, patches.registers, seq) if patches.registers else x
