"""How an inference run is filled in: engine, number formats and kernel, as the engine has them on the device."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from archcalc.core.assumptions import Assumption, Topic
from archcalc.core.errors import InputError, did_you_mean
from archcalc.core.precision import BYTES
from archcalc.network import Network
from archcalc.run.cache_types import cache_types
from archcalc.run.choice import Choice, Reason
from archcalc.run.choose_engine import chosen_engine
from archcalc.run.code import OWN, code
from archcalc.run.engine.catalog import PLAIN
from archcalc.run.engine.on_device import UNKNOWN
from archcalc.run.engine.running import Running
from archcalc.run.engine.supports import replacement
from archcalc.run.kernels import engine_kernel, torch_kernel
from archcalc.run.options import Options
from archcalc.run.resolved import Run
from archcalc.spec.option import flag_of
from archcalc.storage import named_formats
from archcalc.storage.format import Format, plain

if TYPE_CHECKING:
    from archcalc.storage.weight_storage import StoredWeights, WeightStorage


def inference_run(model: Network, asked: Options) -> Run:
    """The options of reading a prompt or of decoding, with defaults filled in."""
    stored = None if asked.weights else model.stored
    if stored and asked.precision and not stored.is_quantised:
        stored = None  # unquantised weights are loaded in the given precision; quantised ones stay in their format
    used, of_engine = chosen_engine(model, asked, stored)
    precision = _precision(model, asked, stored, used)
    computed = str(precision.value)
    activations = "bf16" if computed == "fp8" else computed
    weights, of_weights = _weights(asked, stored, used, computed, activations)
    if used.rules.torch_attention or used.rules.name == PLAIN:  # PyTorch's kernels, or the engine's own
        by = OWN if used.rules.name == PLAIN else code(None, model.model_type, model.config)
        attention = torch_kernel(asked.attention, (asked.device or UNKNOWN).capabilities, activations, by)
    else:
        attention = engine_kernel(asked.attention, used.rules)
    kept, usual = cache_types(asked), used.rules.cache.usual if used.rules.cache else activations
    keys, values = (named_formats.uniform_format(one.format or usual, flag_of(one.option)) for one in kept)
    made = Run(
        mode=asked.mode,
        plan=asked.plan,
        format=weights,
        activations=used.rules.activations or activations,
        attention=str(attention.value),
        kv_format=keys,
        value_format=values,
        kv_rule=asked.kv_rule or used.rules.window_rule(model.model_type),
        state_format=_states(asked, used, activations),
        prefill=asked.prefill or used.tokens,
        shared_prefix=asked.shared_prefix or 0,
        overhead=asked.overhead,
        engine=used,
        assumptions=tuple(_notes(asked, stored, used, weights)),
    )
    shown = replace(precision, words="") if weights.is_quantised and not asked.precision else precision
    choices = [shown, *of_weights]
    if any(one.format for one in kept):
        choices.append(Choice("kv_dtype", kept.named(usual), kept.words(usual), Reason.ASKED))
    return replace(made, choices=(*choices, attention, of_engine))


# Number formats


def _precision(model: Network, asked: Options, stored: StoredWeights | None, used: Running) -> Choice:
    """The number format of activations, and of weights that are not quantised. Engines load fp32 checkpoints in 16
    bits, and fp16 where a device has no bf16."""
    if asked.precision and asked.precision not in BYTES:
        hint = did_you_mean(asked.precision, BYTES)
        raise InputError(f"no number format called {asked.precision}", hint, field="--precision")
    if asked.precision == "fp8" and asked.weights:
        fact = f"in inference fp8 is a weight format, and --weights is already {asked.weights}"
        raise InputError(fact, "leave --precision out, or use bf16, fp16 or fp32", field="--precision")
    if asked.precision:
        return Choice("precision", asked.precision, asked.precision, Reason.ASKED)
    found = model.spec.precision or ("fp16" if stored else "fp32")
    other = replacement(used.rules, asked.device or UNKNOWN, found, model.model_type)
    if other:
        reason = Reason.CODE if found == "fp32" else Reason.DEVICE
        return Choice("precision", other.value, other.value, reason, other.why)
    if model.spec.precision:
        return Choice("precision", found, found, Reason.MODEL)
    text = f"{found}: the model's files name no number format"
    return Choice("precision", found, found, Reason.ARCHCALC, text)


def _weights(
    asked: Options, stored: StoredWeights | None, used: Running, computed: str, activations: str
) -> tuple[WeightStorage, tuple[Choice, ...]]:
    """As asked for, as the model's files store them, or unquantised; kernels may want a layout of their own."""
    if stored is None:
        found = named_formats.weight_format(asked.weights or computed)
        if not asked.weights:
            return found, ()
        text = f"weights: {asked.typed.written} is {found.name}: {asked.typed.why}" if asked.typed else ""
        return found, (Choice("weights", found.name, f"weights in {asked.weights_words}", Reason.ASKED, text),)
    if stored.unknown:
        hint = "choose the format to count, such as --weights int4 or --weights bf16"
        raise InputError(f"the weights are stored by {stored.name}: {stored.unknown}", hint, field="--weights")
    layout = used.layout(stored)
    if layout:
        text = f"weights: {layout}, as the kernels of {used.device.name} want them"
        chosen = Choice("weights", layout, f"weights in {layout}", Reason.DEVICE, text)
        return replace(named_formats.weight_format(layout), rest=activations), (chosen,)
    words = f"weights in {stored.name}" if stored.is_quantised else ""
    chosen = Choice("weights", stored.name, words, Reason.MODEL, f"weights: {stored.name}, from {stored.source}")
    return replace(stored, rest=activations), (chosen,)


def _states(asked: Options, used: Running, activations: str) -> Format:
    """Recurrent states, as the engine keeps them where that is no choice of the user's."""
    found = named_formats.uniform_format(asked.state_dtype or used.rules.states or activations, "--state-dtype")
    if not used.rules.cache:
        return found
    own = plain(used.rules.cache.states)
    if asked.state_dtype and found != own:
        fact = f"{used.rules.name} keeps recurrent states in {own.name}, and has no option for it"
        raise InputError(fact, "leave --state-dtype out", field="--state-dtype")
    return own


# Notes


def _notes(asked: Options, stored: StoredWeights | None, used: Running, weights: WeightStorage) -> Iterator[Assumption]:
    """How weights are stored and divided, and what the engine chooses. One format is applied to every matrix, although
    real files mix formats, and checkpoints keep some layers wider."""
    if asked.weights and not named_formats.is_file(asked.weights):
        kept = named_formats.weight_format(asked.weights)
        name = kept.name
        if kept.is_quantised and kept.quantises == "linear":
            text = (
                f"weights: {name} in every linear layer; a checkpoint that keeps some wider says so in its config.json"
            )
            yield Assumption(Topic.WEIGHTS, text, name)
        mixed = [file for file in named_formats.files() if file.startswith(name.lower())]
        if mixed:
            text = f"weights: {name} for every matrix; llama.cpp's files mix formats: {', '.join(mixed)}"
            yield Assumption(Topic.WEIGHTS, text, name)
    if stored and asked.plan.tp > 1 and stored.estimate:  # how one GPU's share of a file's tensors is worked out
        yield Assumption(Topic.PARALLELISM, stored.estimate, asked.plan.tp)
    yield from used.assumptions()
    if weights.dequantised_copies:
        text = f"{weights.name}: in prefill, one matrix at a time is dequantised to 16 bits, as in bitsandbytes"
        yield Assumption(Topic.WEIGHTS, text, weights.name)
