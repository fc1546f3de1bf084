"""Passes over the schedule of a step, one file for each option; they compose in any combination."""
