"""The architecture as a graph of parts, and which part reads what another one makes."""
