"""Autoencoders: the linear one, and the recursive one with the tree over a sentence, against the same in PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import Tensor, nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils.flop_counter import FlopCounterMode

import archcalc
from archcalc.analyze.flops.cost import work
from archcalc.analyze.memory.activations import saved_activations

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Run, Write

SENTENCE = 10
PARAMETERS = ("params", "recursive-autoencoder", "--format", "json")


class Autoencoder(nn.Module):
    """Knows what it is trained for once it has run."""

    loss: Tensor
    label: Tensor


class Linear(Autoencoder):
    """X to a code and back."""

    def __init__(self, width: int, code: int, *, bias: bool) -> None:
        super().__init__()
        self.encoder = nn.Linear(width, code, bias=bias)
        self.decoder = nn.Linear(code, width, bias=bias)

    def forward(self, x: Tensor) -> Tensor:
        """Rebuild the input."""
        rebuilt: Tensor = self.decoder(self.encoder(x))
        self.loss = mse_loss(rebuilt, x)
        return rebuilt


class Recursive(Autoencoder):
    """One merge, used again and again until the sentence is one vector."""

    def __init__(self, width: int, parent: int, classes: int, *, bias: bool = True) -> None:
        super().__init__()
        self.parent = nn.Linear(2 * width, parent, bias=bias)
        self.reconstruction = nn.Linear(parent, 2 * width, bias=bias)
        self.classifier = nn.Linear(parent, classes, bias=bias)

    def merge(self, left: Tensor, right: Tensor) -> Tensor:
        """The parent of two neighbours, and its share of the loss: every parent is given the sentence's label."""
        children = torch.cat([left, right], dim=-1)
        parent = torch.tanh(self.parent(children))
        self.loss = self.loss + mse_loss(self.reconstruction(parent), children)
        self.loss = self.loss + cross_entropy(self.classifier(parent), self.label)
        return parent

    def forward(self, words: Tensor) -> Tensor:
        """Always merge the first two: every other tree has as many merges."""
        self.loss, self.label = torch.zeros(()), torch.zeros(len(words), dtype=torch.int64)
        nodes = list(words.unbind(dim=1))
        while len(nodes) > 1:
            nodes[:2] = [self.merge(nodes[0], nodes[1])]
        return nodes[0]


def signals(model: nn.Module, x: Tensor) -> dict[str, list[tuple[int, ...]]]:
    """The shapes that leave each layer, once for each of its calls."""
    seen: dict[str, list[tuple[int, ...]]] = {}
    for name, layer in model.named_children():
        layer.register_forward_hook(lambda _, __, out, name=name: seen.setdefault(name, []).append(tuple(out.shape)))
    seen["result"] = [tuple(model(x).shape)]
    return seen


def numel(model: nn.Module) -> int:
    """Every weight and bias."""
    return sum(parameter.numel() for parameter in model.parameters())


def flops(model: Autoencoder, x: Tensor) -> tuple[int, int]:
    """Of the forward pass, and of the backward pass from its loss."""
    with FlopCounterMode(display=False) as forward:
        model(x)
    with FlopCounterMode(display=False) as backward:
        torch.autograd.backward(model.loss)
    return forward.get_total_flops(), backward.get_total_flops()


def kept_bytes(model: nn.Module, x: Tensor) -> int:
    """What the forward pass keeps for the backward pass: distinct storages that are no parameter's."""
    parameters = {parameter.untyped_storage()._cdata for parameter in model.parameters()}
    kept: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        kept.append(tensor)
        return tensor

    with saved_tensors_hooks(keep, lambda tensor: tensor):
        model(x)
    storages = {tensor.untyped_storage()._cdata: tensor.untyped_storage().nbytes() for tensor in kept}
    return sum(size for storage, size in storages.items() if storage not in parameters)


def test_the_textbook_recursive_autoencoder(run: Run) -> None:
    """4·D_p·D_x + D_p + 2·D_x + D_c·D_p + D_c, for words and parents of 50 and two classes."""
    answer = run(*PARAMETERS).json
    assert answer["total"] == 4 * 50 * 50 + 50 + 2 * 50 + 2 * 50 + 2 == 10_252
    assert answer["total"] == numel(Recursive(50, 50, classes=2))


def test_the_three_layers_of_a_merge(run: Run) -> None:
    """W1 and b1 make the parent, W2 and b2 rebuild its children, W3 and b3 classify it."""
    totals = {row["path"]: row["total"] for row in run(*PARAMETERS).json["rows"]}
    reference = Recursive(50, 50, classes=2)
    assert totals["merge.parent"] == 50 * (2 * 50) + 50 == numel(reference.parent)
    assert totals["merge.reconstruction"] == (2 * 50) * 50 + 2 * 50 == numel(reference.reconstruction)
    assert totals["merge.classifier"] == 2 * 50 + 2 == numel(reference.classifier)


def test_the_working_is_shown(run: Run) -> None:
    """Each layer as rows × columns + biases."""
    answer = run("params", "recursive-autoencoder", "--explain").out
    assert "= (100 × 50 + 50) + (50 × 100 + 100) + (50 × 2 + 2)" in answer
    by_name = run("params", "recursive-autoencoder", "--explain", "--names").out
    assert "= 2·input × hidden + hidden" in by_name


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("width", "classes"), [(50, 2), (7, 3), (100, 5)])
def test_recursive_parameters_are_pytorchs(width: int, classes: int, bias: bool) -> None:
    """For other sizes too, with biases and without."""
    spec = {"family": "autoencoder", "kind": "recursive", "input": width, "hidden": width, "classes": classes}
    assert archcalc.load({**spec, "bias": bias}).params().total == numel(Recursive(width, width, classes, bias=bias))


def test_a_recursive_autoencoder_without_classes_has_no_classifier() -> None:
    """Then the classifier's D_c·D_p + D_c are not there; biases are, unless they are refused."""
    spec = {"family": "autoencoder", "kind": "recursive", "input": 50, "hidden": 50}
    assert archcalc.load(spec).params().total == 4 * 50 * 50 + 50 + 2 * 50


def test_every_parameter_has_pytorchs_shape(run: Run) -> None:
    """Tensor by tensor."""
    rows = run(*PARAMETERS).json["rows"]
    shapes = {row["path"].removeprefix("merge."): tuple(row["shape"]) for row in rows if row["kind"] == "tensor"}
    assert shapes == {name: tuple(p.shape) for name, p in Recursive(50, 50, classes=2).named_parameters()}


def test_the_shapes_of_a_merge_are_pytorchs(run: Run) -> None:
    """What leaves each layer, and the one vector that is left of the sentence."""
    answer = run("shapes", "recursive-autoencoder", "--batch", "3", "--format", "json").json
    shapes = {row["path"]: tuple(row["shape"]) for row in answer["rows"]}
    seen = signals(Recursive(50, 50, classes=2), torch.randn(3, SENTENCE, 50))
    assert shapes["words"] == (3, SENTENCE, 50)
    assert shapes["merge.left"] == shapes["merge.right"] == (3, 50)
    assert shapes["merge.children"] == (3, 2 * 50)
    for layer in ("parent", "reconstruction", "classifier"):
        assert shapes[f"merge.{layer}"] == seen[layer][0]
    assert shapes["root"] == seen["result"][0]


@pytest.mark.parametrize("words", [2, 3, 10, 33])
def test_n_words_take_n_minus_one_merges(run: Run, words: int) -> None:
    """The same merge each time, its classifier too, as often as PyTorch calls them."""
    seen = signals(Recursive(50, 50, classes=2), torch.randn(1, words, 50))
    assert len(seen["parent"]) == len(seen["classifier"]) == words - 1
    answer = run("shapes", "recursive-autoencoder", "--seq", str(words)).out
    merges = "1 merge" if words == 2 else f"{words - 1} merges"
    assert f"{words} words take {merges}; the classifier reads every parent" in answer
    merge = archcalc.load("recursive-autoencoder", set=[f"seq={words}"]).build()["merge"]
    assert (merge.repeat, merge.calls) == (1, words - 1)


def test_a_longer_sentence_has_no_more_parameters(run: Run) -> None:
    """Calls are not copies."""
    longer = run("params", "recursive-autoencoder", "--set", "seq=1000", "--format", "json").json
    assert longer["total"] == 10_252


def test_parents_must_be_as_wide_as_words(run: Run, write: Write) -> None:
    """Else a parent cannot be a child again, as PyTorch finds at the second merge."""
    file = write("family: autoencoder\nkind: recursive\ninput: 50\nhidden: 40\nclasses: 2\n")
    answer = run("params", file)
    assert answer.code == 2
    assert "model.yaml:4: hidden: a parent is 40 wide, but a merge takes children of 50" in answer.err
    assert "set hidden to 50, or input to 40" in answer.err
    with pytest.raises(RuntimeError):
        Recursive(50, 40, classes=2)(torch.randn(1, 3, 50))


def test_two_words_are_merged_at_any_width(run: Run) -> None:
    """A single merge never asks for its parent again; a third word does."""
    changes = ("--set", "hidden=40", "--set", "seq=2")
    answer = run(*PARAMETERS, *changes).json
    assert answer["total"] == 4 * 40 * 50 + 40 + 2 * 50 + 2 * 40 + 2 == numel(Recursive(50, 40, classes=2))
    refused = run("shapes", "recursive-autoencoder", *changes, "--seq", "3")
    assert refused.code == 2
    assert "a parent is 40 wide" in refused.err


def test_one_word_is_no_tree(run: Run, write: Write) -> None:
    """In the file or on the command line."""
    file = write("family: autoencoder\nkind: recursive\ninput: 50\nhidden: 50\nseq: 1\n")
    for answer in (run("shapes", file), run("shapes", "recursive-autoencoder", "--seq", "1")):
        assert answer.code == 2
        assert "one word has no neighbour to merge with" in answer.err


@pytest.mark.parametrize("bias", [True, False])
def test_linear_parameters_are_pytorchs(run: Run, bias: bool) -> None:
    """2·m·k weights, and m + k biases if they are asked for."""
    answer = run("params", "linear-autoencoder", "--set", f"bias={str(bias).lower()}", "--format", "json").json
    assert answer["total"] == 2 * 784 * 32 + bias * (784 + 32) == numel(Linear(784, 32, bias=bias))


def test_a_linear_autoencoder_has_no_biases_unless_asked(run: Run) -> None:
    """As on paper: ‖X − W2·W1·X‖² knows only the two matrices."""
    answer = run("params", "linear-autoencoder").out
    assert "50,176" in answer
    assert 2 * 784 * 32 == 50_176


def test_the_shapes_of_a_linear_autoencoder_are_pytorchs(run: Run) -> None:
    """The code is narrow, and the input is rebuilt at its full width."""
    answer = run("shapes", "linear-autoencoder", "--batch", "5", "--format", "json").json
    shapes = {row["path"]: tuple(row["shape"]) for row in answer["rows"]}
    seen = signals(Linear(784, 32, bias=False), torch.randn(5, 784))
    assert shapes == {"input": (5, 784), "encoder": seen["encoder"][0], "decoder": seen["decoder"][0]}


MISTAKES = {
    "input: 50\nhidden: 50\n": "model.yaml:1: family: kind is missing",
    "kind: linear\nhidden: 50\n": "model.yaml:2: input: missing",
    "kind: linear\ninput: 50\n": "model.yaml:2: hidden: missing",
    "kind: sparse\ninput: 50\nhidden: 50\n": "model.yaml:2: kind: 'sparse' is not one of linear, deep, variational",
    "kind: linear\ninput: 50\nhidden: 5\nclasses: 2\n": "model.yaml:5: classes: a linear autoencoder has no classifier",
    "kind: linear\ninput: 50\nhidden: 5\nseq: 9\n": "model.yaml:5: seq: a linear autoencoder reads vectors",
    "kind: recursive\ninput: 50\nhiden: 50\n": "no such field\n  4 | hiden: 50\n  did you mean hidden?",
}


@pytest.mark.parametrize(("text", "told"), MISTAKES.items())
def test_a_mistake_is_told_with_its_line(run: Run, write: Write, text: str, told: str) -> None:
    """File, line, field and the way out."""
    answer = run("params", write(f"family: autoencoder\n{text}"))
    assert answer.code == 2
    assert told in answer.err


def test_a_linear_autoencoder_refuses_a_sequence_length(run: Run) -> None:
    """Rather than ignore it."""
    answer = run("shapes", "linear-autoencoder", "--seq", "9")
    assert answer.code == 2
    assert "--seq: this model reads no sequence" in answer.err


def test_one_kind_becomes_the_other(run: Run) -> None:
    """What only the old kind had, classifier and sentence, goes with it."""
    answer = run("params", "recursive-autoencoder", "--set", "kind=linear", "--set", "bias=false", "--format", "json")
    assert answer.json["total"] == 2 * 50 * 50


REFERENCES: dict[str, tuple[Callable[[], Autoencoder], tuple[int, ...]]] = {
    "recursive-autoencoder": (lambda: Recursive(50, 50, classes=2), (3, SENTENCE, 50)),
    "linear-autoencoder": (lambda: Linear(784, 32, bias=False), (3, 784)),
}


@pytest.mark.parametrize("name", REFERENCES)
def test_a_training_step_costs_what_pytorch_counts(name: str) -> None:
    """Matrix products of every merge; the first one's children are words, which want no gradient."""
    build, shape = REFERENCES[name]
    done = work(archcalc.load(name, set=["batch=3"]).build())
    assert (done.forward, done.backward) == flops(build(), torch.randn(shape))


@pytest.mark.parametrize("name", REFERENCES)
def test_a_training_step_keeps_what_pytorch_keeps(name: str) -> None:
    """To the byte: children, parents and reconstructions of every merge, and the sentence's label once."""
    build, shape = REFERENCES[name]
    assert saved_activations(archcalc.load(name, set=["batch=3"]).build(), "fp32").bytes == kept_bytes(
        build(), torch.randn(shape)
    )


@pytest.mark.parametrize("name", REFERENCES)
def test_there_is_nothing_to_decode(name: str) -> None:
    """A tree is no text to be continued."""
    model = archcalc.load(name)
    with pytest.raises(archcalc.InputError, match="generates no tokens"):
        model.build(model.workload(mode="decode"))
