"""What makes vectors of a recording: convolutions over frames of a spectrogram, or over the samples themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from archcalc.core.ir import Dim, Module, Role, Tensor, axes
from archcalc.layers.conv import conv
from archcalc.layers.linear import linear
from archcalc.layers.norm import norm
from archcalc.styles.activations import activated


@dataclass(frozen=True)
class AudioConv:
    """One of the convolutions, and what stands behind it."""

    channels: int
    kernel: int
    stride: int
    padded: bool  # by half a kernel at both ends
    bias: bool
    norm: str  # none, of the channels of each position (layer), of each channel over all positions (channel)
    act: str

    @property
    def spare(self) -> int:
        """Half of an even kernel at both ends is one place more than it needs."""
        return 1 - self.kernel % 2

    def reads(self, positions: int) -> int:
        """How many positions it needs to make that many."""
        if self.padded:
            return positions * self.stride - self.spare
        return (positions - 1) * self.stride + self.kernel

    def makes(self, length: int) -> int:
        """How many positions it makes of that many; none of fewer than its kernel."""
        if self.padded:
            return (length + self.spare + self.stride - 1) // self.stride
        return max((length - self.kernel) // self.stride + 1, 0)


@dataclass(frozen=True)
class Audio:
    """A recording, the convolutions over it, and how what they make becomes as wide as the model."""

    mels: int
    samples: bool  # the recording itself, and no spectrogram
    convs: tuple[AudioConv, ...]
    normed: bool  # in front of the projection
    projects: bool
    mask: bool  # a vector that stands in for hidden positions
    rate: int | None = None  # frames or samples of a second
    usual: int | None = None  # positions, where the spec says how long a recording is

    def positions(self, length: int) -> int:
        """How many positions are made of so many frames or samples."""
        for one in self.convs:
            length = one.makes(length)
        return length

    @property
    def least(self) -> int:
        """The fewest positions that a recording makes."""
        return max(self.positions(1), 1)

    def within(self, d_model: int, original: int) -> Audio:
        """In a small model of that width: without a projection the convolutions end as wide as the model."""
        if self.projects:
            return self
        convs = (replace(one, channels=d_model) if one.channels == original else one for one in self.convs)
        return replace(self, convs=tuple(convs))

    def reads(self, positions: int) -> int:
        """How many frames or samples make that many positions."""
        for one in reversed(self.convs):
            positions = one.reads(positions)
        return positions


def listen(m: Module, recording: Tensor | None, batch: Dim, seq: Dim, d_model: Dim, audio: Audio) -> Tensor:
    """A recording, which may come from elsewhere, through its convolutions: one vector of d_model for each position."""
    length = _length_of(recording, audio) or audio.reads(seq.size)
    x = _recording(m, recording, batch, audio, length)
    for index, one in enumerate(audio.convs, start=1):
        length = one.makes(length)
        places = seq if index == len(audio.convs) else Dim.of(f"frames_{index}", length)
        is_wide = one.channels == d_model.size and not audio.projects
        out = d_model if is_wide else Dim.of(f"channels_{index}", one.channels)
        made = conv(m[f"conv_{index}"], x, out, one.kernel, seq=places, bias=one.bias)
        made = _normed(m[f"conv_{index}"]["norm"], made, one.norm)
        x = activated(m, made, one.act, name=f"convolved_{index}")
    if audio.normed:
        x = norm(m["features_norm"], x, "layer")
    return linear(m["projection"], x, d_model) if audio.projects else x


def _length_of(recording: Tensor | None, audio: Audio) -> int:
    """Of one that comes from elsewhere: its frames, beside mel bands, or its samples, beside a single channel."""
    if recording is None:
        return 0
    beside = 1 if audio.samples else audio.mels
    sizes = [int(dim.size) for dim in recording.dims[1:]]
    return prod(sizes) // beside


def _recording(m: Module, heard: Tensor | None, batch: Dim, audio: Audio, length: int) -> Tensor:
    """Frames of mel bands; samples, which a convolution reads as a single channel."""
    name = "samples" if audio.samples else "frames"
    along = Dim.of("waveform" if audio.samples else "frames", length)
    to = axes(batch, along) if audio.samples else axes(batch, along, Dim.of("mels", audio.mels))
    x = heard.seen_as(*to) if heard else m.record("input", to=to, name=name)
    return m.record("view", x, to=axes(batch, along, Dim.of("one", 1))) if audio.samples else x


def _normed(m: Module, x: Tensor, kind: str) -> Tensor:
    """A group norm of which every channel is a group, or a layer norm."""
    if kind != "channel":
        return norm(m, x, kind)
    batch, seq, channels = x.dims
    weights = [m.param(name, channels, role=Role.NORM) for name in ("weight", "bias")]
    rows = m.record("view", x, to=axes(batch, channels, seq))
    return m.record("view", m.record("group_norm", rows, *weights), to=x.axes)
