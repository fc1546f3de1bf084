"""Training steps of DPO and GRPO in plain PyTorch, for tests to trace: a loss of every token's log-probability.

The order of what is computed and held is that of TRL's trainers; the numbers of the loss itself do not matter here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import log_softmax

from archcalc.verify.hf.traced import Recorder, Trace, recorded
from archcalc.verify.hf.training import Training


def log_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """One sequence after the other: in fp32 by the logarithm of a sum, else by a softmax."""
    places = ids.unsqueeze(-1)
    if logits.dtype == torch.float32:
        chosen = logits.gather(-1, places)
        sums = torch.stack([row.logsumexp(-1) for row in logits])
        return (chosen - sums.unsqueeze(-1)).squeeze(-1)
    rows = [log_softmax(row, -1).gather(-1, place) for row, place in zip(logits, places, strict=True)]
    return torch.stack(rows).squeeze(-1)


@dataclass(frozen=True)
class GroupTraining(Training):
    """GRPO: a variable for the logits only in the function that reads them."""

    @cached_property
    def inputs(self) -> dict[str, Tensor]:
        found = super().inputs
        return {"input_ids": found["input_ids"]}

    def _forward(self) -> Any:
        return self._log_probabilities(self.model).sum()

    def _log_probabilities(self, model: Any) -> Tensor:
        logits = model(**self.inputs, use_cache=False).logits
        return log_probabilities(logits[:, :-1], self.inputs["input_ids"][:, 1:])


@dataclass(frozen=True)
class PairTraining(GroupTraining):
    """DPO: chosen and rejected sequences in one batch, the policy's logits held until the reference has run too."""

    has_reference: bool = True

    @cached_property
    def reference(self) -> Any:
        return Training(self.config, replace(self.setting, lora=0), self.own_head, self.device).model.eval()

    def _forward(self) -> Any:
        """Metrics copy the logits of the chosen sequences, by a mask that hides none here."""
        ids = self.inputs["input_ids"]
        logits = self.model(input_ids=ids, use_cache=False).logits[:, :-1]
        of_policy = log_probabilities(logits, ids[:, 1:]).sum()
        if not self.has_reference:
            return of_policy
        with torch.no_grad():
            others = self.reference(input_ids=ids, use_cache=False).logits[:, :-1]
        of_reference = log_probabilities(others, ids[:, 1:]).sum()
        chosen, _ = logits.detach().chunk(2)
        chosen.clone()
        return of_policy - of_reference


def traced(training: Training) -> Trace:
    """With the weights of a reference model, if there is one, among what is there from the start."""
    recorder = Recorder(training, in_place=True)
    if isinstance(training, PairTraining) and training.has_reference:
        for parameter in training.reference.parameters():
            recorder.add(parameter, "parameter")
        for buffer in training.reference.buffers():
            recorder.add(buffer, "buffer")
    return recorded(training, recorder)
