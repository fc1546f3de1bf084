"""Inference engines: what each takes of a GPU besides weights and cache, read from presets/engines."""
