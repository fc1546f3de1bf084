"""The cache: tensors that layers keep for the next token."""

from torch import Tensor


class Cache:
    """Tensors by the run of a block and a name, and of how many tokens they are.

    `run` counts the blocks of one forward pass: a block that is run several times keeps something for each run.
    """

    def __init__(self, *, forgets: bool = True) -> None:
        self.forgets = forgets  # what a memory of segments no longer holds
        self.length = 0
        self.run = 0
        self._tensors: dict[tuple[int, str], Tensor] = {}

    def get(self, name: str) -> Tensor | None:
        """What an earlier call kept under this name in this run, or nothing."""
        return self._tensors.get((self.run, name))

    def keep(self, name: str, tensor: Tensor) -> None:
        self._tensors[self.run, name] = tensor

    def tensors(self) -> list[Tensor]:
        """All that is kept, of every run."""
        return list(self._tensors.values())
