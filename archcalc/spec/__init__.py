"""What a user writes: specs as strict nodes, how they are read from YAML, changed, checked and written back."""
