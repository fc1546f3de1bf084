"""Layers: what they declare and record, in one of two forms.

A layer of few settings is a function of a Module and its input: `linear(m, x, out)`, `norm(m, x, kind)`, `dropped`.
Every other layer is a frozen dataclass whose fields are its settings, plain numbers and words, and whose `run` records
it: `Ffn(...).run(m, x, work)`. Attention also reads masks, rotations and an encoder's output, which come as `Inputs`.
What a run computes with several tensors at hand (attention's core, the experts) is a frozen dataclass made on the way.

The names of dims are explained in `archcalc.layers.glossary`.
"""
