"""Position encodings: their parameters, where they act, what they need, and what cannot be combined."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers

import archcalc
from archcalc.analyze.memory.activations import saved_activations
from archcalc.reference.relative import shifted

if TYPE_CHECKING:
    from conftest import Run, Write

META = torch.device("meta")
BASE: dict[str, Any] = {"vocab": 11, "d_model": 12, "heads": 3, "ffn": 20, "head": "none"}


def counted(position: Any, **stacks: Any) -> Any:
    return archcalc.load({**BASE, "position": position, **(stacks or {"decoder": 2})}).params()


def rows(report: Any) -> dict[str, Any]:
    return {row.path: row for row in report.rows}


def extra(position: Any, **stacks: Any) -> int:
    """Parameters beside those of the same model without positions."""
    return int(counted(position, **stacks).total - counted("none", **stacks).total)


ENCODINGS = [
    ("sinusoidal", 0),
    ({"kind": "sinusoidal", "length": 50}, 0),
    ({"kind": "sinusoidal", "length": 50, "stored": True}, 50 * 12),
    ({"kind": "learned", "length": 50}, 50 * 12),
    ({"kind": "learned", "length": 50, "offset": 2}, (50 + 2) * 12),
    ("rope", 0),
    ({"kind": "rope", "fraction": 0.5, "theta": 500000.0}, 0),
    ("alibi", 0),
    ({"kind": "relative", "buckets": 32}, 32 * 3),
    ({"kind": "relative", "buckets": 32, "per": "block"}, 2 * 32 * 3),
    ({"kind": "shaw", "distance": 16}, 2 * 2 * 33 * 4),
    ({"kind": "shaw", "distance": 16, "values": False}, 2 * 33 * 4),
    (["sinusoidal", "rope"], 0),
    ([{"kind": "learned", "length": 50}, "alibi"], 50 * 12),
]


@pytest.mark.parametrize(("position", "parameters"), ENCODINGS, ids=str)
@pytest.mark.parametrize("stack", ["encoder", "decoder"])
def test_an_encoding_has_its_parameters(position: Any, parameters: int, stack: str) -> None:
    """Only tables do: max_len × d_model learned, buckets × heads relative, for a stack or each of its two blocks."""
    assert extra(position, **{stack: 2}) == parameters


@pytest.mark.parametrize(("position", "parameters"), ENCODINGS, ids=str)
def test_each_stack_has_its_own(position: Any, parameters: int) -> None:
    """An encoder and a decoder: twice; cross-attention adds none."""
    assert extra(position, encoder=2, decoder=2) == 2 * parameters


def test_tables_that_are_not_learned_are_told_apart() -> None:
    """Stored sinusoids are frozen parameters, a kept table of them a buffer, computed ones nothing."""
    stored = counted({"kind": "sinusoidal", "length": 50, "stored": True})
    assert stored.total - stored.trainable == 50 * 12
    kept = counted({"kind": "sinusoidal", "length": 50})
    assert (kept.total - kept.trainable, kept.buffers) == (0, 50 * 12)
    assert counted("sinusoidal").buffers == 0


def numel(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize("length", [1, 64, 1024])
def test_a_learned_table_is_an_embedding(length: int) -> None:
    """GPT-2's: one row of d_model for each position."""
    config = transformers.GPT2Config(n_embd=12, n_head=3, n_layer=1, n_positions=length)
    with META:
        table = transformers.GPT2Model(config).wpe
    report = rows(counted({"kind": "learned", "length": length}))
    assert report["embedding.positions.weight"].shape == tuple(table.weight.shape)
    assert report["embedding.positions"].each == numel(table) == length * 12


@pytest.mark.parametrize(("buckets", "heads", "blocks"), [(32, 3, 2), (8, 6, 5)])
@pytest.mark.parametrize("model_class", ["T5", "UMT5"])
def test_a_relative_table_is_transformers(buckets: int, heads: int, blocks: int, model_class: str) -> None:
    """T5 has one table a stack, UMT5 one a block: in both of them a number for each bucket and head."""
    config = getattr(transformers, f"{model_class}Config")(
        vocab_size=11,
        d_model=12,
        d_kv=4,
        d_ff=20,
        num_heads=heads,
        num_layers=blocks,
        relative_attention_num_buckets=buckets,
        feed_forward_proj="relu",
    )
    with META:
        model = getattr(transformers, f"{model_class}ForConditionalGeneration")(config)
    tables = [tuple(p.shape) for name, p in model.named_parameters() if "relative_attention_bias" in name]
    per = "stack" if model_class == "T5" else "block"
    relative = {"kind": "relative", "buckets": buckets, "per": per}
    spec = {**BASE, "heads": heads, "head_dim": 4, "bias": False, "norm": "rms", "head": "tied", "ffn": {"width": 20}}
    spec = {**spec, "position": relative, "embedding": {"shared": True}, "encoder": blocks, "decoder": blocks}
    report = archcalc.load(spec).params()
    ours = [row.shape for row in report.rows if row.path.endswith("position.weight") for _ in range(row.repeat)]
    assert ours == tables == [(buckets, heads)] * (2 if per == "stack" else 2 * blocks)
    assert report.total == numel(model)


def test_each_encoding_shows_where_it_acts() -> None:
    """On the embedding; on queries and keys; on the scores of every head."""
    shapes = {
        str(position): rows(archcalc.load({**BASE, "position": position, "decoder": 2}).shapes(batch=2, seq=7))
        for position in ("sinusoidal", "rope", "alibi", "none")
    }
    assert shapes["sinusoidal"]["embedding.positions"].shape == (2, 7, 12)
    assert shapes["rope"]["decoder.blocks.attention.q_rotated"].shape == (2, 3, 7, 4)
    assert shapes["rope"]["decoder.blocks.attention.k_rotated"].shape == (2, 3, 7, 4)
    assert shapes["alibi"]["decoder.blocks.attention.alibi"].shape == (3, 7, 7)
    assert not any("position" in path or "rotated" in path or "alibi" in path for path in shapes["none"])


def test_rope_turns_keys_before_they_are_shown_to_a_group_of_heads() -> None:
    """With one key-value head for three queries, one key is turned."""
    shapes = rows(archcalc.load({**BASE, "kv_heads": 1, "position": "rope", "decoder": 2}).shapes(seq=7))
    assert shapes["decoder.blocks.attention.q_rotated"].shape == (1, 3, 7, 4)
    assert shapes["decoder.blocks.attention.k_rotated"].shape == (1, 1, 7, 4)


PATHS = [("stack", "decoder.position"), ("block", "decoder.blocks.attention.position")]


@pytest.mark.parametrize(("per", "path"), PATHS)
def test_a_relative_bias_has_a_number_for_each_head_and_pair(per: str, path: str) -> None:
    """heads × seq × kv_seq, looked up once for the stack or in every block."""
    relative = {"kind": "relative", "buckets": 8, "per": per}
    shapes = rows(archcalc.load({**BASE, "position": relative, "decoder": 2}).shapes(batch=2, seq=7))
    assert (shapes[path].shape, shapes[path].dims) == ((3, 7, 7), ("heads", "seq", "kv_seq"))


@pytest.mark.parametrize(("fraction", "head_dim", "width"), [(1, 64, 64), (0.25, 64, 16), (0.4, 80, 32), (0.13, 50, 6)])
def test_a_share_of_each_head_is_rotated(fraction: float, head_dim: int, width: int) -> None:
    """As many numbers as transformers rotates with the same partial_rotary_factor."""
    rope = {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": fraction}
    config = transformers.GPTNeoXConfig(hidden_size=2 * head_dim, num_attention_heads=2, rope_parameters=rope)
    rotation = transformers.models.gpt_neox.modeling_gpt_neox.GPTNeoXRotaryEmbedding(config)
    position = {"kind": "rope", "fraction": float(fraction)}
    spec = {**BASE, "heads": 2, "head_dim": head_dim, "position": position, "decoder": 1}
    note = rows(archcalc.load(spec).shapes())["decoder.blocks.attention.q_rotated"].note
    assert 2 * len(rotation.inv_freq) == width
    assert note == ("by position" if fraction == 1 else f"by position, {width} of {head_dim}")


def test_a_part_may_differ_from_its_stack() -> None:
    """SmolLM3's blocks: every fourth one without RoPE. Gemma 3's: a theta of its own, the rest as said above."""
    spec = {**BASE, "position": {"kind": "rope", "theta": 1e6, "fraction": 0.5}}
    spec["variants"] = {"nope": {"like": "attention", "position": "none"}, "local": {"like": "attention"}}
    spec["variants"]["local"]["position"] = {"theta": 10000.0}
    spec["decoder"] = {"blocks": 6, "pattern": ["local ffn", "attention ffn", "nope ffn"]}
    model = archcalc.load(spec)
    resolved: Any = model.resolved
    parts = resolved.decoder.parts
    assert parts["nope"].positions == ()
    (local,) = parts["local"].positions
    assert (local.theta, local.fraction) == (10000.0, 0.5)
    assert {path for path in rows(model.shapes()) if path.endswith("q_rotated")} == {
        "decoder.blocks.local-ffn.local.q_rotated",
        "decoder.blocks.attention-ffn.attention.q_rotated",
    }


def test_a_stack_may_differ_from_the_model() -> None:
    """Whisper: stored sinusoids in the encoder, a learned table in the decoder."""
    encoder = {"blocks": 1, "position": {"kind": "sinusoidal", "length": 15, "stored": True}}
    decoder = {"blocks": 1, "position": {"kind": "learned", "length": 9}}
    report = counted("none", encoder=encoder, decoder=decoder)
    assert rows(report)["source_embedding.positions"].each == 15 * 12
    assert rows(report)["target_embedding.positions"].each == 9 * 12
    assert report.total - report.trainable == 15 * 12


MISTAKES = [
    ("position=learned", "learned positions need length", "{kind: learned, length: 1024}"),
    ("position=relative", "relative positions need buckets", "{kind: relative, buckets: 32}"),
    ("position={kind: sinusoidal, stored: true}", "stored sinusoidal positions need length", "stored: true}"),
    ("position={kind: rope, buckets: 8}", "rope has no buckets", "fraction, length, stored, theta"),
    ("position=[sinusoidal, {kind: learned, length: 9}]", "sinusoidal and learned both act on the", "keep one"),
    ("position=[alibi, rope]", "alibi and rope both act in attention", "keep one"),
    ("position=[rope, rope]", "rope and rope both act in attention", "keep one"),
    ("position={kind: rope, fraction: 0.1}", "RoPE rotates pairs, and 0.1 of head_dim 192 is 19", "fraction: 0.09375"),
    ("position={kind: rope, fraction: 0.001}", "RoPE rotates pairs, and 0.001 of head_dim 192 is 0", "fraction"),
    ("cross.position=rope", "cross-attention has no rope positions", "two sequences"),
    ("cross.position=alibi", "cross-attention has no alibi positions", "self-attention keeps its own"),
    ("attention.position=sinusoidal", "sinusoidal positions are added to the embedding", "at the model or the stack"),
]


@pytest.mark.parametrize(("change", "fact", "hint"), MISTAKES)
def test_what_makes_no_sense_is_refused(run: Run, change: str, fact: str, hint: str) -> None:
    """With the field at fault and a way out; nothing is dropped in silence."""
    answer = run("params", "--set", change)
    assert (answer.code, answer.out) == (2, "")
    assert fact in answer.err and hint in answer.err


@pytest.mark.parametrize(("head_dim", "hint"), [(7, "fraction: 0.857143"), (19, "fraction: 0.947369"), (1, "even")])
def test_rope_needs_pairs(run: Run, head_dim: int, hint: str) -> None:
    """An odd head cannot be rotated as a whole."""
    answer = run("params", "--set", "position=rope", "--set", f"head_dim={head_dim}")
    assert answer.code == 2
    assert f"RoPE rotates pairs, and head_dim {head_dim} is odd" in answer.err and hint in answer.err
    if head_dim > 1:
        fraction = hint.partition(": ")[2]
        change = f"position={{kind: rope, fraction: {fraction}}}"
        assert run("params", "--set", change, "--set", f"head_dim={head_dim}").code == 0


def test_sinusoids_need_pairs(run: Run, write: Write) -> None:
    """A sine and a cosine each: d_model is even. The mistake is told with its line."""
    file = write("vocab: 9\nd_model: 15\nheads: 3\nffn: 8\nposition: sinusoidal\ndecoder: 1\n")
    answer = run("params", file)
    assert answer.code == 2
    assert "model.yaml:5: position: sinusoidal positions are pairs of a sine and a cosine" in answer.err
    assert "use d_model 14 or 16" in answer.err


def test_a_mistake_is_found_where_it_stands(run: Run, write: Write) -> None:
    """In the stack that says it, not at the top."""
    text = "vocab: 9\nd_model: 8\nheads: 2\nffn: 8\ndecoder:\n  blocks: 1\n  position:\n    kind: rope\n    buckets: 3"
    assert "model.yaml:9: decoder.position.buckets: rope has no buckets" in run("params", write(text)).err


def test_one_relative_table_serves_attentions_of_one_width(run: Run, write: Write) -> None:
    """A variant with other heads cannot read the stack's table; a table for each block can be as it likes."""
    text = """
vocab: 9
d_model: 16
heads: 2
ffn: 8
position: {kind: relative, buckets: 8}
variants: {wide: {like: attention, heads: 4}}
decoder: {pattern: [attention ffn, wide ffn]}
head: none
"""
    answer = run("params", write(text))
    assert answer.code == 2
    assert "one relative position table for the stack, but attention layers with 2 and 4 heads" in answer.err
    assert run("params", write(text.replace("buckets: 8", "buckets: 8, per: block"))).code == 0


# Shaw's relative positions


def test_shaws_tables_are_shared_by_heads_and_by_no_blocks() -> None:
    """2 × 8 + 1 vectors of head_dim for keys and as many for values, in each of twelve self-attentions."""
    shaw = archcalc.load("transformer-big-shaw")
    sinusoidal = archcalc.load("transformer-big-shaw", set=["position=sinusoidal"])
    assert shaw.params().total - sinusoidal.params().total == 12 * 2 * (2 * 8 + 1) * 64


def test_shaws_positions_cost_two_more_products_of_attention() -> None:
    """Queries with the vectors of keys, weights with those of values: as much as q·kᵀ and α·v."""
    model = {**BASE, "decoder": 1}
    plain, relative, keys_alone = (
        archcalc.load({**model, "position": position}).flops(batch=2, seq=5).forward
        for position in ("none", {"kind": "shaw", "distance": 2}, {"kind": "shaw", "distance": 2, "values": False})
    )
    product = 2 * 2 * 3 * 5 * 5 * 4  # two FLOPs × batch × heads × queries × keys × head_dim
    assert (relative - plain, keys_alone - plain) == (2 * product, product)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("position: shaw", "shaw positions need distance"),
        ("position: {kind: shaw, distance: 4, buckets: 3}", "shaw has no buckets"),
        ("position: [rope, {kind: shaw, distance: 4}]", "rope and shaw both act in attention"),
        ("position: {kind: shaw, distance: 4}\nattention: {feature: elu}", "shaw adds to the scores"),
        ("position: {kind: rope, distance: 4}", "rope has no distance"),
    ],
)
def test_what_shaws_positions_need(run: Run, write: Write, text: str, said: str) -> None:
    answer = run("params", write(f"vocab: 9\nd_model: 8\nheads: 2\nffn: 4\ndecoder: 1\n{text}\n"))
    assert answer.code == 2
    assert said in answer.err


# Transformer-XL

SEGMENTS: dict[str, Any] = {"kind": "transformer-xl", "memory": 7}


@pytest.mark.parametrize(("shared", "biases"), [(True, 1), (False, 2)])
def test_transformer_xl_has_a_matrix_for_each_block_and_two_biases(shared: bool, biases: int) -> None:
    """W_kR of d_model × (heads · head_dim) in both blocks; u and v of heads × head_dim, once or for each block."""
    assert extra({**SEGMENTS, "shared": shared}, decoder=2) == 2 * 12 * 12 + biases * 2 * 3 * 4


def test_transformer_xl_for_enwik8_has_its_41_million_parameters() -> None:
    """By hand: five matrices of attention and a feed-forward layer in each of 12 blocks, a tied table and its bias."""
    block = 5 * 512 * 512 + (512 * 2048 + 2048) + (2048 * 512 + 512) + 2 * 2 * 512
    assert archcalc.load("transformer-xl-enwik8").params().total == 12 * block + 2 * 8 * 64 + 204 * 512 + 204


def test_transformer_xl_makes_keys_and_values_of_memory_and_segment() -> None:
    """Besides attention over 5 positions: k and v of 7 more, scores with 7 more, W_kR on 12 distances, q with them."""
    plain, relative = (
        archcalc.load({**BASE, "decoder": 1, "position": position}).flops(batch=2, seq=5).forward
        for position in ("none", SEGMENTS)
    )
    keys_and_values, distances = 2 * 2 * 2 * 7 * 12 * 12, 2 * 12 * 12 * 12
    with_memory, with_distances = 2 * 2 * 2 * 3 * 5 * 7 * 4, 2 * 2 * 3 * 5 * 12 * 4
    assert relative - plain == keys_and_values + distances + with_memory + with_distances


@pytest.mark.parametrize(
    ("options", "copies"),
    [({"mode": "train"}, 1), ({"mode": "train", "accumulate": 3}, 3), ({"mode": "infer"}, 1), ({"mode": "decode"}, 1)],
)
def test_the_memory_of_transformer_xl_is_a_state_in_every_mode(options: Any, copies: int) -> None:
    """Batch × memory × d_model for each block, in 4 bytes, however long the sequence; no keys and values beside it."""
    model = archcalc.load({**BASE, "decoder": 2, "position": SEGMENTS, "precision": "fp32"})
    length: Any = {"context": 20} if options["mode"] == "decode" else {"seq": 20}
    parts = model.memory(batch=3, **length, **options).parts
    assert (parts["state"], parts["kv_cache"]) == (copies * 2 * 3 * 7 * 12 * 4, 0)


def test_the_memory_of_transformer_xl_is_no_activation() -> None:
    """Recomputing blocks keeps their inputs; the memory, as large for every block, is there anyway."""
    models = [archcalc.load({**BASE, "decoder": 2, "position": {**SEGMENTS, "memory": memory}}) for memory in (7, 8)]
    roots = [model.build(model.workload(batch=3, seq=5)) for model in models]
    fewer, more = (saved_activations(root, "fp32", recompute="block").bytes for root in roots)
    encodings, mask = 12 * 4, 5  # one distance and one column of the mask more
    assert more - fewer == encodings + mask


def test_scores_by_distance_are_shifted_to_the_places_of_keys() -> None:
    """What query i has for the distance i − j stands in column j, for every key that it may see."""
    queries, keys = 3, 5  # two of a memory
    by_distance = torch.rand(2, queries, keys)  # the largest distance first
    found = shifted(by_distance)
    for i in range(queries):
        for j in range(keys - queries + i + 1):
            distance = keys - queries + i - j
            assert torch.equal(found[:, i, j], by_distance[:, i, keys - 1 - distance])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decoder: 1\nposition: transformer-xl", "transformer-xl positions need memory"),
        ("encoder: 1\nposition: {kind: transformer-xl, memory: 4}", "are for causal attention"),
        ("decoder: 1\nposition: {kind: transformer-xl, memory: 4}\nattention: {window: 3}", "has no window"),
        ("decoder: 1\nposition: {kind: transformer-xl, memory: 4}\nattention: {feature: elu}", "adds to the scores"),
        ("decoder: 1\nposition: {kind: shaw, distance: 3, memory: 4}", "shaw has no memory"),
        (
            "decoder: {blocks: 2, pattern: [attention ffn, wide ffn]}\nvariants: {wide: {like: attention, heads: 4}}\n"
            "position: {kind: transformer-xl, memory: 4}",
            "one pair of biases u and v for the stack",
        ),
    ],
)
def test_what_transformer_xl_needs(run: Run, write: Write, text: str, said: str) -> None:
    answer = run("params", write(f"vocab: 9\nd_model: 8\nheads: 2\nffn: 4\n{text}\n"))
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    ("options", "said"),
    [(("--tp", "2", "--sp"), "memory of earlier segments"), (("--cp", "2"), "plain flash attention")],
)
def test_transformer_xl_is_not_split_along_the_sequence(run: Run, options: tuple[str, ...], said: str) -> None:
    answer = run("memory", "transformer-xl-enwik8", "--mode", "train", *options)
    assert answer.code == 2
    assert said in answer.err
