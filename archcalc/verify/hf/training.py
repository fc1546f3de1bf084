"""A transformers class with its optimizer and a batch, and two training steps of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from archcalc.core.errors import InputError
from archcalc.importers.hf._helpers.reading import described
from archcalc.importers.meta import build
from archcalc.importers.meta.cleaned import cleaned
from archcalc.verify.hf.as_on_a_gpu import FUSED, as_on_a_gpu
from archcalc.verify.hf.built import PLAIN, class_named, main_input, needed, sizes_read, untie

TYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "adamw": (torch.optim.AdamW, {}),
    "adam": (torch.optim.Adam, {}),
    "sgd": (torch.optim.SGD, {}),
    "momentum": (torch.optim.SGD, {"momentum": 0.9}),
}
VARIANTS = {"": {"foreach": False}, "-foreach": {"foreach": True}, "-fused": {"fused": True}}  # parameter by parameter
OPTIMIZERS = {
    f"{name}{variant}": (made, {**options, **chosen})
    for name, (made, options) in KINDS.items()
    for variant, chosen in VARIANTS.items()
    if made is not torch.optim.SGD or variant != "-fused"  # which the meta device does not know
}
STEPS = 2
FOR_EACH_TOKEN = ("causal", "masked", "token", "pixels")  # tasks by where their labels stand
FOR_THE_WHOLE = ("sequence", "image", "audio")
FOR_EACH_TARGET = ("seq2seq", "speech")
WITHOUT_LABELS = ("base", "encoder", "projection")  # classes whose output a loss of one's own reads
EVERY_LINEAR = "all-linear"  # peft's word for all but the head


@dataclass(frozen=True)
class Setting:
    """How a class is trained."""

    batch: int
    seq: int
    target_seq: int = 0  # of a decoder behind an encoder; as long as `seq` if it is not said
    precision: str = "bf16"
    attention: str = "eager"  # or a fused kernel: flash; or the class's own choice: default
    optimizer: str = "adamw-foreach"
    recompute: bool = False
    lora: int = 0  # the rank of peft's adapters
    targets: tuple[str, ...] = ()  # the layers that get them, or peft's choice for the model type
    keep_outputs: bool = False  # a loop with a name for all that the model gives out, not for the loss alone
    memory: int = 0  # the width of encoder states, for a decoder without an encoder
    shape: tuple[int, ...] = ()  # of one input that is no sequence of tokens, where the config does not say it


@dataclass(frozen=True)
class Training:
    """Made on the meta device, or on another under PyTorch's FakeTensorMode."""

    config: dict[str, Any]
    setting: Setting
    own_head: bool = False  # a head that a checkpoint brings to a class that starts with a tied one
    device: str = "meta"

    @cached_property
    def model(self) -> Any:
        plain = self._built()
        if self.device != "meta":
            _move(plain, self.device)
        if self.own_head:
            untie(plain)
        made = self._adapted(plain.train())
        if self.setting.recompute and not plain.supports_gradient_checkpointing:
            raise InputError(f"{class_named(self.config)} has no gradient checkpointing", "leave --recompute out")
        if self.setting.recompute:  # last, as transformers' Trainer does
            plain.gradient_checkpointing_enable({"use_reentrant": False})
        return made

    def _built(self) -> Any:
        with as_on_a_gpu():
            return build.built(
                cleaned(self.config),
                torch=torch,
                transformers=needed("transformers"),
                name=class_named(self.config),
                prepare=self._prepare,
                dtype=str(TYPES[self.setting.precision]).removeprefix("torch."),
            )

    def _prepare(self, config: Any) -> None:
        for key, value in PLAIN.items():
            if not key.endswith("_implementation"):
                setattr(config, key, value)
        for key in [key for key in vars(config) if "layerdrop" in key]:
            setattr(config, key, 0.0)  # a step has its peak where no layer is skipped at random
        config._attn_implementation = self._attention()
        for name in ("pad_token_id", "decoder_start_token_id"):  # which a class may ask for, and its values are unused
            if getattr(config, name, None) is None:
                setattr(config, name, 0)

    def _attention(self) -> str:
        """By transformers' name: `as_on_a_gpu` says which kernels each calls."""
        made = getattr(needed("transformers"), class_named(self.config))
        if made._supports_sdpa and self.setting.attention != "eager":
            return "sdpa"
        if self.setting.attention in ("eager", "default"):
            return "eager"
        if made._supports_attention_backend:
            return FUSED
        raise InputError(f"{made.__name__} calls no fused attention kernel that can be traced", "use eager attention")

    def _adapted(self, model: Any) -> Any:
        if not self.setting.lora:
            return model
        peft = needed("peft")
        targets = EVERY_LINEAR if EVERY_LINEAR in self.setting.targets else list(self.setting.targets) or None
        wanted = peft.LoraConfig(r=self.setting.lora, target_modules=targets)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of layers that store their matrix the other way round
            return peft.get_peft_model(model, wanted)

    @cached_property
    def optimizer(self) -> Any:
        made, options = OPTIMIZERS[self.setting.optimizer]
        return made([one for one in self.model.parameters() if one.requires_grad], lr=1e-3, **options)

    @cached_property
    def inputs(self) -> dict[str, Tensor]:
        """What the class reads first, and labels: zeros, since their values change nothing."""
        model, setting = self.model.get_base_model() if self.setting.lora else self.model, self.setting
        sizes = setting.shape or sizes_read(model, setting.seq)
        read = self._numbers(*sizes) if sizes else self._ids(setting.seq)
        given = {main_input(model): read, **self._labels(type(model).__name__)}
        if setting.memory:  # what a decoder without an encoder of its own attends to
            given["encoder_hidden_states"] = self._numbers(setting.seq, setting.memory)
        return given

    def _labels(self, name: str) -> dict[str, Tensor]:
        if self._task in WITHOUT_LABELS:
            return {}
        lengths: dict[str, tuple[int, ...]] = dict.fromkeys(FOR_THE_WHOLE, ())
        lengths |= dict.fromkeys(FOR_EACH_TOKEN, (self.setting.seq,))
        lengths |= dict.fromkeys(FOR_EACH_TARGET, (self.setting.target_seq or self.setting.seq,))
        if self._task in lengths:
            return {"labels": self._ids(*lengths[self._task])}
        if self._task == "answer":
            return {"start_positions": self._ids(), "end_positions": self._ids()}
        fact = f"{name} computes no loss that archcalc knows the labels of"
        raise InputError(fact, "name a class with a head in architectures")

    def _numbers(self, *shape: int) -> Tensor:
        return torch.zeros(self.setting.batch, *shape, dtype=TYPES[self.setting.precision], device=self.device)

    def _ids(self, *length: int) -> Tensor:
        return torch.zeros(self.setting.batch, *length, dtype=torch.long, device=self.device)

    @property
    def _task(self) -> str:
        classes: dict[str, str] = described(self.config["model_type"])["classes"]
        return classes[class_named(self.config)]

    def run(self, begin: Callable[[str, int], None]) -> None:
        """The steps; `begin` is told of every phase."""
        held: Any = None
        for step in range(STEPS):
            begin("forward", step)
            held = self._forward()  # the loss alone, unless a loop keeps what the model gives out
            begin("backward", step)
            (held.loss if self.setting.keep_outputs else held).backward()
            begin("step", step)
            self.optimizer.step()
            self.optimizer.zero_grad()
            held = held if self.setting.keep_outputs else None

    def _forward(self) -> Any:
        outputs = self.model(**self.inputs)
        if self._task in WITHOUT_LABELS:
            return sum(one.mean() for one in outputs.values() if isinstance(one, Tensor))
        return outputs if self.setting.keep_outputs else outputs.loss


def _move(model: nn.Module, device: str) -> None:
    """Tensors without numbers in the place of those on meta; `to_empty` would make two of a tied one."""
    moved: dict[Tensor, Tensor] = {}
    for module in model.modules():
        kinds: list[dict[str, Any]] = [module._parameters, module._buffers]
        for held in kinds:
            for name, tensor in held.items():
                if tensor is not None and tensor not in moved:
                    made = torch.empty_like(tensor, device=device)
                    is_weight = isinstance(tensor, nn.Parameter)
                    moved[tensor] = nn.Parameter(made, tensor.requires_grad) if is_weight else made
                held[name] = None if tensor is None else moved[tensor]
