"""Curves over a field of the spec or an option: `archcalc plot`."""
