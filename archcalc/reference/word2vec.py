"""word2vec in plain PyTorch: skip-gram and CBOW, with a full softmax or with negative sampling."""

import torch
from torch import Tensor, nn

from archcalc.reference import Config
from archcalc.reference.family import Family
from archcalc.reference.layers import Weight


class Vectors(nn.Embedding):
    """A word's vector, or the mean of several."""

    def forward(self, ids: Tensor) -> Tensor:
        found = super().forward(ids)
        if ids.dim() == 2:
            return found.mean(dim=1)
        return found


class Candidates(Weight):
    """A score for each candidate of every sample."""

    def forward(self, h: Tensor, ids: Tensor) -> Tensor:
        return (nn.functional.embedding(ids, self.weight) @ h[:, :, None])[..., 0]


class Word2vec(nn.Module):
    """Two tables: one that is read, and one that scores."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embedding = Vectors(config["vocab"], config["width"])
        if config["negatives"]:
            self.output: nn.Module = Candidates(config["vocab"], config["width"])
        else:
            self.output = nn.Linear(config["width"], config["vocab"], bias=False)

    def forward(self, words: Tensor, *candidates: Tensor) -> Tensor:
        scores: Tensor = self.output(self.embedding(words), *candidates)
        return scores


class Words(Family):
    """All of them."""

    def build(self, options: dict[str, str]) -> nn.Module:
        return Word2vec(self.config)

    def inputs(self, batch: int, lengths: dict[str, int], device: torch.device) -> list[Tensor]:
        config = self.config
        shapes: list[tuple[int, ...]] = [(batch,)]
        if config["kind"] == "cbow":
            shapes = [(batch, 2 * config["window"])]
        if config["negatives"]:
            shapes.append((batch, config["negatives"] + 1))
        return [torch.randint(config["vocab"], shape, device=device) for shape in shapes]

    def loss(self, output: Tensor, given: list[Tensor]) -> Tensor:
        """Of the true word among all, or of every candidate by itself: the first one is true."""
        if not self.config["negatives"]:
            targets = torch.randint(output.shape[-1], output.shape[:1], device=output.device)
            return nn.functional.cross_entropy(output, targets)
        labels = torch.zeros(output.shape, dtype=output.dtype, device=output.device)
        labels[:, 0] = 1
        return nn.functional.binary_cross_entropy(torch.sigmoid(output), labels)


FAMILY = Words
