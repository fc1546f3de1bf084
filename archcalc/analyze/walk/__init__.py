"""The walk: what becomes of the input, step by step."""
