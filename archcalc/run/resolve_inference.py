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
from archcalc.run.code import code, usual_code
from archcalc.run.engine.catalog import PLAIN
from archcalc.run.engine.instead import replacement
from archcalc.run.engine.on_device import UNKNOWN
from archcalc.run.engine.running import Running
from archcalc.run.kernels import engine_kernel, torch_kernel
from archcalc.run.options import Options
from archcalc.run.resolved import Run
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
    precision = _on_device(_precision(model, asked, stored), model, asked, used)
    computed = str(precision.value)
    activations = "bf16" if computed == "fp8" else computed
    weights, of_weights = _weights(asked, stored, used, computed, activations)
    attention = _attention(model, asked, used, activations)
    kept, usual = cache_types(asked), used.rules.cache.usual if used.rules.cache else activations
    made = Run(
        mode=asked.mode,
        plan=asked.plan,
        format=weights,
        activations=used.rules.activations or activations,
        attention=str(attention.value),
        kv_format=kept.keys.read(usual),
        value_format=kept.values.read(usual),
        kv_rule=asked.kv_rule or used.rules.kv_rule,
        state_format=_states(asked, used, activations),
        prefill=asked.prefill or used.tokens,
        shared_prefix=asked.shared_prefix or 0,
        overhead=asked.overhead,
        engine=used,
        assumptions=tuple(_notes(asked, stored, used, weights)),
    )
    shown = replace(precision, words="") if weights.is_quantised and not asked.precision else precision
    of_cache = [Choice("kv_dtype", kept.named(usual), kept.words(usual), Reason.ASKED)] if kept.are_asked else []
    return replace(made, choices=(shown, *of_weights, *of_cache, attention, of_engine))


# Number formats


def _precision(model: Network, asked: Options, stored: StoredWeights | None) -> Choice:
    """The number format of activations, and of weights that are not quantised."""
    if asked.precision:
        _check_precision(asked.precision, asked.weights)
        return Choice("precision", asked.precision, asked.precision, Reason.ASKED)
    if model.spec.precision:
        return Choice("precision", model.spec.precision, model.spec.precision, Reason.MODEL)
    usual = "fp16" if stored else "fp32"
    text = f"{usual}: the model's files name no number format"
    return Choice("precision", usual, usual, Reason.ARCHCALC, text)


def _on_device(found: Choice, model: Network, asked: Options, used: Running) -> Choice:
    """Engines load fp32 checkpoints in 16 bits, and fp16 where a device has no bf16."""
    if found.reason is Reason.ASKED:
        return found
    other = replacement(used.rules, asked.device or UNKNOWN, str(found.value), model.model_type)
    if other is None:
        return found
    reason = Reason.CODE if found.value == "fp32" else Reason.DEVICE
    return Choice("precision", other.value, other.value, reason, other.why)


def _check_precision(asked: str, weights: str | None) -> None:
    if asked not in BYTES:
        raise InputError(f"no number format called {asked}", did_you_mean(asked, BYTES), field="--precision")
    if asked == "fp8" and weights:
        fact = f"in inference fp8 is a weight format, and --weights is already {weights}"
        raise InputError(fact, "leave --precision out, or use bf16, fp16 or fp32", field="--precision")


def _weights(
    asked: Options, stored: StoredWeights | None, used: Running, computed: str, activations: str
) -> tuple[WeightStorage, tuple[Choice, ...]]:
    """As asked for, as the model's files store them, or unquantised; kernels may want a layout of their own."""
    if stored is None:
        found = named_formats.weight_format(asked.weights or computed)
        text = f"weights: {asked.typed.written} is {found.name}: {asked.typed.why}" if asked.typed else ""
        asked_for = Choice("weights", found.name, f"weights in {asked.weights_words}", Reason.ASKED, text)
        return found, (asked_for,) if asked.weights else ()
    _check_known(stored)
    layout = used.layout(stored)
    if layout:
        text = f"weights: {layout}, as the kernels of {used.device.name} want them"
        chosen = Choice("weights", layout, f"weights in {layout}", Reason.DEVICE, text)
        return replace(named_formats.weight_format(layout), rest=activations), (chosen,)
    words = f"weights in {stored.name}" if stored.is_quantised else ""
    chosen = Choice("weights", stored.name, words, Reason.MODEL, f"weights: {stored.name}, from {stored.source}")
    return replace(stored, rest=activations), (chosen,)


def _check_known(stored: StoredWeights) -> None:
    if stored.unknown:
        hint = "choose the format to count, such as --weights int4 or --weights bf16"
        raise InputError(f"the weights are stored by {stored.name}: {stored.unknown}", hint, field="--weights")


def _states(asked: Options, used: Running, activations: str) -> Format:
    """Recurrent states, as the engine keeps them where that is no choice of the user's."""
    found = named_formats.uniform_format(asked.state_dtype or activations, "--state-dtype")
    if not used.rules.cache:
        return found
    own = plain(used.rules.cache.states)
    if asked.state_dtype and found != own:
        fact = f"{used.rules.name} keeps recurrent states in {own.name}, and has no option for it"
        raise InputError(fact, "leave --state-dtype out", field="--state-dtype")
    return own


def _attention(model: Network, asked: Options, used: Running, activations: str) -> Choice:
    """PyTorch's kernels, or the engine's own."""
    if not used.rules.torch_attention and used.rules.name != PLAIN:
        return engine_kernel(asked.attention, used.rules)
    by = code(PLAIN) if used.rules.name == PLAIN else usual_code(model.model_type, model.config)
    return torch_kernel(asked.attention, (asked.device or UNKNOWN).capabilities, activations, by)


# Notes


def _notes(asked: Options, stored: StoredWeights | None, used: Running, weights: WeightStorage) -> Iterator[Assumption]:
    """How weights are stored and divided, and what the engine chooses."""
    if asked.weights and not named_formats.is_file(asked.weights):
        yield from _unmixed(asked.weights)
    if stored and asked.plan.tp > 1 and stored.estimate:  # how one GPU's share of a file's tensors is worked out
        yield Assumption(Topic.PARALLELISM, stored.estimate, asked.plan.tp)
    yield from used.assumptions()
    if weights.dequantised_copies:
        text = f"{weights.name}: in prefill, one matrix at a time is dequantised to 16 bits, as in bitsandbytes"
        yield Assumption(Topic.WEIGHTS, text, weights.name)


def _unmixed(weights: str) -> Iterator[Assumption]:
    """Note that one format is applied to every matrix, although real files mix formats, and checkpoints keep some
    layers wider."""
    kept = named_formats.weight_format(weights)
    name = kept.name
    if kept.is_quantised and kept.quantises == "linear":
        text = f"weights: {name} in every linear layer; a checkpoint that keeps some wider says so in its config.json"
        yield Assumption(Topic.WEIGHTS, text, name)
    mixed = [file for file in named_formats.files() if file.startswith(name.lower())]
    if mixed:
        text = f"weights: {name} for every matrix; llama.cpp's files mix formats: {', '.join(mixed)}"
        yield Assumption(Topic.WEIGHTS, text, name)
