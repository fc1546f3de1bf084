"""The function that runs a block, with the names that hold tensors while it does."""

from __future__ import annotations

from dataclasses import replace

from archcalc.core.ir import Module, Op, Tensor
from archcalc.core.tree import ops_in, read_from_outside
from archcalc.run.code.writing import end_of_scope

Item = Op | Module


class Frame:
    """A block's body: branches with matrices (attention, a feed-forward layer) and the sums that they are added in."""

    def __init__(self, block: Module) -> None:
        self.body = block.body
        self.given = block.carries[0][0]
        self.branches = [item for item in self.body if isinstance(item, Module) and _has_matrices(item)]
        self.sums = [op for op in block.ops if op.traits.passes_gradient and not op.traits.part]

    def taken(self, branch: Module) -> Tensor:
        """What a branch is given: in most models, what a norm made."""
        return read_from_outside(branch)[0]

    def behind(self, branch: Module) -> Item:
        """The branch itself, or dropout on what it gives out."""
        following = self.following(branch)
        return following if isinstance(following, Op) and following.beside else branch

    def following(self, item: Item) -> Item:
        """What runs next: a norm behind a sum; the last one itself."""
        behind = self.body[self.body.index(item) + 1 :]
        return behind[0] if behind else item

    def sum_behind(self, branch: Module) -> Item:
        """The sum that a branch is added in; of one that is not, the branch itself."""
        behind = self.body[self.body.index(branch) :]
        return next((op for op in self.sums if op in behind), branch)

    def last_read(self, branch: Module) -> Tensor:
        """What the last matrix of a branch reads."""
        matrices = [op for op in ops_in(branch) if op.traits.contraction]
        return matrices[-1].inputs[0]

    def made(self, branch: Module) -> Tensor:
        """What a branch makes, in front of its dropout."""
        behind = self.behind(branch)
        return behind.inputs[0] if isinstance(behind, Op) else self.given_out(branch)

    def given_out(self, branch: Module) -> Tensor:
        """What a branch gives out, behind its dropout."""
        last = self.behind(branch)
        op = last if isinstance(last, Op) else list(ops_in(last))[-1]
        return op.output

    def add_in_steps(self) -> None:
        """`mlp_output + attn_output + hidden_states`: of a sum of three, a sum of two first."""
        for op in self.sums:
            x, *branches = op.inputs
            if len(branches) > 1:
                place = self.body.index(op)
                both = Tensor(op.output.axes, op.output.role)
                self.body[place : place + 1] = [Op(op.kind, tuple(reversed(branches)), both), _sum_of(op, both, x)]

    def until(self, item: Item, *tensors: Tensor) -> None:
        """Names that are given to other tensors once this has run, or are those of a function that has returned."""
        place = self.body.index(item) + 1
        self.body[place:place] = end_of_scope(*tensors)

    def until_end(self, *tensors: Tensor) -> None:
        self.body.extend(end_of_scope(*tensors))


def _sum_of(op: Op, *inputs: Tensor) -> Op:
    return replace(op, inputs=inputs)


def _has_matrices(module: Module) -> bool:
    return any(op.traits.contraction for op in ops_in(module))
