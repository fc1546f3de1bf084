"""Passes over a training step's schedule, one file for each option; they compose in any combination."""
