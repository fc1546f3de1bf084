"""Position encodings: sinusoids, rotations, ALiBi's slopes, buckets of distances."""

import math

import torch
from torch import Tensor, nn

from archcalc.reference import Config


def sinusoids(start: int, length: int, width: int, like: Tensor) -> Tensor:
    """Sines and cosines of geometric frequencies, alternating."""
    places = torch.arange(start, start + length, device=like.device, dtype=torch.float32)
    frequencies = torch.exp(torch.arange(0, width, 2, device=like.device) * (-math.log(10000.0) / width))
    angles = torch.outer(places, frequencies)
    return torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(1).to(like.dtype)


def rotations(start: int, length: int, width: int, theta: float, like: Tensor) -> tuple[Tensor, Tensor]:
    """RoPE's cosines and sines, one row for each position, both halves of a head alike."""
    places = torch.arange(start, start + length, device=like.device, dtype=torch.float32)
    frequencies = theta ** (-torch.arange(0, width, 2, device=like.device, dtype=torch.float32) / width)
    angles = torch.outer(places, frequencies).repeat(1, 2)
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


def rotations_by_side(patches: Config, width: int, theta: float, like: Tensor) -> tuple[Tensor, Tensor]:
    """RoPE's cosines and sines of patches: half of the frequencies by row, the others by column; tokens in front stay
    as they are."""
    places = torch.cartesian_prod(*(torch.arange(side, device=like.device) for side in grid(patches))).float()
    frequencies = theta ** (-torch.arange(0, width // 2, 2, device=like.device, dtype=torch.float32) / (width // 2))
    angles = (places[:, :, None] * frequencies).flatten(1).repeat(1, 2)
    angles = nn.functional.pad(angles, (0, 0, patches["tokens"] + patches["registers"], 0))
    return angles.cos().to(like.dtype), angles.sin().to(like.dtype)


class Angles(nn.Module):
    """RoPE's sines and cosines as a frozen table, a row for each position: sines in its first half (RoFormer)."""

    def __init__(self, length: int, width: int) -> None:
        super().__init__()
        cosines, sines = rotations(0, length, width, 10000.0, torch.zeros(0))
        table = torch.cat((sines[:, : width // 2], cosines[:, : width // 2]), dim=-1)
        self.weight = nn.Parameter(table, requires_grad=False)

    def forward(self, start: int, length: int) -> Tensor:
        return self.weight[start : start + length]


def rotate(x: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    """Turn the first dims of every head; the rest passes as it is."""
    width = cosines.shape[-1]
    turned, rest = x[..., :width], x[..., width:]
    first, second = turned.chunk(2, dim=-1)
    turned = turned * cosines + torch.cat((-second, first), dim=-1) * sines
    if not rest.shape[-1]:
        return turned
    return torch.cat((turned, rest), dim=-1)


def alibi(heads: int, start: int, length: int, like: Tensor) -> Tensor:
    """−slope × distance for each head, query and key."""
    places = torch.arange(start, start + length, device=like.device)
    distances = (places[:, None] - torch.arange(start + length, device=like.device)[None, :]).abs()
    slopes = torch.tensor(alibi_slopes(heads), device=like.device)
    return (-slopes[:, None, None] * distances).to(like.dtype)


def alibi_slopes(heads: int) -> list[float]:
    """2^(−8h/n) for a power of two; otherwise the next smaller power's, then every other one of the next larger's."""
    power = 2 ** math.floor(math.log2(heads))
    slopes = [2.0 ** (-8 * (head + 1) / power) for head in range(power)]
    between = [2.0 ** (-4 * (head + 1) / power) for head in range(0, 2 * power, 2)]
    return slopes + between[: heads - power]


def buckets(start: int, length: int, number: int, *, causal: bool, device: torch.device) -> Tensor:
    """Distances in buckets: near ones apart, far ones by their logarithm, all beyond 128 in the last."""
    queries = torch.arange(start, start + length, device=device)[:, None]
    distance = torch.arange(start + length, device=device)[None, :] - queries
    base = torch.zeros_like(distance)
    if not causal and number > 1:
        number //= 2
        base = (distance > 0) * number
        distance = distance.abs()
    else:
        distance = -distance.clamp(max=0)
    near = max(1, number // 2)
    far = near + (torch.log(distance.clamp(min=1) / near) / math.log(128 / near) * (number - near)).long()
    return base + torch.where(distance < near, distance, far.clamp(max=number - 1)).clamp(max=number - 1)


def differences(patches: Config) -> int:
    """Rows of a table that tells all differences of row and column apart, and a token's places from a patch's."""
    rows, columns = (len({one - other for one in range(side) for other in range(side)}) for side in grid(patches))
    return rows * columns + (3 if patches["tokens"] + patches["registers"] else 0)


def rows_on_grid(patches: Config, device: torch.device) -> Tensor:
    """The row of every pair of positions: tokens in front, then the patches, row by row (BeitRelativePositionBias)."""
    (rows, columns), front = grid(patches), patches["tokens"] + patches["registers"]
    places = torch.arange(rows * columns, device=device)
    down, across = (each[:, None] - each[None, :] for each in (places // columns, places % columns))
    found = (down + rows - 1) * (2 * columns - 1) + across + columns - 1
    if not front:
        return found
    to_patch, to_token, between = range((2 * rows - 1) * (2 * columns - 1), differences(patches))
    whole = nn.functional.pad(found, (front, 0, front, 0), value=to_patch)
    whole[:, :front] = to_token
    whole[:front, :front] = between
    return whole


def grid(patches: Config) -> tuple[int, int]:
    """Rows and columns of patches."""
    return patches["image"][0] // patches["patch"][0], patches["image"][1] // patches["patch"][1]


def clipped(queries: range, limit: int, device: torch.device) -> Tensor:
    """The row of each pair's distance in a table of Shaw's: 0 for keys `limit` or more behind, 2 · limit ahead."""
    places = torch.arange(queries.start, queries.stop, device=device)
    distance = torch.arange(queries.stop, device=device)[None, :] - places[:, None]
    return distance.clamp(-limit, limit) + limit
