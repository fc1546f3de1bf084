"""Vision Transformers: an image in patches, counted against transformers and traced beside its forward pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
import transformers
from support.assumption_texts import texts
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations

if TYPE_CHECKING:
    from conftest import Run, Write

META = torch.device("meta")
CLASSES: dict[int, tuple[Any, Any]] = {  # by the number of tokens in front
    1: (transformers.ViTForImageClassification, transformers.ViTConfig),
    2: (transformers.DeiTForImageClassification, transformers.DeiTConfig),
}


def numel(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


def spec(**embedding: Any) -> dict[str, Any]:
    return {
        "d_model": 24,
        "heads": 3,
        "ffn": 40,
        "position": "learned",
        "embedding": {"kind": "patches", "image": 12, "patch": 4, **embedding},
        "encoder": 2,
        "head": {"kind": "classifier", "classes": 5, "bias": True},
    }


def config(config_class: Any = transformers.ViTConfig, **changes: Any) -> Any:
    sizes = {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40, "num_hidden_layers": 2}
    return config_class(**{**sizes, "image_size": 12, "patch_size": 4, "num_labels": 5, **changes})


def built(model_class: Any, config: Any, **options: Any) -> Any:
    with META:
        return model_class(config, **options).eval()


def rows(report: Any) -> dict[str, Any]:
    return {row.path: row for row in report.rows}


LARGE = {"hidden_size": 1024, "num_attention_heads": 16, "num_hidden_layers": 24}
PRESETS: dict[str, tuple[int, dict[str, int]]] = {
    "vit-b-16": (86_567_656, {}),
    "vit-b-32": (88_224_232, {"patch_size": 32}),
    "vit-l-16": (304_326_632, LARGE),
    "vit-l-32": (306_535_400, {**LARGE, "patch_size": 32}),
    "vit-h-14": (632_045_800, {**LARGE, "hidden_size": 1280, "num_hidden_layers": 32, "patch_size": 14}),
    "deit-ti-16": (5_717_416, {"hidden_size": 192, "num_attention_heads": 3}),
    "deit-s-16": (22_050_664, {"hidden_size": 384, "num_attention_heads": 6}),
}


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_the_class_it_names(name: str) -> None:
    """The count that is published, the count of transformers' class, and the shape of every one of its tensors."""
    count, sizes = PRESETS[name]
    whole = {**sizes, "intermediate_size": 4 * sizes.get("hidden_size", 768), "num_labels": 1000}
    model = built(transformers.ViTForImageClassification, transformers.ViTConfig(**whole))
    report = archcalc.load(name).params()
    assert report.total == numel(model) == count
    assert tensors(report) == sorted(plain(parameter.shape) for parameter in model.parameters())


def tensors(report: Any) -> list[tuple[int, ...]]:
    found = [row for row in report.rows if row.kind == "tensor"]
    return sorted(plain(row.shape) for row in found for _ in range(row.repeat))


def plain(shape: Any) -> tuple[int, ...]:
    """Without the axes of length 1 that a class token and a position table carry for the batch."""
    return tuple(size for size in shape if size != 1)


def test_the_patch_projection_is_a_convolution(run: Run) -> None:
    """Its weight has the convolution's four axes, and its count is that of a linear layer over 16 × 16 × 3 pixels."""
    answer = run("params", "vit-b-16", "--format", "json").json
    found = {row["path"]: row for row in answer["rows"]}
    assert found["embedding.projection.weight"]["shape"] == [768, 3, 16, 16]
    assert found["embedding.projection"]["worked"] == "16 × 16 × 3 × 768 + 768"
    assert found["embedding.positions"]["each"] == (14 * 14 + 1) * 768
    assert answer["non_embedding"] == answer["total"] - 197 * 768


CONFIGS = [
    {"image_size": 8, "patch_size": 8, "num_channels": 1},
    {"image_size": 30, "patch_size": 5, "num_labels": 2},
    {"image_size": [8, 20], "patch_size": 4},
    {"image_size": [12, 30], "patch_size": [4, 6], "num_channels": 4},
    {"hidden_size": 36, "num_attention_heads": 6, "num_hidden_layers": 5},
    {"intermediate_size": 7, "num_hidden_layers": 1, "num_labels": 11},
    {"qkv_bias": False},
]


@pytest.mark.parametrize("changes", CONFIGS, ids=str)
@pytest.mark.parametrize("tokens", [1, 2])
def test_any_vit_counts_what_transformers_builds(changes: dict[str, Any], tokens: int) -> None:
    """ViT with its class token; DeiT with a distillation token beside it, and a position for each."""
    model_class, config_class = CLASSES[tokens]
    wanted = config(config_class, **changes)
    written = {
        **spec(image=wanted.image_size, patch=wanted.patch_size, channels=wanted.num_channels, tokens=tokens),
        "d_model": wanted.hidden_size,
        "heads": wanted.num_attention_heads,
        "ffn": wanted.intermediate_size,
        "encoder": wanted.num_hidden_layers,
        "attention": {"bias": True if wanted.qkv_bias else ["o"]},
        "head": {"kind": "classifier", "classes": wanted.num_labels, "bias": True},
    }
    report = archcalc.load(written).params()
    model = built(model_class, wanted)
    assert report.total == numel(model)
    if tokens == 1:  # DeiT keeps its two tokens in two tensors
        assert tensors(report) == sorted(plain(parameter.shape) for parameter in model.parameters())


@pytest.mark.parametrize(("image", "patch"), [(12, 4), ([8, 20], 4), ([8, 12], [4, 2])])
def test_every_signal_has_the_shape_that_transformers_gives_it(image: Any, patch: Any) -> None:
    """A forward pass of ViTForImageClassification, module by module, beside `archcalc shapes`."""
    model = built(transformers.ViTForImageClassification, config(image_size=image, patch_size=patch))
    seen: dict[str, tuple[int, ...]] = {}
    for name, module in model.named_modules():
        module.register_forward_hook(lambda *call, name=name: seen.update({name: getattr(call[-1], "shape", ())}))
    height, width = image if isinstance(image, list) else (image, image)
    model(torch.empty(2, 3, height, width, device=META))
    ours = rows(archcalc.load(spec(image=image, patch=patch)).shapes(batch=2))
    for path, name in {
        "embedding.projection": "vit.embeddings.patch_embeddings",
        "embedding.positions": "vit.embeddings",
        "encoder.blocks.attention_norm": "vit.layers.1.layernorm_before",
        "encoder.blocks.attention.q": "vit.layers.1.attention.q_proj",
        "encoder.blocks.ffn.in": "vit.layers.0.mlp.fc1",
        "encoder.blocks.ffn_add": "vit.layers.0",
        "encoder.norm": "vit.layernorm",
        "head": "classifier",
    }.items():
        assert ours[path].shape == tuple(seen[name]), path


@pytest.mark.parametrize(("image", "patch", "channels"), [(12, 4, 3), ([8, 20], 4, 1), ([8, 12], [4, 2], 2)])
def test_its_products_are_those_that_pytorch_counts(image: Any, patch: Any, channels: int) -> None:
    """The convolution over patches included, forward and backward, where pixels want no gradient."""
    wanted = config(image_size=image, patch_size=patch, num_channels=channels, attn_implementation="eager")
    model = built(transformers.ViTForImageClassification, wanted)
    height, width = image if isinstance(image, list) else (image, image)
    with FlopCounterMode(display=False) as forward:
        logits = model(torch.empty(2, channels, height, width, device=META)).logits
    with FlopCounterMode(display=False) as backward:
        logits.sum().backward()
    ours = archcalc.load(spec(image=image, patch=patch, channels=channels))
    done = work(ours.build(ours.workload(batch=2)))
    assert (done.forward, done.backward) == (forward.get_total_flops(), backward.get_total_flops())


@pytest.mark.parametrize("tokens", [1, 2])
def test_a_training_step_keeps_what_pytorch_keeps(tokens: int) -> None:
    """Distinct storages that the backward pass needs, to the byte: the image, no position table, the loss."""
    model_class, config_class = CLASSES[tokens]
    options = {"attn_implementation": "eager", "problem_type": "single_label_classification"}
    model = built(model_class, config(config_class, **options))
    weights = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    kept: dict[int, torch.UntypedStorage] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        return tensor

    labels = torch.empty(2, dtype=torch.int64, device=META)
    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(torch.empty(2, 3, 12, 12, device=META), labels=labels)
    ours = archcalc.load(spec(tokens=tokens))
    root = ours.build(ours.workload(batch=2))
    assert saved_activations(root, "fp32").bytes == sum(s.nbytes() for key, s in kept.items() if key not in weights)


def test_an_image_on_its_way_to_a_class(run: Run) -> None:
    """Pixels, patches flattened to P²·C, projected, with the class token, with positions, pooled, classified."""
    answer = run("shapes", "vit-b-16", "--batch", "32", "--format", "json").json
    shapes = {row["path"]: row["shape"] for row in answer["rows"]}
    assert answer["seq"] == 14 * 14 + 1
    assert shapes["embedding.image"] == [32, 3, 224, 224]
    assert shapes["embedding.patches"] == [32, 14 * 14, 16 * 16 * 3]
    assert shapes["embedding.projection"] == [32, 196, 768]
    assert shapes["embedding.tokens"] == shapes["embedding.positions"] == [32, 197, 768]
    assert shapes["encoder.blocks.attention.scores"] == [32, 12, 197, 197]
    assert shapes["head.pooled"] == [32, 768]
    assert shapes["head"] == [32, 1000]


def test_a_larger_image_has_more_patches_and_interpolated_positions(run: Run) -> None:
    """`--set image=384`: 24 × 24 patches; only the position table grows, and the report says what becomes of it."""
    small = run("params", "vit-b-16", "--format", "json").json
    large = run("params", "vit-b-16", "--set", "image=384", "--format", "json").json
    assert large["total"] - small["total"] == (24 * 24 - 14 * 14) * 768
    assert large["total"] == numel(
        built(transformers.ViTForImageClassification, transformers.ViTConfig(image_size=384, num_labels=1000))
    )
    note = next(note for note in texts(large) if note.startswith("position table"))
    assert note == (
        "position table of 577 rows: of weights trained on 224 × 224 images, the 14 × 14 = 196 patch rows are "
        "interpolated to 24 × 24 = 576; the class token's row is kept"
    )
    assert not any("position table" in note for note in texts(small))
    assert note in texts(run("shapes", "vit-b-16", "--set", "image=384", "--format", "json").json)


def test_what_is_interpolated_and_what_is_kept_is_what_transformers_does() -> None:
    """Of a table for 3 × 3 patches on a 5 × 6 grid, the class token's row stays and 30 patch rows are new."""
    model = transformers.ViTModel(config())
    table = model.embeddings.position_embeddings
    longer = model.embeddings.interpolate_pos_encoding(torch.empty(1, 31, 24), 20, 24)
    assert longer.shape == (1, 1 + 5 * 6, 24)
    assert torch.equal(longer[:, :1], table[:, :1])
    notes = archcalc.load(spec(image=[20, 24], pretrained=12)).params().assumptions
    note = next(each.text for each in notes if "interpolated" in each.text)
    assert "table of 31 rows" in note and "3 × 3 = 9 patch rows are interpolated to 5 × 6 = 30" in note
    assert "the class token's row is kept" in note


def test_weights_for_larger_images_count_as_published() -> None:
    """torchvision's vit_h_14 for images of 518 has 633,470,440 parameters."""
    assert archcalc.load("vit-h-14", set=["image=518"]).params().total == 633_470_440


@pytest.mark.parametrize(("position", "rows", "trainable"), [("sinusoidal", 0, 0), ("none", 0, 0), ("learned", 10, 10)])
def test_positions_of_patches(position: str, rows: int, trainable: int) -> None:
    """A learned table has a row for each patch and token; sinusoids have none unless they are stored."""
    bare = archcalc.load({**spec(), "position": "none"}).params().total
    report = archcalc.load({**spec(), "position": position}).params()
    assert (report.total - bare, report.trainable - bare) == (rows * 24, trainable * 24)


def test_stored_sinusoids_are_as_many_as_the_image_needs() -> None:
    """Frozen, one row for each of 3 × 3 patches and the class token."""
    report = archcalc.load({**spec(), "position": {"kind": "sinusoidal", "stored": True}}).params()
    assert report.total - report.trainable == (3 * 3 + 1) * 24


def test_registers_have_no_positions() -> None:
    """DINOv2's embedding: a class token with a position, registers without one, a mask token that nothing reads."""
    from transformers.models.dinov2_with_registers.modeling_dinov2_with_registers import Dinov2WithRegistersEmbeddings

    wanted = config(transformers.Dinov2WithRegistersConfig, num_register_tokens=4)
    with META:
        embeddings = Dinov2WithRegistersEmbeddings(wanted)
    model = archcalc.load(spec(registers=4, mask=True))
    assert rows(model.params())["embedding"].each == numel(embeddings)
    found = rows(model.shapes(batch=2))
    assert found["embedding.positions"].shape == (2, 9 + 1, 24)
    assert found["embedding.registers"].shape == embeddings(torch.empty(2, 3, 12, 12, device=META)).shape == (2, 14, 24)
    assert found["encoder.blocks.attention.scores"].shape == (2, 3, 14, 14)


@pytest.mark.parametrize("tokens", [0, 1])
def test_the_mean_is_over_patches(tokens: int, run: Run) -> None:
    """Without a class token the mean is what is classified; with one it leaves the token out. No weight changes."""
    written = spec(tokens=tokens)
    written["head"]["pool"] = "mean"
    found = rows(archcalc.load(written).shapes())
    assert (found["head.pooled"].shape, found["head.pooled"].note) == ((1, 24), "the mean over patches")
    unsaid = archcalc.load(spec(tokens=tokens))
    assert unsaid.params().total == archcalc.load(written).params().total
    note = rows(unsaid.shapes())["head.pooled"].note
    assert note == ("the class token" if tokens else "the mean over patches")


def test_an_image_read_by_a_decoder() -> None:
    """An image encoder and a text decoder with cross-attention: ViT and GPT-2, whose length alone is chosen."""
    wanted = transformers.GPT2Config(n_embd=24, n_head=3, n_inner=40, n_layer=3, n_positions=7, vocab_size=11)
    wanted.add_cross_attention = True
    encoder = built(transformers.ViTModel, config(), add_pooling_layer=False)
    decoder = built(transformers.GPT2LMHeadModel, wanted)
    written = {**spec(), "vocab": 11, "head": "tied", "decoder": {"blocks": 3, "embedding": {"kind": "tokens"}}}
    written["decoder"]["position"] = {"kind": "learned", "length": 7}
    model = archcalc.load(written)
    assert model.params().total == numel(encoder) + numel(decoder)
    found = rows(model.shapes(seq=5))
    assert found["decoder.blocks.cross.scores"].shape == (1, 3, 5, 9 + 1)
    assert found["head"].shape == (1, 5, 11)


MISTAKES = [
    ("--set image=225", "image 225 does not divide into patches of 16", "use 224 or 240"),
    ("--set image=9", "image 9 does not divide into patches of 16", "use 16"),
    ("--set image=[224,250]", "image width 250 does not divide into patches of 16", "use 240 or 256"),
    ("--set image=[224,224,3]", "expected one number or [height, width], found 3 numbers", ""),
    ("--set image=0", "expected a size from 1", ""),
    ("--set pretrained=100", "pretrained 100 does not divide into patches of 16", "use 96 or 112"),
    ("--set position.length=50", "a table of 50 positions, but the image has 197", "14 × 14 patches and 1 token"),
    ("--set position.offset=2", "every position of an image is used", "leave offset out"),
    ("--set embedding.types=2", "patches has no types", "registers"),
    ("--set embedding.kind=tokens", "vocab", "32000"),
    ("--set head=lm", "an image model needs a head", "classifier"),
    ("--set head=tied", "no token table", "classifier"),
    ("--set vocab=9", "vocab is set, but nothing reads or predicts tokens", "take it out"),
    ("--set embedding.tokens=0 --set head.pool=class", "there is no class token to classify", "pool: mean"),
    ("--set decoder=6", "a decoder reads tokens, not patches", "under the encoder"),
    ("--set seq=100", "the sequence follows from the image", "take seq out"),
    ("--seq 100", "100 asked for, but the sequence is 197 long", "--set image=384"),
]


@pytest.mark.parametrize(("arguments", "fact", "hint"), MISTAKES)
@pytest.mark.parametrize("command", ["params", "shapes"])
def test_what_cannot_be_is_refused_with_a_way_out(run: Run, command: str, arguments: str, fact: str, hint: str) -> None:
    """PyTorch would drop the rest of an image that does not divide; archcalc says which sizes do."""
    answer = run(command, "vit-b-16", *arguments.split())
    assert (answer.code, answer.out) == (2, "")
    assert fact in answer.err and hint in answer.err


def test_patches_need_an_image_and_a_patch(run: Run, write: Write) -> None:
    """What is missing is named, with the line it belongs to."""
    text = "d_model: 8\nheads: 2\nffn: 8\nencoder: 1\nembedding: {kind: patches, patch: 4}\nhead: none\n"
    answer = run("params", write(text))
    assert answer.code == 2
    assert "model.yaml:5: embedding.image: patches need image" in answer.err and "write `image: 224`" in answer.err
