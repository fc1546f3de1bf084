"""The identities: each figure and each verdict they promise."""
