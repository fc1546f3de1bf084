"""Analyzers: each traverses the tree of modules and returns a Report."""
