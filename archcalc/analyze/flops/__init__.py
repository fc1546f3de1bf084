"""FLOPs and bytes moved."""
