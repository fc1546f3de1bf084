"""Analyzers: each a fold over the tree of modules that answers one question with a Report."""
