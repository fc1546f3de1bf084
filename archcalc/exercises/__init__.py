"""Exercises: a model as a worksheet with blanks and a key, and the marking of answers."""
