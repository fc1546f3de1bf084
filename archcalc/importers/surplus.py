"""Finds tensors of a checkpoint that are not part of the counted model, by names and shapes.

Copies of a tied head and layers that predict further tokens, which transformers skips when it loads, and encoders of
images and sounds that a count of the text model leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from archcalc.core.roles import Role
from archcalc.importers.gguf_layers import places
from archcalc.model import Model
from archcalc.spec.stored_tensors import Stored
from archcalc.storage.packed_tensors import PARAMETER, Use

Tensors = dict[str, Stored]

HEAD_COPY = "a copy of the tied head"
FURTHER = "layers that predict further tokens"
OTHER_PARTS = "the parts that the count leaves out"
_HEAD = re.compile(r"(^|\.)(lm_head|output|embed_out|head|proj_out|decoder|output_projection|embed_tokens)(\.|$)")
_FURTHER = re.compile(r"(^|\.)(mtp|nextn|mtp_\w+)(\.|$)")
_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks)\.([0-9]{1,9})\.")
_OTHER = re.compile(
    r"(^|\.)(visual|vit|v?q?vae|\w*(vision|image|audio|speech|projector|resampler)\w*|connector|merger|mm_\w+|aligner"
    r"|talker|token2wav|code2wav|conformer\w*|perceiver\w*)(\.|$)"
)


def surplus(model: Model, tensors: Tensors, used: Mapping[str, Use]) -> dict[str, Tensors]:
    """By what it is; nothing where the files hold the model alone."""
    left = dict(tensors)
    found: dict[str, Tensors] = {}
    if model.scope.left_out:
        found[OTHER_PARTS] = _taken(left, [name for name in left if _OTHER.search(name)])
    found[FURTHER] = _taken(left, _further(model, left))
    found[HEAD_COPY] = _taken(left, _copies(model, left, used))
    return {name: held for name, held in found.items() if held}


def _taken(left: Tensors, names: list[str]) -> Tensors:
    return {name: left.pop(name) for name in names}


def _further(model: Model, tensors: Tensors) -> list[str]:
    """Under names of their own, or as layers behind the last one; a model that counts them has them itself."""
    found = places(model.build())
    if any(place.param.weight_role is Role.FURTHER_TOKENS for place in found):
        return []
    depth = max((place.layers.end for place in found), default=0)
    numbered = {name: layer for name in tensors if (layer := _LAYER.search(name)) and depth and not _OTHER.search(name)}
    behind = {name for name, layer in numbered.items() if int(layer[1]) >= depth}
    return [name for name in tensors if _FURTHER.search(name) or name in behind]


def _copies(model: Model, tensors: Tensors, used: Mapping[str, Use]) -> list[str]:
    """Tensors as large as the token table, of which the model has fewer than the files: those of the head first."""
    params = [place.param for place in places(model.build())]
    table = next((param for param in params if param.weight_role is Role.TOKEN_TABLE), None)
    if table is None:
        return []
    size = int(table.size)
    own = sum(int(param.size) == size for param in params)
    alike = [name for name in tensors if used[name].role == PARAMETER and used[name].weights == size]
    heads = sorted((name for name in alike if _HEAD.search(name)), key=lambda name: "embed" in name)
    is_tied = not any(param.weight_role is Role.HEAD for param in params)
    return heads[: max(0, len(alike) - own)] if is_tied else []
