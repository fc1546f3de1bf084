"""What ships with archcalc, listed: presets, devices, identities."""
