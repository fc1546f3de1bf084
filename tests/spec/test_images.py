"""How many tokens an image becomes: as transformers' image processors and processors say."""

from __future__ import annotations

import ast
import importlib.util
import math
import random
from collections import defaultdict
from functools import lru_cache
from math import prod
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from transformers.models.glm4v.image_processing_pil_glm4v import Glm4vImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.llava_next.processing_llava_next import LlavaNextProcessor
from transformers.models.llava_onevision.processing_llava_onevision import LlavaOnevisionProcessor
from transformers.models.pixtral.image_processing_pil_pixtral import get_resize_output_image_size
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

import archcalc
from archcalc.core.errors import InputError
from archcalc.spec.images import Images, Picture, Seen

RANDOM = random.Random("images")
SIZES = [(RANDOM.randint(30, 3000), RANDOM.randint(30, 3000)) for _ in range(60)]
SIZES += [(336, 336), (672, 336), (1024, 768), (364, 1456), (100, 1900), (448, 449)]
ODD = [(5, 7), (2, 300), (300, 2), (17, 999), (27, 29), (13, 2500), (4096, 4096), (9000, 60), (1, 150), (97, 13)]


class Square(NamedTuple):
    height: int
    width: int


def functions(module: str, *names: str) -> Any:
    """Of a file that cannot be imported here, since it needs torchvision."""
    found = importlib.util.find_spec(f"transformers.models.{module}")
    assert found and found.origin
    known = {"math": math, "torch": torch, "defaultdict": defaultdict, "lru_cache": lru_cache, "SizeDict": object}
    tree = ast.parse(Path(found.origin).read_text(encoding="utf-8"))
    tree.body = [each for each in tree.body if isinstance(each, ast.FunctionDef) and each.name in names]
    exec(compile(tree, found.origin, "exec"), known)
    return SimpleNamespace(**{name: known[name] for name in names})


def patches(seen: Seen, side: int) -> int:
    """Of all pictures."""
    return sum(number * (height // side) * (width // side) for number, height, width in seen.pictures)


def test_qwen_rounds_to_merged_patches_within_a_range() -> None:
    rule = Images(kind="multiples", step=28, least=56 * 56, most=28 * 28 * 1280)
    processor = Qwen2VLImageProcessorPil()
    for size in SIZES:
        expected = processor.get_number_of_image_patches(*size)
        seen = rule.seen(*size)
        assert (patches(seen, 14), seen.positions) == (expected, expected // 4), size


def test_glm_counts_the_pixels_of_two_frames() -> None:
    """So that its range is half as wide for a still image."""
    rule = Images(kind="multiples", step=28, least=112 * 112 // 2, most=28 * 28 * 15000 // 2)
    processor = Glm4vImageProcessorPil()
    for size in SIZES:
        assert patches(rule.seen(*size), 14) == processor.get_number_of_image_patches(*size), size


@pytest.mark.parametrize("seed", range(12))
def test_glm_enlarges_narrow_images_and_counts_all_frames(seed: int) -> None:
    """Patches, merged patches and frames of any number; what one refuses, the other does too."""
    rng = random.Random(f"glm {seed}")
    patch, merge, frames = rng.choice([4, 7, 14, 16]), rng.randint(1, 4), rng.randint(1, 4)
    processor = Glm4vImageProcessorPil(patch_size=patch, merge_size=merge, temporal_patch_size=frames)
    rule = Images(kind="multiples", step=patch * merge, least=112**2, most=28**2 * 15000, narrow="floor", frames=frames)
    check_alike(rule, patch, processor.get_number_of_image_patches, rng)


def check_alike(rule: Images, patch: int, count: Any, rng: random.Random) -> None:
    """On usual, odd and random sizes."""
    for size in [*SIZES[:20], *ODD, *((rng.randint(1, 90), rng.randint(1, 90)) for _ in range(40))]:
        try:
            expected = count(*size)
        except ValueError:  # too oblong
            with pytest.raises(InputError):
                rule.seen(*size)
        else:
            assert patches(rule.seen(*size), patch) == expected, size


@pytest.mark.parametrize("seed", range(12))
def test_paddle_enlarges_one_side_after_the_other(seed: int) -> None:
    rng = random.Random(f"paddle {seed}")
    patch, merge = rng.choice([4, 7, 14, 16]), rng.randint(1, 4)
    step = patch * merge
    resize = functions("paddleocr_vl.image_processing_paddleocr_vl", "smart_resize").smart_resize
    rule = Images(kind="multiples", step=step, least=384**2, most=1536**2, narrow="round")
    check_alike(rule, patch, lambda *size: prod(side // patch for side in resize(*size, factor=step)), rng)


@pytest.mark.parametrize("seed", range(8))
def test_tiles_keep_their_size_where_patches_do_not_fill_them(seed: int) -> None:
    """Of a model's config: the processor knows the size of an image, and the tower sees whole patches of it."""
    rng = random.Random(f"tiles {seed}")
    patch, scale = rng.choice([4, 7, 14]), rng.choice([1, 2])
    side = patch * scale * rng.randint(2, 9)
    image = side + rng.randrange(patch)
    said = {
        "model_type": "idefics3",
        "scale_factor": scale,
        "vision_config": {"image_size": image, "patch_size": patch},
    }
    model: Any = archcalc.load(said).resolved
    edges = {"size": {"longest_edge": 4 * image}, "max_image_size": {"longest_edge": image}}
    processor, vectors = Idefics3ImageProcessorPil(**edges), (side // patch // scale) ** 2
    for size in [*SIZES[:20], *ODD]:
        tiles, rows, columns = processor.get_number_of_image_patches(*size)
        seen = model.inputs["images"].processor.seen(*size)
        assert seen.pictures == (Picture(max(tiles, 1), side, side),), size
        assert seen.positions == vectors + 3 + rows * ((vectors + 2) * columns + 1), size


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("tower", ["clip_vision_model", "siglip_vision_model", "pixtral"])
def test_llava_sees_images_as_its_tower_does(tower: str, seed: int) -> None:
    """With Pixtral of any size; otherwise of one size, and all positions or all but the first."""
    rng = random.Random(f"{tower} {seed}")
    patch, strategy = rng.choice([7, 14, 16]), rng.choice(["default", "full"])
    image = patch * rng.randint(2, 9)
    vision = {"model_type": tower, "image_size": image, "patch_size": patch}
    said = {"model_type": "llava", "vision_config": vision, "vision_feature_select_strategy": strategy}
    model: Any = archcalc.load(said).resolved
    for size in SIZES[:20]:
        seen = model.inputs["images"].processor.seen(*size)
        if tower == "pixtral":
            height, width = get_resize_output_image_size(torch.zeros(3, *size).numpy(), (image,) * 2, (patch,) * 2)
            assert seen.positions == (width // patch + 1) * (height // patch), size
        else:
            in_front = (tower == "clip_vision_model") - (strategy == "default")
            assert seen.positions == (image // patch) ** 2 + in_front, size
    assert model.beside("tokens") == model.inputs["images"].seen.positions or tower == "pixtral"


def test_kimi_pads() -> None:
    rule = Images(kind="padded", step=28, patch=14, most=16384, longest=512 * 14)
    resize = functions("kimi_k25.image_processing_kimi_k25", "navit_resize").navit_resize
    for size in [*SIZES, (5000, 9000), (20, 30000)]:
        _, (height, width) = resize(*size, 14, 2, 16384, 512)
        assert rule.seen(*size).pictures == ((1, height, width),), size


def test_pixtral_keeps_the_shape_and_ends_each_row() -> None:
    rule = Images(kind="bounded", step=28, longest=1540)
    for size in SIZES:
        height, width = get_resize_output_image_size(torch.zeros(3, *size).numpy(), (1540, 1540), (28, 28))
        assert rule.seen(*size).pictures == ((1, height, width),), size
        assert rule.seen(*size).positions == (width // 28 + 1) * (height // 28), size


def test_internvl_takes_the_nearest_aspect_ratio() -> None:
    rule = Images(kind="ratio", size=448, vectors=256, least=1, most=12, beside=2)
    processor = GotOcr2ImageProcessorPil(crop_to_patches=True, size={"height": 448, "width": 448})
    for size in SIZES:
        tiles = processor.get_number_of_image_patches(*size)
        assert rule.seen(*size) == Seen((Picture(tiles, 448, 448),), 256 * tiles, tokens=2), size


def test_idefics_splits_by_the_sides() -> None:
    """With separators between tiles; a global picture behind them."""
    rule = Images(kind="split", size=364, vectors=169, longest=4 * 364)
    processor = Idefics3ImageProcessorPil()
    for size in SIZES:
        tiles, rows, columns = processor.get_number_of_image_patches(*size)
        seen = rule.seen(*size)
        assert seen.pictures[0].number == max(tiles, 1), size
        assert seen.positions == 169 + 3 + rows * ((169 + 2) * columns + 1), size


PINPOINTS = ((336, 672), (672, 336), (672, 672), (1008, 336), (336, 1008))


def bare(made: Any, **fields: Any) -> Any:
    """A processor that only counts."""
    processor = made.__new__(made)
    vars(processor).update(image_processor=SimpleNamespace(image_grid_pinpoints=PINPOINTS), **fields)
    return processor


def test_llava_next_leaves_out_the_bars_beside_an_image() -> None:
    rule = Images(kind="listed", size=336, vectors=576, sizes=PINPOINTS)
    processor = bare(LlavaNextProcessor, patch_size=14, num_additional_image_tokens=0)
    for size in SIZES:
        assert rule.seen(*size).positions == processor._get_number_of_features(*size, 336, 336), size


def test_llava_onevision_pools_large_images() -> None:
    rule = Images(kind="listed", size=336, vectors=576, sizes=PINPOINTS, most=2)
    processor = bare(LlavaOnevisionProcessor, num_image_tokens=576, vision_aspect_ratio="anyres_max_2")
    for size in SIZES:
        assert rule.seen(*size).positions == processor._get_number_of_features(*size, 336, 336), size


@pytest.mark.parametrize("tokens", [70, 280, 1120])
def test_gemma4_fills_what_an_image_may_have(tokens: int) -> None:
    rule = Images(kind="filled", step=48, most=tokens * 48 * 48, beside=2)
    gemma = functions("gemma4.image_processing_gemma4", "get_aspect_ratio_preserving_size")
    for size in [*SIZES, (20, 3000), (2900, 30)]:
        height, width = gemma.get_aspect_ratio_preserving_size(*size, 16, tokens * 9, 3)
        seen = rule.seen(*size)
        assert seen.pictures == ((1, height, width),), size
        assert seen.positions == height * width // 48**2 + 2, size


def test_llama4_scales_as_little_as_possible() -> None:
    rule = Images(kind="canvas", size=336, vectors=144, most=16)
    llama = functions("llama4.image_processing_llama4", "get_factors", "find_supported_resolutions", "get_best_fit")
    canvases = torch.tensor(llama.find_supported_resolutions(16, Square(336, 336)))
    for size in SIZES:
        rows, columns = (int(side) // 336 for side in llama.get_best_fit(size, canvases))
        several = rows * columns > 1
        tiles = rows * columns + several
        assert rule.seen(*size).pictures == ((tiles, 336, 336),), size
        assert rule.seen(*size).positions == 144 * tiles + rows * columns * several + 1, size


@pytest.mark.parametrize(
    ("rule", "size", "fact"),
    [
        (Images(kind="multiples", step=28, least=3136, most=10**6), (10, 9000), "more than 200 times as long"),
        (Images(kind="fixed", size=336, vectors=576), (0, 5), "an image of 0 × 5 pixels"),
        (Images(kind="fixed", size=336, vectors=576), (10**30, 5), "use sides from 1"),
        (Images(kind="fixed", size=336), (5, 5), "need vectors"),
    ],
)
def test_sizes_and_rules_that_make_no_picture_are_refused(rule: Images, size: tuple[int, int], fact: str) -> None:
    with pytest.raises(InputError) as error:
        rule.seen(*size)
    assert fact in str(error.value)
