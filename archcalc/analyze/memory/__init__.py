"""Memory of a step: a schedule of its ops, passes over the schedule, its simulation, and the profile over time."""
