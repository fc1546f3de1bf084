"""Which devices a model fits on, how far it can grow there, and what would make it fit."""
