"""The loss of DPO and GRPO: the log-probability of every token in the place of a mean cross-entropy.

Source: TRL, selective_log_softmax in trl/trainer/utils.py, which takes one sequence after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from archcalc.core.errors import InputError
from archcalc.core.ir import Dim, Module, ModuleGroup, Op, Region, Tensor, axes, walk


@dataclass(frozen=True)
class TokenLogProbabilities:
    """A change to a traced model. `cast`: its 16-bit logits are returned in fp32. `wide`: they are fp32 then."""

    wide: bool
    cast: bool

    def __call__(self, root: Module) -> None:
        found = [module for module, _ in walk(root) if module.region == Region.LOSS]
        ops = [op for module in found for op in module.ops]
        if len(found) != 1 or not all(op.traits.loss_of_logits and len(op.inputs[1].dims) == 2 for op in ops):
            fact = "only a language model with one loss over its vocabulary is trained so"
            raise InputError(fact, "use --method sft, or leave it out", field="--method")
        section, head = found[0], next(one for one in root.children if one.group == ModuleGroup.HEAD)
        (loss,) = section.ops
        logits = loss.inputs[0]
        if self.cast:
            narrow, logits = logits, Tensor(logits.axes, "stat")
            head.body.append(Op("copy", (narrow,), logits))
        section.body[:] = self._lines(logits)

    def _lines(self, logits: Tensor) -> list[Op]:
        """The last position predicts nothing that is known; the tokens are seen where the ids are stored."""
        batch, seq, vocab = logits.dims
        shifted = Dim.of("next_tokens", max(1, int(seq.size) - 1))
        seen = logits.seen_as(batch, shifted, vocab)
        each = Tensor(axes(batch, shifted), logits.role)
        kind = "row_logsumexp" if self.wide else "row_log_softmax"
        sums, logarithms = Tensor(each.axes, "stat"), Tensor(seen.axes, logits.role)
        beside = {"logsumexp": sums} if self.wide else {"logarithms": logarithms}
        return [
            Op("slice", (logits,), seen),
            Op(kind, (seen,), each, beside=beside),
            Op("sum", (each,), Tensor(axes(), logits.role), over=(batch, shifted)),
        ]


def logits_of(root: Module) -> tuple[Tensor, Tensor]:
    """What the loss of a changed model reads: all logits, and those of tokens that are known."""
    section = next(module for module, _ in walk(root) if module.region == Region.LOSS)
    return section.ops[0].inputs[0], section.ops[0].output
